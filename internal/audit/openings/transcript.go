package openings

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
)

// TranscriptFormat is the format member of every transcript of this version.
const TranscriptFormat = "shuffled/v1/transcript"

// MaxTranscript bounds a transcript in bytes, checked before it is parsed.
const MaxTranscript = 32 << 20

// Transcript is all the evidence of one shuffle in one file (docs/SPEC.md section 8). It is JSON around exact bytes:
// compact, members in this order, every member known, so that one transcript has one form.
type Transcript struct {
	Format    string   `json:"format"`
	ID        uint64   `json:"id"`
	Recipient string   `json:"recipient,omitempty"` // the file of one recipient
	Deck      []string `json:"deck,omitempty"`      // card names; absent for a draw list
	Terms     []byte   `json:"terms,omitempty"`     // the document of the terms; nil: none
	// the signed checkpoint of all receipts, each of which is a text up to and with its empty line:
	// genesis, commit, mix if any, deals and takeovers, close if closed
	Checkpoint string           `json:"checkpoint"`
	Receipts   []string         `json:"receipts"`
	Witnessed  *Prefix          `json:"witnessed,omitempty"`  // an early cosigned checkpoint with the commit; nil: none
	Keys       []audit.Handover `json:"keys,omitempty"`       // of each signing key after the genesis's
	Statements []string         `json:"statements,omitempty"` // signed notes of auditors
	CoDealer   *CoDealer        `json:"co_dealer,omitempty"`  // with a co-dealer, and only then
	Cards      []Card           `json:"cards"`                // openings, by place
}

// Prefix is an earlier checkpoint of a ledger, and what proves that its tree is the beginning of a larger one.
type Prefix struct {
	Checkpoint string `json:"checkpoint"` // signed
	audit.Last
}

// CoDealer is the evidence of the co-dealer's ledger: receipts, each under a checkpoint of its own.
type CoDealer struct {
	Receipts []string         `json:"receipts"`        // of the order's commit, its deals and its close
	Heads    []audit.Last     `json:"heads,omitempty"` // of each checkpoint in the tree of the next one; nil: not shown
	Keys     []audit.Handover `json:"keys,omitempty"`  // as those of the house
	// openings of the places of a deal that the close names as not played, by place
	Unplayed []Card `json:"unplayed,omitempty"`
}

// Card is an opening as JSON: what a deal answers and a transcript holds.
type Card struct {
	Place    int      `json:"place"`
	Position int      `json:"position"`
	Value    uint32   `json:"value"`
	Card     string   `json:"card,omitempty"` // its name; absent for a draw list
	Salt     string   `json:"salt"`           // base64, 32 bytes
	Proof    []string `json:"proof"`          // base64, 32 bytes each
	By       *By      `json:"by,omitempty"`   // with a co-dealer: its opening of the same place
}

// Receipt returns the i-th of Receipts as a receipt that stands alone.
func (t *Transcript) Receipt(i int) string { return t.Receipts[i] + t.Checkpoint }

// By is a co-dealer's opening of a place as JSON.
type By struct {
	Value uint32   `json:"value"`
	Salt  string   `json:"salt"`  // base64, 32 bytes
	Proof []string `json:"proof"` // base64, 32 bytes each
}

// Opening returns the opening that the co-dealer gave of a place, or an ErrMalformed.
func (b *By) Opening(place int) (Opening, error) {
	return Card{Place: place, Position: place, Value: b.Value, Salt: b.Salt, Proof: b.Proof}.Opening()
}

// NewCard returns o as the card at place, with the card's name or "".
func NewCard(place int, o Opening, cardName string) Card {
	return Card{Place: place, Position: o.Position, Value: o.Value, Card: cardName,
		Salt: base64.StdEncoding.EncodeToString(o.Salt[:]), Proof: hashTexts(o.Proof)}
}

// Opening returns the opening that c holds, or an ErrMalformed.
func (c Card) Opening() (o Opening, err error) {
	o = Opening{Position: c.Position, Value: c.Value}
	if o.Salt, err = audit.ParseHash(c.Salt); err == nil {
		o.Proof, err = parseHashes(c.Proof)
	}
	if err != nil {
		return Opening{}, fmt.Errorf("%w opening at place %d: %w", audit.ErrMalformed, c.Place, err)
	}
	return o, nil
}

func hashTexts(all []tlog.Hash) []string {
	texts := make([]string, len(all))
	for i, h := range all {
		texts[i] = string(base64.StdEncoding.AppendEncode(make([]byte, 0, 44), h[:]))
	}
	return texts
}

// parseHashes reads the hashes of a proof.
func parseHashes(texts []string) (all []tlog.Hash, err error) {
	if len(texts) > audit.MaxProof {
		return nil, fmt.Errorf("a proof of %d hashes, at most %d", len(texts), audit.MaxProof)
	}
	for _, text := range texts {
		h, err := audit.ParseHash(text)
		if err != nil {
			return nil, err
		}
		all = append(all, h)
	}
	return all, nil
}

// Marshal returns the one form of t.
func (t *Transcript) Marshal() ([]byte, error) {
	b, err := json.Marshal(t)
	if err != nil {
		return nil, fmt.Errorf("writing transcript: %w", err)
	}
	return b, nil
}

// maxParts bounds the commas outside strings: at most 4,096 cards with 32 each, as many names, twice as many receipts
// and heads with 65 each, 1,024 keys, and 8 statements. It is checked before the parser allocates for each part.
const maxParts = 1 << 20

// otherTranscript is how a transcript of another version begins; what follows is its own (docs/SPEC.md section 1.4).
var otherTranscript = regexp.MustCompile(`^\{"format":"shuffled/v([1-9][0-9]{0,9})/transcript"`)

// ParseTranscript reads a transcript. Unknown and duplicate members, spaces, other spellings of strings and numbers and
// bytes after the end are refused as ErrMalformed; a later format is ErrUnknown. The bytes inside are not checked.
func ParseTranscript(b []byte) (*Transcript, error) {
	if len(b) > MaxTranscript {
		return nil, fmt.Errorf("%w transcript: %d bytes, at most %d", audit.ErrMalformed, len(b), MaxTranscript)
	}
	if m := otherTranscript.FindSubmatch(b); m != nil && string(m[1]) != "1" {
		return nil, fmt.Errorf("transcript version %s: %w", m[1], audit.ErrUnknown)
	}
	if n := countParts(b); n > maxParts {
		return nil, fmt.Errorf("%w transcript: %d parts, at most %d", audit.ErrMalformed, n, maxParts)
	}
	var t Transcript
	if err := json.Unmarshal(b, &t, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("%w transcript: %s", audit.ErrMalformed, audit.Short(err.Error()))
	}
	if t.Format != TranscriptFormat {
		return nil, fmt.Errorf("%w transcript: its format is none", audit.ErrMalformed)
	}
	again, err := t.Marshal()
	if err != nil || !bytes.Equal(b, again) {
		return nil, fmt.Errorf("%w transcript: not in its one form (compact, members in order)", audit.ErrMalformed)
	}
	return &t, nil
}

// countParts returns the number of commas outside strings.
func countParts(data []byte) (n int) {
	inString := false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			inString = !inString
		case c == '\\' && inString:
			i++
		case c == ',' && !inString:
			n++
		}
	}
	return n
}

// MaxStatements is how many statements a shuffle has at most.
const MaxStatements = 8

// Statement is what an auditor says of one shuffle after opening its tape: that the tape has L bytes, opens the
// commitment, does not run out, and leads to the deck root (docs/SPEC.md section 8.1).
type Statement struct {
	Origin    string
	ID        uint64    // of the shuffle
	Commit    tlog.Hash // leaf hash of the commit entry
	Disclosed tlog.Hash // leaf hash of the entry that holds the tape
}

// Text returns the text that is signed.
func (s Statement) Text() string {
	return strings.Join([]string{"shuffled/v1/statement", s.Origin, strconv.FormatUint(s.ID, 10),
		base64.StdEncoding.EncodeToString(s.Commit[:]), base64.StdEncoding.EncodeToString(s.Disclosed[:]),
		"order ok", ""}, "\n")
}

// SignedStatement is a statement with the lines of its signatures, unchecked.
type SignedStatement struct {
	Statement
	By   []audit.Signer // in the order of the lines, each once
	note []byte
}

// signerName is the name of an auditor's key.
var signerName = regexp.MustCompile(`^[\x21-\x2a\x2c-\x7e]{1,128}$`)

// CheckSigner refuses a name that the key of an auditor's statement may not have.
func CheckSigner(name string) error {
	if !signerName.MatchString(name) {
		return fmt.Errorf("%q as the name of an auditor's key: it has 1 to 128 bytes of 0x21 to 0x7e and no plus sign",
			audit.Short(name))
	}
	return nil
}

// maxStatement is the longest signed statement in bytes.
const maxStatement = 16_384

// otherStatement is how a statement of another version begins (docs/SPEC.md section 1.4).
var otherStatement = regexp.MustCompile(`^shuffled/v([1-9][0-9]{0,9})/statement\n`)

// ParseStatement reads a signed statement in its one form and checks no signature. It
// returns ErrMalformed, or ErrUnknown for a statement of a later version.
func ParseStatement(signed []byte) (SignedStatement, error) {
	if m := otherStatement.FindSubmatch(signed); m != nil && string(m[1]) != "1" && len(signed) <= maxStatement {
		return SignedStatement{}, fmt.Errorf("statement version %s: %w", m[1], audit.ErrUnknown)
	}
	text, lines, err := audit.SplitNote("statement", signed, maxStatement)
	if err != nil {
		return SignedStatement{}, err
	}
	s := SignedStatement{note: signed}
	if s.Statement, err = parseStatement(text); err != nil {
		return SignedStatement{}, err
	}
	for _, l := range lines {
		if err := CheckSigner(l.Name); err != nil {
			return SignedStatement{}, fmt.Errorf("%w statement: %w", audit.ErrMalformed, err)
		}
		s.By = append(s.By, audit.Signer{Name: l.Name, ID: l.Hash})
	}
	return s, nil
}

// parseStatement reads what Text writes: a line that cannot be read is not what Text writes for it.
func parseStatement(text string) (s Statement, err error) {
	lines := append(strings.Split(text, "\n"), make([]string, 4)...)
	s.Origin = lines[1]
	s.ID, _ = strconv.ParseUint(lines[2], 10, 64)
	s.Commit, _ = audit.ParseHash(lines[3])
	s.Disclosed, _ = audit.ParseHash(lines[4])
	if s.Text() != text || s.ID == 0 || s.ID > audit.MaxInteger || audit.CheckOrigin(s.Origin) != nil {
		return Statement{}, fmt.Errorf("%w statement: not in its one form", audit.ErrMalformed)
	}
	return s, nil
}

// SignedBy reports whether the statement has a valid signature of the key.
func (s SignedStatement) SignedBy(key note.Verifier) bool {
	_, err := note.Open(s.note, note.VerifierList(key))
	return err == nil
}

// Sign returns the signed statement.
func (s Statement) Sign(signer note.Signer) ([]byte, error) {
	if err := CheckSigner(signer.Name()); err != nil {
		return nil, err
	}
	return note.Sign(&note.Note{Text: s.Text()}, signer)
}
