package failover

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"shuffled/internal/ledger"
	"shuffled/internal/stops"
	"shuffled/internal/store/postgres"
	"shuffled/internal/testdb"
)

// lossy is a primary whose standby may lack a tail, daemons whose address moves
// from one to the other, and what clients were told.
type lossy struct {
	*house
	primary *testdb.Cluster
	address *testdb.Proxy
	daemons []*daemon
	told    []*hand
}

func newLossy(t *testing.T, witnesses, daemons int) *lossy {
	t.Helper()
	l := &lossy{primary: testdb.Start(t)}
	l.house = newHouse(t, l.primary.Database(t), witnesses)
	l.address = testdb.NewProxy(t, l.direct)
	for i := range daemons {
		l.daemons = append(l.daemons, l.daemon(fmt.Sprintf("d%d", i), l.address.DSN,
			postgres.Options{Timeout: 2 * time.Second}))
	}
	return l
}

// commit has a daemon write an entry, and asks again while it is excused.
func (l *lossy) commit(d *daemon) (err error) {
	l.t.Helper()
	h := &hand{table: "table", key: fmt.Sprintf("hand-%d", len(l.told))}
	until(l.t, "an answer to a commit", func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		err = h.next(ctx, d.Dealer)
		return err == nil || !excused(err)
	})
	if err == nil {
		l.told = append(l.told, h)
	}
	return err
}

// size is the number of entries in a database.
func (l *lossy) size(dsn string) int { return ask[int](l.t, dsn, "SELECT size::int FROM heads") }

// lose writes k entries that a standby lacks and every daemon knows, promotes it,
// and moves the address there. It returns the database at the standby.
func (l *lossy) lose(t *testing.T, k int) (promoted string) {
	t.Helper()
	s := l.primary.NewStandby(t)
	promoted = s.Same(t, l.direct)
	until(t, "the standby to follow", func() bool { return l.size(promoted) == l.size(l.direct) })
	s.Detach(t)
	kept := l.size(promoted)
	for i := range k {
		must(t, l.commit(l.daemons[i%len(l.daemons)]))
	}
	for _, d := range l.daemons {
		until(t, d.name+" to know the tail", func() bool { return d.Ledger().Head().Size >= uint64(kept+k) })
	}
	l.primary.Stop(t, testdb.Kill)
	s.Promote(t)
	l.address.Aim(t, promoted)
	return promoted
}

// goBack moves the address back to the primary, which is started again.
func (l *lossy) goBack(t *testing.T) {
	t.Helper()
	l.primary.Start(t)
	l.address.Aim(t, l.direct)
}

// TestLostTail: a standby is promoted that lacks the newest entries. No daemon signs
// there, all say why, and all go on reading; when the right database is back they go
// on.
func TestLostTail(t *testing.T) {
	t.Parallel()
	tails := []int{1, 3, 20}
	if *rounds >= 20 {
		tails = nil
		for k := 1; k <= 20; k++ {
			tails = append(tails, k)
		}
	}
	l := newLossy(t, 0, 3)
	var longest time.Duration
	for _, k := range tails {
		t.Run(fmt.Sprint(k), func(t *testing.T) {
			promoted := l.lose(t, k)
			moved := time.Now()
			known := l.size(promoted)
			for _, d := range l.daemons {
				until(t, d.name+" to stop signing",
					func() bool { return errors.Is(d.Ledger().Ready(), ledger.ErrFrozen) })
				longest = max(longest, time.Since(moved))
				if err := l.commit(d); !errors.Is(err, ledger.ErrFrozen) {
					t.Fatalf("%s: a commit after a lost tail: %v", d.name, err)
				}
				l.reads(t, d, known, k)
			}
			if got := l.size(promoted); got != known {
				t.Errorf("%d entries where %d were", got, known)
			}
			l.goBack(t)
			for _, d := range l.daemons {
				until(t, d.name+" to sign again", func() bool { return d.Ledger().Ready() == nil })
				must(t, l.commit(d))
			}
			if n := l.lost(l.read(l.direct), l.told); n > 0 {
				t.Errorf("%d receipts are not of the ledger", n)
			}
		})
	}
	t.Logf("%d tails, %d daemons: signing stopped %v at most after the address moved", len(tails), len(l.daemons),
		longest.Round(time.Millisecond))
}

// reads checks that receipts are given below a lost tail of k entries. Entries in one
// tile with lost ones cannot be proved any more under the newest head, and no answer
// says that they do not exist.
func (l *lossy) reads(t *testing.T, d *daemon, known, k int) {
	t.Helper()
	const tile = 256
	for _, index := range []int{0, known - 1} {
		provable := index/tile < known/tile || known/tile == (known+k)/tile
		until(t, fmt.Sprintf("%s to answer for entry %d", d.name, index), func() bool {
			_, err := d.Ledger().Receipt(t.Context(), uint64(index))
			if provable {
				return err == nil
			}
			return errors.Is(err, ledger.ErrFrozen) && !errors.Is(err, ledger.ErrNotFound)
		})
	}
}

// TestLostTailWithoutMark is the control: a daemon that has seen nothing signs a
// fork, which the comparison of heads finds. It does so only on an operator's word.
func TestLostTailWithoutMark(t *testing.T) {
	t.Parallel()
	l := newLossy(t, 0, 1)
	promoted := l.lose(t, 5)
	l.word = ""
	if _, err := l.open("blind", promoted, postgres.Options{}); !errors.Is(err, stops.NoMark) {
		t.Fatalf("a daemon without a mark: %v", err)
	}
	if n := l.forks(promoted); n > 0 {
		t.Fatalf("%d forks before anybody signed", n)
	}
	l.word = "it must be right"
	blind := l.daemon("blind", promoted, postgres.Options{})
	for i := range 6 {
		must(t, (&hand{table: "table", key: fmt.Sprintf("blind-%d", i)}).next(t.Context(), blind.Dealer))
	}
	if n := l.forks(promoted); n == 0 {
		t.Error("no fork was found: the test would not see one")
	}
}

// forks counts the heads that clients were told and whose size has another root in
// the database.
func (l *lossy) forks(dsn string) (n int) {
	got := l.read(dsn)
	for _, h := range l.told {
		for _, text := range h.receipts() {
			_, c := l.proved(text)
			if c.Size < uint64(len(got.roots)) && got.roots[c.Size] != c.Root {
				n++
			}
		}
	}
	return n
}

// TestUnseenTail: a daemon that did not know the lost tail cannot notice the loss.
// The witness stops it, and no card leaves it before.
func TestUnseenTail(t *testing.T) {
	t.Parallel()
	l := newLossy(t, 1, 1)
	must(t, l.commit(l.daemons[0]))
	first := l.told[0]
	must(t, first.next(t.Context(), l.daemons[0].Dealer)) // a deal: its commit is cosigned
	other := testdb.NewProxy(t, l.direct)
	late := l.daemon("late", other.DSN, postgres.Options{Timeout: time.Second})
	s := l.primary.NewStandby(t)
	promoted := s.Same(t, l.direct)
	until(t, "the standby to follow", func() bool { return l.size(promoted) == l.size(l.direct) })
	until(t, "the other daemon to follow", func() bool { return late.Ledger().Head().Size == uint64(l.size(promoted)) })
	s.Detach(t)
	nowhere := testdb.NewProxy(t, l.direct)
	nowhere.Fault = func(string) testdb.Fault { return testdb.LoseRequest }
	other.Aim(t, nowhere.DSN)
	for range 3 {
		must(t, l.commit(l.daemons[0]))
		must(t, l.told[len(l.told)-1].next(t.Context(), l.daemons[0].Dealer))
	}
	l.primary.Stop(t, testdb.Kill)
	s.Promote(t)
	other.Aim(t, promoted)
	until(t, "the witness to stop it", func() bool {
		h := &hand{table: "late", key: "late"}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		for err := error(nil); err == nil && h.end == nil; {
			err = h.next(ctx, late.Dealer)
		}
		if h.deal != nil {
			t.Fatal("a card was dealt on the other history")
		}
		return errors.Is(late.Ledger().Ready(), ledger.ErrFrozen)
	})
}
