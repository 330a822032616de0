package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
	"shuffled/internal/verify"
)

// trust reads the pinned key, or the pinned policy.
func (c *Client) trust() error {
	if (c.cfg.VKey == "") == (c.cfg.Policy == "") {
		return errors.New("a verifier key or a policy is pinned, and not both")
	}
	c.full.VKey, c.signed.VKey = c.cfg.VKey, c.cfg.VKey
	if c.cfg.Policy != "" {
		c.full.Policy, c.signed.Policy = []byte(c.cfg.Policy), withoutQuorum(c.cfg.Policy)
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

// anyIndex stands for an index that only the receipt tells.
const anyIndex = ^uint64(0)

// proved is an entry that a receipt proves.
type proved struct {
	audit.Entry
	receipt string
	index   uint64
	leaf    tlog.Hash
	size    uint64 // of the checkpoint that it is proved under
	signed  []byte // that checkpoint
}

// prove returns the entry of a receipt. It proves that a checkpoint signed by the pinned key includes the entry at the
// index, in the ledger that is known so far.
func (c *Client) prove(ctx context.Context, receipt string, index uint64, re reply) (proved, error) {
	// So the client accepts nothing that shuffled verify refuses.
	if v := verify.Receipt([]byte(receipt), c.signed); v.Verdict != verify.Proved {
		return proved{}, re.fault("the receipt is "+v.Verdict+" at "+v.Failed+v.Unknown, nil)
	}
	r, e, err := audit.ReceiptEntry(receipt)
	checkpoint, err2 := audit.CheckpointText(r.Checkpoint)
	if err := cmp.Or(err, err2); err != nil {
		return proved{}, re.fault("the receipt", err)
	}
	if index != anyIndex && r.Index != index {
		return proved{}, re.fault(fmt.Sprintf("the receipt is of entry %d, not %d", r.Index, index), nil)
	}
	past := re.before(r.Index, checkpoint.Size)
	if err := c.hold(ctx, head{checkpoint, r.Checkpoint}, past, re.open == nil, re.body); err != nil {
		return proved{}, err
	}
	return proved{e, receipt, r.Index, tlog.RecordHash(r.Entry), checkpoint.Size, r.Checkpoint}, nil
}

// Await returns when the quorum of Config.Policy has cosigned a checkpoint that covers the commit. It returns at once
// if the policy asks for nobody, or if there is none. It asks again with growing pauses, Config.Attempts times at most.
// Then it returns ErrNotWitnessed.
//
// Mix, Deal and Reveal do this by themselves before they ask for the first value or card. The entry of a mix or deal
// must stand behind that checkpoint. So each witness that cosigned saw the commitment to the whole order before a card
// was told. Receipts are signed at once and cosigned a moment later: the client accepts an answer under the ledger's
// signature alone. Transcript waits for the witnesses of all entries.
func (c *Client) Await(ctx context.Context, s *Committed) error {
	done := false
	s.with(func(p *play) { done = p.seen > 0 || p.early })
	if done || !c.policy.Asks() {
		return nil
	}
	e, err := c.cosigned(ctx, s.ID)
	switch {
	case e.signed != nil && e.leaf != s.entry.leaf:
		return &Fault{What: "the receipt is of another commit", Answer: []byte(e.receipt)}
	case err != nil:
		return fmt.Errorf("the commit of shuffle %d: %w", s.ID, err)
	}
	whole, _ := c.policy.CompleteAt(e.signed)
	s.with(func(p *play) { p.seen, p.whole = e.size, whole })
	return nil
}

// untilWitnessed makes a call until its error is not ErrNotWitnessed, with growing pauses, Config.Attempts times at
// most.
func (c *Client) untilWitnessed(ctx context.Context, call func() error) error {
	return c.until(ctx, func(err error) bool { return errors.Is(err, ErrNotWitnessed) }, call)
}

// until makes a call until its error is not one to try again after.
func (c *Client) until(ctx context.Context, again func(error) bool, call func() error) error {
	for attempt := 1; ; attempt++ {
		err := call()
		if !again(err) || attempt == c.cfg.Attempts {
			return err
		}
		if ctxErr := sleep(ctx, c.pause(attempt)); ctxErr != nil {
			return fmt.Errorf("%w, after: %w", ctxErr, err)
		}
	}
}

// proveEarly proves that the quorum cosigned the commit before the first mix or deal. e is a mix or deal, and first
// says that it is the first. If another client began, a transcript shows it.
func (c *Client) proveEarly(ctx context.Context, s *Committed, e proved, first bool) error {
	early := false
	s.with(func(p *play) {
		p.early = p.early || first && p.seen > 0 && p.seen <= e.index && trust.SecondsLate(p.whole, e.Time) == 0
		early = p.early
	})
	if early || !c.policy.Asks() {
		return nil
	}
	answer, v, file, err := c.transcript(ctx, s.ID, "", c.full)
	if err != nil {
		return err
	}
	// Legality in the verdict makes a file with this entry whole up to it.
	holds := slices.ContainsFunc(file.Receipts, func(text string) bool {
		r, err := audit.ParseReceipt(text)
		return err == nil && r.Index == e.index
	})
	if !holds || v.Commitment != s.Commitment.String() {
		return &Fault{What: "the transcript lacks what was answered before", Answer: answer}
	}
	if v.Level != verify.LevelWitnessed && v.Level != verify.LevelMixed {
		return fmt.Errorf("shuffle %d was played before its witnesses saw it: %w", s.ID, ErrNotWitnessed)
	}
	s.with(func(p *play) { p.early = true })
	return nil
}
