package ledger

import (
	"context"
	"errors"
	"fmt"

	"shuffled/internal/audit"
)

// AddKey writes a key entry for an administrator: a signing key, an auditor key,
// a witness policy or a retirement. Beside what Append returns it is an
// *audit.Illegal of audit.RuleKey when the entry would leave a ledger that nobody
// can go on with: a signing key whose private half is not here or that
// a witness does not know; and ErrPolicy for a policy whose witnesses do not
// cosign now.
func (l *Ledger) AddKey(ctx context.Context, actor audit.Actor, k *audit.Key, act *audit.ActEntry) (Appended, error) {
	if k.Subject == audit.SubjectDisclosure {
		return Appended{}, notTaken("a disclosure key is made when a tape needs one")
	}
	if _, err := (audit.Entry{Actor: actor, Body: k}).Encode(); err != nil {
		return Appended{}, notTaken("%s", err)
	}
	if err := l.Ready(); err != nil {
		return Appended{}, err
	}
	var err error
	switch k.Subject {
	case audit.SubjectPolicy:
		err = l.tryPolicy(ctx, k.Policy)
	case audit.SubjectSigning:
		err = l.tryKey(ctx, k.Public)
	}
	if err != nil {
		return Appended{}, err
	}
	bodies := []audit.Body{k}
	if act != nil {
		bodies = []audit.Body{act, k}
	}
	appended, err := l.Append(ctx, Proposal{Actor: actor, Bodies: bodies})
	if errors.Is(err, audit.ErrUnknown) {
		return Appended{}, notTaken("%s", err) // a key of a later type in a policy
	}
	if err != nil {
		return Appended{}, err
	}
	return appended[len(appended)-1], nil
}

func notTaken(format string, args ...any) error {
	return &audit.Illegal{Code: audit.RuleKey, Detail: fmt.Sprintf(format, args...)}
}
