package httpapi

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"shuffled/internal/audit"
	"shuffled/internal/dealer/api"
	"shuffled/internal/near"
	"shuffled/internal/wire"
)

// parameters reads the path, the query and the headers of a request, and keeps the first error.
type parameters struct {
	request *http.Request
	asked   []string // query parameters of the operation
	err     error
}

func (p *parameters) fail(err error) {
	if p.err == nil {
		p.err = err
	}
}

// refuse fails because of the value that was sent for a parameter.
func (p *parameters) refuse(name, sent string, err error) {
	p.fail(&refusal{code: CodeInvalidValue, field: name, rule: err.Error(), sent: sent})
}

// pathIndex reads an index or id.
func (p *parameters) pathIndex(name string) Index {
	n, err := parseIndex(p.request.PathValue(name))
	if err != nil {
		p.refuse(name, p.request.PathValue(name), err)
	}
	return n
}

// pathShuffle reads the id of a shuffle, or finds the one that the table stands for.
func (p *parameters) pathShuffle(c *call, name string) Index {
	at, ok, err := parseAt(p.request.PathValue(name))
	switch {
	case err != nil:
		p.refuse(name, p.request.PathValue(name), err)
		return 0
	case !ok:
		return p.pathIndex(name)
	}
	id, err := c.shuffleAt(at)
	if err != nil {
		p.fail(err)
	}
	return id
}

// pathText reads a parameter that the operation checks by itself.
func (p *parameters) pathText(name string) string { return p.request.PathValue(name) }

// query reads an optional query parameter: a name in the grammar of recipients.
func (p *parameters) query(name string) *string {
	return queryAs(p, name, func(s string) (string, error) { return s, audit.CheckName(s) })
}

// queryIndex reads an optional number.
func (p *parameters) queryIndex(name string) *Index { return queryAs(p, name, parseIndex) }

// queryTime reads an optional time.
func (p *parameters) queryTime(name string) *Timestamp {
	return queryAs(p, name, func(s string) (t Timestamp, err error) {
		err = t.UnmarshalText([]byte(s))
		return t, err
	})
}

// queryAs reads an optional query parameter, nil if it is absent.
func queryAs[T any](p *parameters, name string, parse func(string) (T, error)) *T {
	s := p.queryText(name)
	if s == nil {
		return nil
	}
	v, err := parse(*s)
	if err != nil {
		p.refuse(name, *s, err)
		return nil
	}
	return &v
}

// queryText returns an optional query parameter, nil if it is absent.
func (p *parameters) queryText(name string) *string {
	p.asked = append(p.asked, name)
	values, err := url.ParseQuery(p.request.URL.RawQuery)
	if err != nil || len(values[name]) > 1 {
		p.fail(refuseValue(name, "must be given once, and be well formed"))
		return nil
	}
	if len(values[name]) == 0 {
		return nil
	}
	return &values[name][0]
}

// header reads a header that the operation needs exactly once.
func (p *parameters) header(name string) string {
	values := p.request.Header.Values(name)
	if len(values) != 1 {
		p.fail(&refusal{code: CodeIdempotencyKeyMissing, field: name})
		return ""
	}
	if err := audit.CheckIdempotencyKey(values[0]); err != nil {
		p.refuse(name, values[0], err)
	}
	return values[0]
}

// maxParameter is the length of the longest unknown parameter that an answer repeats. A token is longer.
const maxParameter = 32

// check returns the first error, or refuses a query parameter that the operation does not
// have: an address has one spelling, for caches, too.
func (p *parameters) check() error {
	if p.err != nil || p.request.URL.RawQuery == "" && !p.request.URL.ForceQuery {
		return p.err
	}
	values, err := url.ParseQuery(p.request.URL.RawQuery)
	if err != nil || len(values) == 0 {
		return refuseValue("query", "must be well formed, or absent")
	}
	for name := range values {
		if !slices.Contains(p.asked, name) {
			hint := near.Hint(name, p.asked)
			if len(name) > maxParameter {
				name = "query" // it may be a token that got in there
			}
			return &refusal{code: CodeInvalidValue, field: strings.ToValidUTF8(name, "?"),
				detail: named(name) + " is no parameter of this address." + hint}
		}
	}
	return nil
}

// Hash is 32 bytes in padded base64.
type Hash = string

func encodeHash(h [32]byte) Hash { return base64.StdEncoding.EncodeToString(h[:]) }

// decodeOctets fills an array with the bytes of a text in its one spelling. The error is a rule.
func decodeOctets(array []byte, text string) error {
	b, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || len(b) != len(array) || base64.StdEncoding.EncodeToString(b) != text {
		return rule(fmt.Sprintf("must be %d bytes in padded base64", len(array)))
	}
	copy(array, b)
	return nil
}

// The values that JSON writes in more than one way, and the error of one that is wrong.
type (
	rule             = wire.Rule
	Timestamp        = api.Time
	OperationShuffle = wire.OperationShuffle
)

const (
	errNull      rule = "must not be null: leave the member out"
	errWrongType rule = "must be of another type"
)

// parseIndex reads an index or id in its one spelling.
func parseIndex(s string) (Index, error) {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil || n > audit.MaxInteger || strconv.FormatUint(n, 10) != s {
		return 0, rule("must be a number without leading zeros, at most 9,007,199,254,740,991")
	}
	return n, nil
}

// value is what p points to, or zero.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
