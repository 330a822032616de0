package terms

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/shuffle"
)

const (
	// MaxTicketProof bounds the text of a proof in bytes.
	MaxTicketProof = 2048
	// MinTickets and MaxTickets bound a list: it has as many tickets as there are numbers.
	MinTickets, MaxTickets = 2, shuffle.MaxRange

	ticketLabel = "shuffled/v1/ticket\x00"
	proofFormat = "shuffled/v1/ticket"
)

// Ticket is the proof that a line of a list has a number (docs/SPEC.md section 16.3).
type Ticket struct {
	Count  uint64 // tickets in the list
	Root   tlog.Hash
	Number uint64 // from 1
	Line   string
	Salt   [16]byte
	Path   tlog.RecordProof // from the leaf up
}

// ticketLeaf is the leaf hash of line i, from 0.
func ticketLeaf(i uint64, salt []byte, line string) tlog.Hash {
	b := append(make([]byte, 1, 128), ticketLabel...) // 0x00: a leaf
	b = binary.BigEndian.AppendUint64(b, i)
	return sha256.Sum256(append(append(b, salt...), line...))
}

// Check returns nil if the line has its number in the list of this root.
func (t *Ticket) Check() error {
	err := tlog.CheckRecord(t.Path, int64(t.Count), t.Root, int64(t.Number-1),
		ticketLeaf(t.Number-1, t.Salt[:], t.Line))
	if err != nil {
		return fmt.Errorf("the proof of ticket %d of %d, %s, does not lead to the root: %w", t.Number, t.Count, t.Line,
			err)
	}
	return nil
}

// Of returns nil if the list is the one that a shuffle's terms name.
func (t *Ticket) Of(terms *audit.Terms) error {
	switch {
	case terms == nil || terms.Kind != audit.TermsTicketList:
		return errors.New("the shuffle has no list of tickets")
	case terms.Count != t.Count || terms.Hash != [32]byte(t.Root):
		return fmt.Errorf("the shuffle is drawn from another list of tickets: of %d, and the root %s", terms.Count,
			base64.StdEncoding.EncodeToString(terms.Hash[:]))
	}
	return nil
}

// Text returns the one form of the proof.
func (t *Ticket) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\ncount %d\nroot %s\nnumber %d\nline %s\nsalt %s\n", proofFormat, t.Count, base64Of(t.Root[:]),
		t.Number, t.Line, base64Of(t.Salt[:]))
	for _, h := range t.Path {
		fmt.Fprintln(&b, base64Of(h[:]))
	}
	return b.String()
}

func base64Of(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

// ticketVersion is how a proof begins, with its version (docs/SPEC.md section 1.4).
var ticketVersion = regexp.MustCompile(`^shuffled/v([1-9][0-9]{0,9})/ticket\n`)

// ParseTicket reads the text of a proof, without a check of the proof. It returns an
// audit.ErrMalformed if Text would give another text, and an audit.ErrUnknown for a later version.
func ParseTicket(b []byte) (*Ticket, error) {
	m := ticketVersion.FindSubmatch(b)
	switch {
	case len(b) > MaxTicketProof:
		return nil, notTicket("it has %d bytes, at most %d", len(b), MaxTicketProof)
	case m == nil:
		return nil, notTicket("it does not begin with %s and a newline", proofFormat)
	case string(m[1]) != "1":
		return nil, fmt.Errorf("proof of a ticket, version %s: %w", m[1], audit.ErrUnknown)
	}
	text := string(b)
	t := new(Ticket)
	if err := t.read(strings.Split(text, "\n")[1:]); err != nil {
		return nil, err
	}
	if t.Text() != text {
		return nil, notTicket("it is not in its one form")
	}
	return t, nil
}

func notTicket(format string, args ...any) error {
	return fmt.Errorf("%w proof of a ticket: %s", audit.ErrMalformed, fmt.Sprintf(format, args...))
}

// read reads the lines behind the first. ParseTicket compares the text with what Text writes for what was read.
func (t *Ticket) read(lines []string) (err error) {
	lines = append(lines, make([]string, max(0, 6-len(lines)))...)
	value := func(i int, name string) string { return strings.TrimPrefix(lines[i], name+" ") }
	hash := func(s string, n int) []byte {
		b, wrong := base64.StdEncoding.DecodeString(s)
		if (wrong != nil || len(b) != n) && err == nil {
			err = notTicket("%q is not %d bytes of padded base64", s, n)
		}
		return append(b, make([]byte, max(0, n-len(b)))...)
	}
	t.Count, _ = strconv.ParseUint(value(0, "count"), 10, 64)
	t.Root = tlog.Hash(hash(value(1, "root"), 32))
	t.Number, _ = strconv.ParseUint(value(2, "number"), 10, 64)
	t.Line = value(3, "line")
	t.Salt = [16]byte(hash(value(4, "salt"), 16))
	for _, line := range lines[5 : len(lines)-1] {
		t.Path = append(t.Path, tlog.Hash(hash(line, 32)))
	}
	switch {
	case err != nil:
		return err
	case t.Count < MinTickets || t.Count > MaxTickets || t.Number < 1 || t.Number > t.Count:
		return notTicket("the count is %d to %d, and the number from 1 to the count", MinTickets, MaxTickets)
	}
	if err := audit.CheckName(t.Line); err != nil {
		return notTicket("the line %s", err)
	}
	return nil
}
