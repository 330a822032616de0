package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/shuffle"
	"shuffled/internal/verify"
)

// Status is the state of a shuffle. Terms and the members of Shuffle are read from the proved commit. Owner, Extent,
// Next, Mixed, ClosedAt, Outcome and Reason are read from a proved transcript. That nothing followed is the daemon's
// word. Whether it is overdue is computed with this host's clock. LastHand, of a cut card whose place was drawn, is nil
// or the daemon's word, which no later answer and no tape may contradict.
type Status struct {
	ShuffleState
	Terms
}

// Load returns a shuffle that was committed earlier, and proves its commit again. If the shuffle was played, Load takes
// the mix and the dealt cards from a proved transcript. It does not learn the cards of a child's parent.
func (c *Client) Load(ctx context.Context, id uint64) (*Committed, error) {
	s, _, err := c.load(ctx, strconv.FormatUint(id, 10))
	return s, err
}

// LoadAt is Load of the shuffle of a table with this serial. With serial 0 it loads the open shuffle of the table: if
// several are open, the error is CodeWhichShuffle and has their ids; if none is open, it loads the newest one. Table
// and serial are proved. That the shuffle is the open one is the daemon's word.
func (c *Client) LoadAt(ctx context.Context, table string, serial uint64) (*Committed, error) {
	at := "@" + url.PathEscape(table)
	if serial != 0 {
		at += ":" + strconv.FormatUint(serial, 10)
	}
	s, _, err := c.load(ctx, at)
	return s, err
}

// State returns the state of a shuffle.
func (c *Client) State(ctx context.Context, id uint64) (*Status, error) {
	_, status, err := c.load(ctx, strconv.FormatUint(id, 10))
	return status, err
}

// load asks for the shuffle that is at an address, and for its proof: an id, a table, or a table with a serial.
func (c *Client) load(ctx context.Context, at string) (*Committed, *Status, error) {
	when := c.reading()
	answer, err := c.send(ctx, request{method: http.MethodGet,
		path: fmt.Sprintf("/v1/%s/shuffles/%s", url.PathEscape(c.ledger), at)})
	told, err := decoded[ShuffleState](answer, err)
	if err != nil {
		return nil, nil, err
	}
	if table := "@" + url.PathEscape(told.Table); at != strconv.FormatUint(told.ID, 10) && at != table &&
		at != table+":"+strconv.FormatUint(told.Serial, 10) {
		return nil, nil, &Fault{What: "it is of another shuffle", Answer: answer}
	}
	s, err := c.proveCommit(ctx, Shuffle{ID: told.ID, Table: told.Table, Serial: told.Serial, DeckRoot: told.DeckRoot,
		Commitment: told.Commitment, CloseBy: told.CloseBy, Receipt: told.Receipt}, reply{when, answer})
	if err != nil {
		return nil, nil, err
	}
	s.Time = s.CommittedAt
	v := &verify.Verdict{Owner: s.entry.Actor.Identity, State: string(ShuffleStateStateOpen)}
	// With a co-dealer, the co-dealer's commit is in the transcript.
	untouched := told.Next == 0 && !deref(told.Mixed) && told.ClosedAt == nil && !s.blind()
	if !untouched || told.Owner != v.Owner || told.Extent != nil {
		if v, err = c.restore(ctx, s); err != nil {
			return nil, nil, err
		}
	}
	status, what := s.status(told, v)
	if what != "" {
		return nil, nil, &Fault{What: what, Answer: answer}
	}
	return s, status, nil
}

// status is the state that a transcript proves, which is at least as new as the state that the daemon told before. what
// says what is wrong with the latter, or "".
func (s *Committed) status(told *ShuffleState, v *verify.Verdict) (status *Status, what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case told.Next < 0 || told.Next > v.Next:
		return nil, "other places were dealt than the ledger shows"
	case !s.play.cut(told.Next, deref(told.LastHand)):
		return nil, "the cut card has not come out, or has and was not told"
	}
	st := ShuffleState{ID: s.ID, Table: s.Table, Serial: s.Serial, Commitment: s.Commitment, DeckRoot: s.DeckRoot,
		CloseBy: s.CloseBy, Receipt: s.Receipt, Owner: v.Owner, Next: v.Next, State: ShuffleStateState(v.State)}
	for _, t := range v.Takeovers {
		st.Owner, st.Extent = t.Identity, nil
		if extent := Extent(t.Extent); extent != ExtentPlay {
			st.Extent = &extent
		}
	}
	if len(s.commit.Context.Mixed()) > 0 {
		st.Mixed = new(s.play.ordered)
	}
	if out := v.Next >= s.play.after; s.EndAt != nil && (out || v.Next <= s.play.before) {
		st.LastHand = &out
	}
	if v.ClosedAt != "" {
		st.ClosedAt, st.Outcome, st.Reason = new(Timestamp), new(Outcome(v.Outcome)), optional(Reason(v.Reason))
		_ = st.ClosedAt.UnmarshalText([]byte(v.ClosedAt)) // a verdict has it in this form
	} else if time.Now().After(s.CloseBy.Time) {
		st.State = ShuffleStateStateOverdue
	}
	return &Status{st, s.Terms}, ""
}

// Transcript returns the evidence of a shuffle that this token may see, proved under the pinned key or policy. With a
// recipient, it returns that recipient's file, for which it takes a dealer's token. Pass the file on byte for byte. If
// the policy asks for witnesses, it waits until they cosigned the newest entry in the file, and returns ErrNotWitnessed
// after Config.Attempts.
func (c *Client) Transcript(ctx context.Context, id uint64, recipient string) ([]byte, error) {
	answer, _, _, err := c.transcript(ctx, id, recipient, c.full)
	return answer, err
}

func (c *Client) transcript(ctx context.Context, id uint64, recipient string, trust verify.Trust) (answer []byte,
	v *verify.Verdict, file *openings.Transcript, err error) {
	var when asked
	err = c.untilWitnessed(ctx, func() (err error) {
		when = c.reading()
		if answer, err = c.getTranscript(ctx, id, GetTranscriptParams{Recipient: optional(recipient)}); err != nil {
			return err
		}
		v = verify.Transcript(answer, trust)
		if c.policy.Asks() && v.Verdict == verify.Failed && v.Failed == "witnesses" {
			return fmt.Errorf("the transcript of shuffle %d: %w", id, ErrNotWitnessed)
		}
		return nil
	})
	switch {
	case err != nil:
	case v.Verdict != verify.Proved:
		err = &Fault{What: "the transcript is " + v.Verdict + " at " + v.Failed + v.Unknown, Answer: answer}
	case v.ID != id || v.Recipient != recipient:
		err = &Fault{What: "the transcript is another one", Answer: answer}
	default:
		file, err = c.holdTranscript(ctx, answer, when)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	return answer, v, file, nil
}

// holdTranscript accepts the checkpoints of a transcript that was proved.
func (c *Client) holdTranscript(ctx context.Context, answer []byte, when asked) (*openings.Transcript, error) {
	file, err := openings.ParseTranscript(answer)
	if err != nil {
		return nil, &Fault{What: "the transcript", Answer: answer, Err: err}
	}
	for i, signed := range [][]byte{[]byte(file.Checkpoint), []byte(deref(file.Witnessed).Checkpoint)} {
		checkpoint, err := audit.OpenCheckpoint(signed, c.keys...)
		if err != nil {
			continue // none, or signed by a key that the pinned one handed on to: no receipt is accepted under it
		}
		past := i == 0 && checkpoint.Size < when.since // file.Witnessed is an early one, and may be below what is known
		if err := c.hold(ctx, head{checkpoint, signed}, past, true, answer); err != nil {
			return nil, err
		}
	}
	return file, nil
}

// restore takes in what was played of a shuffle from a proved transcript, and returns its verdict.
func (c *Client) restore(ctx context.Context, s *Committed) (*verify.Verdict, error) {
	answer, v, file, err := c.transcript(ctx, s.ID, "", c.signed)
	if err != nil {
		return nil, err
	}
	r := reply{body: answer}
	if v.Commitment != s.Commitment.String() {
		return nil, r.fault("the transcript is of another commit", nil)
	}
	var told audit.DisclosureEntry
	for _, text := range file.Receipts[2:] {
		_, e, err := audit.ReceiptEntry(text)
		if err != nil {
			return nil, r.fault("the transcript", err)
		}
		switch b := e.Body.(type) {
		case *audit.Mix:
			if err := s.mixed(b); err != nil {
				return nil, r.fault("the mix", err)
			}
		case *audit.Deal:
			s.with(func(p *play) { p.bound.Order.Give(b) })
		}
		if d, ok := audit.DisclosedBy(e.Body); ok {
			told = d
		}
	}
	if file.CoDealer != nil { // a proved file of a shuffle with a co-dealer has it, with the openings
		if err := s.ordered(file.CoDealer.Receipts[0]); err != nil {
			return nil, r.fault("the co-dealer's commit", err)
		}
	}
	if deck, err := shuffle.NewDeck(file.Deck); err == nil {
		c.decks.put(deck.Hash(), deck, maxDecks)
		s.with(func(p *play) { p.bound.Names = deck })
	}
	for _, card := range file.Cards {
		o, err := verify.ReadCard(card)
		if err == nil {
			err = s.open(o)
		}
		if err != nil {
			return nil, r.fault("the cards of the transcript", err)
		}
	}
	s.keep(v.Cards, nil, v.Next)
	if told.Form == audit.FormTape {
		return v, s.proveTape(told, r)
	}
	return v, nil
}

// learnNames learns the names of a shuffle's cards. A commit has only the hash of the deck: names that this client does
// not know come from a proved transcript.
func (c *Client) learnNames(ctx context.Context, s *Committed) error {
	if s.commit.Context.IsDraw() {
		return nil
	}
	if deck, known := c.decks.get(s.commit.Context.DeckHash); known {
		if cards := s.commit.Context.Recipe.Cards; s.commit.Context.Parent == nil && cards != deck.Len() {
			return &Fault{What: fmt.Sprintf("it shuffles %d cards of a deck of %d", cards, deck.Len()),
				Answer: []byte(s.Receipt)}
		}
		s.with(func(p *play) { p.bound.Names = deck })
		return nil
	}
	if _, err := c.restore(ctx, s); err != nil {
		return fmt.Errorf("learning the deck's names: %w", err)
	}
	return nil
}

// AddStatement gives the house an auditor's signed statement about a closed shuffle, as shuffled audit attest writes
// it. The shuffle's transcripts carry it from then on. It takes an auditor's token, and returns how many statements the
// transcripts carry then. A statement that was given before gets the same answer.
func (c *Client) AddStatement(ctx context.Context, statement string) (int, error) {
	s, err := openings.ParseStatement([]byte(statement))
	if err != nil {
		return 0, fmt.Errorf("reading a statement: %w", err)
	}
	if s.Origin != c.origin {
		return 0, fmt.Errorf("the statement is about a shuffle of %s, and this client is of %s", s.Origin, c.origin)
	}
	answer, err := c.addStatement(ctx, s.ID, StatementRequest{Statement: statement})
	taken, err := decoded[StatementTaken](answer, err)
	return deref(taken).Statements, err
}
