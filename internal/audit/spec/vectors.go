package spec

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The data files in internal/audit/testdata are for other implementations of docs/SPEC.md.
// They are written by this reference, never by the product.
var update = flag.Bool("update", false, "write the data files in testdata from the reference implementation")

// VectorHead starts every data file.
type VectorHead struct {
	Format string   `json:"format"`
	Status string   `json:"status"`
	About  []string `json:"about"`
}

const vectorStatus = "frozen-with-the-first-release"

// aboutBytes stands in every file.
const aboutBytes = "Byte strings are lower-case hex. bytesOf(name, n), where a note says it, is SHA-256(name ‖ u32 0), SHA-256(name ‖ u32 1) …, cut to n bytes."

// NewHead is the head of the data file of that name.
func NewHead(name string, about ...string) VectorHead {
	return VectorHead{Format: "shuffled/v1/vectors/" + name, Status: vectorStatus, About: append(about, aboutBytes)}
}

// EncodeVectors writes a file with the members in the order given and one case
// per line, so that a change shows as a line.
func EncodeVectors(t *testing.T, head VectorHead, members ...any) []byte {
	t.Helper()
	var b bytes.Buffer
	line := func(v any) string {
		var out bytes.Buffer
		e := json.NewEncoder(&out)
		e.SetEscapeHTML(false)
		if err := e.Encode(v); err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(out.String())
	}
	fmt.Fprintf(&b, "{\n\"format\": %s,\n\"status\": %s,\n\"about\": %s", line(head.Format), line(head.Status),
		line(head.About))
	for i := 0; i < len(members); i += 2 {
		fmt.Fprintf(&b, ",\n%s: ", line(members[i]))
		if s, ok := members[i+1].(string); ok {
			b.WriteString(line(s))
			continue
		}
		var cases []json.RawMessage
		if err := json.Unmarshal([]byte(line(members[i+1])), &cases); err != nil {
			t.Fatal(err)
		}
		for j, c := range cases {
			b.WriteString([]string{"[\n", ",\n"}[min(j, 1)])
			b.Write(c)
		}
		b.WriteString("\n]")
	}
	b.WriteString("\n}\n")
	return b.Bytes()
}

// HoldVectors holds a stored file against what the reference makes, and writes it with -update.
func HoldVectors(t *testing.T, name string, made []byte) {
	t.Helper()
	path := dataFile(name)
	if *update {
		if err := os.WriteFile(path, made, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if stored, err := os.ReadFile(path); err != nil || !bytes.Equal(stored, made) {
		t.Errorf("%s is not what the reference writes (%v); go test -update writes it", path, err)
	}
}

// dataFile is the path of a data file, from the directory of package audit or of one below it.
func dataFile(name string) string {
	if _, err := os.Stat("testdata/entries.json"); err != nil {
		return filepath.Join("../testdata", name+".json")
	}
	return filepath.Join("testdata", name+".json")
}

// ReadVectors reads a file.
func ReadVectors(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(dataFile(name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// LoadVectors reads a file strictly into v and checks its head.
func LoadVectors(t testing.TB, name string, head *VectorHead, v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(ReadVectors(t, name)))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		t.Fatalf("reading %s.json: %v", name, err)
	}
	if head.Format != "shuffled/v1/vectors/"+name || head.Status != vectorStatus || len(head.About) == 0 {
		t.Fatalf("%s.json starts with %+v", name, head)
	}
}

// WantCases fails for a list that is too short, and for names that are missing or repeated.
func WantCases[T any](t testing.TB, what string, atLeast int, cases []T, name func(T) string) {
	t.Helper()
	if len(cases) < atLeast {
		t.Fatalf("%s: only %d cases", what, len(cases))
	}
	seen := make(map[string]bool)
	for _, c := range cases {
		if n := name(c); n == "" || seen[n] {
			t.Errorf("%s: no name, or twice the name %q", what, n)
		} else {
			seen[n] = true
		}
	}
}

// Seeds adds a corpus and fails when there is none.
func Seeds[T any](f *testing.F, atLeast int, corpus []T) {
	f.Helper()
	if len(corpus) < atLeast {
		f.Fatalf("only %d seeds", len(corpus))
	}
	for _, s := range corpus {
		f.Add(s)
	}
}

// LeafVector is a case of testdata/hashes.json.
type LeafVector struct {
	Name     string `json:"name"`
	Tag      Hexed  `json:"tag"`
	Position int    `json:"position"`
	Value    uint32 `json:"value"`
	Salt     Hexed  `json:"salt"`
	Leaf     Hexed  `json:"leaf"`
}

// PlaceVector is a case of testdata/hashes.json.
type PlaceVector struct {
	Name      string `json:"name"`
	Seed      Hexed  `json:"seed"`
	M         int    `json:"m"`
	Cut       int    `json:"cut"`
	Positions []int  `json:"positions"`
}

// ShiftVector is a case of testdata/hashes.json.
type ShiftVector struct {
	Name   string   `json:"name"`
	Seed   Hexed    `json:"seed"`
	Of     uint32   `json:"of,omitempty"`
	Ranges []uint32 `json:"ranges"`
	Values []uint32 `json:"values"`
	Shown  []uint32 `json:"shown"`
}
