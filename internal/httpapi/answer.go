package httpapi

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"shuffled/internal/audit"
)

// refusal is an error that says which problem document to answer with.
type refusal struct {
	code   Code
	field  string   // member, parameter or header at fault, or empty
	rule   string   // that the field breaks, "must be …"; or empty
	sent   string   // the value of the field; empty: the one in the body
	words  []string // that the value may be, or nil
	detail string   // of this occurrence if there is no rule, or empty; never a secret
	allow  string   // CodeMethodNotAllowed: the methods
	ids    []uint64 // CodeWhichShuffle: of open shuffles
	cause  error    // for the log only, or nil
	body   []byte   // of the request, or nil
}

func (e *refusal) Error() string { return string(e.code) + ": " + e.sentences() }

func (e *refusal) Unwrap() error { return e.cause }

func refuse(code Code) error { return &refusal{code: code} }

func refuseValue(field, rule string) error {
	return &refusal{code: CodeInvalidValue, field: field, rule: rule}
}

// refuseWord refuses what was sent for the field, which is one of words.
func refuseWord(field, sent string, words ...string) error {
	last := len(words) - 1
	return &refusal{code: CodeInvalidValue, field: field, sent: sent, words: words,
		rule: "must be " + strings.Join(words[:last], ", ") + " or " + words[last]}
}

// retryAfter is the number of seconds after which a request may be sent again.
const retryAfter = 1

// writeProblem answers with the problem document of e.
func writeProblem(w http.ResponseWriter, e *refusal) {
	kind, body := problems[e.code], plainProblems[e.code]
	if e.detail != "" || e.field != "" {
		body = append(problemBody(e), '\n')
	}
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	h.Set("Cache-Control", "no-store")
	if kind.Retry {
		h.Set("Retry-After", strconv.Itoa(retryAfter))
	}
	if e.allow != "" {
		h.Set("Allow", e.allow)
	}
	if e.code == CodeUnauthorized {
		h.Set("WWW-Authenticate", "Bearer") // RFC 9110 section 11.6.1
	}
	w.WriteHeader(kind.Status)
	w.Write(body)
}

// plainProblems are the documents without detail and field, by code: a caller that is
// refused for lack of a place costs little.
var plainProblems = func() map[Code][]byte {
	all := make(map[Code][]byte, len(problems))
	for code := range problems {
		all[code] = append(problemBody(&refusal{code: code}), '\n')
	}
	return all
}()

func problemBody(e *refusal) []byte {
	kind := problems[e.code]
	body, err := json.Marshal(Problem{
		Type:   "/errors#" + string(e.code),
		Title:  kind.Title,
		Status: kind.Status,
		Code:   e.code,
		Detail: optional(clip(e.sentences(), 600)),
		Field:  optional(clip(e.field, 200)),

		Shuffles: e.ids,
	})
	if err != nil {
		panic(err) // a struct of strings that clip has made valid
	}
	return body
}

// clip makes s, which may come from a caller, short and printable.
func clip(s string, most int) string {
	out := []rune(s)
	for i, r := range out {
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			out[i] = '?'
		}
	}
	return string(out[:min(len(out), most)])
}

// optional is v as a member that is absent if v is zero.
func optional[T comparable](v T) *T {
	if v == *new(T) {
		return nil
	}
	return &v
}

// noStore keeps out of caches what may change or is not for everybody.
const noStore = "no-store"

// json answers with v.
func (c *call) json(v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("writing the answer: %w", err)
	}
	return c.write("application/json", noStore, append(body, '\n'))
}

// do reads a request of the contract, has the dealer do it, and answers with what came of it. asked is the request
// before its members are read.
func do[D, V any](c *call, asked D, do action[D, V]) error {
	asked, err := asks(c, asked)
	if err != nil {
		return err
	}
	return c.answer(do(c.r.Context(), c.caller.actor, asked))
}

// action is what the dealer does for an actor. A dealing is about one shuffle, or under one idempotency key.
type (
	action[D, V any]     = func(context.Context, audit.Actor, D) (V, error)
	dealing[K, D, V any] = func(context.Context, audit.Actor, K, D) (V, error)
)

// on is a dealing of this key.
func on[K, D, V any](of K, do dealing[K, D, V]) action[D, V] {
	return func(ctx context.Context, actor audit.Actor, asked D) (V, error) { return do(ctx, actor, of, asked) }
}

// answer answers with v, or returns the error.
func (c *call) answer(v any, err error) error {
	if err != nil {
		return err
	}
	return c.write("application/json", noStore, append(appendAnswer(make([]byte, 0, 8<<10), reflect.ValueOf(v)), '\n'))
}

// write answers with the body. If the connection fails, the caller has left and there
// is nothing to do. A caller that reads slowly holds no place of readers.
func (c *call) write(mediaType, cache string, body []byte) error {
	if c.computed != nil {
		c.computed(len(body))
	}
	h := c.w.Header()
	h.Set("Content-Type", mediaType)
	h.Set("Cache-Control", cache)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	c.w.Write(body)
	return nil
}

// member is a member of an object. It is absent if its field is zero and the tag says so.
type member struct {
	name   string // quoted, with its colon
	absent bool
	field  []int
}

var members sync.Map // []member by type, made once

func membersOf(t reflect.Type) []member {
	if known, ok := members.Load(t); ok {
		return known.([]member)
	}
	var all []member
	for _, f := range reflect.VisibleFields(t) {
		if name, _, absent := strings.Cut(f.Tag.Get("json"), ","); !f.Anonymous {
			all = append(all, member{`"` + name + `":`, absent, f.Index})
		}
	}
	members.Store(t, all)
	return all
}

// appendAnswer appends an answer of the dealer as package json writes it (TestAppendAnswer), at a third of the cost.
func appendAnswer(b []byte, v reflect.Value) []byte {
	switch kind := v.Kind(); {
	case kind == reflect.Struct:
		b = append(b, '{')
		for _, m := range membersOf(v.Type()) {
			if f := v.FieldByIndex(m.field); !m.absent || !f.IsZero() {
				b = append(appendAnswer(append(b, m.name...), f), ',')
			}
		}
		return append(bytes.TrimSuffix(b, []byte(",")), '}')
	case kind == reflect.Pointer:
		return appendAnswer(b, v.Elem())
	case (kind == reflect.Slice || kind == reflect.Array) && v.Type().Elem().Kind() == reflect.Uint8:
		octets := make([]byte, v.Len())
		reflect.Copy(reflect.ValueOf(octets), v)
		return append(base64.StdEncoding.AppendEncode(append(b, '"'), octets), '"')
	case kind == reflect.Slice:
		b = append(b, '[')
		for i := range v.Len() {
			b = append(appendAnswer(b, v.Index(i)), ',')
		}
		return append(bytes.TrimSuffix(b, []byte(",")), ']')
	case kind == reflect.Bool:
		return strconv.AppendBool(b, v.Bool())
	case v.Type() == reflect.TypeFor[Timestamp]():
		text, _ := Timestamp(v.Int()).MarshalText() // never an error
		return append(append(append(b, '"'), text...), '"')
	case v.CanInt():
		return strconv.AppendInt(b, v.Int(), 10)
	case v.CanUint():
		return strconv.AppendUint(b, v.Uint(), 10)
	}
	b, _ = jsontext.AppendQuote(b, v.String()) // no error: all texts were read as UTF-8
	return b
}
