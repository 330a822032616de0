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

// policyText returns the ledger's policy that governs a checkpoint of the head's
// size: each lets the next take over as audit.Policies tells.
func (x *export) policyText(ctx context.Context) (string, error) {
	type change struct {
		index uint64
		text  string
	}
	var current string
	var policy *audit.Policy
	var waiting []change
	for _, key := range x.keys.Keys {
		if key.Subject != audit.SubjectPolicy.String() {
			continue
		}
		if p, err := audit.ParsePolicy([]byte(key.Policy)); err != nil {
			continue // it changes nothing
		} else if key.Index == 0 {
			current, policy = key.Policy, p
			continue
		}
		waiting = append(waiting, change{key.Index, key.Policy})
	}
	for len(waiting) > 0 {
		size := x.head.Size
		if policy.Asks() {
			var err error
			if size, err = x.firstCosigned(ctx, policy, waiting[0].index+1); err != nil || size == 0 {
				return current, err
			}
		}
		n := 0
		for n < len(waiting) && waiting[n].index < size {
			n++
		}
		current = waiting[n-1].text
		policy, _ = audit.ParsePolicy([]byte(current)) // which was done above
		waiting = waiting[n:]
	}
	return current, nil
}

// firstCosigned returns the size of the first checkpoint of at least size that a
// policy's quorum cosigned, 0 for none.
func (x *export) firstCosigned(ctx context.Context, policy *audit.Policy, size uint64) (uint64, error) {
	for signed, err := range x.src.Cosigned(ctx, size) {
		if err != nil {
			return 0, fmt.Errorf("reading cosigned checkpoints: %w", err)
		}
		c, err := x.parseCheckpoint(signed)
		if err != nil || c.Size > x.head.Size {
			break
		}
		if policy.Satisfied(signed) {
			return c.Size, nil
		}
	}
	return 0, nil
}
