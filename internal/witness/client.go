package witness

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
	"shuffled/internal/outbound"
	"shuffled/internal/witness/gateway"
)

// maxAnswer bounds what is read of a witness's answer, in bytes.
const maxAnswer = 64 << 10

// Client asks one witness. It is safe for concurrent use, keeps connections open and follows no
// redirects. Only its context bounds how long a call takes.
type Client struct {
	URL  string          // submission and monitoring prefix, http or https
	Keys []note.Verifier // of its cosignatures (audit.ParseWitnessVKey), at least one
	HTTP *http.Client    // nil: http.DefaultTransport
}

// Reach returns the client of a witness, given the lines that policies have for it. These have
// one key name and one URL.
func Reach(lines []trust.Witness) (gateway.Witness, error) {
	c := &Client{URL: lines[0].URL}
	for _, one := range lines {
		c.Keys = append(c.Keys, one.Key)
	}
	return c, nil
}

// AddCheckpoint asks for cosignatures on a signed checkpoint, with a proof of consistency from size old. It returns the
// note signature lines of the client's keys, verified. Other lines are left out.
//
// The error is a *gateway.Conflict if old is not the size that the witness cosigned last. It is gateway.ErrRefused if
// the witness will not cosign this checkpoint, and gateway.ErrContradicts if that is because it has seen another
// history. After any other error the answer may have been lost, and the caller may ask again.
func (c *Client) AddCheckpoint(ctx context.Context, old uint64, proof []tlog.Hash, checkpoint []byte) ([]byte, error) {
	end := bytes.LastIndex(checkpoint, []byte("\n\n"))
	if end < 0 || old > audit.MaxInteger {
		return nil, errors.New("asking a witness: no signed checkpoint, or no size")
	}
	request := Request{Old: int64(old), Proof: proof, Checkpoint: checkpoint}.Encode()
	resp, answer, err := c.do(ctx, http.MethodPost, "/add-checkpoint", request)
	if err == nil {
		err = refused(resp, answer, int64(old))
	}
	var lines []byte
	if err == nil {
		lines, err = c.cosignatures(checkpoint[:end+1], answer)
	}
	if err != nil {
		return nil, fmt.Errorf("asking a witness: %w", err)
	}
	return lines, nil
}

// Latest returns the newest checkpoint that the witness says it cosigned for a log: a note with a verified cosignature.
// The log's own signature is not checked. gateway.ErrNone is matched if the witness has none or does not show any.
func (c *Client) Latest(ctx context.Context, origin string) ([]byte, error) {
	resp, answer, err := c.do(ctx, http.MethodGet, "/"+originHash(origin)+"/checkpoint", nil)
	if err != nil {
		return nil, fmt.Errorf("asking a witness for its checkpoint: %w", err)
	}
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusGone, http.StatusNotImplemented:
		return nil, fmt.Errorf("asking a witness for its checkpoint: status %d: %w", resp.StatusCode, gateway.ErrNone)
	default:
		return nil, fmt.Errorf("asking a witness for its checkpoint: status %d", resp.StatusCode)
	}
	var n *note.Note
	for _, key := range c.Keys {
		if n, err = note.Open(answer, note.VerifierList(key)); err == nil {
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("asking a witness for its checkpoint: %w", err)
	}
	cp, err := parseCheckpoint(n.Text)
	if err != nil || cp.Origin != origin {
		return nil, errors.New("asking a witness for its checkpoint: it sent no checkpoint of this log")
	}
	return answer, nil
}

// refused turns a status into an error; nil for 200. The error has the status alone: the answer comes from whatever
// listens at the address, and must not reach logs.
func refused(resp *http.Response, answer []byte, old int64) error {
	status := fmt.Errorf("status %d", resp.StatusCode)
	switch resp.StatusCode {
	case http.StatusOK:
		return nil
	case http.StatusConflict:
		size, ok := strings.CutSuffix(string(answer), "\n")
		n, err := parseSize(size)
		// If the size is the one that was sent, the sizes agree and the roots do not.
		if ok && err == nil && n != old && resp.Header.Get("Content-Type") == "text/x.tlog.size" {
			return &gateway.Conflict{Size: uint64(n)}
		}
		return fmt.Errorf("%w: %w", gateway.ErrContradicts, status)
	case http.StatusUnprocessableEntity: // the sizes agree, and the proof does not hold
		return fmt.Errorf("%w: %w", gateway.ErrContradicts, status)
	case http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound:
		return fmt.Errorf("%w: %w", gateway.ErrRefused, status)
	}
	return status
}

// cosignatures returns the lines of an answer that are of the client's keys. A line that does
// not hold takes nothing from the lines of other keys.
func (c *Client) cosignatures(text, lines []byte) ([]byte, error) {
	var held []byte
	var failed error
	for _, key := range c.Keys {
		n, err := note.Open(bytes.Join([][]byte{text, lines}, []byte("\n")), note.VerifierList(key))
		switch {
		case err != nil:
			failed = cmp.Or(failed, fmt.Errorf("the answer is no cosignature of %s: %w", key.Name(), err))
		case n.Text != string(text):
			return nil, errors.New("the answer is no signature lines")
		default:
			held = append(held, signatureLines(n.Sigs)...)
		}
	}
	if held == nil {
		return nil, failed
	}
	return held, nil
}

// do makes a request, and reads the answer to its end: otherwise the connection could not serve the next request.
func (c *Client) do(ctx context.Context, method, path string, body []byte) (*http.Response, []byte, error) {
	if _, err := outbound.ParseURL(c.URL); err != nil {
		return nil, nil, fmt.Errorf("its address %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.URL, "/")+path, bytes.NewReader(body))
	if err != nil {
		return nil, nil, errors.New("its address is not valid")
	}
	resp, err := outbound.Client(c.HTTP).Do(req)
	if err != nil {
		return nil, nil, outbound.Reason(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err == nil && len(answer) > maxAnswer {
		return nil, nil, fmt.Errorf("an answer of more than %d bytes", maxAnswer)
	}
	return resp, answer, outbound.Reason(err)
}

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
