package client

import (
	"errors"
	"fmt"
	"strings"

	"shuffled/internal/audit/trust"
	"shuffled/internal/verify"
)

// trust reads the pinned key, or the pinned policy.
func (c *Client) trust() error {
	if (c.cfg.VKey == "") == (c.cfg.Policy == "") {
		return errors.New("a verifier key or a policy is pinned, and not both")
	}
	c.full = verify.Trust{VKey: c.cfg.VKey}
	c.signed = c.full
	if c.cfg.Policy != "" {
		c.full.Policy = []byte(c.cfg.Policy)
		c.signed.Policy = withoutQuorum(c.cfg.Policy)
	}
	t, err := trust.ParseTrust(c.full.VKey, c.full.Policy)
	if err != nil {
		return err
	}
	if len(t.Keys) == 0 {
		return errors.New("the policy has no log line with the ledger's key")
	}
	for _, key := range t.Keys {
		if key.Name() != t.Keys[0].Name() {
			return fmt.Errorf("the policy has keys of %s and of %s, and a client is of one ledger", t.Keys[0].Name(),
				key.Name())
		}
	}
	if p := t.Policy; p != nil && p.Asks() {
		if err := p.CheckOverlap(); err != nil {
			return fmt.Errorf("the policy proves nothing: %w", err)
		}
	}
	c.keys, c.origin, c.policy = t.Keys, t.Keys[0].Name(), t.Policy
	return nil
}

// withoutQuorum keeps the log lines of a valid policy: answers are signed at once, and cosigned later.
func withoutQuorum(policy string) []byte {
	var keep strings.Builder
	for line := range strings.Lines(policy) {
		if f := strings.Fields(line); len(f) > 0 && f[0] == "log" {
			keep.WriteString(strings.TrimRight(line, "\n") + "\n")
		}
	}
	return []byte(keep.String() + "quorum none\n")
}
