package sequencer

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/gob"
	"errors"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/rules"
	"shuffled/internal/audit/trust"
	"shuffled/internal/ledger"
	"shuffled/internal/ledger/cosign"
)

// Known is what a daemon knows of a ledger after its start, before it writes.
type Known struct {
	State   []byte
	Genesis audit.Entry
	Records []trust.KeyRecord
	Signing []string // verifier key and what became of it
	Edge    map[int64]tlog.Hash
	Size    int64
	Waits   int // how many policies

	Policies [][]string // by size, from 1: the witnesses

	From int64 // the first entry that was folded, which is no part of what is known
}

// Remember starts a daemon up to where it would begin to write.
func Remember(ctx context.Context, cfg ledger.Config) (*Known, error) {
	cfg.SetDefaults()
	l := &Ledger{cfg: cfg, cacheDue: make(chan struct{}, 1)}
	l.Core, l.memory, l.shown, l.life = ledger.NewCore(cfg, nil)
	l.life.Running = ctx
	err := l.load(ctx)
	if err != nil {
		return nil, err
	}
	head := l.memory.Head
	l.shown.Published.Store(&head)
	if l.Rounds, err = cosign.New(l.Core, cfg, l.shown, l.life, l.witnessedKeys, l.alarm, l.stopForDoubts); err != nil {
		return nil, err
	}
	l.Rounds.Follow()
	m := &Known{State: encoded(l.memory.State), Genesis: l.shown.Genesis, Records: l.shown.Keys.Load().Records,
		Edge: maps.Clone(l.shown.Tree.Nodes),
		Size: l.shown.Tree.Size, From: l.shown.Tree.Known}
	for _, k := range l.shown.Keys.Load().Signing {
		fate := " in force"
		if k.Retired {
			fate = " retired"
		}
		m.Signing = append(m.Signing, fmt.Sprintf("%x%s", k.Public, fate))
	}
	for size := range uint64(l.shown.Tree.Size) + 1 {
		names := []string{}
		if p := l.Policies().At(size + 1); p != nil {
			for _, w := range p.Witnesses {
				names = append(names, w.VKey)
			}
		}
		m.Policies = append(m.Policies, names)
	}
	m.Waits = len(l.Policies().Waiting())
	return m, nil
}

// encoded is all of a state, in one order.
func encoded(s *rules.State) []byte {
	from, saved := s.Copy()
	defer from.End()
	open, err := from.More(s.OpenCount() + 1)
	slices.SortFunc(open, func(a, b rules.SavedShuffle) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(saved.Tables, func(a, b rules.Table) int { return cmp.Compare(a.Name, b.Name) })
	slices.Sort(saved.Instances)
	var b bytes.Buffer
	w := gob.NewEncoder(&b)
	if err := errors.Join(err, w.Encode(saved), w.Encode(open)); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// CacheHeader is what a cache is bound to.
type CacheHeader = cacheHeader

// ForgeCache changes the header of a cache and writes it under a key.
func ForgeCache(b []byte, change func(*CacheHeader), under note.Signer) ([]byte, error) {
	key, err := cacheKey(under)
	if err != nil {
		return nil, err
	}
	var forged bytes.Buffer
	in, out := gob.NewDecoder(bytes.NewReader(b[:len(b)-sha256.Size])), gob.NewEncoder(&forged)
	var header cacheHeader
	var saved rules.Saved
	err = errors.Join(in.Decode(&header), in.Decode(&saved))
	change(&header)
	err = errors.Join(err, out.Encode(header), out.Encode(&saved))
	for more := true; more && err == nil; {
		var piece []rules.SavedShuffle
		err = errors.Join(in.Decode(&piece), out.Encode(piece))
		more = len(piece) > 0
	}
	mac := hmac.New(sha256.New, key)
	mac.Write(forged.Bytes())
	return mac.Sum(forged.Bytes()), err
}
