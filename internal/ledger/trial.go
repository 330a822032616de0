package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
	"shuffled/internal/witness/gateway"
)

// ErrPolicy: the witnesses of a new policy did not cosign the newest checkpoint, and nothing was written.
var ErrPolicy = errors.New("the policy's quorum did not cosign the newest checkpoint")

// trialRounds is how many rounds the quorum of a new policy may take. overtakenRounds is how many it may take if the
// last round failed only because another round, of this daemon or of another, had brought the witnesses a newer head.
const trialRounds, overtakenRounds = 3, 10

// AddKey writes a key entry behind the act that approves it. Its errors are those of Append and two more. An
// *audit.Illegal of audit.RuleKey refuses a signing key whose private half is not here, or that a witness does not
// know: nobody could go on with the ledger. ErrPolicy refuses a policy whose witnesses do not cosign now.
func (l *Ledger) AddKey(ctx context.Context, actor audit.Actor, k *audit.Key, act *audit.ActEntry) (Appended, error) {
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

// tryKey asks the witnesses whether they know a new signing key of the ledger. A witness that does not know it would
// cosign nothing above its entry. A witness that cannot be reached is no reason to refuse the key.
//
// Each witness is sent the newest head, signed with the new key, with the old size 0. A
// witness checks the signature before the size (C2SP tlog-witness). So one that knows the key
// answers with the size of its own checkpoint, or cosigns the head if it has none.
func (l *Ledger) tryKey(ctx context.Context, public []byte) error {
	key, err := audit.Verifier(l.cfg.Info.Origin, public)
	if err != nil {
		return notTaken("%s", err)
	}
	if l.signer(key) == nil {
		return notTaken("this daemon does not hold the private half of the new signing key: start it with the file of that " +
			"key among signing_keys")
	}
	inForce := audit.Verifiers(l.keys.Load().InForce())
	same := func(k note.Verifier) bool { return audit.IsMLDSA(k) == audit.IsMLDSA(key) }
	if !slices.ContainsFunc(inForce, same) {
		return nil // the first key of ML-DSA-44: a witness that does not know it goes on with that of Ed25519
	}
	signers := l.signersFor(append(slices.DeleteFunc(inForce, same), key)) // a witness may ask for both algorithms
	if slices.Contains(signers, nil) {
		return notTaken("this daemon does not hold the private half of the other signing key in force: start it with the " +
			"file of that key among signing_keys")
	}
	head := l.Head()
	policy := l.witnesses.policies.shown.Load().At(head.Size)
	if !policy.Asks() {
		return nil
	}
	head, err = signHead(head.Size, head.Root, signers...)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, gateway.Timeout)
	defer cancel()
	unaware := make([]string, len(policy.Witnesses))
	var group sync.WaitGroup
	for i, one := range policy.Witnesses {
		group.Go(func() {
			asked, err := l.reachWitness([]audit.Witness{one})
			if err == nil {
				_, err = asked.AddCheckpoint(ctx, 0, nil, head.Checkpoint)
			}
			if errors.Is(err, gateway.ErrRefused) && !errors.Is(err, gateway.ErrContradicts) {
				unaware[i] = one.Name
			}
		})
	}
	group.Wait()
	unaware = slices.DeleteFunc(unaware, func(name string) bool { return name == "" })
	if len(unaware) > 0 {
		return notTaken("start the witnesses that do not know the new signing key, or the other one in force, with that "+
			"key as another --log: %s", strings.Join(unaware, ", "))
	}
	return nil
}

// tryPolicy has the witnesses of a policy cosign the newest head, at the addresses that the policy gives them. A policy
// whose quorum is never met could not take over, and deals that wait for witnesses would wait for ever. In production
// any two of its quorums must share a witness (docs/SPEC.md section 7.3).
func (l *Ledger) tryPolicy(ctx context.Context, text []byte) error {
	p, err := audit.ParsePolicy(text)
	if err != nil {
		return notTaken("%s", err)
	}
	if err := p.CheckOverlap(); err != nil && l.Genesis().Production {
		return notTaken("a production ledger does not take this policy: %s", err)
	}
	for _, one := range p.Witnesses {
		if err := l.mayAsk(one); err != nil {
			return notTaken("witness %s: %s", one.Name, err)
		}
	}
	if !p.Asks() {
		return nil // whether it may is for the rules
	}
	if err := l.checkIntervals(p); err != nil {
		return notTaken("%s", err)
	}
	ask := slices.DeleteFunc(slices.Clone(p.Witnesses), l.hasInterval)
	w := l.witnesses
	if !w.trial.TryLock() {
		return fmt.Errorf("%w: the policy was not tried, because another trial runs", ErrPolicy)
	}
	defer w.trial.Unlock()
	for try := 1; ; try++ {
		r := w.gateway.Cosign(ctx, l.Head(), ask, p)
		switch {
		case r.Met:
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("%w in time", ErrPolicy)
		case try == overtakenRounds || try >= trialRounds && !overtaken(r.Refused):
			var why []string
			for _, a := range r.Refused {
				why = append(why, a.Witness.Name+": "+a.Err.Error())
			}
			return fmt.Errorf("%w: %s", ErrPolicy, strings.Join(why, "; "))
		}
		if Sleep(ctx, witnessRetry, l.running.Done()) && l.running.Err() != nil {
			return ErrClosed
		}
	}
}

// overtaken reports whether witnesses refused, and each because it has a newer head than it was asked about.
func overtaken(refused []gateway.Answer) bool {
	moved := func(a gateway.Answer) bool { return errors.As(a.Err, new(*gateway.Moved)) }
	return len(refused) > 0 && !slices.ContainsFunc(refused, func(a gateway.Answer) bool { return !moved(a) })
}
