package httpapi

import (
	"context"
	"errors"
	"net"
	"net/http"

	"shuffled/internal/audit"
	"shuffled/internal/dealer"
	"shuffled/internal/ledger"
)

// kind is what all problem documents of one code have in common.
type kind struct {
	status int
	title  string
	retry  bool // the same request may be sent again, and that may help
}

// problems is the one table from codes to answers. It stands in the contract
// too, as x-problems; a test holds the two together.
var problems = map[Code]kind{
	CodeInvalidJSON:           {400, "The body is not one JSON value in UTF-8", false},
	CodeUnknownMember:         {400, "The contract has no such member", false},
	CodeDuplicateMember:       {400, "A member stands twice", false},
	CodeInvalidValue:          {400, "A value is not what the contract allows", false},
	CodeIdempotencyKeyMissing: {400, "This request needs one Idempotency-Key header", false},
	CodeUnauthorized:          {401, "This needs a token that is in force", false},
	CodeForbidden:             {403, "The token is of another role, or for other tables", false},
	CodeNoSuchRoute:           {404, "Nothing has this address", false},
	CodeNoSuchLedger:          {404, "No ledger has this name", false},
	CodeNotFound:              {404, "The ledger has no such shuffle, entry or tile", false},
	CodeMethodNotAllowed:      {405, "This address does not take this method", false},
	CodeRequestTimeout:        {408, "The body did not arrive in time", false},
	CodeNotYours:              {409, "The shuffle is of another identity", false},
	CodeTwoPersons:            {409, "This needs an act that two administrators signed", false},
	CodeAct:                   {422, "The act of the administrators does not hold", false},
	CodeCredential:            {409, "A credential of this id stands so already, or may not do this", false},
	CodeAdministrators:        {409, "The administrators cannot be changed like this", false},
	CodeWhichShuffle:          {409, "Several shuffles are open at the table", false},
	CodeAllOrNone:             {409, "The batch asks for all or none", false},
	CodeNotOpen:               {409, "The shuffle is not open", false},
	CodeDeadline:              {409, "The time to close the shuffle has passed", false},
	CodePlace:                 {409, "A deal starts at the next place", false},
	CodePlaces:                {409, "A deal ends at the last place at the latest", false},
	CodeReveal:                {409, "What is revealed was dealt and is not public, and a burn or discard only as exposed or with the close", false},
	CodeEarlierSerial:         {409, "An earlier shuffle of the table has not begun, and must be dealt from or closed first", false},
	CodeMix:                   {409, "The mix plan is revealed once, whole, before the first deal", false},
	CodeOutcome:               {409, "The shuffle cannot end like this", false},
	CodeParent:                {409, "The parent cannot give these cards", false},
	CodeTable:                 {409, "The table is closed, or stands so already", false},
	CodeKill:                  {409, "A kill switch stops new shuffles here, or stands so already", false},
	CodeSlot:                  {409, "A slot hash stands in another commit", false},
	CodeDisclosureKey:         {409, "The ledger has no disclosure key for the auditors in force", false},
	CodeStatement:             {409, "The shuffle cannot take this statement", false},
	CodeRepeated:              {409, "This was answered before, for another request", false},
	CodeBodyTooLarge:          {413, "The body is too large", false},
	CodeUnsupportedMediaType:  {415, "The body's type or encoding is not one that this address takes", false},
	CodeInvalidRequest:        {422, "The request breaks a rule", false},
	CodeIdempotencyKeyReused:  {422, "The idempotency key was used for another request", false},
	CodeCloseBy:               {422, "close_by lies after the commit and within the ledger's cap", false},
	CodeTerms:                 {422, "The terms do not fit what is committed", false},
	CodeMixModes:              {422, "The ledger does not allow this source in a mix plan", false},
	CodeBeacon:                {422, "The beacon's round or its signature does not hold", false},
	CodeKey:                   {422, "The ledger cannot take this key", false},
	CodePolicy:                {422, "The policy's witnesses did not cosign the newest checkpoint", false},
	CodeRateLimited:           {429, "Too many requests", true},
	CodeInternal:              {500, "Something is wrong here", false},
	CodeNotReady:              {503, "The daemon is starting or stopping", true},
	CodeBeaconEarly:           {503, "The beacon's round is not out yet", true},
	CodeSigningKey:            {503, "The daemon does not have the signing key in force", false},
	CodeOverloaded:            {503, "Too many requests are waiting", true},
	CodeOutcomeUnknown:        {503, "Whether it was done is not known yet", true},
	CodeCosigned:              {503, "The witnesses have not cosigned the commit yet", true},
	CodeUnavailable:           {503, "The store does not answer", true},
	CodeFrozen:                {503, "Signing is stopped, reads go on", false},
	CodeClock:                 {503, "The daemon's clock cannot be trusted", false},
	CodeLatch:                 {503, "The entropy latch is set, an operator must clear it", false},
	CodeSealed:                {503, "The sealing key of this tape is not available", false},
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
	audit.RuleReveal:        CodeReveal,
	audit.RuleCheckpoint:    CodeCosigned,
	audit.RuleOutcome:       CodeOutcome,
}

// sentinels are the errors of the packages below, with their codes. The first
// that matches counts.
var sentinels = []struct {
	err  error
	code Code
}{
	{dealer.ErrKeyReused, CodeIdempotencyKeyReused},
	{dealer.ErrRepeated, CodeRepeated},
	{dealer.ErrTogether, CodeAllOrNone},
	{ledger.ErrTooLarge, CodeAllOrNone},
	{dealer.ErrBeaconEarly, CodeBeaconEarly},
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

// translate turns any error into a refusal. What it does not know is internal:
// the caller learns that, the log learns the rest.
func translate(method string, err error) *refusal {
	var known *refusal
	var request *dealer.RequestError
	var illegal *audit.Illegal
	var statement *dealer.StatementError
	var network net.Error
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &request):
		return &refusal{code: CodeInvalidRequest, field: request.Field, detail: request.Rule}
	case errors.As(err, &statement):
		return &refusal{code: CodeStatement, detail: statement.Rule}
	case errors.As(err, &illegal):
		if code, ok := illegals[illegal.Code]; ok {
			return &refusal{code: code, detail: illegal.Detail}
		}
	}
	for _, s := range sentinels {
		if errors.Is(err, s.err) {
			return &refusal{code: s.code, detail: string(ledger.CauseOf(err)), cause: err}
		}
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		// Anyone who waits no longer cannot know whether a batch took the entry.
		if method == http.MethodPost {
			return &refusal{code: CodeOutcomeUnknown, detail: string(ledger.CauseOf(err)), cause: err}
		}
		return &refusal{code: CodeUnavailable, detail: string(ledger.CauseOf(err)), cause: err}
	}
	if cause := ledger.CauseOf(err); cause != "" {
		return &refusal{code: CodeUnavailable, detail: string(cause), cause: err}
	}
	if errors.As(err, &network) { // what is below uses the network for the store only
		return &refusal{code: CodeUnavailable, cause: err}
	}
	return &refusal{code: CodeInternal, cause: err}
}
