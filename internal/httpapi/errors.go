package httpapi

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"shuffled/internal/audit"
	"shuffled/internal/dealer"
	"shuffled/internal/dealer/api"
	"shuffled/internal/dealer/batch"
	"shuffled/internal/ledger"
	"shuffled/internal/near"
	"shuffled/internal/stops"
)

// kind is what all problem documents of one code have in common.
type kind struct {
	Status             int
	Title, Cause, Cure string
	Retry              bool // the same request may be sent again, and that may help
}

// others are the rules of legality whose codes have other names. A request that breaks the rule pair holds an act and
// something else than the act approves.
var others = map[string]Code{audit.RuleOwner: CodeNotYours, audit.RulePair: CodeAct, audit.RuleCheckpoint: CodeCosigned}

// codeOf returns the code of a rule that a request can break. Any other rule is one that the daemon must not break.
func codeOf(rule string) (code Code, ok bool) {
	if code, ok = others[rule]; !ok {
		code = Code(rule)
		_, ok = problems[code]
	}
	return code, ok
}

// sentinels are the errors of the packages below, with their codes. The first that matches counts.
var sentinels = []struct {
	err  error
	code Code
}{
	{api.ErrKeyReused, CodeIdempotencyKeyReused},
	{api.ErrRepeated, CodeRepeated},
	{dealer.ErrDeck, CodeDeckNotAllowed},
	{dealer.ErrStatement, CodeStatement},
	{dealer.ErrTogether, CodeAllOrNone},
	{ledger.ErrTooLarge, CodeAllOrNone},
	{api.ErrBeaconEarly, CodeBeaconEarly},
	{api.ErrCoDealerForked, CodeCoDealerForked},
	{api.ErrCoDealer, CodeCoDealerUnavailable},
	{api.ErrEntropy, CodeLatch},
	{api.ErrSealed, CodeSealed},
	{ledger.ErrUnknownOutcome, CodeOutcomeUnknown},
	{ledger.ErrOverloaded, CodeOverloaded},
	{ledger.ErrNotWitnessed, CodeCosigned},
	{ledger.ErrPolicy, CodePolicy},
	{ledger.ErrFrozen, CodeFrozen},
	{ledger.ErrNoKey, CodeSigningKey},
	{ledger.ErrClock, CodeClock},
	{ledger.ErrClosed, CodeNotReady},
	{ledger.ErrUnavailable, CodeUnavailable},
	{api.ErrNotFound, CodeNotFound},
	{ledger.ErrNotFound, CodeNotFound},
}

// occurrences are the codes of the dealer's own errors whose whole text is for callers.
var occurrences = map[Code]bool{CodeRepeated: true, CodeDeckNotAllowed: true, CodeNotFound: true, CodeStatement: true}

// translate turns any error into a refusal. An error that it does not know is internal:
// the caller is told only that, and the log has the cause.
func translate(method string, err error) *refusal {
	var known *refusal
	var request *api.RequestError
	var illegal *audit.Illegal
	var lacking *batch.NoShuffleError
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &lacking):
		if cause := translate(method, lacking.Cause); problems[cause.code].Retry {
			return cause // a repeat may make the shuffle, and answer both
		}
		return &refusal{code: CodeInvalidRequest, field: "shuffle", rule: fmt.Sprintf(
			"must be an operation that made a shuffle, and operation %d did not", lacking.Operation)}
	case errors.As(err, &request):
		code := CodeInvalidRequest
		if request.NoValue {
			code = CodeInvalidValue
		}
		return &refusal{code: code, field: request.Field, rule: request.Rule}
	case errors.As(err, &illegal):
		if code, ok := codeOf(illegal.Code); ok {
			return &refusal{code: code, detail: illegal.Detail}
		}
	}
	for _, s := range sentinels {
		if said, ok := strings.CutPrefix(err.Error(), s.err.Error()+": "); ok && occurrences[s.code] {
			return &refusal{code: s.code, detail: said, cause: err}
		}
		if errors.Is(err, s.err) {
			return &refusal{code: s.code, cause: err}
		}
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		// A caller that has left cannot know whether a batch took the entry.
		if method == http.MethodPost {
			return &refusal{code: CodeOutcomeUnknown, cause: err}
		}
		return &refusal{code: CodeUnavailable, cause: err}
	}
	if stops.Of(err) != "" {
		return &refusal{code: CodeUnavailable, cause: err}
	}
	if _, ok := errors.AsType[net.Error](err); ok { // of the store, or of another host
		return &refusal{code: CodeUnavailable, cause: err}
	}
	return &refusal{code: CodeInternal, cause: err}
}

// explained translates the error of a call. Every refusal with status 503 says the cause: of its own error or, if that
// has none, what the ledger waits for now; the log then says it too.
func (c *call) explained(err error) *refusal {
	e := new(*translate(c.r.Method, err)) // a copy: operations of a batch share an error
	if problems[e.code].Status != http.StatusServiceUnavailable {
		return e
	}
	cause := stops.Of(e.cause)
	if cause == "" && c.ledger != nil {
		ready := c.ledger.Log.Ready()
		cause, e.cause = stops.Of(ready), errors.Join(e.cause, ready)
	}
	e.detail = strings.TrimSpace(e.detail + " " + whole(string(cause)))
	return e
}

// sentences are the text of a problem, which is complete without the other members. A rule
// of a field is followed by the value that was sent, any other text by the cure of the code.
func (e *refusal) sentences() string {
	if e.rule == "" {
		return strings.TrimSpace(whole(e.detail) + " " + problems[e.code].Cure)
	}
	said := whole(named(e.field) + " " + e.rule)
	text, words := e.sent, shown(e.sent, "text")
	if text == "" {
		text, words = valueAt(e.body, e.field)
	}
	if words != "" {
		said += " The value sent is " + words + "."
	}
	return said + near.Hint(text, e.words)
}

// whole makes a sentence of s, "" of "".
func whole(s string) string {
	if s == "" {
		return ""
	}
	if s = strings.ToUpper(s[:1]) + s[1:]; strings.HasSuffix(s, ".") {
		return s
	}
	return s + "."
}

// mostShown is how many bytes of a value, or of a member's name, an answer repeats. A token
// and a player's value for a slot are longer.
const mostShown = 40

// named is how a sentence names a field.
func named(field string) string {
	switch {
	case field == "":
		return "The body"
	case len(field) > mostShown:
		return "A member of the body"
	}
	return `"` + clip(field, mostShown) + `"`
}

// shown is a value in quotes, or its length if it is too long.
func shown(value, kind string) string {
	if len(value) > mostShown {
		return fmt.Sprintf("a %s of %d characters", kind, len(value))
	}
	return `"` + clip(value, mostShown) + `"`
}

// valueAt returns the value of a field in a body, which may be malformed after it: the text
// if it is one, and words for it, "" if the body has no such field.
func valueAt(body []byte, field string) (text, words string) {
	dec := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowDuplicateNames(true),
		jsontext.AllowInvalidUTF8(true))
	for {
		token, err := dec.ReadToken()
		if err != nil {
			return "", ""
		}
		parent, n := dec.StackIndex(dec.StackDepth())
		if parent == '{' && n%2 == 1 || fieldName(dec.StackPointer()) != field {
			continue // a name, or another value
		}
		switch token.Kind() {
		case '"':
			return token.String(), shown(token.String(), "text")
		case '{':
			whole, err := jsontext.NewDecoder(bytes.NewReader(body[dec.InputOffset()-1:])).ReadValue()
			if err == nil && len(whole) <= mostShown {
				return "", string(whole)
			}
			return "", "an object"
		case '[':
			for n = 0; dec.PeekKind() != ']' && dec.SkipValue() == nil; {
				n++
			}
			return "", fmt.Sprintf("a list of %d", n)
		}
		return "", strings.Trim(shown(token.String(), "number"), `"`)
	}
}

// kindWords are words for the types of values; every other type is a number.
var kindWords = map[reflect.Kind]string{reflect.String: "a text", reflect.Bool: "true or false",
	reflect.Slice: "a list", reflect.Struct: "an object"}

// wanted is the rule for values of type t.
func wanted(t reflect.Type) string {
	switch {
	case t == nil:
		return string(errWrongType)
	case t.Kind() == reflect.Pointer:
		return wanted(t.Elem())
	case t == reflect.TypeFor[[]byte]():
		return "must be bytes in padded base64"
	case t == reflect.TypeFor[Timestamp]():
		return string(api.NoTime)
	}
	return "must be " + cmp.Or(kindWords[t.Kind()], "a whole number")
}

// unknownMember refuses a member that an object does not have, and names the nearest one.
func unknownMember(field string, e *json.SemanticError) error {
	var members []string
	for _, m := range membersOf(e.GoType) {
		members = append(members, strings.Trim(m.name, `":`))
	}
	name := e.JSONPointer.LastToken()
	hint := near.Hint(name, members)
	if hint == "" {
		hint = " The members are " + strings.Join(members, ", ") + "."
	}
	return &refusal{code: CodeUnknownMember, field: field, detail: named(field) + " is no member here." + hint}
}
