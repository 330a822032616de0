package disclosure

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/shuffle"
)

func newAuditor(t testing.TB, name string) *Auditor {
	t.Helper()
	return auditorOf(t, audit.KeyHybrid, name)
}

func auditorOf(t testing.TB, kind byte, name string) *Auditor {
	t.Helper()
	a, err := NewAuditor(typed(kind, bytesOf(name, audit.PrivateSize)))
	must(t, err)
	return a
}

// eachType runs a test with keys of every type.
func eachType(t *testing.T, test func(t *testing.T, kind byte)) {
	for _, kind := range []byte{audit.KeyP256, audit.KeyHybrid} {
		t.Run(fmt.Sprint("type ", kind), func(t *testing.T) { test(t, kind) })
	}
}

// TestForAuditors: a key entry serves each of its auditors and nobody else, and the reference reads what we seal.
func TestForAuditors(t *testing.T) { eachType(t, testForAuditors) }

func testForAuditors(t *testing.T, kind byte) {
	overhead := map[byte]int{1: 81, 2: 1169}[kind]
	var auditors []*Auditor
	var publics [][]byte
	for i := range 5 {
		a := auditorOf(t, kind, fmt.Sprint("auditor ", i))
		auditors, publics = append(auditors, a), append(publics, a.Public())
	}
	k, err := Body(origin, publics)
	must(t, err)
	entry := audit.Entry{Time: 1, Actor: as("daemon"), Body: k}
	b, err := entry.Encode()
	must(t, err)
	if entry, err = audit.ParseEntry(b); err != nil {
		t.Fatal("the entry's reader refuses it:", err)
	}
	k = entry.Body.(*audit.Key)
	if len(k.Public) != map[byte]int{1: 66, 2: 1250}[kind] || len(k.Wraps) != len(auditors) {
		t.Fatalf("a key of %d bytes with %d wraps", len(k.Public), len(k.Wraps))
	}
	tape, commitment := bytesOf("tape", 129), [32]byte(bytesOf("commitment", 32))
	sealed, err := Seal(k.Public, origin, 1234, commitment, tape)
	if err != nil || len(sealed) != len(tape)+overhead {
		t.Fatalf("%d bytes sealed, %v", len(sealed), err)
	}
	for i, a := range auditors {
		o, err := a.Unwrap(origin, k)
		must(t, err)
		got, err := o.Open(origin, 1234, commitment, sealed)
		if err != nil || !bytes.Equal(got, tape) {
			t.Errorf("auditor %d: %v", i, err)
		}
		// The reference goes the same way from the same bytes.
		at := slices.IndexFunc(k.Wraps, func(w audit.Wrap) bool { return w.Auditor == a.ID() })
		if at < 0 || len(k.Wraps[at].Sealed) != overhead+32 {
			t.Fatalf("auditor %d: wrap %d", i, at)
		}
		private := refOpen(t, kind, bytesOf(fmt.Sprint("auditor ", i), 32), refInfo(kind, "wrap", origin),
			k.Public, k.Wraps[at].Sealed)
		if got := refOpen(t, kind, private, refInfo(kind, "disclosure", origin), refData(1234, commitment[:]),
			sealed); !bytes.Equal(got, tape) {
			t.Errorf("auditor %d: the reference reads %x", i, got)
		}
	}
	if _, err := auditorOf(t, kind, "a stranger").Unwrap(origin, k); !errors.Is(err, ErrNoWrap) {
		t.Errorf("a stranger: %v", err)
	}
	for _, other := range []*audit.Key{{Subject: audit.SubjectAuditor, Public: publics[0]},
		{Subject: audit.SubjectPolicy}} {
		if _, err := auditors[0].Unwrap(origin, other); !errors.Is(err, ErrNoWrap) {
			t.Errorf("a key entry of subject %s: %v", other.Subject, err)
		}
	}
}

// TestFresh: the same bytes are never sealed twice alike, and no two keys are.
func TestFresh(t *testing.T) {
	a := newAuditor(t, "auditor 1")
	seen := make(map[string]bool)
	for range 50 {
		k, err := Body(origin, [][]byte{a.Public()})
		must(t, err)
		sealed, err := Seal(a.Public(), origin, 1, [32]byte{}, []byte{1})
		must(t, err)
		for _, b := range [][]byte{k.Public, k.Wraps[0].Sealed[:65], sealed[:65]} {
			if seen[string(b)] {
				t.Fatal("a key was used twice")
			}
			seen[string(b)] = true
		}
	}
}

// TestLongest: the longest tape fits a close.
func TestLongest(t *testing.T) {
	tape := bytesOf("tape", shuffle.MaxTape)
	k := newAuditor(t, "disclosure 1").key
	sealed, err := Seal(k.public, origin, audit.MaxInteger, [32]byte{}, tape)
	must(t, err)
	e := audit.Entry{Time: 1, Actor: as("a"),
		Body: &audit.Close{Shuffle: 2, Outcome: audit.OutcomeExpired, Form: audit.FormSealed, Key: 1, Tape: sealed}}
	if _, err := e.Encode(); err != nil {
		t.Error(err)
	}
	if got, err := (&Opener{k}).Open(origin, audit.MaxInteger, [32]byte{}, sealed); err != nil ||
		!bytes.Equal(got, tape) {
		t.Error(err)
	}
}

// TestEveryByte: not one changed byte of a wrap or a sealed tape is let through.
func TestEveryByte(t *testing.T) { eachType(t, testEveryByte) }

func testEveryByte(t *testing.T, kind byte) {
	a := auditorOf(t, kind, "auditor 1")
	k, err := Body(origin, [][]byte{a.Public()})
	must(t, err)
	o, err := a.Unwrap(origin, k)
	must(t, err)
	tape, commitment := bytesOf("tape", 129), [32]byte(bytesOf("commitment", 32))
	sealed, err := Seal(k.Public, origin, 9, commitment, tape)
	must(t, err)
	for i := range sealed {
		bad := bytes.Clone(sealed)
		bad[i] ^= 1 << (i % 8)
		if got, err := o.Open(origin, 9, commitment, bad); got != nil || !errors.Is(err, ErrOpen) {
			t.Errorf("tape, byte %d: %v", i, err)
		}
		if got, err := o.Open(origin, 9, commitment, sealed[:i]); got != nil || !errors.Is(err, ErrOpen) {
			t.Errorf("tape, %d bytes: %v", i, err)
		}
	}
	for i := range commitment {
		bad := commitment
		bad[i] ^= 1
		if _, err := o.Open(origin, 9, bad, sealed); !errors.Is(err, ErrOpen) {
			t.Errorf("commitment, byte %d: %v", i, err)
		}
	}
	for i := range 64 {
		if _, err := o.Open(origin, 9^1<<i, commitment, sealed); !errors.Is(err, ErrOpen) {
			t.Errorf("shuffle, bit %d: %v", i, err)
		}
	}
	for i := range k.Wraps[0].Sealed {
		bad := *k
		bad.Wraps = []audit.Wrap{{Auditor: a.ID(), Sealed: bytes.Clone(k.Wraps[0].Sealed)}}
		bad.Wraps[0].Sealed[i] ^= 1 << (i % 8)
		if _, err := a.Unwrap(origin, &bad); !errors.Is(err, ErrOpen) {
			t.Errorf("wrap, byte %d: %v", i, err)
		}
	}
	disclosure, err := o.Bytes()
	must(t, err)
	long := refSeal(t, bytesOf("ephemeral", 32), refPublic(t, kind, disclosure), refInfo(kind, "disclosure", origin),
		refData(9, commitment[:]), make([]byte, shuffle.MaxTape+1))
	if _, err := o.Open(origin, 9, commitment, long); !errors.Is(err, ErrOpen) {
		t.Errorf("too long a tape: %v", err)
	}
}

// TestRefusedKeys: no tape and no disclosure key goes to what is no key.
func TestRefusedKeys(t *testing.T) {
	hybrid := newAuditor(t, "auditor 1").Public()
	good := auditorOf(t, audit.KeyP256, "auditor 1").Public()
	point := good[1:]
	above := bytes.Clone(hybrid) // a coefficient of 3329, the field's size, which stands for 0
	above[1], above[2] = 0x01, above[2]&0xf0|0x0d
	for _, c := range []struct {
		name   string
		public []byte
		want   error
	}{
		{"nothing", nil, audit.ErrMalformed},
		{"a type alone", []byte{1}, audit.ErrMalformed},
		{"another type", append([]byte{3}, point...), audit.ErrUnknown},
		{"hybrid: the point alone", append([]byte{2}, point...), audit.ErrMalformed},
		{"hybrid: a byte too few", hybrid[:len(hybrid)-1], audit.ErrMalformed},
		{"hybrid: off the curve", append(bytes.Clone(hybrid[:1249]), hybrid[1249]^1), audit.ErrMalformed},
		{"hybrid: not in its canonical encoding", above, audit.ErrMalformed},
		{"type 0", append([]byte{0}, point...), audit.ErrUnknown},
		{"compressed", append([]byte{1, 2 + point[64]&1}, point[1:33]...), audit.ErrMalformed},
		{"both forms of a point", append([]byte{1, 6 + point[64]&1}, point[1:]...), audit.ErrMalformed},
		{"off the curve", append(append([]byte{1}, point[:64]...), point[64]^1), audit.ErrMalformed},
		{"infinity", []byte{1, 0}, audit.ErrMalformed},
		{"zero", append([]byte{1, 4}, make([]byte, 64)...), audit.ErrMalformed},
		{"a byte too many", append(bytes.Clone(good), 0), audit.ErrMalformed},
	} {
		if _, _, err := audit.ParseSealingKey(c.public); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		if _, err := Seal(c.public, origin, 1, [32]byte{}, []byte{1}); !errors.Is(err, c.want) {
			t.Errorf("sealed to %s: %v", c.name, err)
		}
		first := good
		if len(c.public) > 0 && c.public[0] == audit.KeyHybrid {
			first = hybrid
		}
		if k, err := Body(origin, [][]byte{first, c.public}); k != nil || !errors.Is(err, c.want) {
			t.Errorf("wrapped to %s: %v", c.name, err)
		}
	}
	for _, k := range [][]byte{good, hybrid} {
		if _, _, err := audit.ParseSealingKey(k); err != nil {
			t.Error(err)
		}
	}
	for _, mixed := range [][][]byte{{good, hybrid}, {hybrid, good}} {
		if k, err := Body(origin, mixed); k != nil || err == nil {
			t.Error("a disclosure key for auditors with keys of two types")
		}
	}
	if _, err := Body(origin, nil); err == nil {
		t.Error("a disclosure key for nobody")
	}
	if _, err := Body("Not An Origin", [][]byte{good}); err == nil {
		t.Error("a disclosure key for no ledger")
	}
	for _, n := range []int{0, shuffle.MaxTape + 1} {
		if _, err := Seal(good, origin, 1, [32]byte{}, make([]byte, n)); err == nil {
			t.Errorf("a tape of %d bytes", n)
		}
	}
	order := unhex(t, "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
	for name, private := range map[string][]byte{"none": nil, "31 bytes": make([]byte, 31),
		"zero": typed(1, make([]byte, 32)), "the order": typed(1, order),
		"a seed of 31 bytes": typed(2, make([]byte, 31)),
		"type 3":             typed(3, order)} {
		if _, err := NewAuditor(private); err == nil {
			t.Errorf("a private key: %s", name)
		}
	}
}

// TestNothingIsTold: private keys and tapes stand in no error and print nowhere.
func TestNothingIsTold(t *testing.T) {
	private, tape := bytesOf("auditor 1", 32), bytesOf("tape", 129)
	a := newAuditor(t, "auditor 1")
	k, err := Body(origin, [][]byte{a.Public()})
	must(t, err)
	o, err := a.Unwrap(origin, k)
	must(t, err)
	disclosure, err := o.Bytes()
	must(t, err)
	_, short := NewAuditor(typed(2, private[:31]))
	_, long := Seal(a.Public(), "", 1, [32]byte{}, tape)
	said := fmt.Sprintf("%v %+v %#v %v %+v %#v %v %+v %#v %v %v", a, a, a, *a.key, *a.key, *a.key, o, o, o, short, long)
	for what, secret := range map[string][]byte{"auditor's": private, "disclosure": disclosure, "tape": tape} {
		head := secret[:16]
		for _, form := range []string{string(head), hex.EncodeToString(head),
			base64.StdEncoding.EncodeToString(head)[:20],
			strings.Trim(fmt.Sprint(head), "[]"),
			strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%#v", head), "[]byte{"), "}")} {
			if strings.Contains(said, form) {
				t.Errorf("the %s key is told", what)
			}
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
