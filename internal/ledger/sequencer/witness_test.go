package sequencer_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
	"shuffled/internal/ledger"
	"shuffled/internal/ledger/cosign"
	"shuffled/internal/ledger/sequencer"
	"shuffled/internal/witness"
	"shuffled/internal/witness/gateway"
	"shuffled/internal/witness/witnesstest"
)

// witnessed is a ledger with three witnesses of its own, of which two suffice.
type witnessed struct {
	*house
	vkey      string
	genesis   *audit.Genesis
	witnesses []*witnesstest.Witness
}

// newWitnessed creates a ledger whose deals wait for witnesses.
func newWitnessed(t *testing.T, store ledger.Store, deals audit.Deals) *witnessed {
	t.Helper()
	h, vkey := newKeys(t, store)
	w := &witnessed{house: h, vkey: vkey}
	var lines, names []string
	for range 3 {
		one := witnesstest.Start(t, vkey)
		w.witnesses = append(w.witnesses, one)
		lines, names = append(lines, one.PolicyLine), append(names, one.Name)
	}
	w.genesis = genesis(t, vkey)
	w.genesis.Deals = deals
	w.genesis.Policy = fmt.Appendf(nil, "%s\ngroup three 2 %s\nquorum three\n", strings.Join(lines, "\n"),
		strings.Join(names, " "))
	w.create(w.genesis)
	return w
}

// config adds the way to the witnesses.
func (w *witnessed) config(mark string) ledger.Config {
	c := w.house.config(mark)
	c.Witness = witness.Reach
	return c
}

// down stops or starts witnesses by number.
func (w *witnessed) down(down bool, which ...int) {
	for _, i := range which {
		w.witnesses[i].Down(down)
	}
}

// awaitCosigned waits until the witnesses cosigned the entry.
func (w *witnessed) awaitCosigned(l *sequencer.Ledger, index uint64) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 20*time.Second)
	defer cancel()
	if err := l.AwaitCosigned(ctx, index); err != nil {
		w.t.Fatal(err)
	}
}

// TestWitnessed: heads are cosigned by a quorum, stored, published, and named by the deals that rest on them.
func TestWitnessed(t *testing.T) {
	onBothStores(t, func(t *testing.T, store ledger.Store) {
		w := newWitnessed(t, store, audit.DealsCosigned)
		l := w.open(w.config("mark"))
		c := w.must(l, propose(commit("t", 1)))[0]
		w.awaitCosigned(l, c.Index)

		h, _ := l.Cosigned()
		policy, err := trust.ParsePolicy(w.genesis.Policy)
		must(t, err)
		if !policy.Satisfied(h.Checkpoint) || h.Size <= c.Index {
			t.Errorf("the cosigned head of size %d lacks the quorum:\n%s", h.Size, h.Checkpoint)
		}
		if string(l.Checkpoint()) != string(h.Checkpoint) {
			t.Error("what is published is not the cosigned checkpoint")
		}
		stored, err := store.CosignedAtMost(t.Context(), l.ID(), audit.MaxInteger)
		if err != nil || stored.Size != h.Size {
			t.Errorf("stored: size %d, %v", stored.Size, err)
		}
		d := w.must(l, propose(&audit.Deal{Shuffle: c.Index,
			Runs: []audit.Run{{Count: 2, Purpose: audit.PurposeSeat}}}))[0]
		if got := d.Entry.Body.(*audit.Deal).Checkpoint; got != h.Size {
			t.Errorf("the deal names the cosigned size %d, not %d", got, h.Size)
		}
		r, err := l.Receipt(t.Context(), c.Index)
		if err != nil || !policyHolds(t, policy, r) {
			t.Errorf("the receipt is not under the cosigned checkpoint: %v\n%s", err, r)
		}
	})
}

func policyHolds(t *testing.T, p *trust.Policy, receipt string) bool {
	t.Helper()
	r, err := audit.ParseReceipt(receipt)
	must(t, err)
	return p.Satisfied(r.Checkpoint)
}

// TestQuorum: two of three witnesses suffice, one does not; nothing is dealt
// without, and everything goes on when they are back.
func TestQuorum(t *testing.T) {
	t.Parallel()
	w := newWitnessed(t, openSQLite(t), audit.DealsCosigned)
	w.down(true, 0)
	l := w.open(w.config("mark"))
	c := w.must(l, propose(commit("t", 1)))[0]
	w.awaitCosigned(l, c.Index)

	w.down(true, 1)
	c = w.must(l, propose(commit("u", 1)))[0]
	deal := propose(&audit.Deal{Shuffle: c.Index, Runs: []audit.Run{{Count: 1, Purpose: audit.PurposeSeat}}})
	waitFor(t, func() bool { // two have said no
		return slices.IndexFunc(l.Witnesses(),
			func(s cosign.WitnessState) bool { return s.Err == nil && s.Size > c.Index }) >= 0 &&
			l.Witnesses()[0].Err != nil && l.Witnesses()[1].Err != nil
	})
	var illegal *audit.Illegal
	if _, err := on(l).Append(t.Context(), deal); !errors.As(err, &illegal) || illegal.Code != audit.RuleCheckpoint {
		t.Errorf("a deal that one witness of three has seen: %v", err)
	}
	short, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.AwaitCosigned(short, c.Index); !errors.Is(err, ledger.ErrNotWitnessed) {
		t.Errorf("waiting for a quorum that is not there: %v", err)
	}
	waitFor(t, func() bool { return l.Abilities(false).Deal != nil })
	if can := l.Abilities(false); can.Ready() || can.Read != nil || can.Commit != nil ||
		!errors.Is(can.Deal, ledger.ErrNotWitnessed) || !strings.Contains(ledger.Cure(can.Deal), "witnesses") {
		t.Errorf("without a quorum: %+v", can)
	}
	w.down(false, 1)
	w.awaitCosigned(l, c.Index)
	waitFor(t, func() bool { return l.Abilities(false).Ready() })
	w.must(l, deal)
}

// TestWitnessesAlarm: witnesses that are away for long are an alarm in the ledger,
// one for each time, which does not need them.
func TestWitnessesAlarm(t *testing.T) {
	t.Parallel()
	w := newWitnessed(t, openSQLite(t), audit.DealsSigned)
	l := w.open(w.config("mark"))
	w.must(l, propose(commit("t", 1)))
	w.down(true, 0, 1, 2)
	w.must(l, propose(commit("t", 2)))
	if reason := w.awaitAlarm(audit.AlarmWitnesses); !strings.Contains(reason, "10 rounds without a quorum") {
		t.Errorf("the alarm says %q", reason)
	}
	w.down(false, 0, 1, 2)
	w.awaitCosigned(l, w.size()-1)
	alarms := 0
	for _, e := range w.entries() {
		if b, ok := e.Body.(*audit.Event); ok && b.Kind == audit.EventAlarm {
			alarms++
		}
	}
	if alarms != 1 {
		t.Errorf("%d alarms", alarms)
	}
}

// TestOnlyDurableHeads: what a witness is shown has been committed: a batch whose commit fails or is unknown is not.
func TestOnlyDurableHeads(t *testing.T) {
	t.Parallel()
	f := &faultyStore{Store: openSQLite(t)}
	w := newWitnessed(t, f, audit.DealsSigned)
	l := w.open(w.config("mark"))
	c := w.must(l, propose(commit("t", 1)))[0]
	w.awaitCosigned(l, c.Index)
	f.failAppend(func(func() error) error { return errors.New("the store is away") })
	if _, err := on(l).Append(t.Context(), propose(commit("t", 2))); err == nil {
		t.Fatal("the append did not fail")
	}
	w.must(l, propose(commit("t", 3)))
	w.awaitCosigned(l, l.Head().Size-1)
	for _, one := range w.witnesses {
		signed, err := one.Client().Latest(t.Context(), origin)
		must(t, err)
		cp, err := audit.OpenCheckpoint(signed, w.key)
		must(t, err)
		if root := w.rootAt(cp.Size); root != cp.Root {
			t.Errorf("%s holds a head of size %d that was not committed", one.Name, cp.Size)
		}
	}
}

// rootAt computes the root of the first size stored entries.
func (h *house) rootAt(size uint64) tlog.Hash {
	h.t.Helper()
	var hashes hashList
	for row, err := range h.store.Rows(h.t.Context(), ledger.IDOf(origin), 0, size) {
		if err != nil {
			h.t.Fatal(err)
		}
		more, err := tlog.StoredHashes(int64(row.Index), row.Entry, hashes)
		if err != nil {
			h.t.Fatal(err)
		}
		hashes = append(hashes, more...)
	}
	root, err := tlog.TreeHash(int64(size), hashes)
	if err != nil {
		h.t.Fatal(err)
	}
	return root
}

type hashList []tlog.Hash

func (l hashList) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	var out []tlog.Hash
	for _, i := range indexes {
		out = append(out, l[i])
	}
	return out, nil
}

// TestRestoredBackup: a database that was restored from a backup is not signed onto, whatever guard is left, and is
// read in that time; it is signed onto again when it holds all that was ever seen.
func TestRestoredBackup(t *testing.T) {
	for _, c := range []struct {
		name          string
		deals         audit.Deals
		mark          string // which mark file the daemon finds: "kept", "none", or "old", restored with the database
		witnessesDown bool
		cause         string // in readiness
		signs         bool   // nothing is left that could tell
		long          bool   // it signs with ML-DSA-44 as well, which no witness knows, so that none shows the line
	}{
		{name: "mark", deals: audit.DealsSigned, mark: "kept", witnessesDown: true, cause: "high-water mark has"},
		{name: "no mark, witnesses up", deals: audit.DealsSigned, mark: "none", cause: "another history"},
		{name: "no mark, witnesses down", deals: audit.DealsSigned, mark: "none", witnessesDown: true,
			cause: "waiting for a quorum"},
		{name: "old mark, witnesses up", deals: audit.DealsSigned, mark: "old", cause: "another history"},
		{name: "old mark, witnesses up, two keys", deals: audit.DealsSigned, mark: "old", cause: "another history",
			long: true},
		{name: "old mark, witnesses down, deals wait for them", deals: audit.DealsCosigned, mark: "old",
			witnessesDown: true, cause: "confirm the stored head"},
		// Blunt: the whole host went back and no outsider can be asked.
		{name: "old mark, witnesses down", deals: audit.DealsSigned, mark: "old", witnessesDown: true, signs: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			onBothDatabases(t, func(t *testing.T, db database) {
				w := newWitnessed(t, db.open(), c.deals)
				config := w.config
				long, enter := newLongKey(t)
				if c.long {
					config = func(mark string) ledger.Config { return w.holding(mark, w.signer, long.At(0)) }
				}
				l := w.open(config("mark"))
				if c.long {
					if _, err := l.AddKey(t.Context(), as("tok_admin"), enter, nil); err != nil {
						t.Fatal(err)
					}
				}
				w.must(l, propose(commit("t", 1)))
				w.awaitCosigned(l, l.Head().Size-1)
				l.Close()
				w.copyMark("mark", "old")
				backup := db.backup()
				w.store = db.open()
				l = w.open(config("mark"))
				for n := range uint64(5) {
					w.must(l, propose(commits("t", 2+100*n, 100)...))
				}
				w.awaitCosigned(l, l.Head().Size-1)
				before := l.Head()
				l.Close()

				w.store = backup.open()
				mark := map[string]string{"kept": "mark", "none": "fresh", "old": "old"}[c.mark]
				w.down(c.witnessesDown, 0, 1, 2)
				l = w.open(config(mark))
				_, err := on(l).Append(t.Context(), propose(commit("x", 1)))
				if c.signs {
					if err != nil {
						t.Errorf("nothing is left that could tell, and yet: %v", err)
					}
					return
				}
				if !errors.Is(err, ledger.ErrFrozen) || !errors.Is(l.Ready(), ledger.ErrFrozen) {
					t.Fatalf("appending to a restored backup: %v; ready: %v", err, l.Ready())
				}
				absent := strings.HasPrefix(ledger.Cure(l.Ready()), "start the witnesses")
				if !strings.Contains(l.Ready().Error(), c.cause) || absent != (c.witnessesDown && c.mark != "kept") {
					t.Errorf("not the cause %q, or another cure: %v: %s", c.cause, l.Ready(), ledger.Cure(l.Ready()))
				}
				if _, err := l.Receipt(t.Context(), 2); err != nil {
					t.Errorf("reads do not go on: %v", err)
				}
				if n := w.size(); n >= before.Size {
					t.Errorf("%d entries after the restore", n)
				}
				l.Close()

				// The database of before is back.
				w.store = db.open()
				w.down(false, 0, 1, 2)
				l = w.open(config(mark))
				waitReady(t, l)
				w.must(l, propose(commit("x", 1)))
				if root := w.rootAt(before.Size); root != before.Root {
					t.Error("the ledger does not extend the head of before")
				}
			})
		})
	}
}

func (h *house) size() uint64 {
	h.t.Helper()
	head, err := h.store.Head(h.t.Context(), ledger.IDOf(origin))
	if err != nil {
		h.t.Fatal(err)
	}
	return head.Size
}

// TestResumesWithoutRestart: the restored database is made whole under the
// running daemon, which then signs again by itself.
func TestResumesWithoutRestart(t *testing.T) {
	t.Parallel()
	f := &faultyStore{Store: openSQLite(t)}
	w := newWitnessed(t, f, audit.DealsSigned)
	l := w.open(w.config("mark"))
	w.must(l, propose(commit("t", 1)))
	old := l.Head()
	w.must(l, propose(commit("t", 2)))
	w.awaitCosigned(l, l.Head().Size-1)
	l.Close()
	must(t, os.Remove(w.mark("mark")))
	f.failHead(func(ledger.Head, error) (ledger.Head, error) { return old, nil })
	l = w.open(w.config("mark"))
	if err := l.Ready(); !errors.Is(err, ledger.ErrFrozen) {
		t.Fatalf("started on a restored backup: %v", err)
	}
	f.failHead(nil)
	waitReady(t, l)
	w.must(l, propose(commit("t", 3)))
	if !slices.ContainsFunc(w.entries(), func(e audit.Entry) bool {
		ev, ok := e.Body.(*audit.Event)
		return ok && ev.Alarm == audit.AlarmMarkAdopted && strings.Contains(ev.Reason, "quorum")
	}) {
		t.Error("that the witnesses vouched for the head is not in the ledger")
	}
}

// TestSecondPrimary: two databases go on from one backup under one key. The
// witnesses cosign one history; the daemon of the other stops.
func TestSecondPrimary(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, db database) {
		w := newWitnessed(t, db.open(), audit.DealsCosigned)
		l := w.open(w.config("mark"))
		w.must(l, propose(commit("t", 1)))
		w.awaitCosigned(l, l.Head().Size-1)
		l.Close()
		w.copyMark("mark", "second")
		second := db.backup()
		w.store = db.open()
		first := w.open(w.config("mark"))
		other := *w
		other.house = &house{t: t, store: second.open(), signer: w.signer, key: w.key, dir: w.dir}
		rival := other.open(other.config("second"))
		c := w.must(first, propose(commit("t", 2)))[0]
		w.awaitCosigned(first, c.Index)
		waitFor(t, func() bool {
			_, err := on(rival).Append(t.Context(), propose(commit("u", 1)))
			return errors.Is(err, ledger.ErrFrozen)
		})
		if h, ok := rival.Cosigned(); ok && h.Size > c.Index && h.Root != w.rootAt(h.Size) {
			t.Error("a quorum cosigned both histories")
		}
	})
}

// TestForkedDatabase: two histories under one key, the second longer and written
// while no witness answered. When they do, its daemon stops.
func TestForkedDatabase(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, db database) {
		w := newWitnessed(t, db.open(), audit.DealsSigned)
		l := w.open(w.config("mark"))
		w.must(l, propose(commit("t", 1)))
		l.Close()
		w.copyMark("mark", "second")
		second := db.backup()
		w.store = db.open()
		l = w.open(w.config("mark"))
		w.must(l, propose(commit("t", 2)))
		w.everyWitness(l)
		l.Close()

		w.down(true, 0, 1, 2)
		w.store = second.open()
		rival := w.open(w.config("second"))
		w.must(rival, propose(commits("u", 1, 9)...))
		w.down(false, 0, 1, 2)
		waitFor(t, func() bool { return errors.Is(rival.Ready(), ledger.ErrFrozen) })
		if err := rival.Ready(); !strings.Contains(err.Error(), "another history") {
			t.Errorf("readiness does not name the cause: %v", err)
		}
		if h, ok := rival.Cosigned(); ok && h.Size > 3 {
			t.Errorf("a quorum cosigned the second history up to size %d", h.Size)
		}
		rival.Close()

		// The first host finds the second database.
		w.down(true, 0, 1, 2)
		l = w.open(w.config("mark"))
		if err := l.Ready(); !errors.Is(err, ledger.ErrFrozen) || !strings.Contains(err.Error(), "another root") {
			t.Errorf("another database than the mark's: %v", err)
		}
	})
}

// everyWitness waits until all witnesses cosigned the newest head.
func (w *witnessed) everyWitness(l *sequencer.Ledger) {
	w.t.Helper()
	waitFor(w.t, func() bool {
		return !slices.ContainsFunc(l.Witnesses(), func(s cosign.WitnessState) bool { return s.Size < l.Head().Size })
	})
}

// TestMarkIsNotLowered: a daemon that starts below its mark follows what others
// write there, and leaves the mark as it is.
func TestMarkIsNotLowered(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, db database) {
		h := newHouse(t, db.open())
		l := h.open(h.config("mark"))
		h.must(l, propose(commit("t", 1)))
		l.Close()
		h.copyMark("mark", "second")
		back := db.backup()
		h.store = db.open()
		l = h.open(h.config("mark"))
		h.must(l, propose(commits("t", 2, 20)...))
		size := l.Head().Size
		l.Close()

		h.store = back.open()
		low := h.open(h.config("mark"))
		other := h.open(h.config("second")) // whose mark knows no better
		for n := range uint64(5) {
			h.must(other, propose(commit("u", n+1)))
		}
		waitFor(t, func() bool { return low.Head().Size >= other.Head().Size })
		low.Close()
		if low = h.open(h.config("mark")); !strings.Contains(low.Ready().Error(), fmt.Sprintf("mark has %d", size)) {
			t.Errorf("after following others: %v", low.Ready())
		}
	})
}

// TestCreateHoldsTheGenesis: a genesis that breaks a rule is never written.
func TestCreateHoldsTheGenesis(t *testing.T) {
	t.Parallel()
	h, vkey := newKeys(t, openSQLite(t))
	g := genesis(t, vkey)
	g.Policy = []byte("quorum nobody\n")
	err := sequencer.Create(t.Context(), h.store, ledger.Info{Name: "main", Origin: origin}, g, h.signer,
		h.mark("mark"), time.Now())
	var illegal *audit.Illegal
	if !errors.As(err, &illegal) {
		t.Errorf("a genesis with a policy that cannot be read: %v", err)
	}
}

// TestForkIsRefused: the ledger's own key signs a second history; no witness that saw the first cosigns it.
func TestForkIsRefused(t *testing.T) {
	t.Parallel()
	w := newWitnessed(t, openSQLite(t), audit.DealsCosigned)
	l := w.open(w.config("mark"))
	w.must(l, propose(commit("t", 1)))
	w.everyWitness(l)
	size := l.Head().Size
	for name, head := range map[string]struct {
		size uint64
		want error
	}{
		"another root at the size": {size, gateway.ErrContradicts},
		"a larger fork":            {size + 3, gateway.ErrContradicts},
	} {
		t.Run(name, func(t *testing.T) {
			forged, err := ledger.SignHead(head.size, tlog.Hash{1, 2, 3}, w.signer)
			must(t, err)
			var proof []tlog.Hash
			if head.size > size {
				proof = []tlog.Hash{{1}, {2}, {3}}
			}
			for _, one := range w.witnesses {
				if _, err := one.Client().AddCheckpoint(t.Context(), size, proof, forged.Checkpoint); !errors.Is(err,
					head.want) {
					t.Errorf("%s: %v", one.Name, err)
				}
			}
		})
	}
}

// liar says any size, and shows nothing for it.
type liar struct {
	ledger.Witness
	size uint64
}

func (l liar) AddCheckpoint(context.Context, uint64, []tlog.Hash, []byte) ([]byte, error) {
	return nil, &gateway.Conflict{Size: l.size}
}

// TestLyingWitness: a witness that could show a checkpoint and does not show one
// of the size it says is no reason to stop; one that shows nothing at all is.
func TestLyingWitness(t *testing.T) {
	t.Parallel()
	for name, stops := range map[string]bool{"shows another": false, "shows nothing": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWitnessed(t, openSQLite(t), audit.DealsSigned)
			c := w.config("mark")
			l := w.open(c)
			w.everyWitness(l) // each has a checkpoint to show
			l.Close()
			honest := c.Witness
			c.Witness = func(lines []trust.Witness) (ledger.Witness, error) {
				one := lines[0]
				asked, err := honest(lines)
				if one.Name != w.witnesses[0].Name {
					return asked, err
				}
				lies := liar{asked, 1 << 40}
				if stops {
					return silent{lies}, err
				}
				return lies, err
			}
			l = w.open(c)
			if stops {
				waitFor(t, func() bool { return errors.Is(l.Ready(), ledger.ErrFrozen) })
			} else {
				waitFor(t, func() bool {
					return strings.Contains(fmt.Sprint(l.Witnesses()[0].Err), "shows no checkpoint")
				})
				if err := l.Ready(); err != nil {
					t.Errorf("stopped by a lie: %v", err)
				}
				w.awaitCosigned(l, w.must(l, propose(commit("t", 1)))[0].Index)
			}
		})
	}
}

// stubborn refuses every head as if it had seen another history.
type stubborn struct{ ledger.Witness }

func (stubborn) AddCheckpoint(context.Context, uint64, []tlog.Hash, []byte) ([]byte, error) {
	return nil, gateway.ErrContradicts
}

// TestStubbornWitness: a refusal that the witness's own checkpoint refutes, as
// somebody on the way to it could make one up, does not stop the ledger.
func TestStubbornWitness(t *testing.T) {
	t.Parallel()
	w := newWitnessed(t, openSQLite(t), audit.DealsSigned)
	c := w.config("mark")
	l := w.open(c)
	w.everyWitness(l)
	l.Close()
	honest := c.Witness
	c.Witness = func(lines []trust.Witness) (ledger.Witness, error) {
		one := lines[0]
		asked, err := honest(lines)
		if one.Name == w.witnesses[0].Name {
			return stubborn{asked}, err
		}
		return asked, err
	}
	l = w.open(c)
	waitFor(t, func() bool {
		return strings.Contains(fmt.Sprint(l.Witnesses()[0].Err), "that the refused head extends")
	})
	w.awaitCosigned(l, w.must(l, propose(commit("t", 1)))[0].Index)
}

// silent has no checkpoint to show, as litewitness.
type silent struct{ liar }

func (silent) Latest(context.Context, string) ([]byte, error) { return nil, gateway.ErrNone }

// TestForgedCosigned: a cosigned checkpoint that a database administrator puts into the table is not believed.
func TestForgedCosigned(t *testing.T) {
	t.Parallel()
	w := newWitnessed(t, openSQLite(t), audit.DealsSigned)
	w.down(true, 0, 1, 2)
	l := w.open(w.config("mark"))
	w.must(l, propose(commit("t", 1)))
	must(t, w.store.PutCosigned(t.Context(), l.ID(), l.Head()))
	if h, err := l.CosignedAtMost(t.Context(), audit.MaxInteger); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("a checkpoint without cosignatures was taken: size %d, %v", h.Size, err)
	}
}

// commits returns n commits of a table.
func commits(table string, from, n uint64) (bodies []audit.Body) {
	for i := range n {
		bodies = append(bodies, commit(table, from+i))
	}
	return bodies
}
