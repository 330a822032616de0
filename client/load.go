package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

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
	s, _, err := c.load(ctx, strconv.FormatUint(id, 10), func(told *ShuffleState) bool { return told.ID == id })
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
	s, _, err := c.load(ctx, at, func(told *ShuffleState) bool {
		return told.Table == table && (serial == 0 || told.Serial == serial)
	})
	return s, err
}

// State returns the state of a shuffle.
func (c *Client) State(ctx context.Context, id uint64) (*Status, error) {
	_, status, err := c.load(ctx, strconv.FormatUint(id, 10), func(told *ShuffleState) bool { return told.ID == id })
	return status, err
}

// load asks for the shuffle that is at an address, and for its proof. That it is the one meant is told by is.
func (c *Client) load(ctx context.Context, at string, is func(*ShuffleState) bool) (*Committed, *Status, error) {
	when := c.reading()
	answer, err := c.send(ctx, request{method: http.MethodGet,
		path: fmt.Sprintf("/v1/%s/shuffles/%s", url.PathEscape(c.ledger), at)})
	told, err := decoded[ShuffleState](answer, err)
	if err != nil {
		return nil, nil, err
	}
	if !is(told) {
		return nil, nil, &Fault{What: "it is of another shuffle", Answer: answer}
	}
	s, err := c.proveCommit(ctx, Shuffle{
		ID: told.ID, Table: told.Table, Serial: told.Serial, Commitment: told.Commitment, DeckRoot: told.DeckRoot,
		CloseBy: told.CloseBy, Receipt: told.Receipt,
	}, reply{when, answer})
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
	if mixed := s.play.ordered; len(s.commit.Context.Mixed()) > 0 {
		st.Mixed = &mixed
	}
	if out := v.Next >= s.play.after; s.EndAt != nil && (out || v.Next <= s.play.before) {
		st.LastHand = &out
	}
	if v.ClosedAt == "" {
		if time.Now().After(s.CloseBy.Time) {
			st.State = ShuffleStateStateOverdue
		}
		return &Status{st, s.Terms}, ""
	}
	at, outcome, reason := new(Timestamp), Outcome(v.Outcome), Reason(v.Reason)
	if at.UnmarshalText([]byte(v.ClosedAt)) == nil {
		st.ClosedAt = at
	}
	if st.Outcome = &outcome; reason != "" {
		st.Reason = &reason
	}
	return &Status{st, s.Terms}, ""
}
