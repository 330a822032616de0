// Package follow turns the entries of a ledger into events, for consoles and back ends that follow over the API. An
// event says what its entry says, without cards, openings, tapes and reasons that people wrote.
//
// The entries are the queue. A follower is an index of the ledger: it costs a fixed amount of memory however far behind
// it is, it misses nothing while it is away, and it goes on from its index at any daemon of the ledger. No deal waits
// for a follower: entries are read after they are durable, over the connections of readers.
package follow

import (
	"encoding/base64"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"shuffled/internal/audit"
	"shuffled/internal/audit/rules"
	"shuffled/internal/shuffle"
)

// The types of events. An event without an entry has no index, and a follower that comes back is told it again.
const (
	Committed   = "committed"
	Mixed       = "mixed"
	Dealt       = "dealt"
	Revealed    = "revealed"
	Disclosed   = "disclosed"
	Closed      = "closed"
	Expired     = "expired" // closed by the daemon, after its close-by
	Takeover    = "takeover"
	Latch       = "latch"
	Kill        = "kill"
	Table       = "table"
	ClosingSoon = "closing_soon" // no entry: close-by is near
	Witnessed   = "witnessed"    // no entry: the quorum has cosigned more
)

// Event is one thing that happened. Members that do not belong to its type are absent.
type Event struct {
	Index    *uint64  `json:"index,omitzero"` // of the entry; nil for an event that has none
	Type     string   `json:"type"`
	Time     string   `json:"time"` // of the entry, else of the event: RFC 3339 in UTC
	Table    string   `json:"table,omitzero"`
	Shuffle  *uint64  `json:"shuffle,omitzero"`
	Identity string   `json:"identity,omitzero"` // that caused it
	Serial   uint64   `json:"serial,omitzero"`
	Draws    bool     `json:"draws,omitzero"` // committed: values, not cards
	GameRef  string   `json:"game_ref,omitzero"`
	Parent   *uint64  `json:"parent,omitzero"`
	CloseBy  string   `json:"close_by,omitzero"`  // committed, closing_soon
	First    *int     `json:"first,omitzero"`     // dealt
	Count    int      `json:"count,omitzero"`     // dealt
	Places   []uint16 `json:"places,omitzero"`    // revealed
	Outcome  string   `json:"outcome,omitzero"`   // closed, expired
	Reason   string   `json:"reason,omitzero"`    // of a void shuffle
	Extent   string   `json:"extent,omitzero"`    // takeover
	Action   string   `json:"action,omitzero"`    // latch, kill: set or clear; table: open or close
	Scope    string   `json:"scope,omitzero"`     // kill
	DeckHash string   `json:"deck_hash,omitzero"` // kill, committed
	Deck     string   `json:"deck,omitzero"`      // committed: the first published name
	Size     uint64   `json:"size,omitzero"`      // witnessed: entries below it are

	closeBy int64
	text    []byte // JSON, made once for all followers; nil for an event that has no entry
}

// JSON returns the event as it is sent. The caller does not change it.
func (e *Event) JSON() []byte {
	if e.text != nil {
		return e.text
	}
	text, err := json.Marshal(e)
	if err != nil {
		panic(err) // a struct of strings and numbers
	}
	return text
}

// Timestamp is a time in UTC milliseconds as events show it.
func Timestamp(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }

// of returns the event of an entry; ok is false for an entry that has none. The function
// tables returns the table of a shuffle.
func of(p rules.Placed, tables func(id uint64) (string, error)) (e Event, ok bool, err error) {
	e = Event{Index: &p.Index, Time: Timestamp(p.Entry.Time), Identity: p.Entry.Actor.Identity}
	shuffle := func(kind string, id uint64) {
		e.Type, e.Shuffle = kind, &id
		e.Table, err = tables(id)
	}
	switch b := p.Entry.Body.(type) {
	case *audit.Commit:
		e.Type, e.Shuffle, e.Table, e.Serial = Committed, &p.Index, b.Context.Table, b.Serial
		e.Draws, e.GameRef, e.closeBy = b.Context.IsDraw(), b.GameRef, b.CloseBy
		e.CloseBy = Timestamp(b.CloseBy)
		e.shuffled(b.Context)
		if b.Context.Parent != nil {
			e.Parent = &b.Context.Parent.ID
		}
	case *audit.Mix:
		shuffle(Mixed, b.Shuffle)
	case *audit.Deal:
		shuffle(Dealt, b.Shuffle)
		e.First, e.Count = &b.First, b.Count()
	case *audit.Reveal:
		shuffle(Revealed, b.Shuffle)
		e.Places = b.Places
	case *audit.Close:
		shuffle(Closed, b.Shuffle)
		if e.Outcome = b.Outcome.String(); b.Outcome == audit.OutcomeExpired {
			e.Type = Expired
		}
		if b.Reason != audit.ReasonNone {
			e.Reason = b.Reason.String()
		}
	case *audit.DisclosureEntry:
		shuffle(Disclosed, b.Shuffle)
	case *audit.Takeover:
		shuffle(Takeover, b.Shuffle)
		e.Extent = b.Extent.String()
	case *audit.Event:
		e.happened(b)
	}
	return e, e.Type != "", err
}

// happened adds what an event entry says.
func (e *Event) happened(b *audit.Event) {
	kind, action, _ := strings.Cut(b.Kind.String(), "_") // such as latch_set
	if kind != Latch && kind != Kill && kind != Table {
		return
	}
	e.Type, e.Action, e.Table = kind, action, b.Name
	if kind == Kill {
		e.Scope = b.Scope.String()
	}
	if b.Scope == audit.ScopeDeck {
		e.DeckHash = base64.StdEncoding.EncodeToString(b.Deck[:])
	}
}

// shuffled names the deck of a commit of cards.
func (e *Event) shuffled(c *audit.Context) {
	if deck, _ := shuffle.Published(c.DeckHash); !c.IsDraw() {
		e.Deck, e.DeckHash = deck.Name(), base64.StdEncoding.EncodeToString(c.DeckHash[:])
	}
}
