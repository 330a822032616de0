package gateway

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
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
	signed, err := q.witness.Latest(ctx, g.log.Origin)
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

// Signer names a key, private or public, as a note does: by its name and four bytes of its hash.
func Signer(key interface {
	Name() string
	KeyHash() uint32
}) string {
	return fmt.Sprintf("%s+%08x", key.Name(), key.KeyHash())
}

// SignerOf returns the signer of a signature line, "" if it is no signature line.
func SignerOf(line string) string {
	fields := strings.Fields(line)
	if len(fields) != 3 {
		return ""
	}
	sig, err := base64.StdEncoding.DecodeString(fields[2])
	if err != nil || len(sig) < 4 {
		return ""
	}
	return fmt.Sprintf("%s+%x", fields[1], sig[:4])
}

// Signers returns the signers of the signature lines of a checkpoint.
func Signers(checkpoint []byte) map[string]bool {
	by := make(map[string]bool)
	for line := range strings.Lines(string(checkpoint)) {
		by[SignerOf(line)] = true
	}
	return by
}

// LinesOf returns a signed checkpoint with the signature lines of some signers alone.
func LinesOf(checkpoint []byte, some func(signer string) bool) []byte {
	signatures := bytes.LastIndex(checkpoint, []byte("\n\n")) + 2
	b := slices.Clone(checkpoint[:signatures])
	for line := range strings.Lines(string(checkpoint[signatures:])) {
		if some(SignerOf(line)) {
			b = append(b, line...)
		}
	}
	return b
}

// Cosignatures returns those cosignatures of a round that can be added to a checkpoint: by
// keys that have not signed it, and as many as it has room for.
func (r *Round) Cosignatures(checkpoint []byte) (lines []byte) {
	by := Signers(checkpoint)
	for _, line := range r.lines {
		if !by[SignerOf(line)] && len(checkpoint)+len(lines)+len(line) <= audit.MaxCheckpoint {
			lines = append(lines, line...)
		}
	}
	return lines
}

// add takes an answer into the round. A key counts once, at however many addresses.
func (r *Round) add(a Answer) {
	by := Signer(a.Witness.Key)
	if moved, ok := errors.AsType[*Moved](a.Err); ok {
		r.At[by] = max(r.At[by], moved.Size)
	}
	if a.Err == nil {
		r.At[by] = max(r.At[by], a.Size)
	} else {
		r.Refused = append(r.Refused, a)
	}
	if a.line != "" && !slices.ContainsFunc(r.lines, func(line string) bool { return SignerOf(line) == by }) {
		r.lines = append(r.lines, a.line)
	}
}

// sign puts the cosignatures of the quorums' witnesses on the head, and finds out whether the
// quorums are met. If a checkpoint has no room for all, those that a quorum still needs come
// first. Four lines of a note are for the log's own signatures, of old and new keys.
func (r *Round) sign(head Head, quorums []*trust.Policy) {
	b, n, all := slices.Clone(head.Checkpoint), 0, len(head.Checkpoint)
	for _, line := range r.lines {
		all += len(line)
	}
	taken := make([]bool, len(r.lines))
	for _, lacked := range []bool{true, false} {
		for i, line := range r.lines {
			by := SignerOf(line)
			named := slices.ContainsFunc(quorums, func(p *trust.Policy) bool {
				return p != nil && slices.ContainsFunc(p.Witnesses,
					func(w trust.Witness) bool { return Signer(w.Key) == by }) &&
					(!lacked || all <= audit.MaxCheckpoint || !p.Satisfied(b))
			})
			if named && !taken[i] && n < audit.MaxSignatures-4 && len(b)+len(line) <= audit.MaxCheckpoint {
				b, taken[i] = append(b, line...), true
				n++
			}
		}
	}
	r.Head.Checkpoint = b
	r.Met = len(quorums) > 0 && !slices.ContainsFunc(quorums, func(p *trust.Policy) bool { return !p.Satisfied(b) })
}

// Confirms reports whether the witnesses confirm the stored log although they cosigned no head of this gateway, because
// another writer always asks them first. It is so if a quorum of the policy cosigned a head of the other writer, and
// each of these witnesses said in this round that it has cosigned no larger size.
func (r *Round) Confirms(cosigned Head, p *trust.Policy) bool {
	said := LinesOf(cosigned.Checkpoint, func(signer string) bool {
		size, ok := r.At[signer]
		return ok && size <= cosigned.Size
	})
	return p.Asks() && p.Satisfied(said)
}
