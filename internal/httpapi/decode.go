package httpapi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"shuffled/internal/audit"
)

const maxInteger = audit.MaxInteger

// decode reads the body as one JSON value into v, and keeps it for the text of a refusal.
// The library's defaults refuse duplicate members, members in another case, bad UTF-8,
// trailing data and deep nesting. Unknown members and null are refused here.
func (c *call) decode(v any, o ...json.Options) (err error) {
	if err := checkMedia(c.r, "application/json"); err != nil {
		return err
	}
	if c.w.body, err = readBody(c.r); err != nil {
		return err
	}
	return decodeBytes(c.w.body, v, o...)
}

func decodeBytes(body []byte, v any, o ...json.Options) error {
	err := json.Unmarshal(body, v, append(o, json.RejectUnknownMembers(true))...)
	if err == nil {
		return refuseNull(body)
	}
	var semantic *json.SemanticError
	var syntactic *jsontext.SyntacticError
	switch {
	case errors.As(err, &semantic):
		field := fieldName(semantic.JSONPointer)
		if errors.Is(semantic.Err, json.ErrUnknownName) {
			return unknownMember(field, semantic)
		}
		if w, ok := errors.AsType[wordError](semantic.Err); ok {
			return refuseWord(field, w.sent, w.words...)
		}
		return refuseValue(field, valueDetail(semantic))
	case errors.As(err, &syntactic):
		field := fieldName(syntactic.JSONPointer)
		if errors.Is(syntactic.Err, jsontext.ErrDuplicateName) {
			return &refusal{code: CodeDuplicateMember, field: field, detail: named(field) + " stands twice"}
		}
		detail := fmt.Sprintf("The JSON is malformed at byte %d", syntactic.ByteOffset)
		if errors.Is(syntactic.Err, io.ErrUnexpectedEOF) {
			detail = "The JSON value is cut short"
		}
		return &refusal{code: CodeInvalidJSON, field: field, detail: detail}
	}
	return &refusal{code: CodeInvalidJSON}
}

// refuseNull refuses null in a body that was decoded. The library takes null for zero, so it
// would be a second spelling of an absent member.
func refuseNull(body []byte) error {
	if !bytes.Contains(body, []byte("null")) {
		return nil
	}
	for dec := jsontext.NewDecoder(bytes.NewReader(body)); ; {
		switch token, err := dec.ReadToken(); {
		case err == io.EOF:
			return nil
		case err != nil:
			return err // not reached: the body is well formed
		case token.Kind() == 'n':
			return refuseValue(fieldName(dec.StackPointer()), string(errNull))
		}
	}
}

// valueDetail returns the rule that a value breaks.
func valueDetail(e *json.SemanticError) string {
	var broken rule
	switch {
	case errors.As(e.Err, &broken):
		return string(broken)
	case errors.Is(e.Err, strconv.ErrSyntax) || errors.Is(e.Err, strconv.ErrRange):
		return "must be a whole number in its range"
	}
	return wanted(e.GoType)
}

// fieldName turns a JSON pointer into the spelling of problem documents: runs[2].count.
func fieldName(p jsontext.Pointer) string {
	var b strings.Builder
	for token := range p.Tokens() {
		_, err := strconv.ParseUint(token, 10, 32)
		switch {
		case err == nil:
			b.WriteString("[" + token + "]")
		case b.Len() > 0:
			b.WriteString("." + token)
		default:
			b.WriteString(token)
		}
		if b.Len() > 200 {
			break // writeProblem cuts it there
		}
	}
	return b.String()
}

// checkMedia refuses a body that is of another type, in another charset, or compressed: nothing is ever inflated here.
func checkMedia(r *http.Request, want string) error {
	if len(r.Header.Values("Content-Encoding")) > 0 {
		return &refusal{code: CodeUnsupportedMediaType, field: "Content-Encoding",
			rule: "must be left out: bodies are not compressed"}
	}
	if mediaType(r) != want {
		return &refusal{code: CodeUnsupportedMediaType, field: "Content-Type", rule: "must be " + want,
			sent: r.Header.Get("Content-Type")}
	}
	return nil
}

// mediaType returns the one Content-Type of a body in UTF-8, or "".
func mediaType(r *http.Request) string {
	values := r.Header.Values("Content-Type")
	if len(values) != 1 {
		return ""
	}
	media, params, err := mime.ParseMediaType(values[0])
	if err != nil {
		return ""
	}
	for name, value := range params {
		if name != "charset" || !strings.EqualFold(value, "utf-8") {
			return ""
		}
	}
	return media
}

// readBody reads the body, whose size the route has limited.
func readBody(r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(r.Body)
	var large *http.MaxBytesError
	var network net.Error
	switch {
	case err == nil:
		return body, nil
	case errors.Is(err, errNoRoom):
		return nil, &refusal{code: CodeOverloaded, cause: err}
	case errors.As(err, &large):
		return nil, refuse(CodeBodyTooLarge)
	case errors.As(err, &network) && network.Timeout():
		return nil, &refusal{code: CodeRequestTimeout, cause: err}
	}
	return nil, &refusal{code: CodeInvalidJSON, detail: "The body is cut short", cause: err}
}

// smallBody is the size in bytes up to which a body of stated length does not count
// against a quota: the number of requests bounds these bodies.
const smallBody = 8 << 10

// errNoRoom: the quota of bytes in memory, of all bodies together, is spent.
var errNoRoom = errors.New("the memory for request bodies is full")

// limitBody bounds the size of the call's body, and counts it against the quota of all
// bodies. The caller calls release at the end of the request.
func (s *Server) limitBody(c *call) (release func(), err error) {
	limit, quota := int64(s.cfg.Limits.MaxBody), &s.bodies
	if c.price.large {
		limit, quota = int64(s.cfg.Limits.MaxVerifyBody), &s.evidence
	}
	if c.r.ContentLength > limit {
		return nil, refuse(CodeBodyTooLarge)
	}
	// net/http closes the connection of a body that is too long, if it can see its own writer.
	c.r.Body = http.MaxBytesReader(c.w.ResponseWriter, c.r.Body, limit)
	if c.r.ContentLength >= 0 && c.r.ContentLength <= smallBody {
		return func() {}, nil
	}
	body := &countedBody{ReadCloser: c.r.Body, quota: quota}
	c.r.Body = body
	return body.release, nil
}

// countedBody is a body that counts against a byte quota: how many bytes of bodies may be in memory at a time. They
// count as they arrive: a body that is only announced takes nothing from others. It belongs to the request's goroutine.
type countedBody struct {
	io.ReadCloser
	quota *atomic.Int64 // bytes that are left
	took  int64
}

// Read reads, and fails with errNoRoom when the quota is spent.
func (m *countedBody) Read(p []byte) (n int, err error) {
	n, err = m.ReadCloser.Read(p)
	m.took += int64(n)
	if m.quota.Add(-int64(n)) < 0 {
		return n, errNoRoom
	}
	return n, err
}

// release gives back what was taken.
func (m *countedBody) release() { m.quota.Add(m.took) }
