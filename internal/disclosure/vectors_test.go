package disclosure

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"shuffled/internal/audit"
)

// The data file is for other implementations of docs/SPEC.md section 12. The
// reference writes it, never the package.
var update = flag.Bool("update", false, "write the data file in testdata from the reference implementation")

type vectors struct {
	Format string       `json:"format"`
	Status string       `json:"status"`
	About  []string     `json:"about"`
	Wraps  []wrapVector `json:"wraps"`
	Tapes  []tapeVector `json:"tapes"`
}

type hexBytes []byte

func (b hexBytes) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(b)), nil }

func (b *hexBytes) UnmarshalText(text []byte) (err error) {
	*b, err = hex.DecodeString(string(text))
	return err
}

type wrapVector struct {
	Name    string   `json:"name"`
	Origin  string   `json:"origin"`
	Auditor hexBytes `json:"auditor_private"`
	ID      hexBytes `json:"auditor_id"`
	Public  hexBytes `json:"disclosure_public"`
	Sealed  hexBytes `json:"sealed"`
	Opens   bool     `json:"opens"`
	Private hexBytes `json:"disclosure_private,omitempty"`
}

type tapeVector struct {
	Name       string   `json:"name"`
	Origin     string   `json:"origin"`
	Private    hexBytes `json:"disclosure_private"`
	Shuffle    uint64   `json:"shuffle"`
	Commitment hexBytes `json:"commitment"`
	Sealed     hexBytes `json:"sealed"`
	Opens      bool     `json:"opens"`
	Tape       hexBytes `json:"tape,omitempty"`
}

// bytesOf is n bytes that a name stands for.
func bytesOf(name string, n int) []byte {
	var b []byte
	for i := uint32(0); len(b) < n; i++ {
		h := sha256.Sum256(binary.BigEndian.AppendUint32([]byte(name), i))
		b = append(b, h[:]...)
	}
	return b[:n]
}

func keyIDOf(public []byte) []byte {
	h := sha256.Sum256(append([]byte("shuffled/v1/key-id\x00"), public...))
	return h[:]
}

const (
	origin  = "vectors.example/ledger-1"
	another = "vectors.example/ledger-2"
)

// makeVectors is the file as the reference writes it.
func makeVectors(t testing.TB) vectors {
	v := vectors{Format: "shuffled/v1/vectors/disclosure", Status: "frozen-with-the-first-release", About: []string{
		"Sealed bytes of docs/SPEC.md section 12. Byte strings are lower-case hex.",
		"wraps: a disclosure key's private half for one auditor. opens is false for one damaged as its name says, also where the ciphertext opens but holds another key.",
		"tapes: a tape sealed to a disclosure key.",
		"Keys and tapes are SHA-256(name ‖ u32 0), SHA-256(name ‖ u32 1) …, cut to length. The ephemeral key is that of the name \"ephemeral \" and the case's name."}}
	seal := func(name string, public, info, data, plain []byte) hexBytes {
		return refSeal(t, bytesOf("ephemeral "+name, 32), public[1:], info, data, plain)
	}
	for _, auditor := range []string{"auditor 1", "auditor 2"} {
		private, disclosure := bytesOf(auditor, 32), bytesOf("disclosure 1", 32)
		public := refPublic(t, disclosure)
		good := wrapVector{Name: auditor, Origin: origin, Auditor: private, ID: keyIDOf(refPublic(t, private)), Public: public,
			Sealed: seal(auditor, refPublic(t, private), refInfo("wrap", origin), public, disclosure), Opens: true, Private: disclosure}
		v.Wraps = append(v.Wraps, good)
		if auditor != "auditor 1" {
			continue
		}
		bad := func(name string, change func(w *wrapVector)) {
			w := good
			w.Name, w.Opens, w.Private = name, false, nil
			change(&w)
			v.Wraps = append(v.Wraps, w)
		}
		to := refPublic(t, private)
		bad("of another ledger", func(w *wrapVector) { w.Origin = another })
		bad("under another disclosure key", func(w *wrapVector) { w.Public = refPublic(t, bytesOf("disclosure 2", 32)) })
		bad("another private key, sealed as it should be", func(w *wrapVector) {
			w.Sealed = seal(w.Name, to, refInfo("wrap", origin), public, bytesOf("disclosure 2", 32))
		})
		bad("no private key: zero", func(w *wrapVector) {
			w.Sealed = seal(w.Name, to, refInfo("wrap", origin), public, make([]byte, 32))
		})
		bad("31 bytes", func(w *wrapVector) {
			w.Sealed = seal(w.Name, to, refInfo("wrap", origin), public, disclosure[1:])
		})
		bad("with the label of a tape", func(w *wrapVector) {
			w.Sealed = seal(w.Name, to, refInfo("disclosure", origin), public, disclosure)
		})
		bad("sealed to another auditor", func(w *wrapVector) {
			w.Sealed = seal(w.Name, refPublic(t, bytesOf("auditor 2", 32)), refInfo("wrap", origin), public, disclosure)
		})
		bad("no associated data", func(w *wrapVector) { w.Sealed = seal(w.Name, to, refInfo("wrap", origin), nil, disclosure) })
		bad("cut short by a byte", func(w *wrapVector) { w.Sealed = w.Sealed[:WrapSize-1] })
		bad("a byte too many", func(w *wrapVector) { w.Sealed = append(slices.Clone(w.Sealed), 0) })
	}
	for _, n := range []int{1, 129, 1255} {
		name := fmt.Sprintf("tape of %d bytes", n)
		private, tape, commitment := bytesOf("disclosure 1", 32), bytesOf(name, n), bytesOf("commitment of "+name, 32)
		public := refPublic(t, private)
		good := tapeVector{Name: name, Origin: origin, Private: private, Shuffle: uint64(n) << 20, Commitment: commitment,
			Sealed: seal(name, public, refInfo("disclosure", origin), refData(uint64(n)<<20, commitment), tape), Opens: true, Tape: tape}
		v.Tapes = append(v.Tapes, good)
		if n != 129 {
			continue
		}
		bad := func(name string, change func(w *tapeVector)) {
			w := good
			w.Name, w.Opens, w.Tape, w.Sealed = name, false, nil, slices.Clone(w.Sealed)
			change(&w)
			v.Tapes = append(v.Tapes, w)
		}
		bad("of another ledger", func(w *tapeVector) { w.Origin = another })
		bad("of another shuffle", func(w *tapeVector) { w.Shuffle++ })
		bad("of another commitment", func(w *tapeVector) { w.Commitment = bytesOf("another", 32) })
		bad("under another disclosure key", func(w *tapeVector) { w.Private = bytesOf("disclosure 2", 32) })
		bad("with the label of a wrap", func(w *tapeVector) {
			w.Sealed = seal(w.Name, public, refInfo("wrap", origin), refData(w.Shuffle, commitment), tape)
		})
		bad("an encapsulated key off the curve", func(w *tapeVector) { w.Sealed[64] ^= 1 })
		bad("a compressed encapsulated key", func(w *tapeVector) { w.Sealed[0] = 2 + w.Sealed[64]&1 })
		bad("the encapsulated key mirrored", func(w *tapeVector) { mirror(w.Sealed[:65]) })
		bad("a bit of the ciphertext", func(w *tapeVector) { w.Sealed[65] ^= 0x80 })
		bad("a bit of the tag", func(w *tapeVector) { w.Sealed[len(w.Sealed)-1] ^= 1 })
		bad("cut short by a byte", func(w *tapeVector) { w.Sealed = w.Sealed[:len(w.Sealed)-1] })
		bad("a byte too many", func(w *tapeVector) { w.Sealed = append(w.Sealed, 0) })
		bad("the encapsulated key alone", func(w *tapeVector) { w.Sealed = w.Sealed[:65] })
		bad("no tape", func(w *tapeVector) {
			w.Sealed = seal(w.Name, public, refInfo("disclosure", origin), refData(w.Shuffle, commitment), nil)
		})
	}
	return v
}

// mirror takes the point (x, y) to (x, −y), which has the same Diffie-Hellman value.
func mirror(point []byte) {
	p := []byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff} // FIPS 186-5, P-256
	borrow := 0
	for i := 31; i >= 0; i-- {
		d := int(p[i]) - int(point[33+i]) - borrow
		borrow = 0
		if d < 0 {
			d, borrow = d+256, 1
		}
		point[33+i] = byte(d)
	}
}

// encode writes one case per line, so that a change shows as a line.
func (v vectors) encode(t testing.TB) []byte {
	t.Helper()
	line := func(v any) string {
		var out bytes.Buffer
		e := json.NewEncoder(&out)
		e.SetEscapeHTML(false)
		if err := e.Encode(v); err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(out.String())
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "{\n\"format\": %s,\n\"status\": %s,\n\"about\": %s", line(v.Format), line(v.Status), line(v.About))
	cases := func(name string, lines []string) {
		fmt.Fprintf(&b, ",\n%q: [\n%s\n]", name, strings.Join(lines, ",\n"))
	}
	var wraps, tapes []string
	for _, w := range v.Wraps {
		wraps = append(wraps, line(w))
	}
	for _, s := range v.Tapes {
		tapes = append(tapes, line(s))
	}
	cases("wraps", wraps)
	cases("tapes", tapes)
	b.WriteString("\n}\n")
	return b.Bytes()
}

func loadVectors(t testing.TB) vectors {
	t.Helper()
	path := filepath.Join("testdata", "disclosure.json")
	made := makeVectors(t).encode(t)
	if *update {
		if err := os.WriteFile(path, made, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	stored, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(stored, made) {
		t.Fatalf("%s is not what the reference writes (%v); go test -update writes it", path, err)
	}
	var v vectors
	d := json.NewDecoder(bytes.NewReader(stored))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	if len(v.Wraps) < 12 || len(v.Tapes) < 17 {
		t.Fatalf("only %d wraps and %d tapes", len(v.Wraps), len(v.Tapes))
	}
	return v
}

// TestWrapVectors unwraps what the reference sealed, and what is damaged not.
func TestWrapVectors(t *testing.T) {
	for _, c := range loadVectors(t).Wraps {
		a, err := NewAuditor(c.Auditor)
		if err != nil {
			t.Fatal(err)
		}
		if id := a.ID(); !bytes.Equal(id[:], c.ID) {
			t.Errorf("%s: the auditor's id is %x", c.Name, id)
		}
		o, err := a.Unwrap(c.Origin, &audit.Key{Subject: audit.SubjectDisclosure, Public: c.Public,
			Wraps: []audit.Wrap{{Auditor: [32]byte(c.ID), Sealed: c.Sealed}}})
		if !c.Opens {
			if o != nil || !errors.Is(err, ErrOpen) {
				t.Errorf("%s: %v, want ErrOpen", c.Name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		if private, err := o.private.Bytes(); err != nil || !bytes.Equal(private, c.Private) {
			t.Errorf("%s: another private key", c.Name)
		}
	}
}

// TestTapeVectors opens what the reference sealed, and what is damaged not.
func TestTapeVectors(t *testing.T) {
	for _, c := range loadVectors(t).Tapes {
		k, err := kem().NewPrivateKey(c.Private)
		if err != nil {
			t.Fatal(err)
		}
		tape, err := (&Opener{k}).Open(c.Origin, c.Shuffle, [32]byte(c.Commitment), c.Sealed)
		switch {
		case c.Opens && (err != nil || !bytes.Equal(tape, c.Tape)):
			t.Errorf("%s: %v", c.Name, err)
		case !c.Opens && (tape != nil || !errors.Is(err, ErrOpen)):
			t.Errorf("%s: %v, want ErrOpen", c.Name, err)
		}
	}
}
