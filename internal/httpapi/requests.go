package httpapi

import (
	"reflect"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"shuffled/internal/audit"
	"shuffled/internal/dealer/api"
)

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
