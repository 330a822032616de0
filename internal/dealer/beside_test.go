package dealer_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/dealer"
	"shuffled/internal/dealer/api"
	"shuffled/internal/ledger"
)

// hooked is a store in which something happens right after a shuffle was read for the first time.
type hooked struct {
	ledger.Store
	reads int
	after func()
}

func (h *hooked) ByShuffles(ctx context.Context, id ledger.ID, standing ledger.Standing, s ...uint64) ([][]ledger.Row,
	error) {
	rows, err := h.Store.ByShuffles(ctx, id, standing, s...)
	if h.reads++; h.reads == 1 {
		h.after()
	}
	return rows, err
}

// TestDealBesideMix: a mix is written while a deal is on its way. The deal shows the mixed order, for ever the same.
func TestDealBesideMix(t *testing.T) {
	t.Parallel()
	for _, draw := range []bool{false, true} {
		dealBesideMix(t, draw)
	}
}

func dealBesideMix(t *testing.T, draw bool) {
	tb := newTableWith(t, setting{modes: allModes})
	values, hashes := slots("t", 1)
	var s api.Shuffle
	var err error
	if draw {
		s, err = tb.Draws(t.Context(), as("tester"), "kd",
			api.DrawsRequest{Table: "t", Ranges: []uint32{1000, 1000, 1000, 1000}, Plan: &api.MixPlan{Slots: hashes}})
	} else {
		s, err = tb.Shuffle(t.Context(), as("tester"), "k",
			api.ShuffleRequest{Table: "t", Deck: "standard-52", Plan: &api.MixPlan{Slots: hashes}})
	}
	must(t, err)
	cfg := tb.cfg
	cfg.Store = &hooked{Store: tb.cfg.Store, after: func() {
		if _, err := tb.Mix(t.Context(), as("tester"), s.ID, api.MixRequest{Slots: values}); err != nil {
			t.Error(err)
		}
	}}
	racing := dealer.New(cfg)
	req := api.DealRequest{Runs: []audit.Run{seat(3, "a")}}
	first, err := racing.Deal(t.Context(), as("tester"), s.ID, req)
	must(t, err)
	again := tb.deal(s.ID, req)
	if diff := cmp.Diff(first, again, sameAnswer); diff != "" {
		t.Errorf("draw %v: two answers for one deal: %s", draw, diff)
	}
	tb.close(s.ID)
}

// TestMixCopy: a copy of a mix that was written, and whose shuffle is closed by now, gets the answer.
func TestMixCopy(t *testing.T) {
	tb := newTableWith(t, setting{modes: allModes})
	values, hashes := slots("r", 1)
	s, err := tb.Shuffle(t.Context(), as("tester"), "k",
		api.ShuffleRequest{Table: "t", Deck: "standard-52", Plan: &api.MixPlan{Slots: hashes}})
	must(t, err)
	cfg := tb.cfg
	var first api.Mix
	cfg.Store = &hooked{Store: tb.cfg.Store, after: func() {
		if first, err = tb.Mix(t.Context(), as("tester"), s.ID, api.MixRequest{Slots: values}); err != nil {
			t.Error(err)
		}
		if _, err := tb.Close(t.Context(), as("tester"), s.ID,
			api.CloseRequest{Outcome: audit.OutcomeEndedEarly}); err != nil {
			t.Error(err)
		}
	}}
	again, err := dealer.New(cfg).Mix(t.Context(), as("tester"), s.ID, api.MixRequest{Slots: values})
	if diff := cmp.Diff(first, again, sameAnswer); diff != "" || err != nil {
		t.Errorf("a copy of a mix is answered otherwise: %v", err)
	}
}

// hookedTag is a store in which something happens right after a key was looked up.
type hookedTag struct {
	ledger.Store
	once  sync.Once
	after func()
}

func (h *hookedTag) ByKeyTags(ctx context.Context, id ledger.ID, tags ...[32]byte) ([]ledger.Row, error) {
	rows, err := h.Store.ByKeyTags(ctx, id, tags...)
	h.once.Do(func() { h.after() })
	return rows, err
}

// TestCommitCopy: a copy of a commit that was written gets its answer, also when its table is closed by now.
func TestCommitCopy(t *testing.T) {
	tb := newTableWith(t, setting{modes: allModes})
	req := api.ShuffleRequest{Table: "t", Deck: "standard-52"}
	var first api.Shuffle
	var err error
	cfg := tb.cfg
	cfg.Store = &hookedTag{Store: tb.cfg.Store, after: func() {
		if first, err = tb.Shuffle(t.Context(), as("tester"), "k", req); err != nil {
			t.Error(err)
		}
		if _, err := tb.SetTable(t.Context(), as("admin"), "t", false); err != nil {
			t.Error(err)
		}
	}}
	again, err := dealer.New(cfg).Shuffle(t.Context(), as("tester"), "k", req)
	if diff := cmp.Diff(first, again, sameAnswer); diff != "" || err != nil {
		t.Errorf("a copy of a commit is answered otherwise: %v", err)
	}
}

// TestLongNames: what is too long is refused, whatever would be hashed of it.
func TestLongNames(t *testing.T) {
	t.Parallel()
	tb := newTable(t, nil)
	long := strings.Repeat("x", 70_000)
	for field, req := range map[string]api.ShuffleRequest{
		"table": {Table: long, Deck: "standard-52"}, "deck": {Table: "t", Deck: long},
		"cards": {Table: "t", Cards: []string{long, "a"}}, "game_ref": {Table: "t", Deck: "standard-52", GameRef: long},
	} {
		_, err := tb.Shuffle(t.Context(), as("tester"), "k", req)
		wantRefusal(t, field, err, field, "")
	}
	_, err := tb.Draws(t.Context(), as("tester"), "k",
		api.DrawsRequest{Table: "t", Wheel: []api.Stop{{Label: long, Weight: 2}}})
	wantRefusal(t, "wheel", err, "wheel", "")
}

// blindStore answers no more reads of shuffles behind the barrier once blind is set.
type blindStore struct {
	ledger.Store
	blind atomic.Bool
}

func (s *blindStore) ByShuffles(ctx context.Context, id ledger.ID, standing ledger.Standing,
	all ...uint64) ([][]ledger.Row, error) {
	if standing == ledger.Durable && s.blind.Load() {
		return nil, ledger.ErrOverloaded
	}
	return s.Store.ByShuffles(ctx, id, standing, all...)
}

// TestCopyUnread: a copy of what was written in that time, whose answer cannot be read,
// is not told that a rule forbids it: it is to be sent again.
func TestCopyUnread(t *testing.T) {
	t.Parallel()
	tb := newTableWith(t, setting{modes: allModes})
	values, hashes := slots("u", 1)
	s, err := tb.Shuffle(t.Context(), as("tester"), "k",
		api.ShuffleRequest{Table: "t", Deck: "standard-52", Plan: &api.MixPlan{Slots: hashes}})
	must(t, err)
	type step func(*dealer.Dealer) error
	for _, one := range []struct {
		name string
		do   step
	}{
		{"mix", func(d *dealer.Dealer) error {
			_, err := d.Mix(t.Context(), as("tester"), s.ID, api.MixRequest{Slots: values})
			return err
		}},
		{"deal", func(d *dealer.Dealer) error {
			_, err := d.Deal(t.Context(), as("tester"), s.ID, api.DealRequest{Runs: []audit.Run{seat(3, "a")}})
			return err
		}},
		{"close", func(d *dealer.Dealer) error {
			_, err := d.Close(t.Context(), as("tester"), s.ID, api.CloseRequest{Outcome: audit.OutcomeEndedEarly})
			return err
		}},
	} {
		cfg := tb.cfg
		blind := &blindStore{Store: tb.cfg.Store}
		cfg.Store = &hooked{Store: blind, after: func() {
			if err := one.do(tb.Dealer); err != nil {
				t.Errorf("%s: %v", one.name, err)
			}
			blind.blind.Store(true)
		}}
		wantIs(t, one.name, one.do(dealer.New(cfg)), ledger.ErrOverloaded)
	}
}

// behind is a server that was left behind in a failover: it shows no key, and what
// it shows without the barrier is damaged.
type behind struct {
	ledger.Store
	commits bool // it shows no commits either, and rows of another type
}

func (behind) ByKeyTags(context.Context, ledger.ID, ...[32]byte) ([]ledger.Row, error) {
	return nil, nil
}

func (b behind) ByShuffles(ctx context.Context, id ledger.ID, standing ledger.Standing, s ...uint64) ([][]ledger.Row,
	error) {
	list, err := b.Store.ByShuffles(ctx, id, standing, s...)
	for i := range list {
		switch {
		case !b.commits:
			list[i] = nil
		case standing == ledger.Visible:
			list[i][0].Entry = append(slices.Clone(list[i][0].Entry), 0)
		}
	}
	return list, err
}

func (b behind) Rows(ctx context.Context, id ledger.ID, from, to uint64) iter.Seq2[ledger.Row, error] {
	return func(yield func(ledger.Row, error) bool) {
		for row, err := range b.Store.Rows(ctx, id, from, to) {
			row.Type = audit.TypeDeal
			if !yield(row, err) {
				return
			}
		}
	}
}

// TestLeftBehind: a key that was refused as a repeated one is not "not found", nor is a commit whose row says that it
// is none; and no error is told of rows that were read without the barrier.
func TestLeftBehind(t *testing.T) {
	onEachStore(t, setting{}, func(t *testing.T, tb *table) {
		req := api.ShuffleRequest{Table: "t", Deck: "standard-52"}
		s := tb.commit("k", req)
		cfg := tb.cfg
		cfg.Store = behind{Store: tb.cfg.Store, commits: true}
		d := dealer.New(cfg)
		if _, err := d.Shuffle(t.Context(), as("tester"), "k", req); !errors.Is(err, ledger.ErrUnavailable) {
			t.Errorf("a commit under a key that is not shown: %v", err)
		}
		if name, err := d.Shuffles().Table(t.Context(), s.ID); err != nil || name != "t" {
			t.Errorf("the table: %q, %v", name, err)
		}
		other := tb.rival(behind{Store: tb.cfg.Store})
		if _, err := other.Status(t.Context(), s.ID); !errors.Is(err, ledger.ErrFrozen) {
			t.Errorf("a commit whose row says it is a deal: %v", err)
		}
	})
}

// TestChildBesideDeals: the parent is dealt from after its cards were read for a child of its stub. The child holds
// what was not dealt until then, and none of the cards that came between; where deals come without end, it is refused.
func TestChildBesideDeals(t *testing.T) {
	onEachStore(t, setting{}, func(t *testing.T, tb *table) {
		for _, ends := range []bool{false, true} {
			name := map[bool]string{false: "dealt", true: "dealt-again-and-again"}[ends]
			parent := tb.commit(name, deckOf(audit.DisclosurePublic))
			cfg := tb.cfg
			var dealt []openings.Card
			deal := func() {
				d := tb.deal(parent.ID, api.DealRequest{First: len(dealt), Runs: []audit.Run{seat(3, "a")}})
				dealt = append(dealt, d.Cards...)
			}
			h := &hooked{Store: tb.cfg.Store}
			h.after = func() {
				deal()
				if ends {
					h.reads = 0
				}
			}
			cfg.Store = h
			s, err := dealer.New(cfg).Shuffle(t.Context(), as("tester"), "child-of-"+name, child(parent.ID))
			if ends {
				wantRefusal(t, name, err, "", audit.RuleParent)
				tb.close(parent.ID)
				continue
			}
			must(t, err)
			rest := tb.all(s, 0, 52-len(dealt))
			if got := sortedValues(dealt, rest); len(dealt) != 3 || !slices.Equal(got, wholeDeck(52)) {
				t.Errorf("%d cards were dealt; parent and child together are %v", len(dealt), got)
			}
		}
	})
}
