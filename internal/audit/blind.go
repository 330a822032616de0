package audit

import (
	"bytes"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"unicode"
	"unicode/utf8"

	"golang.org/x/mod/sumdb/tlog"
)

// The extensions of deals and closes that tie the shuffles of two ledgers together (docs/BLIND.md).
const (
	dealAsked    = 1
	dealBlind    = 2
	closeBlind   = 1
	closeFollows = 2
)

// MaxBlindPlaces is how many places a deal with a co-dealer has at most.
const MaxBlindPlaces = 64

// Foreign is an entry of another ledger.
type Foreign struct {
	Index uint64
	Leaf  [32]byte // its leaf hash
}

func (f *Foreign) fields(k *coder) {
	k.u64("index in the other ledger", &f.Index)
	k.hash("leaf hash in the other ledger", &f.Leaf)
}

// Head is the size and root of a checkpoint of another ledger.
type Head struct {
	Size uint64
	Root [32]byte
}

func (h *Head) fields(k *coder) {
	k.u64("size of the other ledger", &h.Size)
	k.hash("root of the other ledger", &h.Root)
}

// Asked is what a house asked a co-dealer for: it stands in the co-dealer's deal, next to the
// runs (docs/SPEC.md section 5.5).
type Asked struct {
	Commit Foreign  // the commit of the house's shuffle
	After  [32]byte // leaf hash of its mix, of its deal before, or of its commit
	Head   Head     // of the house's ledger, which covers both
	State  [32]byte // StateHash of the game's history, or zeros
	Ask    [ed25519.SignatureSize]byte
}

func (a *Asked) fields(k *coder) {
	a.Commit.fields(k)
	k.hash("entry before", &a.After)
	a.Head.fields(k)
	k.hash("state", &a.State)
	k.raw("ask", a.Ask[:])
}

// Blind is what a co-dealer gave: it stands in the house's deal, and in its close.
type Blind struct {
	Deal   Foreign  // the co-dealer's deal; in a close the one that was not played, zeros for none
	Head   Head     // of the co-dealer's ledger, which covers the deal; in a close the newest that the shuffle has
	Values []uint32 // of the places that are not aside; in a close all of them or none
}

func (b *Blind) fields(k *coder) {
	b.Deal.fields(k)
	b.Head.fields(k)
	n := k.count16("values", len(b.Values))
	k.within("values", n, 0, MaxBlindPlaces, "at most %d")
	if b.Deal.Index == 0 && (b.Deal.Leaf != [32]byte{} || n > 0) {
		k.fail("leaf hash in the other ledger", "entry 0 stands for no deal, with zeros and without values")
	}
	list(k, n, &b.Values, func(v, _ *uint32) { k.u32("value", v) })
}

// Limits of a game's history.
const (
	MaxHistory      = 65_536
	maxHistoryLines = 1_024
	maxHistoryLine  = 1_024
)

// CheckHistory returns why a text cannot be the history of a game (docs/SPEC-BLIND.md section 3).
func CheckHistory(text []byte) error {
	if len(text) > MaxHistory || bytes.Count(text, []byte("\n")) > maxHistoryLines {
		return fmt.Errorf("a history has at most %d bytes and %d lines", MaxHistory, maxHistoryLines)
	}
	if len(text) > 0 && text[len(text)-1] != '\n' || !utf8.Valid(text) {
		return errors.New("a history is UTF-8, and ends in a newline")
	}
	for line := range bytes.Lines(text) {
		if n := len(line) - 1; n < 1 || n > maxHistoryLine || bytes.ContainsFunc(line[:n], unicode.IsControl) {
			return fmt.Errorf("a line of a history has 1 to %d bytes, and no control characters", maxHistoryLine)
		}
	}
	return nil
}

// BehindLine returns after how many lines of a history a request was made, from the state in the
// request. ok is false if no beginning of the history has that state.
func BehindLine(history []byte, state [32]byte) (lines int, ok bool) {
	for end := 0; ; lines++ {
		if StateHash(history[:end]) == state {
			return lines, true
		}
		next := bytes.IndexByte(history[end:], '\n') + 1
		if next == 0 {
			return 0, false
		}
		end += next
	}
}

// StateHash returns the state that a request has of the game's history so far.
func StateHash(history []byte) [32]byte {
	return sha256.Sum256(append([]byte(labelState), history...))
}

// AskKey returns the key under which a house asks for the places of a shuffle: HKDF-SHA-256(salt =
// commitment, input = tape) with its own label. All replicas of a house derive the same key. The
// token of the house at the co-dealer does not give it.
func AskKey(commitment [32]byte, tape []byte) ed25519.PrivateKey {
	seed, err := hkdf.Key(sha256.New, tape, commitment[:], labelAskKey, ed25519.SeedSize)
	if err != nil {
		panic("audit: HKDF-SHA-256 refused a 32-byte output: " + err.Error())
	}
	defer clear(seed)
	return ed25519.NewKeyFromSeed(seed)
}

// AskMessage is what is signed under the ask key: label ‖ the fields of a in front of the
// signature, without the head ‖ first place ‖ runs.
func AskMessage(a *Asked, first int, runs []Run) []byte {
	k := coder{writing: true, b: []byte(labelAsk)}
	a.Commit.fields(&k)
	k.hash("entry before", &a.After)
	k.hash("state", &a.State)
	k.b = binary.BigEndian.AppendUint16(k.b, uint16(first))
	d := Deal{Runs: runs}
	d.runs(&k)
	return k.b
}

// Sign fills in the signature of a request.
func (a *Asked) Sign(key ed25519.PrivateKey, first int, runs []Run) {
	copy(a.Ask[:], ed25519.Sign(key, AskMessage(a, first, runs)))
}

// OrderMargin is the least time, in milliseconds, by which the close-by of an order for another
// ledger is later than that of the shuffle that it is for.
const OrderMargin = 3_600_000

// CheckOrder returns why an order is not for the shuffle of the commit c: it is for another ledger,
// has other positions or ranges, differs in production or disclosure, or closes too early.
func CheckOrder(c, order *Commit) error {
	a, b := c.Context, order.Context
	switch {
	case b.ForLedger != a.Origin:
		return fmt.Errorf("the co-dealer's order is for %q, not for %s", b.ForLedger, a.Origin)
	case b.Production != a.Production || b.Disclosure != a.Disclosure:
		return errors.New("the co-dealer's order differs in production or disclosure")
	case b.Recipe.Cards != a.Recipe.Cards || !slices.Equal(b.Recipe.Ranges, a.Recipe.Ranges): // 0 cards of draws
		return errors.New("the co-dealer's order is of other positions or ranges")
	case order.CloseBy < c.CloseBy+OrderMargin:
		return errors.New("the co-dealer's order closes less than an hour behind the shuffle")
	}
	return nil
}

// SameRequest reports whether both are one request. Their heads may differ: the house may prove the
// same entries again under a newer checkpoint.
func (a *Asked) SameRequest(b *Asked) bool {
	return a != nil && b != nil && a.Commit == b.Commit && a.After == b.After && a.State == b.State && a.Ask == b.Ask
}

// ErrNotAsked reports a request that the holder of the house's tape did not make.
var ErrNotAsked = errors.New("the request is not signed under the ask key of the commit that it names")

// CheckAsked returns why a co-dealer's deal d does not follow the entry with the leaf hash before: the commit, mix or
// deal that stands before this deal in the house's shuffle. commit is the commit of that shuffle, and of its index and
// leaf hash. The error is ErrNotAsked if only the signature is wrong.
func CheckAsked(d *Deal, commit *Commit, of Foreign, before tlog.Hash) error {
	switch a := d.Asked; {
	case a == nil:
		return fmt.Errorf("%w deal: it says nothing of who asked", ErrMalformed)
	case a.Commit != of:
		return fmt.Errorf("the co-dealer's deal is for entry %d of the house's ledger, with another hash or index than %d",
			a.Commit.Index, of.Index)
	case tlog.Hash(a.After) != before:
		return errors.New("the co-dealer's deal does not come behind the entry that stands before this deal")
	case CheckEd25519(commit.AskKey) != nil, !VerifyEd25519(commit.AskKey, AskMessage(a, d.First, d.Runs), a.Ask[:]):
		return ErrNotAsked
	}
	return nil
}

// MayGive refuses a value that a co-dealer cannot give for a place of a house's shuffle: for a draw
// one out of the place's range, for a card a position that the deck does not have or that is among
// those given before (docs/SPEC.md section 9).
func MayGive(c *Context, place int, v uint32, before ...[]uint32) error {
	has := func(given []uint32) bool { return slices.Contains(given, v) }
	m := c.Recipe.Positions()
	switch {
	case c.IsDraw() && (v < 1 || v > c.Recipe.Ranges[place]):
		return fmt.Errorf("the co-dealer's value %d for place %d is 1 to %d", v, place, c.Recipe.Ranges[place])
	case !c.IsDraw() && v >= uint32(m):
		return fmt.Errorf("the co-dealer's position %d for place %d is 0 to %d", v, place, m-1)
	case !c.IsDraw() && slices.ContainsFunc(before, has):
		return fmt.Errorf("the co-dealer gave position %d twice", v)
	}
	return nil
}
