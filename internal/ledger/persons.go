package ledger

import (
	"context"
	"fmt"
	"slices"

	"shuffled/internal/audit"
)

// Persons says who approves acts in a ledger, and what of theirs waits.
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
func (l *Ledger) Persons(ctx context.Context) (p Persons, err error) {
	if err := l.Refresh(ctx); err != nil {
		return p, err
	}
	err = l.ask(ctx, func() { p = personsOf(l.state, l.head) })
	return p, err
}

func personsOf(s *audit.State, head Head) Persons {
	p := Persons{Genesis: s.GenesisHash(), Newest: s.NewestAct(), Administrators: s.Administrators(),
		Waiting: s.WaitingActs(), Head: head}
	p.TwoPersons, p.Delay = s.TwoPersons()
	return p
}

// ReadCredentials returns the credentials of a stored ledger, as ReadPersons does.
func ReadCredentials(ctx context.Context, store Store, name string) ([]audit.Holder, error) {
	s, _, err := readState(ctx, store, name)
	if err != nil {
		return nil, err
	}
	return s.Holders(), nil
}

// ReadPersons returns the administrators of a stored ledger, which a daemon may be
// writing. It reads every entry: a daemon answers sooner. It returns ErrNotFound when
// there is no ledger of this name.
func ReadPersons(ctx context.Context, store Store, name string) (Persons, error) {
	s, head, err := readState(ctx, store, name)
	if err != nil {
		return Persons{}, err
	}
	return personsOf(s, head), nil
}

func readState(ctx context.Context, store Store, name string) (*audit.State, Head, error) {
	infos, err := store.Ledgers(ctx)
	if err != nil {
		return nil, Head{}, fmt.Errorf("listing ledgers: %w", err)
	}
	at := slices.IndexFunc(infos, func(i Info) bool { return i.Name == name })
	if at < 0 {
		return nil, Head{}, ErrNotFound
	}
	id, state := IDOf(infos[at].Origin), audit.NewState()
	head, err := store.Head(ctx, id)
	if err != nil {
		return nil, head, fmt.Errorf("reading the head: %w", err)
	}
	for row, err := range store.Rows(ctx, id, 0, head.Size) {
		if err != nil {
			return nil, head, fmt.Errorf("reading entries: %w", err)
		}
		e, err := audit.ParseEntry(row.Entry)
		if err == nil {
			err = state.Apply(e)
		}
		if err != nil {
			return nil, head, fmt.Errorf("reading entry %d: %w", row.Index, err)
		}
		state.Commit()
	}
	return state, head, nil
}
