package disclosure

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/known"
)

// The data file is for other implementations of docs/SPEC.md section 12. The
// reference writes it, never the package.
var update = flag.Bool("update", false, "write the data file in testdata from the reference implementation")

type vectorFile struct {
	Format string   `json:"format"`
	Status string   `json:"status"`
	About  []string `json:"about"`
	vectors
}

type hexBytes = known.Bytes

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
func makeVectors(t testing.TB) vectorFile {
	v := vectorFile{Format: "shuffled/v1/vectors/disclosure", Status: "frozen-with-the-first-release", About: []string{
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
		good := wrapVector{Name: auditor, Origin: origin, Auditor: private, ID: keyIDOf(refPublic(t, private)),
			Public: public,
			Sealed: seal(auditor, refPublic(t, private), refInfo("wrap", origin), public, disclosure), Opens: true,
			Private: disclosure}
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
		bad("under another disclosure key",
			func(w *wrapVector) { w.Public = refPublic(t, bytesOf("disclosure 2", 32)) })
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
		bad("no associated data", func(w *wrapVector) {
			w.Sealed = seal(w.Name, to, refInfo("wrap", origin), nil,
				disclosure)
		})
		bad("cut short by a byte", func(w *wrapVector) { w.Sealed = w.Sealed[:audit.WrapSize-1] })
		bad("a byte too many", func(w *wrapVector) { w.Sealed = append(slices.Clone(w.Sealed), 0) })
	}
	for _, n := range []int{1, 129, 1255} {
		name := fmt.Sprintf("tape of %d bytes", n)
		private, tape, commitment := bytesOf("disclosure 1", 32), bytesOf(name, n), bytesOf("commitment of "+name, 32)
		public := refPublic(t, private)
		good := tapeVector{Name: name, Origin: origin, Private: private, Shuffle: uint64(n) << 20,
			Commitment: commitment,
			Sealed:     seal(name, public, refInfo("disclosure", origin), refData(uint64(n)<<20, commitment), tape),
			Opens:      true, Tape: tape}
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
func (v vectorFile) encode(t testing.TB) []byte {
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

func loadVectors(t testing.TB) vectorFile {
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
	var v vectorFile
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

// TestVectors opens what the reference sealed, and what is damaged not. The bytes of
// a private half are compared here alone.
func TestVectors(t *testing.T) {
	v := loadVectors(t)
	for name, run := range selfTests {
		a := known.Answers{Test: name}
		if run(&a, &v.vectors); len(a.Wrong) > 0 || len(a.Names) < 12 {
			t.Errorf("%s: %d answers, wrong: %q", name, len(a.Names), a.Wrong)
		}
	}
	for _, c := range v.Wraps {
		a, err := NewAuditor(c.Auditor)
		if err != nil {
			t.Fatal(err)
		}
		o, err := a.Unwrap(c.Origin, c.entry())
		if !c.Opens {
			if o != nil {
				t.Errorf("%s: a key alongside the error", c.Name)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
		} else if private, err := o.private.Bytes(); err != nil || !bytes.Equal(private, c.Private) {
			t.Errorf("%s: another private key", c.Name)
		}
	}
}
