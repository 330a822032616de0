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

	"shuffled/internal/known"
)

// The data file is for other implementations of docs/SPEC.md section 12. The reference writes it, never the package.
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
	origin      = "vectors.example/ledger-1"
	otherOrigin = "vectors.example/ledger-2"
)

// makeVectors is the file as the reference writes it.
func makeVectors(t testing.TB) vectorFile {
	v := vectorFile{Format: "shuffled/v1/vectors/disclosure", Status: "frozen-with-the-first-release", About: []string{
		"Sealed bytes of docs/SPEC.md section 12. Byte strings are lower-case hex.",
		"wraps: a disclosure key's private half for one auditor. opens is false for one damaged as its name says, also where the ciphertext opens but holds another key.",
		"tapes: a tape sealed to a disclosure key.",
		"type is that of the key that is sealed to: 1 P-256, 2 ML-KEM-768 with P-256. A private key of type 2 is its seed of 32 bytes.",
		"Keys and tapes are SHA-256(name ‖ u32 0), SHA-256(name ‖ u32 1) …, cut to length. The ephemeral key is that of the name \"ephemeral \" and the case's name, the randomness of ML-KEM its SHA-256."}}
	for _, kind := range []byte{1, 2} {
		v.Wraps = append(v.Wraps, wrapVectors(t, kind)...)
		v.Tapes = append(v.Tapes, tapeVectors(t, kind)...)
	}
	return v
}

// named says in a case's name which type of key it is of; type 1 goes without.
func named(kind byte, name string) string { return map[byte]string{1: "", 2: "hybrid: "}[kind] + name }

func sealCase(t testing.TB, name string, public, info, data, plain []byte) hexBytes {
	return refSeal(t, bytesOf("ephemeral "+name, 32), public, info, data, plain)
}

func wrapVectors(t testing.TB, kind byte) (all []wrapVector) {
	disclosure, another := bytesOf("disclosure 1", 32), bytesOf("disclosure 2", 32)
	public, info := refPublic(t, kind, disclosure), refInfo(kind, "wrap", origin)
	for _, auditor := range []string{"auditor 1", "auditor 2"} {
		private := bytesOf(auditor, 32)
		to := refPublic(t, kind, private)
		good := wrapVector{Name: named(kind, auditor), Type: kind, Origin: origin, Auditor: private, ID: keyIDOf(to),
			Public: public, Opens: true, Private: disclosure}
		good.Sealed = sealCase(t, good.Name, to, info, public, disclosure)
		all = append(all, good)
		if auditor != "auditor 1" {
			continue
		}
		bad := func(name string, change func(w *wrapVector)) {
			w := good
			w.Name, w.Opens, w.Private, w.Sealed = named(kind, name), false, nil, slices.Clone(w.Sealed)
			change(&w)
			all = append(all, w)
		}
		sealed := func(to, info, data, plain []byte) func(w *wrapVector) {
			return func(w *wrapVector) { w.Sealed = sealCase(t, w.Name, to, info, data, plain) }
		}
		bad("of another ledger", func(w *wrapVector) { w.Origin = otherOrigin })
		bad("under another disclosure key", func(w *wrapVector) { w.Public = refPublic(t, kind, another) })
		bad("another private key, sealed as it should be", sealed(to, info, public, another))
		bad("31 bytes", sealed(to, info, public, disclosure[1:]))
		bad("with the label of a tape", sealed(to, refInfo(kind, "disclosure", origin), public, disclosure))
		bad("sealed to another auditor", sealed(refPublic(t, kind, bytesOf("auditor 2", 32)), info, public, disclosure))
		bad("no associated data", sealed(to, info, nil, disclosure))
		bad("cut short by a byte", func(w *wrapVector) { w.Sealed = w.Sealed[:len(w.Sealed)-1] })
		bad("a byte too many", func(w *wrapVector) { w.Sealed = append(w.Sealed, 0) })
		if kind == 1 {
			bad("no private key: zero", sealed(to, info, public, make([]byte, 32)))
			continue
		}
		bad("without the type in the info", sealed(to, refInfo(1, "wrap", origin), public, disclosure))
		bad("a bit of the ML-KEM ciphertext", func(w *wrapVector) { w.Sealed[0] ^= 1 })
		bad("the encapsulated point mirrored", func(w *wrapVector) { mirror(w.Sealed[1088:1153]) })
		bad("a private key of type 1 for a public key of type 2", func(w *wrapVector) {
			point := refPublic(t, 1, private)
			w.Type, w.ID = 1, keyIDOf(point)
			w.Sealed = sealCase(t, w.Name, point, refInfo(1, "wrap", origin), public, disclosure)
		})
	}
	return all
}

func tapeVectors(t testing.TB, kind byte) (all []tapeVector) {
	private := bytesOf("disclosure 1", 32)
	public, info := refPublic(t, kind, private), refInfo(kind, "disclosure", origin)
	end := encOf(kind)
	for _, n := range []int{1, 129, 1255} {
		name := fmt.Sprintf("tape of %d bytes", n)
		tape, commitment := bytesOf(name, n), bytesOf("commitment of "+name, 32)
		good := tapeVector{Name: named(kind, name), Type: kind, Origin: origin, Private: private,
			Shuffle: uint64(n) << 20, Commitment: commitment, Opens: true, Tape: tape}
		good.Sealed = sealCase(t, good.Name, public, info, refData(good.Shuffle, commitment), tape)
		all = append(all, good)
		if n != 129 {
			continue
		}
		bad := func(name string, change func(w *tapeVector)) {
			w := good
			w.Name, w.Opens, w.Tape, w.Sealed = named(kind, name), false, nil, slices.Clone(w.Sealed)
			change(&w)
			all = append(all, w)
		}
		bad("of another ledger", func(w *tapeVector) { w.Origin = otherOrigin })
		bad("of another shuffle", func(w *tapeVector) { w.Shuffle++ })
		bad("of another commitment", func(w *tapeVector) { w.Commitment = bytesOf("another", 32) })
		bad("under another disclosure key", func(w *tapeVector) { w.Private = bytesOf("disclosure 2", 32) })
		bad("with the label of a wrap", func(w *tapeVector) {
			w.Sealed = sealCase(t, w.Name, public, refInfo(kind, "wrap", origin), refData(w.Shuffle, commitment), tape)
		})
		bad("an encapsulated key off the curve", func(w *tapeVector) { w.Sealed[end-1] ^= 1 })
		bad("a compressed encapsulated key", func(w *tapeVector) { w.Sealed[end-65] = 2 + w.Sealed[end-1]&1 })
		bad("the encapsulated key mirrored", func(w *tapeVector) { mirror(w.Sealed[end-65 : end]) })
		bad("a bit of the ciphertext", func(w *tapeVector) { w.Sealed[end] ^= 0x80 })
		bad("a bit of the tag", func(w *tapeVector) { w.Sealed[len(w.Sealed)-1] ^= 1 })
		bad("cut short by a byte", func(w *tapeVector) { w.Sealed = w.Sealed[:len(w.Sealed)-1] })
		bad("a byte too many", func(w *tapeVector) { w.Sealed = append(w.Sealed, 0) })
		bad("the encapsulated key alone", func(w *tapeVector) { w.Sealed = w.Sealed[:end] })
		bad("no tape", func(w *tapeVector) {
			w.Sealed = sealCase(t, w.Name, public, info, refData(w.Shuffle, commitment), nil)
		})
		if kind == 2 {
			bad("without the type in the info", func(w *tapeVector) {
				w.Sealed = sealCase(t, w.Name, public, refInfo(1, "disclosure", origin), refData(w.Shuffle, commitment),
					tape)
			})
			bad("a bit of the ML-KEM ciphertext", func(w *tapeVector) { w.Sealed[0] ^= 1 })
		}
	}
	return all
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
		must(t, e.Encode(v))
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
		must(t, os.WriteFile(path, made, 0o644))
	}
	stored, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(stored, made) {
		t.Fatalf("%s is not what the reference writes (%v); go test -update writes it", path, err)
	}
	var v vectorFile
	d := json.NewDecoder(bytes.NewReader(stored))
	d.DisallowUnknownFields()
	must(t, d.Decode(&v))
	if len(v.Wraps) < 27 || len(v.Tapes) < 36 {
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
		a, err := NewAuditor(typed(c.Type, c.Auditor))
		must(t, err)
		o, err := a.Unwrap(c.Origin, c.entry())
		if !c.Opens {
			if o != nil {
				t.Errorf("%s: a key alongside the error", c.Name)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
		} else if private, err := o.Bytes(); err != nil || !bytes.Equal(private, c.Private) {
			t.Errorf("%s: another private key", c.Name)
		}
	}
}
