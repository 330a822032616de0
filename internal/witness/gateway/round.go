package gateway

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
)

// cosignature is a signature line of a note.
type cosignature struct {
	by   string // signer
	line string // with its newline character
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

// LinesOf returns a signed checkpoint with the signature lines of these keys alone.
func LinesOf(checkpoint []byte, keys ...note.Verifier) []byte {
	signatures := bytes.LastIndex(checkpoint, []byte("\n\n")) + 2
	b := slices.Clone(checkpoint[:signatures])
	for line := range strings.Lines(string(checkpoint[signatures:])) {
		if slices.ContainsFunc(keys, func(k note.Verifier) bool { return Signer(k) == SignerOf(line) }) {
			b = append(b, line...)
		}
	}
	return b
}

// Cosignatures returns those cosignatures of a round that can be added to a checkpoint: by
// keys that have not signed it, and as many as it has room for.
func (r *Round) Cosignatures(checkpoint []byte) (lines []byte) {
	var by []string
	for line := range strings.Lines(string(checkpoint[bytes.LastIndex(checkpoint, []byte("\n\n"))+2:])) {
		by = append(by, SignerOf(line))
	}
	for _, c := range r.lines {
		if !slices.Contains(by, c.by) && len(checkpoint)+len(lines)+len(c.line) <= audit.MaxCheckpoint {
			lines = append(lines, c.line...)
		}
	}
	return lines
}

// add takes an answer into the round. A key counts once, at however many addresses.
func (r *Round) add(a Answer) {
	by := Signer(a.Witness.Key)
	var moved *Moved
	switch {
	case a.Err == nil:
		r.At[by] = max(r.At[by], a.Size)
	case errors.As(a.Err, &moved):
		r.At[by] = max(r.At[by], moved.Size)
	}
	if a.Err != nil {
		r.Refused = append(r.Refused, a)
	}
	for _, line := range a.lines {
		by := SignerOf(line)
		if by != "" && !slices.ContainsFunc(r.lines, func(c cosignature) bool { return c.by == by }) {
			r.lines = append(r.lines, cosignature{by, line})
		}
	}
}

// sign puts the cosignatures of the quorums' witnesses on the head, and finds out whether the
// quorums are met. If a checkpoint has no room for all, those that a quorum still needs come
// first. Four lines of a note are for the log's own signatures, of old and new keys.
func (r *Round) sign(head Head, quorums []*audit.Policy) {
	b, n, all := slices.Clone(head.Checkpoint), 0, len(head.Checkpoint)
	for _, c := range r.lines {
		all += len(c.line)
	}
	taken := make([]bool, len(r.lines))
	for _, lacked := range []bool{true, false} {
		for i, c := range r.lines {
			named := slices.ContainsFunc(quorums, func(p *audit.Policy) bool {
				return p != nil && slices.ContainsFunc(p.Witnesses,
					func(w audit.Witness) bool { return Signer(w.Key) == c.by }) &&
					(!lacked || all <= audit.MaxCheckpoint || !p.Satisfied(b))
			})
			if named && !taken[i] && n < audit.MaxSignatures-4 && len(b)+len(c.line) <= audit.MaxCheckpoint {
				b, taken[i] = append(b, c.line...), true
				n++
			}
		}
	}
	r.Head.Checkpoint = b
	r.Met = len(quorums) > 0 &&
		!slices.ContainsFunc(quorums, func(p *audit.Policy) bool { return !p.Satisfied(b) })
}

// Confirms reports whether the witnesses confirm the stored log although they cosigned no head of this gateway, because
// another writer always asks them first. It is so if a quorum of the policy cosigned a head of the other writer, and
// each of these witnesses said in this round that it has cosigned no larger size.
func (r *Round) Confirms(cosigned Head, p *audit.Policy) bool {
	signatures := bytes.LastIndex(cosigned.Checkpoint, []byte("\n\n")) + 2
	said := slices.Clone(cosigned.Checkpoint[:signatures])
	for line := range strings.Lines(string(cosigned.Checkpoint[signatures:])) {
		if size, ok := r.At[SignerOf(line)]; ok && size <= cosigned.Size {
			said = append(said, line...)
		}
	}
	return p.Asks() && p.Satisfied(said)
}
