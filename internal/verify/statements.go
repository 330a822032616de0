package verify

import (
	"errors"
	"fmt"
	"slices"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
)

// parseStatements is the part of format for the member statements: each is a statement
// in its one form, and no key signs twice.
func (t *transcript) parseStatements() error {
	var by []audit.Signer
	for i, text := range t.file.Statements {
		s, err := openings.ParseStatement([]byte(text))
		if err != nil {
			return fmt.Errorf("statement %d: %w", i, err)
		}
		for _, signer := range s.By {
			if slices.Contains(by, signer) {
				return malformed("statement %d: a second statement of %s", i, signer.Name)
			}
		}
		by = append(by, s.By...)
		t.stated = append(t.stated, s)
	}
	return nil
}

// statements holds what auditors signed against this file. A statement of an auditor who is not
// trusted proves nothing, and must be of this shuffle nevertheless.
func (t *transcript) statements() (string, error) {
	if len(t.stated) == 0 {
		return "", notChecked("the file holds no statement of an auditor")
	}
	if t.ended == nil || t.lost() {
		return "", errors.New("a statement, and no entry of the file holds a tape that it could be about")
	}
	tape := tlog.RecordHash(t.receipts[len(t.receipts)-1].Entry)
	want := openings.Statement{Origin: t.head.Origin, ID: t.file.ID, Commit: t.commitLeaf(), Disclosed: tape}
	trusted := 0
	for i, s := range t.stated {
		if s.Statement != want {
			return "", fmt.Errorf("statement %d is about shuffle %d of %s, and not about this commit and tape", i, s.ID,
				s.Origin)
		}
		for _, by := range s.By {
			holds, err := t.trust.signed(s, by)
			if err != nil {
				return "", err
			}
			if holds {
				trusted++
			}
			t.v.Statements = append(t.v.Statements, Stated{Name: by.Name, Trusted: holds})
		}
	}
	if trusted == 0 {
		return "", notChecked("no statement is signed by an auditor's key that is trusted")
	}
	return fmt.Sprintf("%d of %d signatures are of auditors who are trusted: each opened the tape, and it leads to the deck root",
		trusted, len(t.v.Statements)), nil
}

// signed reports whether a signature line of a statement is of a trusted auditor's key. It is an
// error if the line names such a key and the signature does not hold.
func (t *trusted) signed(s openings.SignedStatement, by audit.Signer) (bool, error) {
	var err error
	for _, key := range t.auditors {
		if key.Name() == by.Name && key.KeyHash() == by.ID {
			if s.SignedBy(key) {
				return true, nil
			}
			err = fmt.Errorf("the signature of %s, an auditor who is trusted, does not hold", by.Name)
		}
	}
	return false, err
}

// parseAuditors reads the verifier keys of auditors.
func parseAuditors(vkeys []string) ([]note.Verifier, error) {
	if len(vkeys) > maxAuditors {
		return nil, fmt.Errorf("%d auditors' keys are trusted, at most %d", len(vkeys), maxAuditors)
	}
	var keys []note.Verifier
	for _, vkey := range vkeys {
		key, err := audit.ParseVKey(vkey)
		if err == nil {
			err = openings.CheckSigner(key.Name())
		}
		if err == nil && audit.IsMLDSA(key) {
			err = errors.New("the key of an auditor is of Ed25519")
		}
		if err != nil {
			return nil, fmt.Errorf("the key of an auditor: %w", err)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// maxAuditors is how many auditors' keys a verifier trusts at most.
const maxAuditors = 64
