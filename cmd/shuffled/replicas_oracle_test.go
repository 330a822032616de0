package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/rules"
	"shuffled/internal/cli/host"
	"shuffled/internal/ledger"
	"shuffled/internal/store/postgres"
	"shuffled/internal/store/sqlite"
	"shuffled/internal/testdb"
)

// oracle is the ledger as its rows tell it, all recomputed.
type oracle struct {
	leaves  []tlog.Hash
	roots   map[uint64]tlog.Hash // of the stored checkpoints, by size
	commits int
}

// check reads the whole ledger from the database and holds it against the rules, against every acknowledged answer, and
// against the marks of all daemons. resolved says that every request was acknowledged in the end.
func (r *replicas) check(journal []acked, resolved bool) *oracle {
	r.t.Helper()
	store, err := r.store()
	if err != nil {
		r.t.Fatal(err)
	}
	defer store.Close()
	o := r.recompute(store)
	keys, commits := make(map[string]uint64), 0
	for _, a := range journal {
		if a.index >= uint64(len(o.leaves)) || o.leaves[a.index] != a.leaf {
			r.t.Fatalf("acknowledged entry %d is not in the ledger of %d", a.index, len(o.leaves))
		}
		if root, ok := o.roots[a.size]; !ok || root != a.root {
			r.t.Fatalf("entry %d was acknowledged under a checkpoint of size %d that the ledger never had", a.index,
				a.size)
		}
		if a.key == "" {
			continue
		}
		commits++
		if other, ok := keys[a.key]; ok && other != a.index {
			r.t.Fatalf("key %s is of the entries %d and %d", a.key, other, a.index)
		}
		keys[a.key] = a.index
	}
	if commits == 0 || resolved && len(keys) != o.commits {
		r.t.Fatalf("the ledger has %d commits for %d acknowledged keys", o.commits, len(keys))
	}
	for i, d := range r.daemons {
		r.checkMark(i, filepath.Join(d.data, "main.mark"), o)
	}
	return o
}

// store opens the daemons' database, past any proxy.
func (r *replicas) store() (ledgerStore, error) {
	if path, ok := strings.CutPrefix(r.daemons[0].database, "sqlite:"); ok {
		return sqlite.Open(path, sqlite.Options{})
	}
	return postgres.Open(context.Background(), r.daemons[0].database, postgres.Options{AllowSuperuser: true})
}

type ledgerStore interface {
	ledger.Store
	Close() error
}

// recompute folds the entries under the rules, and computes the root at every
// stored checkpoint: each is then a prefix of the last.
func (r *replicas) recompute(store ledger.Store) *oracle {
	r.t.Helper()
	ctx, id := context.Background(), ledger.IDOf(host.SandboxOrigin)
	head, err := store.Head(ctx, id)
	if err != nil {
		r.t.Fatal(err)
	}
	next, err := store.CheckpointAfter(ctx, id, 0)
	if err != nil {
		r.t.Fatal(err)
	}
	o := &oracle{roots: make(map[uint64]tlog.Hash)}
	state, tags, tables := rules.NewState(), make(map[[32]byte]bool), make(map[string]audit.Commit)
	last := make(map[string]uint64)
	var edge []subtree
	for row, err := range store.Rows(ctx, id, 0, head.Size) {
		if err != nil {
			r.t.Fatal(err)
		}
		if row.Index != uint64(len(o.leaves)) {
			r.t.Fatalf("entry %d stands where %d should", row.Index, len(o.leaves))
		}
		e, err := audit.ParseEntry(row.Entry)
		if err == nil {
			err = state.Apply(e)
		}
		if err != nil {
			r.t.Fatalf("entry %d: %v", row.Index, err)
		}
		state.Commit()
		if c, ok := e.Body.(*audit.Commit); ok {
			o.commits++
			table := c.Context.Table
			if tags[c.KeyTag] || c.Serial != tables[table].Serial+1 || c.Previous != last[table] {
				r.t.Fatalf("entry %d: key twice: %v; serial %d after %d; previous %d, want %d",
					row.Index, tags[c.KeyTag], c.Serial, tables[table].Serial, c.Previous, last[table])
			}
			tags[c.KeyTag], tables[table], last[table] = true, *c, row.Index
		}
		leaf := tlog.RecordHash(row.Entry)
		o.leaves = append(o.leaves, leaf)
		edge = grown(edge, leaf)
		if next.Size != uint64(len(o.leaves)) {
			continue
		}
		c, err := audit.OpenCheckpoint(next.Checkpoint, r.key)
		if root := rootOf(edge); err != nil || root != next.Root || c.Size != next.Size || c.Root != root {
			r.t.Fatalf("the stored checkpoint of size %d is not that of its entries (%v)", next.Size, err)
		}
		o.roots[next.Size] = next.Root
		if next.Size == head.Size {
			continue
		}
		if next, err = store.CheckpointAfter(ctx, id, next.Size); err != nil {
			r.t.Fatal(err)
		}
	}
	if uint64(len(o.leaves)) != head.Size || o.roots[head.Size] != head.Root {
		r.t.Fatalf("%d entries and the last checkpoint of %d under a head of %d", len(o.leaves), next.Size, head.Size)
	}
	return o
}

// subtree is a full subtree at the right edge of a tree.
type subtree struct {
	level int
	hash  tlog.Hash
}

// grown adds a leaf to the right edge (RFC 6962, section 2.1).
func grown(edge []subtree, leaf tlog.Hash) []subtree {
	edge = append(edge, subtree{0, leaf})
	for n := len(edge); n > 1 && edge[n-2].level == edge[n-1].level; n-- {
		edge[n-2] = subtree{edge[n-1].level + 1, tlog.NodeHash(edge[n-2].hash, edge[n-1].hash)}
		edge = edge[:n-1]
	}
	return edge
}

func rootOf(edge []subtree) tlog.Hash {
	root := edge[len(edge)-1].hash
	for i := len(edge) - 2; i >= 0; i-- {
		root = tlog.NodeHash(edge[i].hash, root)
	}
	return root
}

// checkMark: what a daemon's mark holds was a checkpoint of the ledger.
func (r *replicas) checkMark(daemon int, path string, o *oracle) {
	r.t.Helper()
	b := contents(r.t, path)
	found := false
	for len(b) > 0 {
		slot := b[:min(len(b), 1024)]
		b = b[len(slot):]
		c, err := audit.OpenCheckpoint(bytes.TrimRight(slot, "\x00"), r.key)
		if errors.Is(err, audit.ErrMalformed) {
			continue // torn by a kill
		}
		found = true
		if err != nil || o.roots[c.Size] != c.Root {
			r.t.Errorf("the mark of daemon %d has a checkpoint of size %d that the ledger never had (%v)", daemon,
				c.Size, err)
		}
	}
	if !found {
		r.t.Errorf("daemon %d has no mark", daemon)
	}
}

var (
	replicasAppends = flag.Int64("replicas.appends", 3000, "how many entries several daemons append to one ledger")
	replicasDaemons = flag.Int("replicas.daemons", 0, "how many daemons; 0: 2, then 4")
	replicasPauses  = flag.Int("replicas.pauses", 15, "how often daemons are stopped for a moment")
)

// TestReplicas has several daemons append to one ledger under full load, also for the same tables and keys: no gap, no
// fork, nothing twice, and all of them have their share.
func TestReplicas(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs daemons under load")
	}
	counts := []int{2, 4}
	if *replicasDaemons > 0 {
		counts = []int{*replicasDaemons}
	}
	for _, n := range counts {
		t.Run(fmt.Sprintf("postgres-%d", n), func(t *testing.T) { replicasTest(t, repeat(testdb.DSN(t), n)) })
	}
	t.Run("sqlite-2", func(t *testing.T) {
		replicasTest(t, repeat("sqlite:"+filepath.Join(t.TempDir(), "shuffled.db"), 2))
	})
}

func replicasTest(t *testing.T, databases []string) {
	n := len(databases)
	r := newReplicas(t, databases...)
	c := &crowd{replicas: r, name: "c", clients: slices.Repeat([]int{64 / n}, n), attempts: 3}
	c.run(*replicasAppends)
	c.ok()
	work, lost, landed, most := make([]int, n), 0.0, 0.0, 0.0
	for _, a := range c.journal {
		work[a.daemon]++
	}
	for i, d := range r.daemons {
		lost, landed = lost+d.appends("lost"), landed+d.appends("landed")
		most = max(most, d.figures("shuffled_ledger_most_overtaken")[`shuffled_ledger_most_overtaken{ledger="main"}`])
		if 20*work[i] < len(c.journal) {
			t.Errorf("daemon %d answered %d of %d", i, work[i], len(c.journal))
		}
		d.stop()
	}
	o := r.check(c.journal, true)
	t.Logf("%d daemons: %d entries, %d acknowledged, by each %v, %d requests made again; %.0f batches landed, %.0f were overtaken, no request more than %.0f times",
		n, len(o.leaves), len(c.journal), work, c.again.Load(), landed, lost, most)
}
