package verify

import (
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
)

// Trust is what the caller knows from elsewhere. At most one of VKey and Policy is
// set; with neither nothing is pinned, and then no file is more than Consistent.
type Trust struct {
	VKey   string // verifier key of the ledger (C2SP signed-note)
	Policy []byte // C2SP tlog-policy: log lines pin keys, the quorum asks for cosignatures

	// Slots are the secret values of players whom the verdict is for: each gave
	// the hash of one before the commit (docs/SPEC.md section 4.1), and to nobody
	// the value. A file whose plan lacks one of them fails.
	Slots [][32]byte
}

// Check reports what is wrong with t itself, so that a caller can tell a mistake
// in a key or policy from evidence that fails.
func (t Trust) Check() error {
	_, err := t.parse()
	return err
}

// trusted is a parsed Trust.
type trusted struct {
	keys   []note.Verifier // any of them may sign; empty: nothing is pinned
	policy *audit.Policy   // nil: none was given
	slots  [][32]byte
}

func (t Trust) parse() (*trusted, error) {
	switch {
	case t.VKey != "" && t.Policy != nil:
		return nil, errors.New("trust in a key or in a policy, not in both")
	case t.Policy != nil:
		p, err := audit.ParsePolicy(t.Policy)
		if err != nil {
			return nil, err
		}
		return &trusted{keys: p.Logs, policy: p, slots: t.Slots}, nil
	case t.VKey != "":
		key, err := audit.ParseVKey(t.VKey)
		if err != nil {
			return nil, fmt.Errorf("reading the trusted key: %w", err)
		}
		return &trusted{keys: []note.Verifier{key}, slots: t.Slots}, nil
	}
	return &trusted{slots: t.Slots}, nil
}

// level returns the verdict and level of a file whose every step holds.
func (t *trusted) level() (string, Level) {
	if len(t.keys) == 0 {
		return Consistent, LevelKeyNotPinned
	}
	return Proved, LevelRecorded
}
