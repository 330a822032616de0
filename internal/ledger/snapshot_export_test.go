package ledger

import (
	"context"
	"maps"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
)

// Memory is what a daemon knows of a ledger after its start, before it writes.
type Memory struct {
	State   []byte
	Genesis audit.Entry
	Records []KeyRecord
	Signing []string // verifier key and what became of it
	Edge    map[int64]tlog.Hash
	Size    int64
	Tenures [][]string // of each policy the witnesses
	Above   []uint64
	Waits   uint64

	From    int64     // the first entry that was folded, which is no part of what is known
	Missing *Snapshot // nor is this
}

// Remember starts a daemon up to where it would begin to write.
func Remember(ctx context.Context, cfg Config) (*Memory, error) {
	cfg.setDefaults()
	l := &Ledger{cfg: cfg, id: IDOf(cfg.Info.Origin), state: audit.NewState(), tree: newTree(), running: ctx}
	missing, err := l.load(ctx)
	if err != nil {
		return nil, err
	}
	l.showKeys()
	head := l.head
	l.published.Store(&head)
	if l.witnessing, err = l.newWitnessing(); err != nil {
		return nil, err
	}
	l.witnessing.follow()
	m := &Memory{State: l.state.Encode(), Genesis: l.genesis, Records: l.history.records, Edge: maps.Clone(l.tree.nodes),
		Size: l.tree.size, From: l.tree.known, Missing: missing}
	for _, k := range l.history.signing {
		fate := " in force"
		if k.retired {
			fate = " retired"
		}
		m.Signing = append(m.Signing, k.vkey+fate)
	}
	tenures := l.witnessing.tenures.Load()
	for _, one := range tenures.list {
		names := []string{}
		if one.policy != nil {
			for _, w := range one.policy.Witnesses {
				names = append(names, w.VKey)
			}
		}
		m.Above, m.Tenures, m.Waits = append(m.Above, one.above), append(m.Tenures, names), tenures.waits
	}
	return m, nil
}
