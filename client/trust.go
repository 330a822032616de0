package client

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
	"shuffled/internal/verify"
)

// trust reads the pinned key, or the pinned policy.
func (c *Client) trust() error {
	if (c.cfg.VKey == "") == (c.cfg.Policy == "") {
		return errors.New("a verifier key or a policy is pinned, and not both")
	}
	if c.cfg.Policy == "" {
		key, err := audit.ParseVKey(c.cfg.VKey)
		if err != nil {
			return fmt.Errorf("reading the verifier key: %w", err)
		}
		c.keys, c.origin = []note.Verifier{key}, key.Name()
		c.signed = verify.Trust{VKey: c.cfg.VKey}
		c.full = c.signed
		return nil
	}
	p, err := audit.ParsePolicy([]byte(c.cfg.Policy))
	if err != nil {
		return err
	}
	if len(p.Logs) == 0 {
		return errors.New("the policy has no log line with the ledger's key")
	}
	for _, key := range p.Logs {
		if key.Name() != p.Logs[0].Name() {
			return fmt.Errorf("the policy has keys of %s and of %s, and a client is of one ledger", p.Logs[0].Name(), key.Name())
		}
	}
	if err := p.CheckOverlap(); p.Asks() && err != nil {
		return fmt.Errorf("the policy proves nothing: %w", err)
	}
	c.keys, c.origin, c.policy = p.Logs, p.Logs[0].Name(), p
	c.signed = verify.Trust{Policy: withoutQuorum(c.cfg.Policy)}
	c.full = verify.Trust{Policy: []byte(c.cfg.Policy)}
	return nil
}

// withoutQuorum keeps the log lines of a policy that was read: answers are signed
// at once, and cosigned later.
func withoutQuorum(policy string) []byte {
	var keep strings.Builder
	for line := range strings.Lines(policy) {
		if f := strings.Fields(line); len(f) > 0 && f[0] == "log" {
			keep.WriteString(strings.TrimRight(line, "\n") + "\n")
		}
	}
	return []byte(keep.String() + "quorum none\n")
}
