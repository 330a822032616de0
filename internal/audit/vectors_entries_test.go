package audit_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"shuffled/internal/audit"
	"shuffled/internal/audit/spec"
)

type entryVectors struct {
	spec.VectorHead
	Good []spec.NamedEntry `json:"good"`
	Bad  []spec.BadEntry   `json:"bad"`
}

var entryHead = spec.NewHead("entries",
	"Entries of docs/SPEC.md section 5. good: bytes is the one encoding of fields; codes are numbers, an absent member is 0, false or empty.",
	"passed_over: the codes that are not critical and not known (section 1.4), list and number of each in the order of the bytes.",
	"fields: credential is that of the header, credential_entry the body of type 9. Acts are signed by the keys of seed bytesOf(\"signing key administrator \" ‖ name, 32), for the ledger of a genesis that is not here.",
	"bad: want is malformed or unknown (section 1.4), field what a reader names. A reader that names another field of the same structure is no worse.")

// loadEntries returns testdata/entries.json.
func loadEntries(t testing.TB) (v entryVectors) {
	t.Helper()
	spec.LoadVectors(t, "entries", &v.VectorHead, &v)
	spec.WantCases(t, "good entries", 80, v.Good, func(e spec.NamedEntry) string { return e.Name })
	spec.WantCases(t, "bad entries", 150, v.Bad, func(e spec.BadEntry) string { return e.Name })
	return v
}

func TestEntryVectorsAreTheReferences(t *testing.T) {
	spec.HoldVectors(t, "entries", spec.EncodeVectors(t, entryHead, "good", spec.GoodEntries(), "bad",
		spec.BadEntries()))
}

// TestGoodEntries: bytes parse to the fields, and the fields encode to the bytes.
func TestGoodEntries(t *testing.T) {
	v := loadEntries(t)
	types := make(map[audit.Type]int)
	for _, c := range v.Good {
		got, codes, err := audit.ParseEntryCodes(c.Bytes)
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		var passed []string
		for _, code := range codes {
			passed = append(passed, code.String())
		}
		if !slices.Equal(passed, c.Passed) {
			t.Errorf("%s: passes over %q, want %q", c.Name, passed, c.Passed)
		}
		if diff := cmp.Diff(c.Entry.Value(), got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: parsed otherwise (-want +got):\n%s", c.Name, diff)
		}
		if b, err := c.Entry.Value().Encode(); err != nil || !bytes.Equal(b, c.Bytes) {
			t.Errorf("%s: encodes to %x, %v", c.Name, b, err)
		}
		types[got.Body.Type()]++
	}
	for typ := audit.TypeGenesis; typ <= audit.TypeDisclosure; typ++ {
		if types[typ] < 5 {
			t.Errorf("only %d entries of type %s", types[typ], typ)
		}
	}
}

// TestGoodEntriesCoverEveryCode counts every code of section 5.
func TestGoodEntriesCoverEveryCode(t *testing.T) {
	count := make(map[string]map[uint8]bool)
	see := func(list string, code uint8) {
		if count[list] == nil {
			count[list] = make(map[uint8]bool)
		}
		count[list][code] = true
	}
	for _, c := range loadEntries(t).Good {
		switch e := c.Entry; {
		case e.Genesis != nil:
			see("deals", e.Genesis.Deals)
			see("access", e.Genesis.Access)
			see("genesis disclosure", e.Genesis.Disclosure)
			for _, a := range e.Genesis.TwoPersons {
				see("genesis act", uint8(a))
			}
		case e.Commit != nil:
			see("kind", e.Commit.Context.Kind)
			see("end_at", 1+e.Commit.Context.EndAt.Form)
			see("disclosure", e.Commit.Context.Disclosure)
			for _, p := range e.Commit.Context.Plan {
				see("source", p.Source)
			}
		case e.Mix != nil:
			for _, v := range e.Mix.Values {
				see("value", v.Source)
			}
		case e.Deal != nil:
			for _, r := range e.Deal.Runs {
				see("purpose", r.Purpose)
			}
		case e.Close != nil:
			see("outcome", e.Close.Outcome)
			see("reason", 1+e.Close.Reason)
			see("form", 1+e.Close.Form)
		case e.Key != nil:
			see("subject", e.Key.Subject)
			if e.Key.Subject == 5 {
				see("retired", e.Key.Retired)
			}
			see("change", e.Key.Change)
			for _, a := range e.Key.Acts {
				see("key act", uint8(a))
			}
		case e.Event != nil:
			see("event", e.Event.Kind)
			switch e.Event.Kind {
			case 1:
				see("vdso", 1+e.Event.VDSO)
			case 4, 5:
				see("scope", e.Event.Scope)
			case 6:
				see("cause", e.Event.Cause)
			case 129:
				see("alarm", e.Event.Alarm)
			}
		case e.Takeover != nil:
			see("extent", e.Takeover.Extent)
		case e.Holder != nil:
			see("credential_kind", e.Holder.Kind)
			see("credential_form", e.Holder.Form)
			see("role", e.Holder.Role)
		case e.Act != nil:
			see("act", e.Act.Act)
		}
	}
	for list, last := range map[string]uint8{"deals": 2, "access": 2, "genesis disclosure": 2, "kind": 3, "end_at": 3,
		"disclosure": 2,
		"source":     3, "value": 3, "purpose": 6, "outcome": 5, "reason": 11, "form": 3, "subject": 7, "retired": 3,
		"event": 7,
		"scope": 3, "cause": 11, "genesis act": 12, "key act": 12, "change": 3, "vdso": 3, "extent": 2,
		"credential_kind": 2,
		"credential_form": 2, "role": 4, "act": 12} {
		for code := uint8(1); code <= last; code++ {
			if !count[list][code] {
				t.Errorf("no good entry with %s %d", list, code)
			}
		}
	}
	for _, list := range []string{"event", "alarm"} {
		for code, word := range audit.CodeNames(list) {
			if word != "" && !count[list][uint8(code)] {
				t.Errorf("no good entry with %s %d", list, code)
			}
		}
	}
}

// wantFault fails unless err is the fault that want and field say, and no other.
func wantFault(t *testing.T, name string, err error, want, field string) {
	t.Helper()
	if errors.Is(err, audit.ErrMalformed) != (want == spec.Malformed) ||
		errors.Is(err, audit.ErrUnknown) != (want == spec.Unknown) || err == nil {
		t.Errorf("%s: %v, want %s", name, err, want)
	} else if !strings.Contains(err.Error(), field) {
		t.Errorf("%s: %v does not name %q", name, err, field)
	}
}

func TestBadEntries(t *testing.T) {
	for _, c := range loadEntries(t).Bad {
		e, err := audit.ParseEntry(c.Bytes)
		wantFault(t, c.Name, err, c.Want, c.Field)
		if e.Body != nil {
			t.Errorf("%s: an entry with the error", c.Name)
		}
	}
}

// opaque tells whether what is behind a code that is not known ends with the entry.
func opaque(e spec.Entry) bool {
	return e.Opaque != nil || e.Event != nil && e.Event.Kind >= 128 && audit.CodeNames("event")[e.Event.Kind] == ""
}

// TestTruncated cuts every good entry at every byte, and adds a byte.
func TestTruncated(t *testing.T) {
	t.Parallel()
	for _, c := range loadEntries(t).Good {
		if opaque(c.Entry) {
			continue
		}
		for n := range c.Bytes {
			if _, err := audit.ParseEntry(c.Bytes[:n]); !errors.Is(err, audit.ErrMalformed) {
				t.Fatalf("%s cut to %d of %d bytes: %v", c.Name, n, len(c.Bytes), err)
			}
		}
		for _, more := range []byte{0, 1, 255} {
			if _, err := audit.ParseEntry(append(bytes.Clone(c.Bytes), more)); !errors.Is(err, audit.ErrMalformed) {
				t.Fatalf("%s and a byte %d: %v", c.Name, more, err)
			}
		}
	}
}

// TestWrongLengths makes each length and count of every good entry wrong.
func TestWrongLengths(t *testing.T) {
	t.Parallel()
	tried := 0
	for _, c := range loadEntries(t).Good {
		for _, s := range c.Entry.Write().Spans {
			if !s.Length {
				continue
			}
			old, top := uint64(0), uint64(1)<<(8*s.N)-1
			for _, b := range c.Bytes[s.At : s.At+s.N] {
				old = old<<8 | uint64(b)
			}
			for _, wrong := range []uint64{old - 1, old + 1, 0, top, old ^ 1<<(8*s.N-1)} {
				if wrong &= top; wrong == old {
					continue
				}
				b := bytes.Clone(c.Bytes)
				copy(b[s.At:], spec.Join(wrong)[8-s.N:])
				if e, err := audit.ParseEntry(b); !errors.Is(err, audit.ErrMalformed) && !errors.Is(err,
					audit.ErrUnknown) {
					t.Errorf("%s: %s of %d for %d: %+v, %v", c.Name, s.Field, wrong, old, e, err)
				}
				tried++
			}
		}
	}
	if tried < 1000 {
		t.Errorf("only %d lengths tried", tried)
	}
}

// TestParseKeepsNothing: an entry does not change with the bytes it came from.
func TestParseKeepsNothing(t *testing.T) {
	for _, c := range loadEntries(t).Good {
		b := bytes.Clone(c.Bytes)
		e, err := audit.ParseEntry(b)
		if err != nil {
			t.Fatal(err)
		}
		clear(b)
		if again, err := e.Encode(); err != nil || !bytes.Equal(again, c.Bytes) {
			t.Errorf("%s: the entry changed with its bytes", c.Name)
		}
	}
}
