package inspect

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/disclosure"
)

// workVersion changes with the form of the file of progress.
const workVersion = 6

// work is the directory of a check: the file of what was seen, and, when the
// check can be resumed, how far it has come. It belongs to the fold.
type work struct {
	dir      string
	resume   bool
	every    int           // chunks between two saves, 0: by the clock
	identity string        // of the check
	saved    time.Time     // when it was last saved
	took     time.Duration // and how long that took
}

const (
	saveInterval = 250 * time.Millisecond
	progressFile = "progress.json"
)

// openWork makes the directory, a temporary one if none was asked for.
func (r *run) openWork() (*work, error) {
	w := &work{dir: r.opts.Work, resume: r.opts.Work != "", every: r.opts.saveEvery, identity: r.identity(), saved: time.Now()}
	var err error
	if w.resume {
		err = os.MkdirAll(w.dir, 0o755)
	} else {
		w.dir, err = os.MkdirTemp("", "shuffled-audit-")
	}
	if err != nil {
		return nil, fmt.Errorf("making the work directory: %w", err)
	}
	return w, nil
}

// close removes what is not needed to go on later.
func (w *work) close(done bool) error {
	if !w.resume {
		return os.RemoveAll(w.dir)
	}
	if !done {
		return nil
	}
	for _, name := range []string{progressFile, seenFile} {
		if err := os.Remove(filepath.Join(w.dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("clearing the work directory: %w", err)
		}
	}
	// Whatever else is in it is not ours.
	if err := os.Remove(w.dir); err != nil && !errors.Is(err, os.ErrExist) && !notEmpty(w.dir) {
		return fmt.Errorf("clearing the work directory: %w", err)
	}
	return nil
}

func notEmpty(dir string) bool {
	files, err := os.ReadDir(dir)
	return err == nil && len(files) > 0
}

// due reports whether to save after chunk n. A save never takes more than a
// twentieth of the time.
func (w *work) due(n uint64) bool {
	switch {
	case !w.resume:
		return false
	case w.every > 0:
		return (n+1)%uint64(w.every) == 0
	}
	return time.Since(w.saved) > max(saveInterval, 20*w.took)
}

// saved is the state of a check between two chunks, all work collected.
type saved struct {
	Version   int                          `json:"version"`
	Identity  string                       `json:"identity"`
	State     []byte                       `json:"state"`
	Chunks    int64                        `json:"chunks"`
	Nodes     map[int64]tlog.Hash          `json:"nodes"`
	Tiles     [][]byte                     `json:"tiles"`
	Broken    bool                         `json:"broken"`
	Lost      lostEntries                  `json:"lost"`
	Live      map[uint64]*live             `json:"live"`
	Lineages  map[uint64]savedLineage      `json:"lineages"`
	Parents   map[uint64]uint64            `json:"parents"` // of live children
	Tables    map[string]*Counts           `json:"tables"`
	Types     map[string]uint64            `json:"types"`
	Times     [2]int64                     `json:"times"`
	Before    [2]uint64                    `json:"before"`
	Governing string                       `json:"governing"`
	Waiting   string                       `json:"waiting"`
	Deckless  uint64                       `json:"deckless"`
	Faults    findings                     `json:"faults"`
	Unknown   []string                     `json:"unknown"`
	Notes     []string                     `json:"notes"`
	Events    []EventLine                  `json:"events"`
	Conduct   conduct                      `json:"conduct"`
	Keys      []savedEntry                 `json:"keys"`
	Changes   []policyCall                 `json:"changes"`
	Pending   bool                         `json:"pending"`
	Cosigned  savedSizes                   `json:"cosigned"`
	Diverged  *divergence                  `json:"diverged"`
	NoDeck    [][32]byte                   `json:"no_deck"`
	Witnesses Witnesses                    `json:"witnesses"`
	Trusted   bool                         `json:"trusted"`
	Unsigned  bool                         `json:"unsigned"`
	Unsure    bool                         `json:"unsure"`
	Shuffles  uint64                       `json:"shuffles"`
	Seen      int64                        `json:"seen"`
	Lines     int64                        `json:"lines"`
	Results   findings                     `json:"results"`
	Tapes     map[string]map[string]uint64 `json:"tapes"`
	Rounds    map[uint64]int64             `json:"rounds"`

	Mixed map[string]uint64 `json:"mixed"`
	// Sightings are the fold's.
	Sightings []sighting `json:"sightings"`
}

type savedLineage struct {
	Sent   bool     `json:"sent"`
	Values []uint32 `json:"values"`
}

type savedEntry struct {
	Index uint64 `json:"index"`
	Entry []byte `json:"entry"`
}

type savedSizes struct {
	Recent     []uint64 `json:"recent"`
	Dropped    bool     `json:"dropped"`
	Broken     bool     `json:"broken"`
	Named      bool     `json:"named"`
	Spoilt     int      `json:"spoilt"`
	Excused    []uint64 `json:"excused"`
	Pinned     uint64   `json:"pinned"`
	EverPinned uint64   `json:"ever_pinned"`
}

// save writes the state of the check, after f.sync. What it refers to is durable
// before it is.
func (w *work) save(f *fold, c *collector) error {
	began := time.Now()
	if err := errors.Join(f.seen.flush(), c.out.flush()); err != nil {
		return err
	}
	s := saved{
		Version: workVersion, Identity: w.identity, State: f.state.Encode(),
		Chunks: f.edge.chunks, Nodes: f.edge.nodes, Tiles: f.edge.tiles, Broken: f.broken, Lost: f.lost,
		Live: f.live, Lineages: make(map[uint64]savedLineage), Parents: make(map[uint64]uint64),
		Tables: f.tables, Types: f.types, Times: f.times, Before: f.before, Governing: f.governing, Waiting: f.waiting, Deckless: f.deckless,
		Faults: f.faults, Unknown: f.unknown, Notes: f.notes, Events: f.events, Conduct: f.conduct,
		Changes: f.changes, Pending: f.pending,
		Cosigned: savedSizes{f.cosigned.recent, f.cosigned.dropped, f.cosigned.broken, f.cosigned.named, f.cosigned.spoilt, f.cosigned.excused,
			f.cosigned.pinned, f.cosigned.everPinned},
		Diverged: f.diverged, Witnesses: f.witnesses, Trusted: f.trusted, Unsigned: f.unsigned, Unsure: f.unsure,
		Shuffles: f.shuffles, Seen: f.seen.offset, Results: c.faults, Tapes: c.tapes,
		Rounds: f.rounds, Mixed: c.mixed, Sightings: f.sightings,
	}
	if c.out != nil {
		s.Lines = c.out.offset
	}
	for hash := range f.noDeck {
		s.NoDeck = append(s.NoDeck, hash)
	}
	for _, k := range f.keys {
		b, err := k.Entry.Encode()
		if err != nil {
			return fmt.Errorf("saving progress: %w", err)
		}
		s.Keys = append(s.Keys, savedEntry{k.Index, b})
	}
	for id, l := range f.live {
		for _, x := range []*lineage{l.parent, l.self} {
			if x != nil {
				s.Lineages[x.id] = savedLineage{x.sent, x.known()}
			}
		}
		if l.parent != nil {
			s.Parents[id] = l.parent.id
		}
	}
	b, err := json.Marshal(s)
	if err == nil {
		err = w.write(b)
	}
	if err != nil {
		return fmt.Errorf("saving progress: %w", err)
	}
	w.saved, w.took = time.Now(), time.Since(began)
	return nil
}

// known returns the values of a parent that was recomputed. It is called when
// all work is collected.
func (l *lineage) known() []uint32 {
	if !l.sent {
		return nil
	}
	<-l.done
	return l.values
}

// write replaces the file of progress, or leaves the old one.
func (w *work) write(b []byte) error {
	f, err := os.CreateTemp(w.dir, progressFile+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), filepath.Join(w.dir, progressFile))
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// restore returns where an interrupted check was, or a beginning: when there is
// none, when it was of something else, or when it cannot be read.
func (w *work) restore(r *run) (*fold, *collector, error) {
	if w.resume {
		if b, err := os.ReadFile(filepath.Join(w.dir, progressFile)); err == nil {
			var s saved
			if json.Unmarshal(b, &s) == nil && s.Version == workVersion && s.Identity == w.identity {
				if f, c, err := w.resumed(r, &s); err == nil {
					return f, c, nil
				}
			}
		} else if !errors.Is(err, os.ErrNotExist) {
			return nil, nil, fmt.Errorf("reading progress: %w", err)
		}
	}
	return w.begin(r)
}

func (w *work) begin(r *run) (*fold, *collector, error) {
	f := &fold{run: r, state: audit.NewState(), edge: newEdge(), live: make(map[uint64]*live), rounds: make(map[uint64]int64), checks: make(map[light]*roundCheck), tables: make(map[string]*Counts),
		types: make(map[string]uint64), openers: make(map[uint64]*disclosure.Opener), policies: &audit.Policies{},
		noDeck: make(map[[32]byte]bool), conduct: conduct{Paces: make(map[string]*pace)}}
	c := newCollector()
	var err error
	if f.cosigned.everPinned, err = r.everPinned(r.ctx); err != nil {
		return nil, nil, err
	}
	return f, c, w.attach(f, c, 0, 0)
}

// attach opens the files of a check at their offsets.
func (w *work) attach(f *fold, c *collector, seenAt, linesAt int64) (err error) {
	if f.seen, err = openSeen(w.dir, seenAt); err != nil {
		return err
	}
	if f.opts.Shuffles != "" {
		if c.out, err = openLines(f.opts.Shuffles, linesAt); err != nil {
			return errors.Join(err, f.seen.close())
		}
	}
	f.publish()
	f.edge.full = f.fullTile
	return nil
}

func (w *work) resumed(r *run, s *saved) (*fold, *collector, error) {
	f := &fold{run: r, edge: newEdge(), broken: s.Broken, lost: s.Lost, live: s.Live, rounds: s.Rounds, sightings: s.Sightings, checks: make(map[light]*roundCheck), tables: s.Tables, types: s.Types,
		times: s.Times, before: s.Before, governing: s.Governing, waiting: s.Waiting, deckless: s.Deckless,
		faults: s.Faults, unknown: s.Unknown, notes: s.Notes, events: s.Events, conduct: s.Conduct, changes: s.Changes, pending: s.Pending,
		openers: make(map[uint64]*disclosure.Opener), diverged: s.Diverged, witnesses: s.Witnesses,
		trusted: s.Trusted, unsigned: s.Unsigned, unsure: s.Unsure, shuffles: s.Shuffles, noDeck: make(map[[32]byte]bool),
		cosigned: cosignedSizes{s.Cosigned.Recent, s.Cosigned.Dropped, s.Cosigned.Broken, s.Cosigned.Named,
			s.Cosigned.Spoilt, s.Cosigned.Excused, s.Cosigned.Pinned, s.Cosigned.EverPinned}}
	f.edge.chunks, f.edge.nodes, f.edge.tiles = s.Chunks, s.Nodes, s.Tiles
	var err error
	if f.state, err = audit.ParseState(s.State); err != nil {
		return nil, nil, err
	}
	if f.policies, err = rebuild(s.Changes); err != nil {
		return nil, nil, err
	}
	for _, hash := range s.NoDeck {
		f.noDeck[hash] = true
	}
	for _, k := range s.Keys {
		e, err := audit.ParseEntry(k.Entry)
		if err != nil {
			return nil, nil, err
		}
		f.keys = append(f.keys, KeyEntry{k.Index, e})
		if b, ok := e.Body.(*audit.Key); ok && b.Subject == audit.SubjectDisclosure {
			f.unwrap(b, k.Index) // what is wrong with it was said
		}
	}
	f.relate(s)
	f.judgePolicy()
	c := &collector{faults: s.Results, tapes: s.Tapes, shuffles: s.Shuffles, mixed: s.Mixed}
	return f, c, w.attach(f, c, s.Seen, s.Lines)
}

// relate gives children and parents their lineages back.
func (f *fold) relate(s *saved) {
	all := make(map[uint64]*lineage)
	for id, x := range s.Lineages {
		all[id] = newLineage(id)
		all[id].sent, all[id].values = x.Sent, x.Values
		if x.Sent {
			close(all[id].done)
		}
		if l := f.live[id]; l != nil {
			l.self = all[id]
		}
	}
	for child, parent := range s.Parents {
		if l := f.live[child]; l != nil {
			l.parent = all[parent]
		}
	}
}
