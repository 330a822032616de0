package audit_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"shuffled/internal/audit"
	"shuffled/internal/audit/spec"
	"shuffled/internal/shuffle"
)

// TestCodecAgreesWithReference: for any valid entry the package writes what the
// reference writes, and reads it back as it was.
func TestCodecAgreesWithReference(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		fields := spec.GenEntry().Draw(t, "entry")
		e, want := fields.Value(), fields.Bytes()
		got, err := e.Encode()
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("encodes to\n%x, %v, want\n%x", got, err, want)
		}
		back, err := audit.ParseEntry(want)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(e, back, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("parsed otherwise (-want +got):\n%s", diff)
		}
	})
}

// TestContextAgreesWithReference is the same for the field that the commitment covers, on its own.
func TestContextAgreesWithReference(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		fields := spec.GenContext(t)
		c := fields.Value()
		if got := c.Encode(); !bytes.Equal(got, fields.Bytes()) {
			t.Fatalf("encodes to %x, want %x", got, fields.Bytes())
		}
		back, err := audit.ParseContext(fields.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c, back, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("parsed otherwise (-want +got):\n%s", diff)
		}
		if c.IsDraw() == (fields.Kind == 1) || c.IsNumbers() != (fields.Kind == 3) ||
			c.Recipe.TapeLen() != spec.TapeLen(&fields) {
			t.Fatalf("draw %t, tape of %d bytes, want kind %d, %d", c.IsDraw(), c.Recipe.TapeLen(), fields.Kind,
				spec.TapeLen(&fields))
		}
	})
}

// TestDamagedEntries: whatever happens to the bytes of an entry, they are refused, or are the one encoding of what they
// parse to; a second reader refuses the same ones.
func TestDamagedEntries(t *testing.T) {
	t.Parallel()
	var all [][]byte
	v := loadEntries(t)
	for _, c := range v.Good {
		all = append(all, c.Bytes)
	}
	for _, c := range v.Bad {
		mustBeCanonical(t, c.Bytes)
	}
	// Every byte of every small entry, changed.
	for _, b := range all {
		for i := 0; i < len(b) && len(b) < 700; i++ {
			for _, with := range []byte{b[i] + 1, b[i] - 1, b[i] ^ 0x80, 0, 255} {
				damaged := bytes.Clone(b)
				damaged[i] = with
				mustBeCanonical(t, damaged)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		b := bytes.Clone(rapid.SampledFrom(all).Draw(t, "entry"))
		for range rapid.IntRange(1, 3).Draw(t, "changes") {
			at := rapid.IntRange(0, len(b)-1).Draw(t, "at")
			switch rapid.IntRange(0, 2).Draw(t, "what") {
			case 0:
				b[at] = rapid.Byte().Draw(t, "byte")
			case 1:
				b = append(b[:at:at], b[min(len(b), at+rapid.IntRange(1, 40).Draw(t, "cut")):]...)
			case 2:
				b = append(b[:at:at], append([]byte{rapid.Byte().Draw(t, "byte")}, b[at:]...)...)
			}
			if len(b) == 0 {
				return
			}
		}
		mustBeCanonical(t, b)
	})
}

// mustBeCanonical fails unless the second reader takes b, too, and b is what its
// entry encodes to; or both refuse it, with one of the two faults.
func mustBeCanonical(t interface{ Fatalf(string, ...any) }, b []byte) {
	e, codes, err := audit.ParseEntryCodes(b)
	want, passed := refReads(b)
	if (err == nil) != want || !slices.Equal(codes, passed) {
		t.Fatalf("%x: %v, codes %v, by the second reader %t, %v", b, err, codes, want, passed)
	}
	if err != nil {
		if errors.Is(err, audit.ErrMalformed) == errors.Is(err, audit.ErrUnknown) {
			t.Fatalf("neither malformed nor unknown, or both: %v", err)
		}
		return
	}
	if again, err := e.Encode(); err != nil || !bytes.Equal(again, b) {
		t.Fatalf("\n%x parses to\n%+v, which encodes to\n%x, %v", b, e, again, err)
	}
}

// TestEncodeRefuses: values that no entry can hold are refused, and never
// written as others. Each would fit if its high bits were dropped.
func TestEncodeRefuses(t *testing.T) {
	long := strings.Repeat("a", 256)
	commit := func(change func(*audit.Commit)) audit.Entry {
		fields := spec.SampleCommit(spec.SampleContext())
		c := fields.Body()
		change(c)
		return audit.Entry{Time: 1, Actor: spec.Someone, Body: c}
	}
	context := func(change func(*audit.Context)) audit.Entry {
		return commit(func(c *audit.Commit) { change(c.Context) })
	}
	recipe := func(r shuffle.Recipe) audit.Entry { return context(func(c *audit.Context) { c.Recipe = r }) }
	deal := func(first int, runs ...audit.Run) audit.Entry {
		return audit.Entry{Time: 1, Actor: spec.Someone, Body: &audit.Deal{Shuffle: 2, First: first, Runs: runs}}
	}
	one := audit.Run{Count: 1, Purpose: audit.PurposeBurn}
	key := func(k audit.Key) audit.Entry { return audit.Entry{Time: 1, Actor: spec.Someone, Body: &k} }
	for _, c := range []struct {
		name string
		e    audit.Entry
	}{
		{"no body", audit.Entry{Time: 1, Actor: spec.Someone}},
		{"negative time", audit.Entry{Time: -1, Actor: spec.Someone, Body: deal(0, one).Body}},
		{"identity longer by 256", audit.Entry{Time: 1, Actor: audit.Actor{Identity: "a" + long, Credential: "a"},
			Body: deal(0, one).Body}},
		{"credential longer by 256", audit.Entry{Time: 1, Actor: audit.Actor{Identity: "a", Credential: "a" + long},
			Body: deal(0, one).Body}},
		{"a reserved identity with a credential", audit.Entry{Time: 1, Actor: audit.Actor{Identity: "daemon",
			Credential: "a"}, Body: deal(0, one).Body}}, {"257 extensions", audit.Entry{Time: 1, Actor: spec.Someone,
			Body: &audit.Deal{Shuffle: 2, Runs: []audit.Run{one}, Extensions: make([]audit.Extension, 257)}}},
		{"an extension of 65,536 bytes", context(func(c *audit.Context) {
			c.Extensions = []audit.Extension{{Code: 200, Value: make([]byte, 65_536)}}
		})},
		{"an opaque body of a type that is known",
			audit.Entry{Time: 1, Actor: spec.Someone, Body: &audit.Opaque{Code: audit.TypeMix, Data: []byte{1}}}},
		{"an opaque body of a critical type", audit.Entry{Time: 1, Actor: spec.Someone, Body: &audit.Opaque{Code: 0}}},
		{"257 administrators", audit.Entry{Time: 1, Actor: spec.Someone,
			Body: &audit.Genesis{Administrators: make([]audit.Administrator, 257)}}},
		{"257 acts", key(audit.Key{Subject: audit.SubjectTwoPersons, Acts: make([]audit.Act, 257)})},
		{"257 signatures", audit.Entry{Time: 1, Actor: spec.Someone,
			Body: &audit.ActEntry{Act: audit.ActPolicy, Signatures: make([]audit.ActSignature, 257)}}},
		{"an act that expires at −1", audit.Entry{Time: 1, Actor: spec.Someone,
			Body: &audit.ActEntry{Act: audit.ActPolicy, Expires: -1,
				Signatures: []audit.ActSignature{{Administrator: "a"}}}}},
		{"65,536 tables", audit.Entry{Time: 1, Actor: spec.Someone,
			Body: &audit.Credential{Kind: audit.CredentialCreated, ID: "a", Form: audit.FormToken,
				Role: audit.RoleDealer, Identity: "a",
				Tables: make([]string, 65_536)}}},
		{"a credential that expires at −1",
			audit.Entry{Time: 1, Actor: spec.Someone,
				Body: &audit.Credential{Kind: audit.CredentialCreated, ID: "a", Form: audit.FormToken,
					Role: audit.RoleDealer, Identity: "a",
					Expires: -1}}},
		{"first place 65,536", deal(65_536, one)},
		{"first place −1", deal(-1, one)},
		{"first place −65,536", deal(-65_536, one)},
		{"a run of 65,537 cards", deal(0, audit.Run{Count: 65_537, Purpose: audit.PurposeBurn})},
		{"a run of −1 cards", deal(0, audit.Run{Count: -1, Purpose: audit.PurposeBurn}, one, one)},
		{"65,537 runs", deal(0, bytesRuns(65_537)...)},
		{"recipient longer by 256", deal(0, audit.Run{Count: 1, Purpose: audit.PurposeBurn, Recipient: "a" + long})},
		{"65,588 cards", recipe(shuffle.Recipe{Cards: 65_588, Take: 52})},
		{"65,588 taken", recipe(shuffle.Recipe{Cards: 52, Take: 65_588})},
		{"65,537 ranges", recipe(shuffle.Recipe{Ranges: make([]uint32, 65_537)})},
		{"end_at 65,537", context(func(c *audit.Context) { c.EndAt = 65_537 })},
		{"end_at −1", context(func(c *audit.Context) { c.EndAt = -1 })},
		{"drawn end_at from 65,537", recipe(shuffle.Recipe{Cards: 52, Take: 52, EndLo: 65_537, EndHi: 9})},
		{"drawn end_at to 65,545", recipe(shuffle.Recipe{Cards: 52, Take: 52, EndLo: 1, EndHi: 65_545})},
		{"a plan of 257", context(func(c *audit.Context) { c.Plan = make([]audit.Planned, 257) })},
		{"origin longer by 256", context(func(c *audit.Context) { c.Origin = "a" + long })},
		{"table longer by 256", context(func(c *audit.Context) { c.Table = "a" + long })},
		{"game reference longer by 256", commit(func(c *audit.Commit) { c.GameRef = long })},
		{"close-by −1", commit(func(c *audit.Commit) { c.CloseBy = -1 })},
		{"257 mix values", audit.Entry{Time: 1, Actor: spec.Someone,
			Body: &audit.Mix{Shuffle: 2, Values: make([]audit.MixValue, 257)}}},
		{"257 wraps", key(audit.Key{Subject: audit.SubjectDisclosure, Public: spec.KeyLike(66),
			Wraps: make([]audit.Wrap, 257)})},
		{"a key of 65,538 bytes", key(audit.Key{Subject: audit.SubjectSigning, Public: make([]byte, 65_538)})},
		{"a policy of 65,536 bytes", key(audit.Key{Subject: audit.SubjectPolicy, Policy: bytes.Repeat([]byte("a"),
			65_536)})},
		{"retired from −1", key(audit.Key{Subject: audit.SubjectRetirement, Retired: audit.SubjectSigning, From: -1})},
		{"a tape of 65,537 bytes", audit.Entry{Time: 1, Actor: spec.Someone,
			Body: &audit.Close{Outcome: audit.OutcomeCompleted, Form: audit.FormTape, Tape: make([]byte, 65_537)}}},
		{"a reason longer by 256", audit.Entry{Time: 1, Actor: spec.Someone,
			Body: &audit.Event{Kind: audit.EventLatchClear, Reason: "a" + long}}},
	} {
		if b, err := c.e.Encode(); !errors.Is(err, audit.ErrMalformed) || b != nil {
			t.Errorf("%s: %x, %v", c.name, b, err)
		}
	}
}

func bytesRuns(n int) []audit.Run {
	runs := make([]audit.Run, n)
	for i := range runs {
		runs[i] = audit.Run{Count: 1, Purpose: audit.PurposeBurn}
	}
	return runs
}

// TestEncodeSmuggles: a credential whose length wraps around would otherwise carry
// a body of its own in front of the entry's.
func TestEncodeSmuggles(t *testing.T) {
	inner := spec.Entry{Identity: "a", Credential: "a",
		Close: &spec.Close{Shuffle: 2, Outcome: 1, Form: 1, Tape: spec.BytesOf("tape", 300)}}
	body := inner.Bytes()[len(inner.Bytes())-(8+3+2+300+1):]
	outer := audit.Entry{Time: 1, Body: &audit.Close{Shuffle: 7, Outcome: audit.OutcomeCompleted, Form: audit.FormTape,
		Tape: body[256+8+3+2 : len(body)-1]}}
	outer.Actor = audit.Actor{Identity: "a", Credential: "a" + string(body[:256])}
	if b, err := outer.Encode(); err == nil {
		got, err := audit.ParseEntry(b)
		t.Errorf("encodes to an entry of another actor: %+v, %v", got, err)
	}
}

// TestInstant: every day of 400 years and more, as package time has it.
func TestInstant(t *testing.T) {
	t.Parallel()
	for day := range int64(150_000) {
		ms := day*86_400_000 + day*7919%86_400_000
		if want := time.UnixMilli(ms).UTC().Format(time.RFC3339); audit.Instant(ms) != want {
			t.Fatalf("%d: %s, want %s", ms, audit.Instant(ms), want)
		}
	}
}
