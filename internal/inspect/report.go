package inspect

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
	"shuffled/internal/bundle"
)

// Verdicts on a ledger, in the words of docs/SPEC.md section 10.2.
const (
	Proved      = "proved"       // everything holds under a trusted key
	Consistent  = "consistent"   // everything holds, but no key was trusted
	Failed      = "failed"       // there is a fault
	CannotJudge = "cannot judge" // no fault, but something that this version does not know
)

// Levels of shuffles (docs/SPEC.md section 10.2).
const (
	LevelKeyNotPinned = "key not pinned"
	LevelRecorded     = "recorded"
	LevelWitnessed    = "witnessed"
	LevelMixed        = "mixed" // for everybody, by a beacon; slots show it to their players alone
)

// Results of recomputing a closed shuffle.
const (
	TapeRecomputed = "recomputed"  // tape, commitment, order and deck root agree
	TapeSealed     = "sealed"      // to auditors, and no key that was given opens it
	TapeUnchecked  = "not checked" // its parent's values are not known, or its entries are damaged
	TapeFailed     = "failed"
)

// ReportFormat is the format member of a report.
const ReportFormat = "shuffled/v1/audit"

// Report is what a check found. The same evidence and options give the same report.
type Report struct {
	Format     string `json:"format"`
	Verdict    string `json:"verdict"`
	Origin     string `json:"origin,omitempty"`
	Production bool   `json:"production"`
	Revision   uint16 `json:"revision"`       // of the rules, 0 without a genesis
	Size       uint64 `json:"size"`           // entries that the newest checkpoint covers
	Root       string `json:"root,omitempty"` // base64, recomputed; absent when entries are missing
	VKey       string `json:"vkey,omitempty"` // the signing key in force
	// keys and policies that entries brought, by entry, at most MaxListed
	Keys         []KeyLine         `json:"keys"`
	Policy       string            `json:"policy,omitempty"` // of the ledger; governs its next checkpoint
	Pinned       bool              `json:"pinned"`           // a key was trusted
	Period       Period            `json:"period"`
	Entries      map[string]uint64 `json:"entries"` // by type
	Totals       Counts            `json:"totals"`
	Tables       []TableCounts     `json:"tables"` // by name
	Dealing      Dealing           `json:"dealing"`
	Acts         Acts              `json:"acts"`
	AdoptedHeads []AdoptedHead     `json:"adopted_heads"` // by entry, at most MaxListed
	Credentials  Credentials       `json:"credentials"`
	Passed       []audit.Passed    `json:"passed_over"` // by the first entry
	Witnesses    Witnesses         `json:"witnesses"`
	Tickets      Tickets           `json:"tickets"`
	Open         []OpenShuffle     `json:"open"`   // by id, at most MaxListed of totals.open
	Events       []EventLine       `json:"events"` // of the period, by entry, at most MaxListed
	Findings
	Unknown []string `json:"unknown"` // what cannot be judged, at most MaxListed
	Notes   []string `json:"notes"`   // what was not checked, and why

	keys []trust.KeyRecord // for the audit of a pair
}

// MaxListed bounds each list of a report, except that of faults.
const MaxListed = 10_000

// Period is the time that the figures of a report are about.
type Period struct {
	bundle.Period
	At         string `json:"at,omitempty"` // open shuffles whose close-by has passed then are overdue
	FirstEntry string `json:"first_entry,omitempty"`
	LastEntry  string `json:"last_entry,omitempty"`
}

// Counts are figures about shuffles and draws committed in the period.
type Counts struct {
	Shuffles      uint64            `json:"shuffles"`
	Completed     uint64            `json:"completed"`
	EndedEarly    uint64            `json:"ended_early"`
	Continued     uint64            `json:"continued"`
	Void          uint64            `json:"void"`
	VoidBy        map[string]uint64 `json:"void_by"`   // by reason, also set_aside and not_dealt
	SetAside      map[string]uint64 `json:"set_aside"` // of all, by the identity of the commit
	SetAsideMixed uint64            `json:"set_aside_mixed"`
	Shuffled      map[string]uint64 `json:"shuffled"` // by what; at most MaxListed, and the rest as "others"
	Expired       uint64            `json:"expired"`
	Open          uint64            `json:"open"`
	Overdue       uint64            `json:"overdue"` // of the open ones
	Shares        Shares            `json:"shares"`
	Levels        map[string]uint64 `json:"levels"`
	// of all, those whose places depend on the ledger of a co-dealer, without those that the audit of the pair confirms
	NeedsCoDealer uint64            `json:"needs_co_dealer"`
	Tapes         map[string]uint64 `json:"tapes"` // of the closed ones
}

// Shares are parts of all closed shuffles, from 0 to 1, to four decimals.
type Shares struct {
	Void       float64 `json:"void"`
	Expired    float64 `json:"expired"`
	EndedEarly float64 `json:"ended_early"`
}

// TableCounts are the figures of one table.
type TableCounts struct {
	Table string `json:"table"`
	Counts
}

// Witnesses are figures about cosigned checkpoints.
type Witnesses struct {
	Cosigned uint64 `json:"cosigned"`         // checkpoints; without the ledger's own quorum one is a fault
	Newest   uint64 `json:"newest,omitempty"` // size of the newest
	Pinned   uint64 `json:"pinned"`           // of them, with the quorum of the trusted policy
	// how many witnesses of the trusted policy would have to lie for two histories at the level
	// witnessed (docs/SPEC.md section 7.3, d)
	Overlap  int    `json:"overlap"`
	Policies uint64 `json:"policies"` // that entries of the ledger brought
}

// OpenShuffle is a shuffle that was not closed.
type OpenShuffle struct {
	ID        uint64 `json:"id"`
	Table     string `json:"table"`
	Serial    uint64 `json:"serial"`
	Committed string `json:"committed_at"`
	CloseBy   string `json:"close_by"`
	Dealt     int    `json:"dealt"`
	Places    int    `json:"places"`
	Overdue   bool   `json:"overdue"`
}

// Closed returns how many of them are closed.
func (c Counts) Closed() uint64 { return c.Shuffles - c.Open }

// Witnessed returns how many of them have the level witnessed or a higher one.
func (c Counts) Witnessed() uint64 { return c.Levels[LevelWitnessed] + c.Levels[LevelMixed] }

// share rounds part of whole to four decimals.
func share(part, whole uint64) float64 {
	if whole == 0 {
		return 0
	}
	return math.Round(float64(part)/float64(whole)*10_000) / 10_000
}

// ShuffleLine is a line of the file of shuffles.
type ShuffleLine struct {
	ID        uint64 `json:"id"`
	Table     string `json:"table"`
	Serial    uint64 `json:"serial"`
	Owner     string `json:"owner"` // the identity that committed it
	GameRef   string `json:"game_ref,omitempty"`
	Shuffled  string `json:"shuffled"` // what was shuffled, as the report counts it
	Committed string `json:"committed_at"`
	CloseBy   string `json:"close_by"`
	State     string `json:"state"` // open, overdue or closed
	Closed    string `json:"closed_at,omitempty"`
	Entry     uint64 `json:"close_entry,omitempty"` // index of the close
	Outcome   string `json:"outcome,omitempty"`
	Reason    string `json:"reason,omitempty"`
	Places    int    `json:"places"`
	Dealt     int    `json:"dealt"`
	Level     string `json:"level"`
	Tape      string `json:"tape,omitempty"` // of a closed one
}

// lines writes JSON lines. A nil *lines writes none. Its errors name the file.
type lines struct {
	f    *os.File
	w    *bufio.Writer
	enc  *json.Encoder
	keep func(*ShuffleLine) bool // whether a line is written; nil: each is
}

func openLines(name string, keep func(*ShuffleLine) bool) (*lines, error) {
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	w := bufio.NewWriterSize(f, 1<<16)
	return &lines{f, w, json.NewEncoder(w), keep}, nil
}

func (l *lines) write(line *ShuffleLine) error {
	if l == nil || l.keep != nil && !l.keep(line) {
		return nil
	}
	return l.enc.Encode(line)
}

// close makes what was written durable.
func (l *lines) close() error {
	if l == nil {
		return nil
	}
	return errors.Join(l.w.Flush(), l.f.Sync(), l.f.Close())
}

// sum adds the figures of one struct to those of another of its type: its numbers, and those in its maps by name.
func sum[T any](to, from *T) {
	a, b := reflect.ValueOf(to).Elem(), reflect.ValueOf(from).Elem()
	for i := range a.NumField() {
		switch figure := a.Field(i); figure.Kind() {
		case reflect.Uint64:
			figure.SetUint(figure.Uint() + b.Field(i).Uint())
		case reflect.Map:
			by := figure.Interface().(map[string]uint64)
			for name, n := range b.Field(i).Interface().(map[string]uint64) {
				by[name] += n
			}
		}
	}
}

// EventLine is an event that a reader of the report may ask about: a daemon's start, an alarm, a latch, a kill switch.
type EventLine struct {
	Entry      uint64 `json:"entry"` // index
	Time       string `json:"time"`
	Identity   string `json:"identity"`
	Credential string `json:"credential"`
	Kind       string `json:"kind"`             // as in docs/SPEC.md section 5.8
	Detail     string `json:"detail,omitempty"` // in plain words; may change
}

// note keeps an event of the period, at most MaxListed.
func (f *fold) note(e audit.Entry, index uint64) {
	b, ok := e.Body.(*audit.Event)
	if !ok || len(f.report.Events) == MaxListed || e.Time < f.opts.From || f.opts.To != 0 && e.Time >= f.opts.To {
		return
	}
	if detail, ok := telling(b); ok {
		f.report.Events = append(f.report.Events, EventLine{Entry: index, Time: bundle.FormatTime(e.Time),
			Kind: b.Kind.String(), Detail: detail, Identity: e.Actor.Identity, Credential: e.Actor.Credential})
	}
}

// telling describes an event of a kind that is listed; ok is false for other kinds.
func telling(e *audit.Event) (detail string, ok bool) {
	switch e.Kind {
	case audit.EventInstanceStart:
		fips := ""
		if e.FIPS {
			fips = ", in FIPS 140-3 mode"
		}
		return fmt.Sprintf("version %s, executable %x…%s", e.Name, e.Build[:8], fips), true
	case audit.EventLatchSet:
		return fmt.Sprintf("%s, seen by the daemon of entry %d", e.Latch, e.Instance), true
	case audit.EventLatchClear:
		return e.Reason, true
	case audit.EventAlarm:
		return fmt.Sprintf("%s: %s", e.Alarm, e.Reason), true
	case audit.EventKillSet, audit.EventKillClear:
		what := e.Scope.String()
		switch e.Scope {
		case audit.ScopeTable:
			what += " " + e.Name
		case audit.ScopeDeck:
			what += fmt.Sprintf(" %x…", e.Deck[:8])
		}
		return what + ": " + e.Reason, true
	}
	return "", false
}
