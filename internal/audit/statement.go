package audit

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

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
	By   []Signer // in the order of the lines, each once
	note []byte
}

// signerName is the name of an auditor's key.
var signerName = regexp.MustCompile(`^[\x21-\x2a\x2c-\x7e]{1,128}$`)

// CheckSigner refuses a name that the key of an auditor's statement may not have.
func CheckSigner(name string) error {
	if !signerName.MatchString(name) {
		return fmt.Errorf("%q as the name of an auditor's key: it has 1 to 128 bytes of 0x21 to 0x7e and no plus sign",
			Short(name))
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
		return SignedStatement{}, fmt.Errorf("statement version %s: %w", m[1], ErrUnknown)
	}
	text, lines, err := SplitNote("statement", signed, maxStatement)
	if err != nil {
		return SignedStatement{}, err
	}
	s := SignedStatement{note: signed}
	if s.Statement, err = parseStatement(text); err != nil {
		return SignedStatement{}, err
	}
	for _, l := range lines {
		if err := CheckSigner(l.Name); err != nil {
			return SignedStatement{}, fmt.Errorf("%w statement: %w", ErrMalformed, err)
		}
		s.By = append(s.By, Signer{l.Name, l.Hash})
	}
	return s, nil
}

// parseStatement reads what Text writes: a line that cannot be read is not what Text writes for it.
func parseStatement(text string) (s Statement, err error) {
	lines := append(strings.Split(text, "\n"), make([]string, 4)...)
	s.Origin = lines[1]
	s.ID, _ = strconv.ParseUint(lines[2], 10, 64)
	s.Commit, _ = ParseHash(lines[3])
	s.Disclosed, _ = ParseHash(lines[4])
	if s.Text() != text || s.ID == 0 || s.ID > MaxInteger || CheckOrigin(s.Origin) != nil {
		return Statement{}, fmt.Errorf("%w statement: not in its one form", ErrMalformed)
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
