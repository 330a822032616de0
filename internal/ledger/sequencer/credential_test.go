package sequencer_test

import (
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"shuffled/internal/audit"
	"shuffled/internal/audit/rules"
	"shuffled/internal/ledger"
	"shuffled/internal/ledger/sequencer"
)

// credential is the creation of a token, all that a ledger holds of it.
func credential(id string, role audit.Role) *audit.Credential {
	return &audit.Credential{Kind: audit.CredentialCreated, ID: id, Form: audit.FormToken, Role: role,
		Identity: "service-" + id,
		Tables:   []string{"t"}, Digest: [32]byte{1}}
}

// byOperator is a proposal of a command on the daemon's host.
func byOperator(bodies ...audit.Body) ledger.Proposal {
	return ledger.Proposal{Actor: audit.Operator, Bodies: bodies}
}

// wantCredential: the ledger has this credential in force, or with nil none.
func wantCredential(t *testing.T, what string, l *sequencer.Ledger, id string, anew bool, want *audit.Credential) {
	t.Helper()
	got, err := l.Credential(t.Context(), id, anew)
	switch {
	case want == nil && !errors.Is(err, ledger.ErrNotFound):
		t.Errorf("%s: credential %s: %v, want ErrNotFound", what, id, err)
	case want != nil && (err != nil || !cmp.Equal(got, *want)):
		t.Errorf("%s: credential %s: %+v, %v; want %+v", what, id, got, err, *want)
	}
}

// aging is a clock of which a test lets time pass.
type aging struct {
	mu    sync.Mutex
	start time.Time
	ahead time.Duration
}

func (a *aging) read() (time.Time, time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return time.Now().Add(a.ahead), time.Since(a.start) + a.ahead
}

func (a *aging) pass(d time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ahead += d
}

// TestCredentials: a credential is what its entry says, for every daemon within
// CredentialLife, and for one that starts; revoked, it is none.
func TestCredentials(t *testing.T) {
	onBoth(t, func(t *testing.T, h *house) {
		l := h.open(h.config("mark"))
		clock := &aging{start: time.Now()}
		other := h.second(func(c *ledger.Config) { c.Clock = clock.read })
		one, two := credential("one", audit.RoleDealer), credential("two", audit.RoleAdmin)
		wantCredential(t, "before it is created", l, "one", true, nil)
		first := h.must(l, byOperator(one))[0]
		second := h.must(l, byOperator(two))[0]
		for _, anew := range []bool{false, true} {
			wantCredential(t, "created here", l, "one", anew, one)
		}
		wantCredential(t, "created by another daemon", other, "one", true, one)
		wantCredential(t, "an id that is none", other, "three", true, nil)

		end := h.must(l, byOperator(&audit.Credential{Kind: audit.CredentialRevoked, ID: "one", Reason: "stolen"}))[0]
		wantCredential(t, "revoked here", l, "one", false, nil)
		clock.pass(ledger.CredentialLife)
		wantCredential(t, "revoked by another daemon", other, "one", false, nil)
		wantCredential(t, "the other credential", other, "two", false, two)

		want := []rules.Holder{
			{Credential: *one, Index: first.Index, Created: first.Entry.Time, Revoked: end.Entry.Time},
			{Credential: *two, Index: second.Index, Created: second.Entry.Time}}
		again := func(what string, got []rules.Holder, err error) {
			t.Helper()
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%s: %v %s", what, err, diff)
			}
		}
		got, err := other.Credentials(t.Context())
		again("all of them", got, err)
		state, _, _, err := ledger.ReadState(t.Context(), h.store, "main")
		must(t, err)
		again("of the store", state.Holders(), nil)
		if _, _, _, err := ledger.ReadState(t.Context(), h.store, "other"); !errors.Is(err, ledger.ErrNotFound) {
			t.Errorf("of a ledger that is none: %v", err)
		}
		must(t, l.Close())
		l = h.open(h.config("mark"))
		got, err = l.Credentials(t.Context())
		again("after a restart", got, err)
		wantCredential(t, "after a restart", l, "one", false, nil)
		wantCredential(t, "after a restart", l, "two", false, two)
	})
}

// TestCredentialsOfADeadStore: what memory knows is believed for CredentialLife, and not
// for longer; a frozen ledger, which takes in no entries, keeps what it knew.
func TestCredentialsOfADeadStore(t *testing.T) {
	t.Parallel()
	h := newHouse(t, openSQLite(t))
	f := &faultyStore{Store: h.store}
	h.store = f
	clock := &aging{start: time.Now()}
	c := h.config("mark")
	var turns atomic.Int64
	c.Clock, c.Log = clock.read, slog.New(said{slog.DiscardHandler, "the ledger can", &turns})
	l := h.open(c)
	one := credential("one", audit.RoleDealer)
	h.must(l, byOperator(one))
	f.failHead(func(ledger.Head, error) (ledger.Head, error) { return ledger.Head{}, errors.New("no route to host") })
	waitFor(t, func() bool { return turns.Load() == 1 }) // although nobody asks
	wantCredential(t, "at once", l, "one", false, one)
	if _, err := l.Credential(t.Context(), "one", true); !errors.Is(err, ledger.ErrUnavailable) {
		t.Errorf("anew: %v", err)
	}
	clock.pass(ledger.CredentialLife)
	if _, err := l.Credential(t.Context(), "one", false); !errors.Is(err, ledger.ErrUnavailable) {
		t.Errorf("after its life: %v", err)
	}
	if _, err := l.Credentials(t.Context()); !errors.Is(err, ledger.ErrUnavailable) {
		t.Errorf("all of them: %v", err)
	}
	f.failHead(func(h ledger.Head, _ error) (ledger.Head, error) { h.Root[0]++; return h, nil })
	waitFor(t, func() bool { l.Refresh(t.Context()); return errors.Is(l.Ready(), ledger.ErrFrozen) })
	clock.pass(ledger.CredentialLife)
	wantCredential(t, "frozen", l, "one", false, one)
	f.failHead(nil)
	waitReady(t, l)
	wantCredential(t, "when the store is back", l, "one", false, one)
	if turns.Load() != 2 {
		t.Errorf("the log says %d times that the ledger cannot be written, or can again", turns.Load())
	}
}

// TestAdoptedHeadRevokes: a head that an operator vouched for revokes every credential,
// for every daemon; what is created anew is in force.
func TestAdoptedHeadRevokes(t *testing.T) {
	onBoth(t, func(t *testing.T, h *house) {
		l := h.open(h.config("mark"))
		h.must(l, byOperator(credential("one", audit.RoleDealer), credential("two", audit.RoleAdmin)))
		actor := audit.Actor{Identity: "service-one", Credential: "one"}
		h.must(l, ledger.Proposal{Actor: actor, Bodies: []audit.Body{commit("t", 1)}})

		other := h.second(nil) // has no mark, and adopts the head
		for _, d := range []*sequencer.Ledger{l, other} {
			for _, id := range []string{"one", "two"} {
				wantCredential(t, "after the head was adopted", d, id, true, nil)
			}
			_, err := on(d).Append(t.Context(), ledger.Proposal{Actor: actor, Bodies: []audit.Body{commit("t", 2)}})
			wantRule(t, "an entry by a credential of before", err, audit.RuleCredential)
		}
		all, err := l.Credentials(t.Context())
		if err != nil || len(all) != 2 {
			t.Fatalf("%+v, %v", all, err)
		}
		for _, c := range all {
			if c.Revoked == 0 {
				t.Errorf("%s is in force", c.ID)
			}
		}
		_, err = on(l).Append(t.Context(), byOperator(credential("one", audit.RoleDealer)))
		wantRule(t, "an id of before", err, audit.RuleCredential)
		anew := credential("three", audit.RoleDealer)
		h.must(l, byOperator(anew))
		wantCredential(t, "created anew", other, "three", true, anew)
		h.entries()
	})
}

func wantRule(t *testing.T, what string, err error, rule string) {
	t.Helper()
	var illegal *audit.Illegal
	if !errors.As(err, &illegal) || illegal.Code != rule {
		t.Errorf("%s: %v, want the rule %s", what, err, rule)
	}
}
