package terms

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"shuffled/internal/audit"
)

// TestWalkAgreesWithTheReference: every ticket of lists of many lengths.
func TestWalkAgreesWithTheReference(t *testing.T) {
	secret := refSecret("walk")
	for n := 2; n <= 70; n++ {
		lines := refLines(n)
		_, leaves := refList(secret, lines)
		list, tickets, err := Walk(strings.NewReader(strings.Join(lines, "\n")), secret, Wanted{Lines: lines})
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(list.Root[:], refMTH(leaves)) || len(tickets) != n {
			t.Fatalf("%d lines: root %x, %d tickets", n, list.Root, len(tickets))
		}
		for i, ticket := range tickets {
			path := refPath(i, leaves)
			if len(path) != len(ticket.Path) {
				t.Fatalf("ticket %d of %d: %d hashes, want %d", i+1, n, len(ticket.Path), len(path))
			}
			for k := range path {
				if !bytes.Equal(path[k], ticket.Path[k][:]) {
					t.Fatalf("ticket %d of %d: hash %d is %x, want %x", i+1, n, k, ticket.Path[k], path[k])
				}
			}
			again, err := ParseTicket([]byte(ticket.Text()))
			if err != nil || again.Text() != ticket.Text() || again.Check() != nil {
				t.Fatalf("ticket %d of %d reads as %+v: %v", i+1, n, again, err)
			}
		}
	}
}

func TestWalkRefuses(t *testing.T) {
	secret := refSecret("refuses")
	for name, c := range map[string]struct{ text, want string }{
		"an empty list":          {"", "at least 2"},
		"one line":               {"a\n", "at least 2"},
		"a line twice":           {"a\nb\nb\n", "line 3, b, is not above"},
		"lines out of order":     {"b\na\n", "line 2, a, is not above"},
		"numbers by their value": {"9\n10\n", "line 2, 10, is not above"},
		"an empty line":          {"a\n\nb\n", "line 2 is no ticket number"},
		"carriage returns":       {"a\r\nb\r\n", "line 1 is no ticket number"},
		"a line of 65 bytes":     {"a\n" + strings.Repeat("b", 65), "line 2 is no ticket number"},
		"a very long line":       {"a\n" + strings.Repeat("b", 1<<20), "line 2 is no ticket number"},
		"a person's name":        {"Ada Lovelace\nb\n", "line 1 is no ticket number"},
	} {
		if _, _, err := Walk(strings.NewReader(c.text), secret, Wanted{}); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	broken := io.MultiReader(strings.NewReader("a\nb\n"), errReader{})
	if _, _, err := Walk(broken, secret, Wanted{}); !errors.Is(err, errBroken) {
		t.Errorf("a file that breaks off: %v", err)
	}
	if _, _, err := Walk(strings.NewReader("a\nb\n"), secret[1:], Wanted{}); err == nil {
		t.Error("a secret of 31 bytes is taken")
	}
	for _, w := range []Wanted{{Lines: []string{"c"}}, {Numbers: []uint64{3}}, {Numbers: []uint64{0}}} {
		if _, _, err := Walk(strings.NewReader("a\nb\n"), secret, w); !errors.Is(err, ErrNoTicket) {
			t.Errorf("%+v of two tickets: %v", w, err)
		}
	}
}

var errBroken = errors.New("broken")

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, errBroken }

// TestWalkIsBounded: what a pass keeps does not grow with the list.
func TestWalkIsBounded(t *testing.T) {
	w := walk{salts: saltCipher(refSecret("bounded")), wanted: Wanted{Numbers: []uint64{100}}}
	for _, line := range refLines(20_000) {
		if err := w.take([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	if w.count != 20_000 || len(w.newest) != 15 || len(w.found) != 1 || len(w.found[0].nodes) > 30 {
		t.Errorf("%d lines, %d hashes, %d nodes", w.count, len(w.newest), len(w.found[0].nodes))
	}
}

// TestLongList: the root and some proofs of a list that is longer than the buffer of a pass.
func TestLongList(t *testing.T) {
	secret, lines := refSecret("long"), refLines(12_293)
	_, leaves := refList(secret, lines)
	list, tickets, err := Walk(strings.NewReader(strings.Join(lines, "\n")+"\n"), secret,
		Wanted{Numbers: []uint64{1, 4096, 4097, 12_293}, Lines: lines[9000:9002]})
	root := refMTH(leaves)
	if err != nil || list.Count != uint64(len(lines)) || !bytes.Equal(list.Root[:], root) || len(tickets) != 6 {
		t.Fatalf("%+v, %d tickets: %v", list, len(tickets), err)
	}
	for _, ticket := range tickets {
		if err := ticket.Check(); err != nil || ticket.Line != lines[ticket.Number-1] {
			t.Errorf("ticket %d, %s: %v", ticket.Number, ticket.Line, err)
		}
	}
}

// TestFirstFault: of several lines that cannot stand the first is named, and what broke off after it is not.
func TestFirstFault(t *testing.T) {
	lines := refLines(100)
	lines[40], lines[70] = "*", "*"
	broken := io.MultiReader(strings.NewReader(strings.Join(lines, "\n")), errReader{})
	_, _, err := Walk(broken, refSecret("first"), Wanted{})
	if err == nil || !strings.Contains(err.Error(), "line 41 is no ticket") {
		t.Error(err)
	}
}

func TestOf(t *testing.T) {
	ticket := Ticket{Count: 7, Root: [32]byte{1}}
	good := &audit.Terms{Kind: audit.TermsTicketList, Count: 7, Hash: [32]byte{1}}
	if err := ticket.Of(good); err != nil {
		t.Error(err)
	}
	for name, terms := range map[string]*audit.Terms{
		"no terms":      nil,
		"a wheel":       {Kind: audit.TermsWheel, Count: 7, Hash: [32]byte{1}},
		"another count": {Kind: audit.TermsTicketList, Count: 8, Hash: [32]byte{1}},
		"another root":  {Kind: audit.TermsTicketList, Count: 7, Hash: [32]byte{2}},
	} {
		if ticket.Of(terms) == nil {
			t.Errorf("%s: holds", name)
		}
	}
}

// FuzzParseTicket: whatever parses has the same text.
func FuzzParseTicket(f *testing.F) {
	for _, c := range load(f).Tickets {
		f.Add([]byte(c.Text))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		ticket, err := ParseTicket(b)
		if err != nil {
			if got := verdict(err); got != "malformed" && got != "unknown" {
				t.Fatal(err)
			}
			return
		}
		if ticket.Text() != string(b) {
			t.Fatalf("%q has the text %q", b, ticket.Text())
		}
		if err := ticket.Check(); err != nil && verdict(err) != "root" {
			t.Fatal(err)
		}
	})
}
