package witness

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
)

// Limits of an add-checkpoint request. C2SP tlog-witness sets the number of proof lines; our
// checkpoints have at most audit.MaxCheckpoint bytes.
const (
	MaxRequest = audit.MaxCheckpoint + 4<<10 // bytes of a body
	MaxProof   = 63                          // lines of a consistency proof
)

// Request is the body of add-checkpoint.
type Request struct {
	Old        int64       // size of the checkpoint that the witness cosigned last
	Proof      []tlog.Hash // of consistency, from Old to the size of Checkpoint
	Checkpoint []byte      // signed note, not yet parsed
}

// Encode returns the body.
func (r Request) Encode() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "old %d\n", r.Old)
	for _, h := range r.Proof {
		fmt.Fprintln(&b, h)
	}
	b.WriteByte('\n')
	b.Write(r.Checkpoint)
	return b.Bytes()
}

var errRequest = errors.New("malformed request")

// ParseRequest reads a body. It checks the limits first. Each request has one form: Encode gives the same bytes.
func ParseRequest(body []byte) (Request, error) {
	if len(body) > MaxRequest {
		return Request{}, fmt.Errorf("%w: more than %d bytes", errRequest, MaxRequest)
	}
	head, checkpoint, ok := bytes.Cut(body, []byte("\n\n"))
	if !ok {
		return Request{}, fmt.Errorf("%w: no empty line before the checkpoint", errRequest)
	}
	if n := bytes.Count(head, []byte("\n")); n > MaxProof {
		return Request{}, fmt.Errorf("%w: %d proof lines, at most %d", errRequest, n, MaxProof)
	}
	lines := strings.Split(string(head), "\n")
	size, ok := strings.CutPrefix(lines[0], "old ")
	old, err := parseSize(size)
	if !ok || err != nil {
		return Request{}, fmt.Errorf("%w: the first line is not old and a size", errRequest)
	}
	r := Request{Old: old, Checkpoint: checkpoint}
	for _, line := range lines[1:] {
		h, err := tlog.ParseHash(line)
		if err != nil || h.String() != line {
			return Request{}, fmt.Errorf("%w: a proof line is no hash in base64", errRequest)
		}
		r.Proof = append(r.Proof, h)
	}
	return r, nil
}

// parseSize reads a tree size in its one decimal form, up to audit.MaxInteger: the arithmetic of
// tlog does not work for the largest values of int64.
func parseSize(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || n > audit.MaxInteger || strconv.FormatInt(n, 10) != s {
		return 0, errors.New("no tree size")
	}
	return n, nil
}
