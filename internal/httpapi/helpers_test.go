package httpapi

import (
	"encoding/json"
	"reflect"
	"testing"

	"shuffled/internal/audit"
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
	if err := decodeBytes(a.body, &v); err != nil {
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

// wantRepeat wants again to be the answer first, with every part of it that is an answer
// by itself marked as a repeat, and nothing else changed: the time is that of the entry.
func wantRepeat(t testing.TB, first, again answer) {
	t.Helper()
	if first.status != 200 || again.status != 200 {
		t.Errorf("%d, then %d: %s", first.status, again.status, cut(again.body))
		return
	}
	was, is := decodeAny(t, first.body), decodeAny(t, again.body)
	fresh, marked := unmark(was), unmark(is)
	if answers := times(was); fresh != 0 || marked == 0 || marked != answers || !reflect.DeepEqual(was, is) {
		t.Errorf("%d answers, of which %d and then %d are repeats: %s, then %s", answers, fresh, marked,
			cut(first.body),
			cut(again.body))
	}
}

// unmark takes every member repeated out of v, and counts those that are true.
func unmark(v any) (n int) {
	walk(v, func(o map[string]any) {
		if o["repeated"] == true {
			n++
			delete(o, "repeated")
		}
	})
	return n
}

// times counts the answers in v: each has a time of its entry and a receipt.
func times(v any) (n int) {
	walk(v, func(o map[string]any) {
		if o["time"] != nil && o["receipt"] != nil {
			n++
		}
	})
	return n
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
	if err != nil {
		t.Fatal(err)
	}
	e, err := audit.ParseEntry(r.Entry)
	if err != nil {
		t.Fatal(err)
	}
	return e.Body.(*audit.Commit)
}
