package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/audit/rules"
	"shuffled/internal/audit/trust"
)

// Persons says who approves acts in a ledger, and which acts wait.
type Persons struct {
	Genesis        [32]byte // SHA-256 of the genesis entry
	Newest         uint64   // index of the newest act, 0 for none
	Administrators []audit.Administrator
	TwoPersons     []audit.Act // that need two of them
	Delay          uint32      // seconds until an act of one takes effect
	Waiting        []rules.WaitingAct
	Head           Head // that an act may name
}

// Persons returns them as of the store's newest entry.
func (l *Core) Persons(ctx context.Context) (p Persons, err error) {
	if err := l.Refresh(ctx); err != nil {
		return p, err
	}
	err = l.Ask(ctx, func() { p = PersonsOf(l.memory.State, l.memory.Head) })
	return p, err
}

// PersonsOf returns the persons of a state, of which head is the head.
func PersonsOf(s *rules.State, head Head) Persons {
	p := Persons{Genesis: s.GenesisHash(), Newest: s.NewestAct(), Administrators: s.Administrators(),
		Waiting: s.WaitingActs(), Head: head}
	p.TwoPersons, p.Delay = s.TwoPersons()
	return p
}

// ReadState folds a stored ledger and returns its state with the head and the genesis entry. A daemon may be writing
// the ledger. ReadState reads every entry and checks no signature. ErrNotFound: there is no ledger of this name.
func ReadState(ctx context.Context, store Store, name string) (state *rules.State, head Head, genesis []byte,
	err error) {
	infos, err := store.Ledgers(ctx)
	if err != nil {
		return nil, head, nil, fmt.Errorf("listing ledgers: %w", err)
	}
	at := slices.IndexFunc(infos, func(i Info) bool { return i.Name == name })
	if at < 0 {
		return nil, head, nil, ErrNotFound
	}
	id := IDOf(infos[at].Origin)
	state = rules.NewState()
	if head, err = store.Head(ctx, id); err != nil {
		return nil, head, nil, fmt.Errorf("reading the head: %w", err)
	}
	for row, err := range store.Rows(ctx, id, 0, head.Size) {
		if err != nil {
			return nil, head, nil, fmt.Errorf("reading entries: %w", err)
		}
		e, err := audit.ParseEntry(row.Entry)
		if err == nil {
			err = state.Apply(e)
		}
		if err != nil {
			return nil, head, nil, fmt.Errorf("reading entry %d: %w", row.Index, err)
		}
		if row.Index == 0 {
			genesis = row.Entry
		}
		state.Commit()
	}
	return state, head, genesis, nil
}

// Disclosure is what a ledger's entries say of disclosure to auditors.
type Disclosure struct {
	Auditors [][]byte // auditor keys in force, type byte first, in order of KeyID

	// The newest disclosure key; 0 and nil if there is none.
	Key    uint64 // index of its entry
	Public []byte // type byte first
	At     int64  // time of its entry, UTC milliseconds
	Usable bool   // it is wrapped to exactly the auditors in force, and not retired
}

// Disclosure returns what the entries known here say of disclosure to auditors. Another daemon may have written more.
func (l *Core) Disclosure(ctx context.Context) (d Disclosure, err error) {
	err = l.Ask(ctx, func() {
		d.Auditors = l.memory.State.AuditorKeys()
		d.Key, d.Public, d.At, d.Usable = l.memory.State.DisclosureKey()
	})
	return d, err
}

// Switches returns the kill switches that are set, as of the newest entry known here.
func (l *Core) Switches(ctx context.Context) (all []rules.Switch, err error) {
	err = l.Ask(ctx, func() { all = l.memory.State.Switches() })
	return all, err
}

// Backlog is how far the closes of a ledger are behind its commits.
type Backlog struct {
	Overdue int   // open shuffles whose close-by has passed
	Oldest  int64 // time of the oldest open shuffle's commit, UTC milliseconds; 0 for none
}

// Backlog returns the backlog at a time, in UTC milliseconds, as of the newest entry known here.
func (l *Core) Backlog(ctx context.Context, now int64) (b Backlog, err error) {
	var oldest uint64
	err = l.Ask(ctx, func() { oldest, b.Overdue = l.memory.State.Backlog(now) })
	if err != nil || oldest == 0 {
		return b, err
	}
	row, err := l.Row(ctx, oldest)
	b.Oldest = row.Time
	return b, err
}

// CoDealer returns the newest key entry that names the ledger of this origin as co-dealer. With the origin "" it
// returns the newest entry of that subject, which may name none. ok is false if there is no such entry.
func (l *Core) CoDealer(origin string) (pin trust.KeyRecord, ok bool) {
	all := l.KeyHistory().Records
	for i := len(all) - 1; i >= 0; i-- {
		if r := all[i]; r.Subject == audit.SubjectCoDealer && (origin == "" || r.Origin == origin) {
			return r, true
		}
	}
	return pin, false
}

// MayAsk returns the first rule that a deal by the actor would break now, whatever its co-dealer
// gives for it. If memory says that it would break one, the store is asked for newer entries.
func (l *Core) MayAsk(ctx context.Context, actor audit.Actor, d *audit.Deal) (err error) {
	var refused error
	look := func() {
		now, _ := l.cfg.Clock()
		s := l.memory.State
		refused = s.MayAsk(d, audit.Entry{Time: max(now.UnixMilli(), s.Time()), Actor: actor, Body: d})
	}
	if err = l.Ask(ctx, look); err != nil || refused == nil {
		return err
	}
	if err = l.Refresh(ctx); err == nil { // another daemon may have written what allows it
		err = l.Ask(ctx, look)
	}
	return cmp.Or(err, refused)
}

// ClosingBy returns the open shuffles whose close-by is at or before a time, in UTC milliseconds, by ascending id.
func (l *Core) ClosingBy(ctx context.Context, at int64) (refs []rules.OpenRef, err error) {
	err = l.Ask(ctx, func() {
		for _, id := range l.memory.State.Overdue(at) {
			o, _ := l.memory.State.Shuffle(id)
			refs = append(refs, rules.OpenRef{ID: id, Table: o.Table, CloseBy: o.CloseBy})
		}
	})
	return refs, err
}

// Between two lists of open shuffles comes a time of at least openEvery, and of at least
// openShare times as long as a list took: the sequencer stands still while one is made.
const (
	openEvery = 100 * time.Millisecond
	openShare = 20
)

// OpenAt returns the open shuffles, by id, as of the first size entries of the store or of more. Entries that another
// daemon wrote are folded first. Callers share the list and do not change it.
func (l *Core) OpenAt(ctx context.Context, size uint64) ([]rules.OpenRef, error) {
	if err := l.reachSize(ctx, size); err != nil {
		return nil, err
	}
	o := &l.open
	if err := o.turn.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer o.turn.Release(1)
	if o.size >= size {
		return o.list, nil
	}
	if !Sleep(ctx, time.Until(o.next), nil) {
		return nil, ctx.Err()
	}
	var took time.Duration
	err := l.Ask(ctx, func() {
		_, begin := l.cfg.Clock()
		o.size, o.list = l.memory.Head.Size, l.memory.State.OpenRefs()
		_, end := l.cfg.Clock()
		took = end - begin
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(o.list, func(a, b rules.OpenRef) int { return cmp.Compare(a.ID, b.ID) })
	o.next = time.Now().Add(max(openEvery, openShare*took))
	return o.list, nil
}

// reachSize has memory cover the first size entries, which the store has shown.
func (l *Core) reachSize(ctx context.Context, size uint64) error {
	if size == 0 {
		return nil
	}
	err := l.ReachEntry(ctx, size-1)
	if errors.Is(err, ErrNotFound) {
		err = fmt.Errorf("%w: the database no longer shows entry %d", ErrUnavailable, size-1)
	}
	return err
}

// TableQuery asks for tables by name.
type TableQuery struct {
	Only  []string // these; nil for all
	After string   // names above this one
	Limit int      // how many at most, at least 1
	Open  int      // how many open shuffles of each at most
}

// Tables returns tables by name, as of the first size entries of the store or of more, and the name after which the
// next page begins, "" if there is none. Entries that another daemon wrote are folded first.
func (l *Core) Tables(ctx context.Context, size uint64, q TableQuery) (page []rules.TableRef, next string, err error) {
	if err := l.reachSize(ctx, size); err != nil {
		return nil, "", err
	}
	names := slices.Compact(slices.Sorted(slices.Values(q.Only)))
	if q.Only == nil {
		if names, err = l.allTables(ctx); err != nil {
			return nil, "", err
		}
	}
	from, found := slices.BinarySearch(names, q.After)
	if found {
		from++
	}
	names = names[from:]
	if len(names) > q.Limit {
		names = names[:q.Limit]
		next = names[q.Limit-1]
	}
	err = l.Ask(ctx, func() {
		for _, name := range names {
			if ref, ok := l.memory.State.AtTable(name, q.Open); ok {
				page = append(page, ref)
			}
		}
	})
	return page, next, err
}

// allTables returns the names of all tables, sorted.
func (l *Core) allTables(ctx context.Context) ([]string, error) {
	t := &l.tables
	if err := t.turn.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer t.turn.Release(1)
	var fresh []string
	err := l.Ask(ctx, func() {
		if l.memory.State.TableCount() != len(t.names) {
			fresh = l.memory.State.Tables()
		}
	})
	if err != nil {
		return nil, err
	}
	if fresh != nil {
		slices.Sort(fresh)
		t.names = fresh
	}
	return t.names, nil
}
