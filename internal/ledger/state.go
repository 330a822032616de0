package ledger

import (
	"context"
	"fmt"
	"slices"

	"shuffled/internal/audit"
)

// Persons says who approves acts in a ledger, and which acts wait.
type Persons struct {
	Genesis        [32]byte // SHA-256 of the genesis entry
	Newest         uint64   // index of the newest act, 0 for none
	Administrators []audit.Administrator
	TwoPersons     []audit.Act // that need two of them
	Delay          uint32      // seconds until an act of one takes effect
	Waiting        []audit.WaitingAct
	Head           Head // that an act may name
}

// Persons returns them as of the store's newest entry.
func (l *Core) Persons(ctx context.Context) (p Persons, err error) {
	if err := l.Refresh(ctx); err != nil {
		return p, err
	}
	err = l.ask(ctx, func() { p = PersonsOf(l.memory.state, l.memory.head) })
	return p, err
}

// PersonsOf returns the persons of a state, of which head is the head.
func PersonsOf(s *audit.State, head Head) Persons {
	p := Persons{Genesis: s.GenesisHash(), Newest: s.NewestAct(), Administrators: s.Administrators(),
		Waiting: s.WaitingActs(), Head: head}
	p.TwoPersons, p.Delay = s.TwoPersons()
	return p
}

// ReadState folds a stored ledger and returns its state with the head and the genesis entry. A daemon may be writing
// the ledger. ReadState reads every entry and checks no signature. ErrNotFound: there is no ledger of this name.
func ReadState(ctx context.Context, store Store, name string) (state *audit.State, head Head, genesis []byte,
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
	state = audit.NewState()
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
	err = l.ask(ctx, func() {
		d.Auditors = l.memory.state.AuditorKeys()
		d.Key, d.Public, d.At, d.Usable = l.memory.state.DisclosureKey()
	})
	return d, err
}

// Switches returns the kill switches that are set, as of the newest entry known here.
func (l *Core) Switches(ctx context.Context) (all []audit.Switch, err error) {
	err = l.ask(ctx, func() { all = l.memory.state.Switches() })
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
	err = l.ask(ctx, func() { oldest, b.Overdue = l.memory.state.Backlog(now) })
	if err != nil || oldest == 0 {
		return b, err
	}
	row, err := l.Row(ctx, oldest)
	b.Oldest = row.Time
	return b, err
}

// CoDealer returns the newest key entry that names the ledger of this origin as co-dealer. With the origin "" it
// returns the newest entry of that subject, which may name none. ok is false if there is no such entry.
func (l *Core) CoDealer(origin string) (pin audit.KeyRecord, ok bool) {
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
	look := func() (refused error) {
		err = l.ask(ctx, func() {
			now, _ := l.cfg.Clock()
			refused = l.memory.state.MayAsk(d, audit.Entry{Time: max(now.UnixMilli(), l.memory.state.Time()), Actor: actor, Body: d})
		})
		return refused
	}
	refused := look()
	if err != nil || refused == nil {
		return err
	}
	if err := l.Refresh(ctx); err != nil { // another daemon may have written what allows it
		return err
	}
	refused = look()
	if err != nil {
		return err
	}
	return refused
}

// ClosingBy returns the open shuffles whose close-by is at or before a time, in UTC milliseconds, by ascending id.
func (l *Core) ClosingBy(ctx context.Context, at int64) (refs []audit.OpenRef, err error) {
	err = l.ask(ctx, func() {
		for _, id := range l.memory.state.Overdue(at) {
			o, _ := l.memory.state.Shuffle(id)
			refs = append(refs, audit.OpenRef{ID: id, Table: o.Table, CloseBy: o.CloseBy})
		}
	})
	return refs, err
}
