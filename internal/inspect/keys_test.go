package inspect

import (
	"crypto/sha256"
	"slices"
	"strings"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/disclosure"
	"shuffled/internal/inspect/inspecttest"
)

// TestRetiredKeys: the report says for how long a key was in use after the time
// from which its retirement takes the trust away, and that is no fault.
func TestRetiredKeys(t *testing.T) {
	for name, c := range map[string]struct {
		ahead int64  // of the retirement's time before the rotation, in milliseconds
		want  string // in the notes; "": nothing
	}{
		"stolen a minute before the rotation": {60_000, "the signing key of entry 0 deserves no trust from "},
		"retired when it was replaced":        {0, ""},
		"retired later than it was replaced":  {-1000, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			l := inspecttest.New(dir, name, inspecttest.Plain())
			l.RotateLong(inspecttest.NewLongKey(inspecttest.Origin, name), false) // it replaces no key of Ed25519
			l.Now += 120_000
			first := audit.KeyID(inspecttest.Public(inspecttest.Key("signing 0")))
			before := l.Size
			l.Rotate()
			at := l.Now
			l.Now += 1000
			l.Append(&audit.Key{Subject: audit.SubjectRetirement, Retired: audit.SubjectSigning, ID: first,
				From: at - c.ahead})
			l.Finish()
			r := inspectDir(t, dir, Options{VKey: inspecttest.VKey()})
			if r.Verdict != Proved || r.FaultCount != 0 {
				t.Fatal(asJSON(t, r))
			}
			i := slices.IndexFunc(r.Notes, func(n string) bool { return strings.Contains(n, "deserves no trust") })
			if c.want == "" && i >= 0 || c.want != "" && (i < 0 || !strings.HasPrefix(r.Notes[i], c.want)) {
				t.Errorf("notes %q, want %q (rotation at %d)", r.Notes, c.want, before)
			}
		})
	}
}

// TestRetiredDisclosureKey: tapes that were closed under a disclosure key after the time of its theft are told of.
func TestRetiredDisclosureKey(t *testing.T) {
	f := &fold{report: new(Report)}
	key := func(index uint64, at int64, b *audit.Key) {
		f.history.Take(index, audit.Entry{Time: at, Body: b})
	}
	d1, d2 := []byte{1, 1}, []byte{1, 2}
	key(1, 1000, &audit.Key{Subject: audit.SubjectDisclosure, Public: d1})
	key(5, 2000, &audit.Key{Subject: audit.SubjectDisclosure, Public: d2})
	retire := func(id []byte, from int64) *audit.Key {
		return &audit.Key{Subject: audit.SubjectRetirement, Retired: audit.SubjectDisclosure, ID: audit.KeyID(id),
			From: from}
	}
	key(6, 3000, retire(d1, 500))
	key(7, 4000, retire(d2, 3500))
	key(8, 5000, &audit.Key{Subject: audit.SubjectDisclosure, Public: []byte{1, 3}})
	f.retiredKeys()
	if len(f.report.Notes) != 2 || !strings.Contains(f.report.Notes[0],
		"entry 1 deserves no trust from 1970-01-01T00:00:01Z on, and was in use until entry 5") ||
		!strings.Contains(f.report.Notes[1], "entry 5 deserves no trust from 1970-01-01T00:00:03Z on, and was in use until entry 7") {
		t.Errorf("%q", f.report.Notes)
	}
}

// TestTypesOfKeys: the tapes of both types of key are opened, and a report says that those
// of the old type wait for a quantum computer.
func TestTypesOfKeys(t *testing.T) {
	for kind, want := range map[byte]bool{audit.KeyP256: true, audit.KeyHybrid: false} {
		dir := t.TempDir()
		seed := sha256.Sum256([]byte("an auditor"))
		auditor, err := disclosure.NewAuditor(append([]byte{kind}, seed[:]...))
		must(t, err)
		g := inspecttest.Plain()
		g.Production, g.Disclosure, g.AuditorKeys = false, audit.DisclosureAuditor, [][]byte{auditor.Public()}
		l := inspecttest.New(dir, "types", g)
		l.Disclosure()
		l.Signed()
		s := l.Commit("t")
		l.Signed()
		s.Last(5, 0)
		l.Finish()
		r := inspectDir(t, dir, Options{VKey: inspecttest.VKey(), Auditors: []*disclosure.Auditor{auditor}})
		said := slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, "under P-256 alone") })
		if r.Verdict != Proved || r.Totals.Tapes[TapeRecomputed] != 1 || said != want {
			t.Errorf("type %d: %s, tapes %v, notes %q", kind, r.Verdict, r.Totals.Tapes, r.Notes)
		}
	}
}
