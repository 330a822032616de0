package dealer_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/dealer"
	"shuffled/internal/dealer/api"
	"shuffled/internal/entropy"
)

// TestNotRepeated: another request under a key, at a place or for a close is refused, and uses nothing.
func TestNotRepeated(t *testing.T) {
	t.Parallel()
	tb := newTable(t, nil)
	s := tb.commit("key", api.ShuffleRequest{Table: "t", Deck: "standard-52"})
	tb.deal(s.ID, api.DealRequest{Runs: []audit.Run{seat(2, "a")}})
	tb.deal(s.ID, api.DealRequest{First: 2, Runs: []audit.Run{board(3)},
		Close: &api.CloseRequest{Outcome: audit.OutcomeCompleted}})
	size, ctx := tb.Ledger().Live().Size, t.Context()
	take := 52 // the default, but said: another request
	_, err := tb.Shuffle(ctx, as("tester"), "key", api.ShuffleRequest{Table: "t", Deck: "standard-52", Take: &take})
	wantIs(t, "another commit under the key", err, api.ErrKeyReused)
	_, err = tb.Deal(ctx, as("tester"), s.ID, api.DealRequest{Runs: []audit.Run{seat(2, "b")}})
	wantIs(t, "another recipient", err, api.ErrRepeated)
	_, err = tb.Deal(ctx, as("tester"), s.ID, api.DealRequest{First: 2, Runs: []audit.Run{board(3)}})
	wantIs(t, "the last deal without its close", err, api.ErrRepeated)
	_, err = tb.Close(ctx, as("tester"), s.ID,
		api.CloseRequest{Outcome: audit.OutcomeVoid, Reason: audit.ReasonMisdeal})
	wantIs(t, "another close", err, api.ErrRepeated)
	if got := tb.Ledger().Live().Size; got != size {
		t.Errorf("repeats wrote %d entries", got-size)
	}
	// The same key at another table is another key.
	if other := tb.commit("key", api.ShuffleRequest{Table: "u", Deck: "standard-52"}); other.ID == s.ID {
		t.Error("keys of different tables are the same")
	}
}

func wantIs(t *testing.T, what string, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Errorf("%s: %v, want %v", what, err, target)
	}
}

// TestRivalDeals: many dealers deal from one deck at once; no place is given twice.
func TestRivalDeals(t *testing.T) {
	t.Parallel()
	tb := newTable(t, nil)
	s := tb.commit("key", api.ShuffleRequest{Table: "t", Deck: "standard-52"})
	var mu sync.Mutex
	given := make(map[int]string)
	var wg sync.WaitGroup
	for rival := range 8 {
		wg.Go(func() {
			to := fmt.Sprintf("rival-%d", rival)
			for first := 0; first < 52; first++ {
				d, err := tb.Deal(context.Background(), as("tester"), s.ID,
					api.DealRequest{First: first, Runs: []audit.Run{seat(1, to)}})
				if err != nil {
					continue // another rival has the place
				}
				mu.Lock()
				if owner, taken := given[d.Cards[0].Place]; taken {
					t.Errorf("place %d went to %s and %s", first, owner, to)
				}
				given[first] = to
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if len(given) != 52 {
		t.Errorf("%d places were given", len(given))
	}
	tb.transcript(s.ID, api.View{Identity: "tester"})
}

// TestRefusals: bad requests name field and rule, and write nothing.
func TestRefusals(t *testing.T) {
	t.Parallel()
	tb := newTable(t, nil)
	s := tb.commit("key", api.ShuffleRequest{Table: "t", Deck: "standard-52"})
	later := tb.commit("later", api.ShuffleRequest{Table: "t", Deck: "standard-52"})
	tb.deal(s.ID, api.DealRequest{Runs: []audit.Run{seat(2, "a")}})
	size := tb.Ledger().Live().Size
	num := func(n int) *int { return &n }
	past := api.Time(time.Now().Add(-time.Minute).UnixMilli())
	far := api.Time(time.Now().Add(3 * time.Hour).UnixMilli())

	shuffles := map[string]struct {
		field string
		rule  string // of package audit
		req   api.ShuffleRequest
	}{
		"no table":        {field: "table", req: api.ShuffleRequest{Deck: "standard-52"}},
		"a person's name": {field: "table", req: api.ShuffleRequest{Table: "Jane Doe", Deck: "standard-52"}},
		"no deck":         {field: "deck", req: api.ShuffleRequest{Table: "t"}},
		"two decks": {field: "deck",
			req: api.ShuffleRequest{Table: "t", Deck: "standard-52", Cards: []string{"a", "b"}}},
		"an unknown deck": {field: "deck", req: api.ShuffleRequest{Table: "t", Deck: "tarot"}},
		"one card":        {field: "cards", req: api.ShuffleRequest{Table: "t", Cards: []string{"a"}}},
		"a nameless card": {field: "cards", req: api.ShuffleRequest{Table: "t", Cards: []string{"a", ""}}},
		"take 0":          {field: "take", req: api.ShuffleRequest{Table: "t", Deck: "standard-52", Take: num(0)}},
		"take 53":         {field: "take", req: api.ShuffleRequest{Table: "t", Deck: "standard-52", Take: num(53)}},
		"end_at past take": {field: "end_at",
			req: api.ShuffleRequest{Table: "t", Deck: "standard-52", Take: num(5),
				EndAt: &api.EndAt{Lo: 6, Hi: 6}}},
		"end_at backwards": {field: "end_at",
			req: api.ShuffleRequest{Table: "t", Deck: "standard-52", EndAt: &api.EndAt{Lo: 6, Hi: 5}}},
		"a bad reference": {field: "game_ref",
			req: api.ShuffleRequest{Table: "t", Deck: "standard-52", GameRef: "a b"}},
		"closed by now": {rule: audit.RuleCloseBy,
			req: api.ShuffleRequest{Table: "t", Deck: "standard-52", CloseBy: &past}},
		"past the cap": {rule: audit.RuleCloseBy,
			req: api.ShuffleRequest{Table: "t", Deck: "standard-52", CloseBy: &far}},
		"auditors only": {rule: audit.RuleDisclosureKey,
			req: api.ShuffleRequest{Table: "t", Deck: "standard-52", Disclosure: audit.DisclosureAuditor}},
	}
	for name, c := range shuffles {
		_, err := tb.Shuffle(t.Context(), as("tester"), strings.ReplaceAll(name, " ", "-"), c.req)
		wantRefusal(t, name, err, c.field, c.rule)
	}
	_, err := tb.Shuffle(t.Context(), as("tester"), "", api.ShuffleRequest{Table: "t", Deck: "standard-52"})
	wantRefusal(t, "no key", err, "Idempotency-Key", "")

	deals := map[string]struct {
		id          uint64
		field, rule string
		req         api.DealRequest
	}{
		"no runs":    {s.ID, "runs", "", api.DealRequest{First: 2}},
		"no cards":   {s.ID, "runs[0].count", "", api.DealRequest{First: 2, Runs: []audit.Run{seat(0, "a")}}},
		"no purpose": {s.ID, "runs[0].purpose", "", api.DealRequest{First: 2, Runs: []audit.Run{{Count: 1}}}},
		"a bad recipient": {s.ID, "runs[1].recipient", "",
			api.DealRequest{First: 2, Runs: []audit.Run{seat(1, "a"), seat(1, "a@b")}}},
		"a seat of nobody": {s.ID, "runs[1].recipient", "",
			api.DealRequest{First: 2, Runs: []audit.Run{board(1), seat(1, "")}}},
		"a gap":         {s.ID, "", audit.RulePlace, api.DealRequest{First: 3, Runs: []audit.Run{seat(1, "a")}}},
		"inside a deal": {s.ID, "", audit.RulePlace, api.DealRequest{First: 1, Runs: []audit.Run{seat(1, "a")}}},
		"past the end":  {s.ID, "", audit.RulePlaces, api.DealRequest{First: 2, Runs: []audit.Run{seat(51, "a")}}},
		"a bad close": {s.ID, "close.outcome", "",
			api.DealRequest{First: 2, Runs: []audit.Run{seat(1, "a")}, Close: &api.CloseRequest{}}},
	}
	for name, c := range deals {
		_, err := tb.Deal(t.Context(), as("tester"), c.id, c.req)
		wantRefusal(t, name, err, c.field, c.rule)
	}
	for _, id := range []uint64{0, 1, 999} {
		_, err = tb.Deal(t.Context(), as("tester"), id, api.DealRequest{Runs: []audit.Run{seat(1, "a")}})
		wantIs(t, "no shuffle", err, api.ErrNotFound)
	}
	for name, req := range map[string]api.CloseRequest{
		"close.outcome": {}, "outcome": {Outcome: audit.OutcomeExpired}, "continued": {Outcome: audit.OutcomeContinued},
	} {
		_, err = tb.Close(t.Context(), as("tester"), later.ID, req)
		wantRefusal(t, name, err, "outcome", "")
	}
	for _, req := range []api.CloseRequest{{Outcome: audit.OutcomeVoid},
		{Outcome: audit.OutcomeVoid, Reason: audit.ReasonTapeLost},
		{Outcome: audit.OutcomeCompleted, Reason: audit.ReasonMisdeal}} {
		_, err = tb.Close(t.Context(), as("tester"), later.ID, req)
		wantRefusal(t, "reason", err, "reason", "")
	}
	if got := tb.Ledger().Live().Size; got != size {
		t.Errorf("refused requests wrote %d entries", got-size)
	}
}

func wantRefusal(t *testing.T, what string, err error, field, rule string) {
	t.Helper()
	var request *api.RequestError
	var illegal *audit.Illegal
	switch {
	case field != "" && (!errors.As(err, &request) || request.Field != field):
		t.Errorf("%s: %v, want a refusal of %s", what, err, field)
	case rule != "" && (!errors.As(err, &illegal) || illegal.Code != rule):
		t.Errorf("%s: %v, want the rule %s", what, err, rule)
	}
}

// TestExpire: a shuffle past its close-by is closed by the daemon, once, with its tape, and its table goes on.
func TestExpire(t *testing.T) {
	t.Parallel()
	tb := newTable(t, nil)
	forgotten := tb.commit("1", api.ShuffleRequest{Table: "t", Deck: "standard-52"})
	tb.pass(time.Hour + time.Second)
	later := tb.commit("2", api.ShuffleRequest{Table: "t", Deck: "standard-52"})
	_, err := tb.Deal(t.Context(), as("tester"), later.ID, api.DealRequest{Runs: []audit.Run{seat(1, "a")}})
	wantRefusal(t, "a deal behind a forgotten shuffle", err, "", audit.RuleEarlier)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if _, err := tb.Expire(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if size := tb.Ledger().Live().Size; size != 5 { // genesis, start, two commits, one close
		t.Errorf("%d entries, want 5", size)
	}
	status, err := tb.Status(t.Context(), forgotten.ID)
	if err != nil || status.State != api.StateClosed || status.Outcome != audit.OutcomeExpired.String() {
		t.Errorf("status: %+v, %v", status, err)
	}
	tb.transcript(forgotten.ID, api.View{})
	tb.deal(later.ID, api.DealRequest{Runs: []audit.Run{seat(1, "a")}})
}

// TestViews: who sees which cards, before the close and after.
func TestViews(t *testing.T) {
	t.Parallel()
	tb := newTable(t, nil)
	s := tb.commit("key", api.ShuffleRequest{Table: "t", Deck: "standard-52"})
	places := func(v api.View) (p []int) {
		for _, c := range tb.transcript(s.ID, v).Cards {
			p = append(p, c.Place)
		}
		return p
	}
	check := func(when string, want map[api.View][]int) {
		t.Helper()
		for v, w := range want {
			if got := places(v); !slices.Equal(got, w) {
				t.Errorf("%s, %+v sees %v, want %v", when, v, got, w)
			}
		}
	}
	check("before a deal", map[api.View][]int{{}: nil, {Identity: "tester"}: nil, {Auditor: true}: nil})
	tb.deal(s.ID, api.DealRequest{Runs: []audit.Run{seat(2, "a"), seat(2, "b"),
		{Count: 1, Purpose: audit.PurposeBurn}, board(3)}})
	public, owners, all := []int{5, 6, 7}, []int{0, 1, 2, 3, 5, 6, 7}, []int{0, 1, 2, 3, 4, 5, 6, 7}
	check("before the close", map[api.View][]int{
		{}: public, {Auditor: true}: public, {Identity: "tester"}: owners, {Identity: "mallory"}: public,
		{Identity: "tester", Recipient: "a"}: {0, 1, 5, 6, 7}, {Identity: "tester", Recipient: "b"}: {2, 3, 5, 6, 7},
	})
	// Nobody but a dealer gets a recipient's cards.
	check("without a dealer's word", map[api.View][]int{{Recipient: "a"}: public,
		{Auditor: true, Recipient: "a"}: public})
	_, err := tb.Transcript(t.Context(), s.ID, api.View{Identity: "tester", Recipient: "nobody"})
	wantRefusal(t, "nobody", err, "recipient", "")
	if _, err := tb.Close(t.Context(), as("tester"), s.ID,
		api.CloseRequest{Outcome: audit.OutcomeEndedEarly}); err != nil {
		t.Fatal(err)
	}
	check("after the close", map[api.View][]int{{}: all, {Auditor: true}: all, {Identity: "tester"}: all,
		{Identity: "tester", Recipient: "b"}: {2, 3, 5, 6, 7}})
}

// TestAside: a burn or discard that is not public opens nothing, to its dealer neither,
// before the tape is disclosed to those who ask.
func TestAside(t *testing.T) {
	t.Parallel()
	runs := []audit.Run{seat(1, "a"), {Count: 2, Purpose: audit.PurposeBurn}, board(1),
		{Count: 1, Purpose: audit.PurposeDiscard, Recipient: "a"}, {Count: 1, Purpose: audit.PurposeBurn, Public: true}}
	unopened := []api.Unopened{{Place: 1, Purpose: "burn"}, {Place: 2, Purpose: "burn"},
		{Place: 4, Purpose: "discard", Recipient: "a"}}
	places := func(cards []openings.Card) (p []int) {
		for _, c := range cards {
			p = append(p, c.Place)
		}
		return p
	}
	tb := newTable(t, nil)
	for name, draws := range map[string]bool{"cards": false, "draws": true} {
		s := tb.commit
		var id uint64
		if draws {
			d, err := tb.Draws(t.Context(), as("tester"), name, api.DrawsRequest{Table: name, Ranges: []uint32{6, 6,
				6, 6, 6, 6}})
			must(t, err)
			id = d.ID
		} else {
			id = s(name, api.ShuffleRequest{Table: name, Deck: "standard-52"}).ID
		}
		req := api.DealRequest{Runs: runs}
		d := tb.deal(id, req)
		for what, answer := range map[string]api.Deal{"first": d, "again": tb.deal(id, req)} {
			if got := places(answer.Cards); !slices.Equal(got, []int{0, 3, 5}) || !slices.Equal(answer.Unopened,
				unopened) {
				t.Errorf("%s, %s: places %v are open, %v are not", name, what, got, answer.Unopened)
			}
			if draws != (len(answer.Shows) == 3) {
				t.Errorf("%s, %s: shows %v", name, what, answer.Shows)
			}
		}
		for view, want := range map[api.View][]int{{Identity: "tester"}: {0, 3, 5},
			{Identity: "tester", Recipient: "a"}: {0, 3, 5}, {}: {3, 5}} {
			if got := places(tb.transcript(id, view).Cards); !slices.Equal(got, want) {
				t.Errorf("%s: %+v sees %v, want %v", name, view, got, want)
			}
		}
		if _, err := tb.Close(t.Context(), as("tester"), id,
			api.CloseRequest{Outcome: audit.OutcomeCompleted}); err != nil {
			t.Fatal(err)
		}
		if got := tb.deal(id, req); !slices.Equal(places(got.Cards), []int{0, 3, 5}) {
			t.Errorf("%s: repeated after the close: %v", name, places(got.Cards))
		}
		if got := places(tb.transcript(id, api.View{}).Cards); !slices.Equal(got, []int{0, 1, 2, 3, 4, 5}) {
			t.Errorf("%s: the tape is public, and everybody sees %v", name, got)
		}
	}
}

// TestLostSealingKey: without the key nothing is dealt and nothing is guessed.
func TestLostSealingKey(t *testing.T) {
	t.Parallel()
	tb := newTable(t, nil)
	s := tb.commit("key", api.ShuffleRequest{Table: "t", Deck: "standard-52"})
	size := tb.Ledger().Live().Size
	cfg := tb.cfg
	cfg.Keys = newRing(t)
	other := dealer.New(cfg)
	_, err := other.Deal(t.Context(), as("tester"), s.ID, api.DealRequest{Runs: []audit.Run{seat(1, "a")}})
	wantIs(t, "deal", err, api.ErrSealed)
	_, err = other.Close(t.Context(), as("tester"), s.ID, api.CloseRequest{Outcome: audit.OutcomeCompleted})
	wantIs(t, "close", err, api.ErrSealed)
	lost := api.CloseRequest{Outcome: audit.OutcomeVoid, Reason: audit.ReasonTapeLost}
	_, err = tb.Close(t.Context(), as("admin"), s.ID, lost)
	wantRefusal(t, "tape_lost of a tape that is there", err, "reason", "")
	if got := tb.Ledger().Live().Size; got != size {
		t.Errorf("%d entries were written", got-size)
	}
	closed, err := other.Close(t.Context(), as("admin"), s.ID, lost)
	if err != nil || closed.Tape != nil || tb.closeOf(s.ID).Reason != audit.ReasonTapeLost {
		t.Errorf("tape_lost of a tape that is lost: %+v, %v", closed, err)
	}
	// The table goes on.
	tb.commit("next", api.ShuffleRequest{Table: "t", Deck: "standard-52"})
}

// stuck gives good bytes for a while and then the same byte for ever.
type stuck struct {
	good io.Reader
	left int
}

func (s *stuck) Read(b []byte) (int, error) {
	if s.left -= len(b); s.left > 0 {
		return s.good.Read(b)
	}
	copy(b, bytes.Repeat([]byte{7}, len(b)))
	return len(b), nil
}

// TestDoubtfulEntropy: no shuffle is made of doubtful bytes, and none after them.
func TestDoubtfulEntropy(t *testing.T) {
	t.Parallel()
	good := &counter{}
	source, err := entropy.NewFrom(&stuck{good: good, left: 4096}, entropy.Config{})
	must(t, err)
	tb := newTable(t, source)
	tb.commit("good", api.ShuffleRequest{Table: "t", Deck: "standard-52"})
	var failed error
	n := 0
	for ; failed == nil && n < 100; n++ {
		_, failed = tb.Shuffle(t.Context(), as("tester"), fmt.Sprint("key-", n),
			api.ShuffleRequest{Table: "t", Deck: "standard-52"})
	}
	wantIs(t, "stuck bytes", failed, api.ErrEntropy)
	if _, ok := source.Latched(); !ok {
		t.Error("the latch is not set")
	}
	size := tb.Ledger().Live().Size
	_, err = tb.Shuffle(t.Context(), as("tester"), "after", api.ShuffleRequest{Table: "t", Deck: "standard-52"})
	wantIs(t, "after the failure", err, api.ErrEntropy)
	if got := tb.Ledger().Live().Size; got != size {
		t.Errorf("%d entries were written", got-size)
	}
	// What was committed before is still dealt and repeated.
	tb.deal(2, api.DealRequest{Runs: []audit.Run{seat(1, "a")}})
	tb.commit("good", api.ShuffleRequest{Table: "t", Deck: "standard-52"})
}

// counter is a reader of bytes that pass the health tests: SHA-like mixing of a
// counter would do; a multiplicative step is enough here.
type counter struct{ x uint64 }

func (c *counter) Read(b []byte) (int, error) {
	for i := range b {
		c.x = c.x*6364136223846793005 + 1442695040888963407
		b[i] = byte(c.x >> 56)
	}
	return len(b), nil
}
