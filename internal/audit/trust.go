package audit

import (
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/note"
)

// Trusted is what a caller knows of a ledger from elsewhere.
type Trusted struct {
	Keys   []note.Verifier // any of them may sign; empty: nothing is pinned
	Public [][]byte        // the same keys, type byte first
	Policy *Policy         // nil: none was given
}

// ParseTrust reads a ledger's verifier key or a C2SP tlog-policy, of which at most one
// is given. The log lines of a policy pin keys, its quorum asks for cosignatures.
func ParseTrust(vkey string, policy []byte) (Trusted, error) {
	switch {
	case vkey != "" && policy != nil:
		return Trusted{}, errors.New("trust in a key or in a policy, not in both")
	case policy != nil:
		p, err := ParsePolicy(policy)
		if err != nil {
			return Trusted{}, err
		}
		return Trusted{Keys: p.Logs, Public: p.LogKeys, Policy: p}, nil
	case vkey != "":
		key, err := ParseVKey(vkey)
		if err != nil {
			return Trusted{}, fmt.Errorf("reading the trusted key: %w", err)
		}
		public, err := SigningKey(vkey)
		return Trusted{Keys: []note.Verifier{key}, Public: [][]byte{public}}, err
	}
	return Trusted{}, nil
}
