package player

import (
	"errors"
	"fmt"

	"shuffled/internal/audit"
	"shuffled/internal/cli/remote"
	"shuffled/internal/term"
	"shuffled/internal/verify"
)

// CannotJudge is the error for evidence that uses something unknown. Its hint says that this is no fault of the
// evidence.
func CannotJudge(unknown string) error {
	return term.WithHint(errors.New("cannot judge: "+term.Visible(unknown)),
		"this is no fault of the evidence; a newer version of shuffled may be able to judge the evidence")
}

// ReadTrust reads what --key, --policy and --auditor pin. A file that cannot be read is a failure to run. A
// file that is no key or policy is a mistake in the command line.
func ReadTrust(key, policy string, auditors []string) (t verify.Trust, err error) {
	switch {
	case key != "":
		if t.VKey, err = remote.ReadKey("--key", key); err != nil {
			return t, err
		}
	case policy != "":
		if t.Policy, err = term.ReadBounded(policy, audit.MaxPolicy); err != nil {
			return t, fmt.Errorf("reading the policy: %w", err)
		}
	}
	for _, name := range auditors {
		vkey, err := remote.ReadKey("--auditor", name)
		if err != nil {
			return t, err
		}
		t.Auditors = append(t.Auditors, vkey)
	}
	if err := t.Check(); err != nil {
		return t, term.Usage("%s", term.Visible(err.Error()))
	}
	return t, nil
}
