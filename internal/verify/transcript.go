package verify

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/audit/rules"
	"shuffled/internal/audit/trust"
	"shuffled/internal/shuffle"
	"shuffled/internal/terms"
)

// Limits of a transcript, alongside its size.
const (
	// genesis, commit, mix, a deal and a reveal for each place, takeovers, close, disclosure
	maxReceipts = shuffle.MaxCards + audit.MaxReveals + 5 + audit.MaxTakeovers
	maxOpening  = 12   // hashes of a path in a tree of 4,096 leaves
	maxKeys     = 1024 // signing keys after the genesis's
)

// transcript is a transcript under judgement. evidence.receipts, placed and the
// entries below stand in the order of the file.
type transcript struct {
	evidence
	data   []byte
	file   *openings.Transcript
	opened []Opened // file.Cards, and what was not played behind them
	placed []rules.Placed
	stated []openings.SignedStatement // of file.Statements

	mix    *audit.Mix // nil: none
	deals  []*audit.Deal
	ending        // close and disclosure
	owner  string // identity, by the entries so far

	round uint64 // of the beacon, whose signature holds; 0: there is none, or it was not checked

	means   *terms.Document // of the file, that the step terms holds; nil: none
	reveals []*audit.Reveal
	dealt   []dealt // by place
	ordered
}

// ordered is what the places show, and the co-dealer's order.
type ordered struct {
	bound  Bound
	values []uint32 // the recomputed order; nil: it cannot be recomputed
	second *order   // of the co-dealer; nil: the file has none
}

// ending is how the shuffle ended, as far as the file shows it.
type ending struct {
	closed  *audit.Close           // nil: none
	closing *audit.Foreign         // index and leaf hash of closed
	ended   *audit.DisclosureEntry // what the file says of the tape; nil: the shuffle is open, or was continued
}

// take keeps what a close or disclosure says of the tape, if it ends the shuffle. So many entries of the shuffle stand
// in front of it in the file.
func (e *ending) take(b audit.Body, entries int) error {
	d, ends := audit.DisclosedBy(b)
	if ends {
		e.ended = &d
	}
	if d.Entries != entries {
		return fmt.Errorf("its %s counts %d entries of the shuffle, not %d as in the file", b.Type(), d.Entries, entries)
	}
	return nil
}

// lost reports whether the file says that the tape is lost.
func (e *ending) lost() bool { return e.ended != nil && e.ended.Form == audit.FormNone }

// dealt is a place that was dealt.
type dealt struct {
	audit.Run      // that it was dealt in
	revealed  bool // a reveal made it public
}

// open reports whether everybody may see the place.
func (d dealt) open() bool { return d.Public || d.revealed }

// format takes the file apart: the JSON first, then the texts in it, in their order
// (docs/SPEC.md section 8). Sizes and counts come before what they bound.
func (t *transcript) format() (string, error) {
	var err error
	if t.file, err = openings.ParseTranscript(t.data); err != nil {
		return "", err
	}
	f := t.file
	if len(f.Receipts) < 2 || len(f.Receipts) > maxReceipts || len(f.Cards) > shuffle.MaxCards ||
		len(f.Deck) > shuffle.MaxCards || len(f.Terms) > terms.MaxDocument || len(f.Keys) > maxKeys ||
		len(f.Statements) > openings.MaxStatements || f.ID == 0 || f.ID > audit.MaxInteger {
		return "",
			malformed("transcript: too few or too many receipts, cards, keys or statements, or an id out of range")
	}
	if f.Recipient != "" {
		if err := audit.CheckName(f.Recipient); err != nil {
			return "", malformed("recipient: %s", err)
		}
	}
	t.v.ID, t.v.Recipient = f.ID, f.Recipient
	if err := errors.Join(t.parseCards(), t.boundHeads()); err != nil {
		return "", err
	}
	if err := t.under([]byte(f.Checkpoint)); err != nil {
		return "", err
	}
	for i, text := range f.Receipts {
		r, err := parseBare(text)
		if err != nil {
			return "", fmt.Errorf("receipt %d: %w", i, err)
		}
		t.receipts = append(t.receipts, r)
	}
	if w := f.Witnessed; w != nil {
		t.early = &prefix{signed: []byte(w.Checkpoint), Last: w.Last}
		if t.early.head, err = checkpointIn(t.early.signed, t.head.Origin); err != nil {
			return "", fmt.Errorf("witnessed: %w", err)
		}
	}
	if t.keys, err = parseHandovers(f.Keys, t.head.Origin); err != nil {
		return "", err
	}
	return many(len(f.Receipts), "receipt", "receipts") + ", " + many(len(f.Cards), "card", "cards"),
		cmp.Or(t.parseStatements(), t.parseCoDealer())
}

// parseBare reads a receipt under a checkpoint that the transcript holds elsewhere.
func parseBare(text string) (audit.Receipt, error) {
	r, err := audit.ParseReceipt(text)
	if err == nil && len(r.Checkpoint) > 0 {
		err = malformed("receipt: with a checkpoint of its own, where the transcript holds that of all")
	}
	return r, err
}

func (t *transcript) parseCards() error {
	cards := t.file.Cards
	if t.file.CoDealer != nil {
		if len(t.file.CoDealer.Unplayed) > audit.MaxBlindPlaces {
			return malformed("co_dealer: %d places were not played, at most %d", len(t.file.CoDealer.Unplayed),
				audit.MaxBlindPlaces)
		}
		cards = slices.Concat(cards, t.file.CoDealer.Unplayed)
	}
	for _, c := range cards {
		if c.Place < 0 || c.Place >= shuffle.MaxCards || c.Position < 0 || c.Position >= shuffle.MaxCards {
			return malformed("card: place %d shows position %d, where both are 0 to %d", c.Place, c.Position,
				shuffle.MaxCards-1)
		}
		if len(c.Proof) > maxOpening || c.By != nil && len(c.By.Proof) > maxOpening {
			return malformed("card: more than %d hashes in a proof of place %d", maxOpening, c.Place)
		}
		o, err := ReadCard(c)
		if err != nil {
			return err
		}
		t.opened = append(t.opened, o)
	}
	return nil
}

// entries parses every entry and holds their sequence against section 8.
func (t *transcript) entries() (string, error) {
	for i, r := range t.receipts {
		e, passed, err := audit.ParseEntryCodes(r.Entry)
		if err != nil {
			return "", fmt.Errorf("entry %d: %w", r.Index, err)
		}
		if i > 0 && r.Index <= t.receipts[i-1].Index {
			return "", fmt.Errorf("entry %d stands behind entry %d", r.Index, t.receipts[i-1].Index)
		}
		t.v.passOver(r.Index, passed)
		t.placed = append(t.placed, rules.Placed{Index: r.Index, Entry: e})
		if err := t.take(i, r.Index, e); err != nil {
			return "", err
		}
	}
	if err := handoverEntries(t.keys); err != nil { // in the order of the file (docs/SPEC.md sections 1.4, 8)
		return "", err
	}
	said := fmt.Sprintf("shuffle %d: %s, %s", t.file.ID, many(len(t.deals), "deal", "deals"), t.v.State)
	return said, t.orderEntries()
}

// many writes a number of things, with one word for one and another for more.
func many[T int | uint64](n T, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// take puts the i-th entry in its place: genesis, commit, at most one mix, deals and
// takeovers, at most one close, of one that was continued at most one disclosure.
func (t *transcript) take(i int, index uint64, e audit.Entry) error {
	switch of, shuffle := e.Body.Type(), audit.ShuffleOf(e.Body); {
	case of == audit.TypeGenesis || of == audit.TypeCommit:
	case i < 2:
		return fmt.Errorf("entry %d is receipt %d, where genesis and commit come first", index, i)
	case shuffle != t.file.ID: // other entries are of shuffle 0
		return fmt.Errorf("entry %d is of shuffle %d, not %d", index, shuffle, t.file.ID)
	case t.closed != nil && of != audit.TypeReveal && of != audit.TypeDisclosure:
		return fmt.Errorf("entry %d, of type %s, stands behind the close", index, of)
	}
	switch b := e.Body.(type) {
	case *audit.Genesis:
		if index != 0 { // so it is the first receipt: indexes ascend
			return fmt.Errorf("a genesis at entry %d", index)
		}
		t.genesis = b
	case *audit.Commit:
		if i != 1 || index != t.file.ID {
			return fmt.Errorf("a commit at entry %d, as receipt %d, where shuffle %d is meant", index, i, t.file.ID)
		}
		t.commit, t.bound = b, NewBound(b)
		t.v.showCommit(index, b, e.Time)
		t.v.Owner, t.owner = e.Actor.Identity, e.Actor.Identity
		t.v.State = "open"
	case *audit.Mix:
		if t.mix != nil || len(t.deals) > 0 {
			return fmt.Errorf("entry %d is a second mix, or one after a deal", index)
		}
		t.mix = b
	case *audit.Deal:
		// Without its mix a deal cannot be judged; whether one was written is not for this file to say.
		if len(t.commit.Context.Mixed()) > 0 && t.mix == nil {
			return fmt.Errorf("entry %d is a deal, the commit has a mix plan, and the mix is missing", index)
		}
		t.deals = append(t.deals, b)
	case *audit.Takeover:
		t.takeOver(index, e, b)
	case *audit.Reveal:
		if t.closed != nil && t.closed.Outcome != audit.OutcomeContinued || t.ended != nil {
			return fmt.Errorf("entry %d is a reveal after the close", index)
		}
		t.reveals = append(t.reveals, b)
	case *audit.Close:
		t.closed, t.closing = b, &audit.Foreign{Index: index, Leaf: tlog.RecordHash(t.receipts[i].Entry)}
		t.v.showClose(b, e.Time)
		return t.ending.take(b, i-1)
	case *audit.DisclosureEntry:
		if t.closed == nil || t.ended != nil {
			return fmt.Errorf("entry %d is a disclosure, and no close as continued waits for one", index)
		}
		t.v.State = "closed"
		return t.ending.take(b, i-1)
	}
	return nil
}

// takeOver notes another owner. Whether that was legal shows in the step legality.
func (t *transcript) takeOver(index uint64, e audit.Entry, b *audit.Takeover) {
	place := 0
	if n := len(t.deals); n > 0 {
		place = t.deals[n-1].First + t.deals[n-1].Count()
	}
	t.v.Takeovers = append(t.v.Takeovers, Takeover{
		Index: index, Time: timestamp(e.Time), Identity: e.Actor.Identity, Credential: e.Actor.Credential,
		From: t.owner, Place: place, Extent: b.Extent.String(), Reason: b.Reason,
	})
	t.owner = e.Actor.Identity
}

// witnesses asks for the quorum on both checkpoints. The early one gives the level, if it can hold
// nothing of this shuffle except its commit.
func (t *transcript) witnesses() (string, error) {
	if err := quorum(t.trust.Policy, t.signed); err != nil {
		return "", err
	}
	if t.early == nil {
		return "the quorum cosigned this checkpoint; that it saw the commit before the first card is not in the file, so the level stays recorded", nil
	}
	complete, met := t.trust.Policy.CompleteAt(t.early.signed)
	if !met {
		// Witnesses change, and readers differ: no fault of the file's.
		return "the quorum cosigned this checkpoint, and not the early one, so the level stays recorded", nil
	}
	size := t.early.head.Size
	plays := func(p rules.Placed) bool {
		return p.Entry.Body.Type() == audit.TypeMix || p.Entry.Body.Type() == audit.TypeDeal
	}
	if i := slices.IndexFunc(t.placed, plays); i >= 0 {
		first := t.placed[i]
		if size > first.Index {
			return fmt.Sprintf("the quorum cosigned the commit at %d entries, and entry %d had begun the play: too late, so the level stays recorded",
				size, first.Index), nil
		}
		if late := trust.SecondsLate(complete, first.Entry.Time); late > 0 {
			return fmt.Sprintf("the quorum cosigned the commit at %d entries, and the witnesses saw it %d s after the %s: too late, so the level stays recorded",
				size, late, first.Entry.Body.Type()), nil
		}
	}
	t.seen = t.early.signed
	return fmt.Sprintf("the quorum cosigned the commit at %d entries, before the first mix or deal", size), nil
}

func (t *transcript) origin() (string, error) {
	g, c := t.genesis, t.commit.Context
	if err := errors.Join(t.ofLedger(g.Type(), g.Origin), t.ofLedger(t.commit.Type(), c.Origin)); err != nil {
		return "", err
	}
	if c.Genesis != sha256.Sum256(t.receipts[0].Entry) {
		return "", errors.New("the commit names another genesis: it is of another ledger of this origin")
	}
	if g.Production != c.Production {
		return "", fmt.Errorf("production is %t in the genesis and %t in the commit", g.Production, c.Production)
	}
	if !g.Production {
		return g.Origin + ", a sandbox", nil
	}
	return g.Origin, nil
}

func (t *transcript) legality() (string, error) {
	if err := rules.CheckShuffle(t.placed); err != nil {
		return "", err
	}
	// No earlier: until now the deals might have claimed any number of places.
	goesOn := t.ended == nil || t.closed.Outcome == audit.OutcomeContinued
	for _, d := range t.deals {
		for _, r := range d.Places() {
			t.dealt = append(t.dealt, dealt{Run: r})
			t.v.LastRound, t.v.LastGoesOn = r.Round, r.Round > 0 && goesOn
		}
	}
	t.v.Next = len(t.dealt)
	for _, r := range t.reveals {
		for _, place := range r.Places {
			t.dealt[place].revealed = true
		}
	}
	for _, d := range t.dealt {
		if d.open() {
			t.v.Shown++
		}
	}
	return "as far as this shuffle's own entries show", nil
}

func (t *transcript) deck() (string, error) {
	ctx := t.commit.Context
	deck, err := shuffle.NewDeck(t.file.Deck)
	switch {
	case ctx.IsDraw() && t.file.Deck != nil:
		return "", errors.New("a deck with draws")
	case ctx.IsDraw():
	case err != nil:
		return "", err
	case deck.Hash() != ctx.DeckHash:
		return "", errors.New("the deck's hash is not the one committed to")
	case ctx.Parent == nil && deck.Len() != ctx.Recipe.Cards:
		return "", fmt.Errorf("a deck of %d cards where %d were shuffled", deck.Len(), ctx.Recipe.Cards)
	default:
		t.bound.Names = deck
	}
	t.v.Shuffled = shuffled(ctx, deck)
	what := t.v.Shuffled.Kind
	if n := ctx.Recipe.Cards; n > 0 {
		what = many(n, "card", "cards") + " of " + cmp.Or(t.v.Shuffled.Deck, "no published deck")
	}
	named, asked := shuffle.Named(t.trust.given.Deck)
	if asked && (named.Hash() != ctx.DeckHash || ctx.Parent != nil) {
		return "", fmt.Errorf("%s, and not the whole of %s", what, named.Name())
	}
	return what, nil
}

// commitLeaf is the leaf hash of the commit entry, which a mix seed covers.
func (t *transcript) commitLeaf() tlog.Hash { return tlog.RecordHash(t.receipts[1].Entry) }

// conclude gives the verdict, and the cards if they hold.
func (t *transcript) conclude(held bool) {
	t.evidence.conclude(held)
	if held {
		t.dealtOn()
		t.v.Blind, t.v.NotBlind = t.blind()
		t.v.Cards = t.shown()
		t.raise()
		t.winner()
	}
}
