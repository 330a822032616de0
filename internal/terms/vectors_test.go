package terms

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"shuffled/internal/audit"
)

var update = flag.Bool("update", false, "write testdata/terms.json")

const vectorFile = "testdata/terms.json"

// vectors are for this and other implementations of docs/SPEC.md section 16.
type vectors struct {
	About     []string         `json:"about"`
	Documents []documentVector `json:"documents"`
	Lists     []listVector     `json:"lists"`
	Tickets   []ticketVector   `json:"tickets"`
}

type documentVector struct {
	Name     string  `json:"name"`
	Kind     string  `json:"kind"`
	Document string  `json:"document"` // in hexadecimal
	Want     string  `json:"want"`     // ok or malformed
	Hash     string  `json:"hash,omitempty"`
	Labels   []Label `json:"labels,omitempty"`
	Total    uint32  `json:"total,omitempty"`
}

type listVector struct {
	Name   string   `json:"name"`
	Secret string   `json:"secret"`
	Lines  []string `json:"lines"`
	Salts  []string `json:"salts"`
	Leaves []string `json:"leaves"`
	Root   string   `json:"root"`
}

type ticketVector struct {
	Name string `json:"name"`
	Text string `json:"text"`
	Want string `json:"want"` // ok, malformed, unknown, or root: it leads to another
}

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func load(t testing.TB) (v vectors) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(must[[]byte](t)(os.ReadFile(vectorFile))))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestVectorsAreCurrent makes the vectors again from their recipes.
func TestVectorsAreCurrent(t *testing.T) {
	made := makeVectors()
	if *update {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		e.SetIndent("", " ")
		if err := e.Encode(made); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(vectorFile, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(made, load(t)); diff != "" {
		t.Errorf("-made +stored (go test -update writes them):\n%.4000s", diff)
	}
}

func verdict(err error) string {
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, audit.ErrUnknown):
		return "unknown"
	case errors.Is(err, audit.ErrMalformed):
		return "malformed"
	}
	return "root"
}

func TestDocumentVectors(t *testing.T) {
	v := load(t)
	if len(v.Documents) < 30 {
		t.Errorf("%d documents", len(v.Documents))
	}
	for _, c := range v.Documents {
		b := must[[]byte](t)(hex.DecodeString(c.Document))
		d, err := Parse(audit.ParseTermsKind(c.Kind), b)
		if got := verdict(err); got != c.Want {
			t.Errorf("%s: %s (%v), want %s", c.Name, got, err, c.Want)
		}
		if err != nil {
			continue
		}
		hash := d.Hash()
		if hex.EncodeToString(hash[:]) != c.Hash || !bytes.Equal(d.Bytes(), b) || d.Total() != c.Total {
			t.Errorf("%s: hash %x, bytes %x, total %d", c.Name, hash, d.Bytes(), d.Total())
		}
		if diff := cmp.Diff(c.Labels, d.Wheel); diff != "" {
			t.Errorf("%s: labels (-want +got):\n%s", c.Name, diff)
		}
	}
}

func TestListVectors(t *testing.T) {
	v := load(t)
	for _, c := range v.Lists {
		secret := must[[]byte](t)(hex.DecodeString(c.Secret))
		text := strings.Join(c.Lines, "\n")
		for _, text := range []string{text, text + "\n"} {
			list, tickets, err := Walk(strings.NewReader(text), secret, Wanted{Lines: c.Lines})
			if err != nil {
				t.Fatalf("%s: %v", c.Name, err)
			}
			if hex.EncodeToString(list.Root[:]) != c.Root || list.Count != uint64(len(c.Lines)) {
				t.Errorf("%s: root %x of %d", c.Name, list.Root, list.Count)
			}
			for i, ticket := range tickets {
				leaf := ticketLeaf(uint64(i), ticket.Salt[:], ticket.Line)
				if hex.EncodeToString(ticket.Salt[:]) != c.Salts[i] || hex.EncodeToString(leaf[:]) != c.Leaves[i] ||
					ticket.Number != uint64(i+1) {
					t.Errorf("%s: ticket %d is %+v", c.Name, i+1, ticket)
				}
			}
		}
	}
}

func TestTicketVectors(t *testing.T) {
	v := load(t)
	if len(v.Tickets) < 25 {
		t.Errorf("%d tickets", len(v.Tickets))
	}
	for _, c := range v.Tickets {
		ticket, err := ParseTicket([]byte(c.Text))
		if err == nil {
			err = ticket.Check()
		}
		if got := verdict(err); got != c.Want {
			t.Errorf("%s: %s (%v), want %s", c.Name, got, err, c.Want)
		}
	}
}
