package bundle

import (
	"context"
	"fmt"
	"strings"

	"shuffled/internal/audit"
)

// policy returns a C2SP tlog-policy: the signing key in force as its log, and the
// witnesses of the policy in force (docs/SPEC.md section 7.3).
func (x *export) policy(ctx context.Context, vkey string) ([]byte, error) {
	text, err := x.policyText(ctx)
	if err != nil {
		return nil, err
	}
	lines := []string{"log " + vkey}
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		if f := strings.Fields(line); len(f) > 0 && f[0] != "log" {
			lines = append(lines, line)
		}
	}
	if len(lines) == 1 {
		lines = append(lines, "quorum none")
	}
	return []byte(strings.Join(lines, "\n") + "\n"), nil
}

// governing is a policy of the ledger: that of the genesis, or of the key entry
// at index.
type governing struct {
	index  uint64
	text   string
	policy *audit.Policy
}

// policyText returns the text of the policy that governs the next checkpoint, as
// audit.Policies tells which that is: it takes over with the first checkpoint
// above its entry that is cosigned under the one before.
func (x *export) policyText(ctx context.Context) (string, error) {
	var current governing
	var waiting []governing
	for _, key := range x.keys.Keys {
		if key.Subject != audit.SubjectPolicy.String() {
			continue
		}
		p, err := audit.ParsePolicy([]byte(key.Policy))
		switch {
		case err != nil: // one that cannot be read changes nothing
		case key.Index == 0:
			current = governing{0, key.Policy, p}
		default:
			waiting = append(waiting, governing{key.Index, key.Policy, p})
		}
	}
	for len(waiting) > 0 {
		n, err := x.takeOver(ctx, current, waiting)
		if err != nil {
			return "", err
		}
		if n == 0 && !current.policy.Asks() {
			n = len(waiting)
		}
		if n == 0 {
			break
		}
		current, waiting = waiting[n-1], waiting[n:]
	}
	return current.text, nil
}

// takeOver returns how many of the waiting policies the first checkpoint covers
// that is cosigned under the governing one, 0 if there is none. Where that asks
// for nobody, the newest that the checkpoint covers governs it.
func (x *export) takeOver(ctx context.Context, current governing, waiting []governing) (int, error) {
	for signed, err := range x.src.Cosigned(ctx, waiting[0].index+1) {
		if err != nil {
			return 0, fmt.Errorf("reading cosigned checkpoints: %w", err)
		}
		c, err := x.parseCheckpoint(signed)
		if err != nil || c.Size > x.head.Size {
			break
		}
		n := 0
		for n < len(waiting) && waiting[n].index < c.Size {
			n++
		}
		policy := current.policy
		if !policy.Asks() {
			policy = waiting[n-1].policy
		}
		if policy.Satisfied(signed) {
			return n, nil
		}
	}
	return 0, nil
}
