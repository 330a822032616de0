package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"

	"shuffled/internal/audit"
	"shuffled/internal/dealer"
	"shuffled/internal/dealer/api"
	"shuffled/internal/dealer/batch"
	"shuffled/internal/ledger"
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
	e := translate(c.r.Method, err)
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
