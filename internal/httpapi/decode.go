package httpapi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"shuffled/internal/audit"
	"shuffled/internal/dealer/api"
)

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

// The requests of the contract are those of package api.
type (
	ShuffleRequest  = api.ShuffleRequest
	DrawsRequest    = api.DrawsRequest
	MixRequest      = api.MixRequest
	DealRequest     = api.DealRequest
	RevealRequest   = api.RevealRequest
	CloseRequest    = api.CloseRequest
	TakeoverRequest = api.TakeoverRequest
)

// dealerJSON has the JSON of the dealer's requests, as openapi.yaml has it: values that are words, and bytes in their
// one spelling. For the dealer an empty text is an absent member, so a text that is there and empty is refused.
var dealerJSON = json.WithUnmarshalers(json.JoinUnmarshalers(
	json.UnmarshalFromFunc(text),
	json.UnmarshalFromFunc(octets[[32]byte]),
	json.UnmarshalFromFunc(octets[[48]byte]),
	json.UnmarshalFromFunc(octets[[64]byte]),
	word(audit.ParseDisclosure, "public", "auditor"),
	word(audit.ParseScope, "ledger", "table", "deck"),
	word(audit.ParseTermsKind, "wheel", "pay_table", "ticket_list"),
	word(audit.ParsePurpose, "seat", "board", "burn", "discard", "rabbit", "order"),
	word(audit.ParseOutcome, "completed", "ended_early", "void"),
	word(audit.ParseReason, "misdeal", "exposed_card", "foul_deck", "game_cancelled", "operator_error",
		"system_fault", "player_dispute", "mix_failed", "regulator", "tape_lost", "co_dealer"),
	json.UnmarshalFromFunc(func(d *jsontext.Decoder, r *audit.Run) error {
		return json.UnmarshalDecode(d, (*run)(r))
	}),
	json.UnmarshalFromFunc(func(d *jsontext.Decoder, t *audit.Terms) error {
		return json.UnmarshalDecode(d, (*boundTerms)(t))
	}),
))

// run and boundTerms are audit.Run and audit.Terms with the names of their members.
type (
	run struct {
		Count     int           `json:"count"`
		Purpose   audit.Purpose `json:"purpose"`
		Recipient string        `json:"recipient"`
		Public    bool          `json:"public"`
		Round     uint16        `json:"round"`
	}
	boundTerms struct {
		Kind  audit.TermsKind `json:"kind"`
		Count uint64          `json:"count"`
		Hash  [32]byte        `json:"hash"`
	}
)

// text reads a text, which is not empty.
func text(dec *jsontext.Decoder, into *string) error {
	type plain string
	err := json.UnmarshalDecode(dec, (*plain)(into))
	if err == nil && *into == "" {
		return rule("must not be empty")
	}
	return err
}

// wordError is a text that is none of words.
type wordError struct {
	sent  string
	words []string
}

func (wordError) Error() string { return "a text that is none of the words" }

// word reads a value that is one of words.
func word[T comparable](parse func(string) T, words ...string) *json.Unmarshalers {
	return json.UnmarshalFromFunc(func(dec *jsontext.Decoder, into *T) error {
		var sent string
		if err := json.UnmarshalDecode(dec, &sent); err != nil {
			return err
		}
		if *into = parse(sent); !slices.Contains(words, sent) {
			return wordError{sent, words}
		}
		return nil
	})
}

// octets reads an array of bytes in its one spelling.
func octets[T any](dec *jsontext.Decoder, into *T) error {
	var sent string
	if err := json.UnmarshalDecode(dec, &sent); err != nil {
		return err
	}
	return decodeOctets(reflect.ValueOf(into).Elem().Bytes(), sent)
}
