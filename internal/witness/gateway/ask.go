package gateway

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
)

// weighTimeout is how long weigh may take.
const weighTimeout = 10 * time.Second

// ask gets the witness's cosignatures on a head. If the gateway does not know the size that the
// witness cosigned last, the first answer is that size, and the next question proves from it.
func (g *Gateway) ask(ctx context.Context, m *member, q question) ([]string, error) {
	if q.err != nil {
		return nil, q.err
	}
	head := q.head
	for range 3 {
		old := min(m.size, head.Size)
		var proof []tlog.Hash
		var err error
		if old > 0 && old < head.Size {
			if proof, err = g.log.Prove(ctx, old, head); err != nil {
				return nil, err
			}
		}
		text, err := q.witness.AddCheckpoint(ctx, old, proof, head.Checkpoint)
		var conflict *Conflict
		switch {
		case err == nil:
			m.size = head.Size
			return slices.Collect(strings.Lines(string(text))), nil
		case errors.As(err, &conflict) && conflict.Size <= head.Size && conflict.Size != old:
			m.size = conflict.Size
		case errors.As(err, &conflict) && conflict.Size > head.Size:
			return nil, g.ahead(ctx, q, conflict.Size)
		case errors.Is(err, ErrContradicts):
			return nil, g.refuses(ctx, q, old)
		default:
			return nil, err
		}
	}
	return nil, &Moved{m.size} // it moves on with every question
}

// ahead decides what it means that a witness has cosigned a size above the head: another
// writer of this log was first, or the stored log lost its end. A checkpoint under the log's
// own key tells which. If the witness shows no checkpoint, its word is reason enough to stop.
func (g *Gateway) ahead(ctx context.Context, q question, size uint64) error {
	has, err := g.log.Reach(ctx, size)
	if err != nil {
		return err
	}
	if has >= size {
		return &Moved{size}
	}
	c, err := g.shown(ctx, q)
	switch {
	case errors.Is(err, ErrNone):
		return &Contradiction{Name: q.lines[0].Name,
			Why: fmt.Sprintf("the witness says size %d, and the stored ledger has %d entries", size, has)}
	case errors.Is(err, errShown) || err == nil && c.Size < size:
		return fmt.Errorf("the witness says size %d, and shows no checkpoint of this size under this ledger's key", size)
	case err != nil:
		return fmt.Errorf("the witness says size %d, and does not show its checkpoint: %w", size, err)
	}
	if doubt := g.weigh(q, c); doubt != nil {
		return doubt
	}
	return &Moved{c.Size} // the log grew since, and the witness cosigned that
}

// refuses decides what it means that a witness of size old refuses the head: it has seen
// another history, unless it shows a checkpoint that the log extends.
func (g *Gateway) refuses(ctx context.Context, q question, old uint64) error {
	head := q.head
	c, err := g.shown(ctx, q)
	switch {
	case errors.Is(err, ErrNone):
		return &Contradiction{Name: q.lines[0].Name,
			Why: fmt.Sprintf("the witness refuses the head of size %d after a head of size %d", head.Size, old)}
	case err != nil:
		return fmt.Errorf("the witness refuses the head of size %d, and does not show why: %w", head.Size, err)
	}
	if doubt := g.weigh(q, c); doubt != nil {
		return doubt
	}
	return fmt.Errorf("the witness refuses the head of size %d, and shows a head of size %d that the refused head extends", head.Size, c.Size)
}

var errShown = errors.New("the witness shows nothing under this ledger's key")

// shown returns the newest checkpoint that a witness shows. It is an error if no key of the log signed it.
func (g *Gateway) shown(ctx context.Context, q question) (audit.Checkpoint, error) {
	signed, err := q.witness.Latest(ctx, g.log.Origin())
	if err != nil {
		return audit.Checkpoint{}, err
	}
	c, err := audit.OpenByAny(signed, g.log.Keys()...)
	if err != nil {
		return c, fmt.Errorf("%w: %w", errShown, err)
	}
	return c, nil
}

// weigh compares the stored log with a checkpoint that a witness shows. It returns nil if the log extends the
// checkpoint. It has a timeout of its own, because the witness may have used up that of the question.
func (g *Gateway) weigh(q question, c audit.Checkpoint) error {
	ctx, cancel := context.WithTimeout(g.running, weighTimeout)
	defer cancel()
	held := false
	size, err := g.log.Reach(ctx, c.Size)
	if err == nil {
		held, err = g.log.Extends(ctx, c)
	}
	why := fmt.Sprintf("the witness holds a checkpoint of size %d under this ledger's key, and the stored ledger ", c.Size)
	switch {
	case held:
		return nil
	case err != nil:
		why += "cannot be compared with it: " + err.Error()
	case c.Size > size:
		why += fmt.Sprintf("has %d entries", size)
	default:
		why += "has another root there"
	}
	return &Contradiction{q.lines[0].Name, why, &c}
}

// The answers of a witness that its caller distinguishes (C2SP tlog-witness). After any other
// error the witness may be asked again: the answer may have been lost on the way.
var (
	// ErrRefused: the witness will not cosign this checkpoint, however often it is asked. It does not know origin or
	// key, the proof is bad, or it has cosigned another root of this size.
	ErrRefused = errors.New("the witness refuses the checkpoint")

	// ErrContradicts, which is an ErrRefused: the witness has seen another history of the log. The proof from the size
	// that it cosigned does not lead to this checkpoint, or it cosigned another root of this size.
	ErrContradicts = fmt.Errorf("%w: it has seen another history", ErrRefused)

	// ErrNone: the witness shows no checkpoint that it cosigned for an origin, because it has
	// none or does not show any.
	ErrNone = errors.New("the witness tells of no cosigned checkpoint")
)

// Conflict is a witness's answer to a proof that does not begin at the size that it cosigned last. The caller proves
// again from that size. If the size is above the caller's head, another writer was first or the head went backwards.
type Conflict struct {
	Size uint64 // of the newest checkpoint that the witness cosigned, 0 if none
}

func (e *Conflict) Error() string {
	return fmt.Sprintf("the witness cosigned a checkpoint of size %d last", e.Size)
}
