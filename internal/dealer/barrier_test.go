package dealer_test

import (
	"context"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/dealer"
	"shuffled/internal/dealer/api"
	"shuffled/internal/ledger"
)

// unreplicated is a server that no standby answers to: it shows everything, and
// nothing of it gets through the barrier while cut is set.
type unreplicated struct {
	ledger.Store
	cut  atomic.Bool
	only uint64 // the shuffle that it is about; 0: all, and all keys
}

func (s *unreplicated) ByShuffles(ctx context.Context, id ledger.ID, standing ledger.Standing,
	all ...uint64) ([][]ledger.Row, error) {
	if standing == ledger.Durable && s.cut.Load() && (s.only == 0 || slices.Contains(all, s.only)) {
		return nil, ledger.ErrOverloaded
	}
	return s.Store.ByShuffles(ctx, id, standing, all...)
}

func (s *unreplicated) ByKeyTags(ctx context.Context, id ledger.ID, tags ...[32]byte) ([]ledger.Row, error) {
	if s.cut.Load() && s.only == 0 {
		return nil, ledger.ErrOverloaded
	}
	return s.Store.ByKeyTags(ctx, id, tags...)
}

// TestAnswersAreDurable: whatever is answered from the store was read behind the barrier. What a server shows and may
// yet lose is told to nobody: no receipt, no card, and above all no tape.
func TestAnswersAreDurable(t *testing.T) {
	t.Parallel()
	tb := newTableWith(t, setting{modes: allModes})
	ctx := t.Context()
	at := func(table string) api.ShuffleRequest {
		return api.ShuffleRequest{Table: table, Deck: "standard-52"}
	}
	planned := at("planned")
	planned.Plan = &api.MixPlan{Cut: true}
	end := api.CloseRequest{Outcome: audit.OutcomeEndedEarly}
	dealt := api.DealRequest{Runs: []audit.Run{seat(2, "a"), board(3)}}
	final := api.DealRequest{Runs: []audit.Run{seat(2, "a")}, Close: &end}
	parent := tb.commit("parent", at("t")).ID
	hand, ended := tb.commit("planned", planned).ID, tb.commit("ended", at("ended")).ID

	s := &unreplicated{Store: tb.cfg.Store}
	cfg := tb.cfg
	cfg.Store = s
	d := dealer.New(cfg)
	asks := map[string]func() (any, error){
		"mix":        func() (any, error) { return d.Mix(ctx, as("tester"), hand, api.MixRequest{Cut: num(9)}) },
		"deal":       func() (any, error) { return d.Deal(ctx, as("tester"), hand, dealt) },
		"close":      func() (any, error) { return d.Close(ctx, as("tester"), hand, end) },
		"final deal": func() (any, error) { return d.Deal(ctx, as("tester"), ended, final) },
		"commit":     func() (any, error) { return d.Shuffle(ctx, as("tester"), "ended", at("ended")) },
		"state":      func() (any, error) { return d.Status(ctx, hand) },
		"transcript": func() (any, error) { return d.Transcript(ctx, hand, api.View{}) },
		"child":      func() (any, error) { return d.Shuffle(ctx, as("tester"), "child", child(parent)) },
	}
	for _, name := range []string{"mix", "deal", "close", "final deal"} { // each for the first time
		if _, err := asks[name](); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	s.cut.Store(true)
	for name, ask := range asks {
		tb.unwritten(func() {
			answer, err := ask()
			wantIs(t, name, err, ledger.ErrOverloaded)
			if !reflect.ValueOf(answer).IsZero() {
				t.Errorf("%s: the answer holds %+v", name, answer)
			}
		})
	}
	// A child's key may be known to be new; its parent is still read behind the barrier.
	s.only = parent
	_, err := asks["child"]()
	wantIs(t, "a child whose parent is not replicated", err, ledger.ErrOverloaded)
	s.cut.Store(false)
	for name, ask := range asks {
		if _, err := ask(); err != nil {
			t.Errorf("%s, when the standby is back: %v", name, err)
		}
	}
}

// TestParentsAreDurable: without the sealing key a child's cards are computed from
// the tape of its parent, which is read behind the barrier, too.
func TestParentsAreDurable(t *testing.T) {
	t.Parallel()
	tb := newTable(t, nil)
	parent := tb.commit("parent", api.ShuffleRequest{Table: "t", Deck: "standard-52"})
	s := tb.commit("child", child(parent.ID))
	tb.all(s, 0, 52)
	store := &unreplicated{Store: tb.cfg.Store, only: parent.ID}
	cfg := tb.cfg
	cfg.Store, cfg.Keys = store, newRing(t)
	d := dealer.New(cfg)
	store.cut.Store(true)
	_, err := d.Transcript(t.Context(), s.ID, api.View{})
	wantIs(t, "the parent is not replicated", err, ledger.ErrOverloaded)
	store.cut.Store(false)
	if _, err := d.Transcript(t.Context(), s.ID, api.View{}); err != nil {
		t.Errorf("when the standby is back: %v", err)
	}
}

// lost is a server that shows the last entry of each shuffle until somebody asks what is durable, as after a failover.
type lost struct{ ledger.Store }

func (s lost) ByShuffles(ctx context.Context, id ledger.ID, standing ledger.Standing, all ...uint64) (
	[][]ledger.Row, error) {
	rows, err := s.Store.ByShuffles(ctx, id, standing, all...)
	for i, of := range rows {
		if standing == ledger.Durable {
			rows[i] = of[:len(of)-1]
		}
	}
	return rows, err
}

// TestVanished: a repeat of a request whose entry is visible, and lost when it is asked for behind the barrier, may be
// made again. It writes nothing, and does not say that a rule forbids it.
func TestVanished(t *testing.T) {
	t.Parallel()
	tb := newTable(t, nil)
	ctx, by := t.Context(), as("tester")
	cfg := tb.cfg
	cfg.Store = lost{tb.cfg.Store}
	id := tb.commit("k", api.ShuffleRequest{Table: "t", Deck: "standard-52"}).ID
	for _, step := range []struct {
		name string
		ask  func(d *dealer.Dealer) error
	}{
		{"deal", func(d *dealer.Dealer) error {
			_, err := d.Deal(ctx, by, id, api.DealRequest{Runs: []audit.Run{seat(2, "a"), board(3)}})
			return err
		}},
		{"reveal", func(d *dealer.Dealer) error {
			_, err := d.Reveal(ctx, by, id, api.RevealRequest{Places: []int{1}})
			return err
		}},
		{"close", func(d *dealer.Dealer) error {
			_, err := d.Close(ctx, by, id, api.CloseRequest{Outcome: audit.OutcomeEndedEarly})
			return err
		}},
	} {
		if err := step.ask(tb.Dealer); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		tb.unwritten(func() { wantIs(t, step.name, step.ask(dealer.New(cfg)), ledger.ErrUnavailable) })
	}
}
