package ledger

import (
	"context"
	"errors"
	"slices"

	"shuffled/internal/audit"
)

// Answer is what Append returns of one proposal.
type Answer struct {
	Appended []Appended
	Err      error
}

// A BodyError is the refusal of a proposal by what a rule says of one of its bodies.
type BodyError struct {
	Body int
	Err  error
}

func (e *BodyError) Error() string { return e.Err.Error() }
func (e *BodyError) Unwrap() error { return e.Err }

// AppendAll is Append of several proposals, each with its own answer. They are appended in
// this order, as many together as fit: each sees what those before it wrote, and nothing
// of others comes between the bodies of one.
func (l *Ledger) AppendAll(ctx context.Context, all []Proposal) []Answer {
	answers, requests := make([]Answer, len(all)), make([]*request, len(all))
	for i, p := range all {
		requests[i] = newRequest(p)
	}
	sent := 0
	var refused error
	for sent < len(requests) && refused == nil {
		n := portion(requests[sent:])
		if refused = l.enqueue(requests[sent : sent+n]...); refused == nil {
			sent += n
		}
	}
	for i, r := range requests {
		if i >= sent {
			answers[i].Err = refused
			continue
		}
		answers[i].Appended, answers[i].Err = l.await(ctx, r)
	}
	return answers
}

// portion returns how many of the requests, at least one, go into the queue together:
// half of what a batch takes at the most, so that one of them never doubles it.
func portion(requests []*request) (n int) {
	entries, bytes := 0, 0
	for n < len(requests) && (n == 0 || entries < maxBatchEntries/2 && bytes < maxBatchBytes/2) {
		entries += len(requests[n].Bodies)
		bytes += requests[n].size()
		n++
	}
	return n
}

// AppendTogether is Append of several proposals by one actor, all of them or none. It
// returns, with the error, the index of the proposal that was refused, or -1 where none
// of them is to blame more than the others.
func (l *Ledger) AppendTogether(ctx context.Context, all []Proposal) (answers [][]Appended, of int, err error) {
	whole := Proposal{Actor: all[0].Actor}
	for _, p := range all {
		for _, rest := range p.Rests {
			rest.Body += len(whole.Bodies)
			whole.Rests = append(whole.Rests, rest)
		}
		for i, b := range p.Bodies {
			var kept []byte
			if i < len(p.Kept) {
				kept = p.Kept[i]
			}
			whole.Bodies, whole.Kept = append(whole.Bodies, b), append(whole.Kept, kept)
		}
		whole.Decks = append(whole.Decks, p.Decks...)
	}
	if len(whole.Bodies) > maxBatchEntries || newRequest(whole).size() > maxBatchBytes {
		return nil, -1, ErrTooLarge
	}
	appended, err := l.Append(ctx, whole)
	if err != nil {
		return nil, blamed(all, err), err
	}
	for _, p := range all {
		answers = append(answers, appended[:len(p.Bodies)])
		appended = appended[len(p.Bodies):]
	}
	return answers, -1, nil
}

// blamed returns which of the proposals an error is about, or -1.
func blamed(all []Proposal, err error) int {
	var body *BodyError
	var duplicate *DuplicateError
	switch {
	case errors.As(err, &body):
		n := body.Body
		for i, p := range all {
			if n -= len(p.Bodies); n < 0 {
				return i
			}
		}
	case errors.As(err, &duplicate):
		return slices.IndexFunc(all, func(p Proposal) bool {
			c, ok := p.Bodies[0].(*audit.Commit)
			return ok && slices.Contains(duplicate.Tags, c.KeyTag)
		})
	}
	return -1
}
