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
	"shuffled/internal/ledger"
)

// kind is what all problem documents of one code have in common.
type kind struct {
	Status             int
	Title, Cause, Cure string
	Retry              bool // the same request may be sent again, and that may help
}

// illegals are the rules of legality that a request can break, with their
// codes. Any other rule is one that the daemon itself must not break.
var illegals = map[string]Code{
	audit.RuleLatch:         CodeLatch,
	audit.RuleKill:          CodeKill,
	audit.RuleTable:         CodeTable,
	audit.RuleCloseBy:       CodeCloseBy,
	audit.RuleMixModes:      CodeMixModes,
	audit.RuleTerms:         CodeTerms,
	audit.RuleBeacon:        CodeBeacon,
	audit.RuleSlot:          CodeSlot,
	audit.RuleKey:           CodeKey,
	audit.RuleParent:        CodeParent,
	audit.RuleDisclosureKey: CodeDisclosureKey,
	audit.RuleOwner:         CodeNotYours,
	audit.RuleTwoPersons:    CodeTwoPersons,
	audit.RuleAct:           CodeAct,
	audit.RulePair:          CodeAct,
	audit.RuleCredential:    CodeCredential,
	audit.RuleAdmins:        CodeAdministrators,
	audit.RuleNotOpen:       CodeNotOpen,
	audit.RuleDeadline:      CodeDeadline,
	audit.RuleEarlier:       CodeEarlierSerial,
	audit.RuleMix:           CodeMix,
	audit.RulePlace:         CodePlace,
	audit.RulePlaces:        CodePlaces,
	audit.RuleRound:         CodeRound,
	audit.RuleReveal:        CodeReveal,
	audit.RuleCheckpoint:    CodeCosigned,
	audit.RuleOutcome:       CodeOutcome,
	audit.RuleCoDealer:      CodeCoDealer,
}

// sentinels are the errors of the packages below, with their codes. The first that matches counts.
var sentinels = []struct {
	err  error
	code Code
}{
	{dealer.ErrKeyReused, CodeIdempotencyKeyReused},
	{dealer.ErrRepeated, CodeRepeated},
	{dealer.ErrTogether, CodeAllOrNone},
	{ledger.ErrTooLarge, CodeAllOrNone},
	{dealer.ErrBeaconEarly, CodeBeaconEarly},
	{dealer.ErrCoDealerForked, CodeCoDealerForked},
	{dealer.ErrCoDealer, CodeCoDealerUnavailable},
	{dealer.ErrEntropy, CodeLatch},
	{dealer.ErrSealed, CodeSealed},
	{ledger.ErrUnknownOutcome, CodeOutcomeUnknown},
	{ledger.ErrOverloaded, CodeOverloaded},
	{ledger.ErrNotWitnessed, CodeCosigned},
	{ledger.ErrPolicy, CodePolicy},
	{ledger.ErrFrozen, CodeFrozen},
	{ledger.ErrNoKey, CodeSigningKey},
	{ledger.ErrClock, CodeClock},
	{ledger.ErrClosed, CodeNotReady},
	{ledger.ErrUnavailable, CodeUnavailable},
	{dealer.ErrNotFound, CodeNotFound},
	{ledger.ErrNotFound, CodeNotFound},
}

// occurrences are the codes of the dealer's own errors whose whole text is for callers.
var occurrences = map[Code]bool{CodeRepeated: true, CodeNotFound: true}

// translate turns any error into a refusal. An error that it does not know is internal:
// the caller is told only that, and the log has the cause.
func translate(method string, err error) *refusal {
	var known *refusal
	var request *dealer.RequestError
	var illegal *audit.Illegal
	var statement *dealer.StatementError
	var lacking *dealer.NoShuffleError
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
		return &refusal{code: CodeInvalidRequest, field: request.Field, rule: request.Rule}
	case errors.As(err, &statement):
		return &refusal{code: CodeStatement, detail: statement.Rule}
	case errors.As(err, &illegal):
		if code, ok := illegals[illegal.Code]; ok {
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
	if ledger.CauseOf(err) != "" {
		return &refusal{code: CodeUnavailable, cause: err}
	}
	if _, ok := errors.AsType[net.Error](err); ok { // of the store, or of another host
		return &refusal{code: CodeUnavailable, cause: err}
	}
	return &refusal{code: CodeInternal, cause: err}
}

// explained translates the error of a call. Every refusal with status 503 says the cause: of its own error or, if that
// has none, what the ledger waits for now.
func (c *call) explained(err error) *refusal {
	e := translate(c.r.Method, err)
	if problems[e.code].Status != http.StatusServiceUnavailable {
		return e
	}
	cause := ledger.CauseOf(e.cause)
	if cause == "" && c.ledger != nil {
		cause = ledger.CauseOf(c.ledger.Log.Ready())
	}
	e.detail = strings.TrimSpace(e.detail + " " + whole(string(cause)))
	return e
}
