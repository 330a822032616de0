package host

import (
	"bytes"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
	"shuffled/internal/outbound"
	"shuffled/internal/term"
)

// policy reads the policy of the flag. The daemon asks the witnesses, so each needs an address. Log
// lines may be there for other readers of the policy.
func (c ledgerCreateCmd) policy(vkey string) ([]byte, error) {
	if c.Policy == "" {
		return nil, nil
	}
	text, err := term.ReadBounded(c.Policy, audit.MaxPolicy)
	if err != nil {
		return nil, err
	}
	return text, c.checkPolicy(text, vkey)
}

// checkPolicy checks whether the first entry of a ledger with this key may have the policy.
func (c ledgerCreateCmd) checkPolicy(text []byte, vkey string) error {
	p, err := trust.ParsePolicy(text)
	if err != nil {
		return term.Usage("--policy %s: %s", c.Policy, err)
	}
	if !p.Asks() {
		return term.Usage("--policy %s: the quorum must ask for a witness", c.Policy)
	}
	if weak := p.CheckOverlap(); weak != nil && c.Production {
		return term.Usage("--policy %s: %s. In a production ledger any two quorums must share a witness: make the quorum more than half of each group", c.Policy, weak)
	}
	for _, w := range p.Witnesses {
		if _, err := outbound.ParseURL(w.URL); err != nil {
			return term.Usage("--policy %s: the address of witness %s %s", c.Policy, w.Name, err)
		}
	}
	key, err := audit.ParseVKey(vkey)
	if err != nil {
		return err
	}
	own, err := audit.SigningKey(vkey)
	if err != nil {
		return err
	}
	if err := p.CheckWitnesses(key.Name(), func(k []byte) bool { return bytes.Equal(k, own) }); err != nil {
		return term.Usage("--policy %s: %s", c.Policy, err)
	}
	for _, l := range p.Logs {
		if l.Name() != key.Name() || l.KeyHash() != key.KeyHash() {
			return term.Usage("--policy %s: the log line of %s does not have this ledger's key %s", c.Policy, l.Name(), vkey)
		}
	}
	return nil
}
