package httpapi

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/dealer/api"
	"shuffled/internal/ledger"
	"shuffled/internal/store/sqlite"
)

func decodeAny(t testing.TB, b []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatalf("%v: %s", err, cut(b))
	}
	return v
}

func read[T any](t testing.TB, a answer) (v T) {
	t.Helper()
	if a.status != 200 {
		t.Fatalf("%d: %s", a.status, cut(a.body))
	}
	if err := decodeBytes(a.body, &v, dealerJSON); err != nil {
		t.Fatalf("%v: %s", err, cut(a.body))
	}
	return v
}

func (a answer) problem(t testing.TB) (p Problem) {
	t.Helper()
	if err := json.Unmarshal(a.body, &p); err != nil {
		t.Fatalf("%v: %s", err, cut(a.body))
	}
	return p
}

// want checks the code and field of a problem; field "" is any.
func (a answer) want(t testing.TB, code Code, field string) {
	t.Helper()
	p := a.problem(t)
	if p.Code != code || field != "" && value(p.Field) != field {
		t.Errorf("got %d %s %q (%s), want %s %q", a.status, p.Code, value(p.Field), value(p.Detail), code, field)
	}
}

// walk visits every object of a JSON value.
func walk(v any, visit func(map[string]any)) {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			walk(one, visit)
		}
	case map[string]any:
		visit(v)
		for _, one := range v {
			walk(one, visit)
		}
	}
}

// committed returns the commit that a receipt proves.
func committed(t testing.TB, receipt string) *audit.Commit {
	t.Helper()
	r, err := audit.ParseReceipt(receipt)
	must(t, err)
	e, err := audit.ParseEntry(r.Entry)
	must(t, err)
	return e.Body.(*audit.Commit)
}

// The answers of the contract that are those of package api.
type (
	Shuffle       = api.Shuffle
	ShuffleState  = api.Status
	Mix           = api.Mix
	Deal          = api.Deal
	Reveal        = api.Reveal
	Close         = api.Close
	Takeover      = api.Takeover
	UnopenedPlace = api.Unopened
)

func openStore(t testing.TB, dir string) ledger.Store {
	t.Helper()
	path := filepath.Join(dir, "test.sqlite")
	must(t, sqlite.MigrateUp(t.Context(), path, sqlite.Options{}))
	store, err := sqlite.Open(path, sqlite.Options{})
	must(t, err)
	t.Cleanup(func() { store.Close() })
	return store
}
