// Package wire has the values of the HTTP API that JSON writes in more than one way, for the daemon and for clients.
package wire

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Rule is an error that says what a value must be, in words for the caller.
type Rule string

func (r Rule) Error() string { return string(r) }

// EndAt is the place of the cut card: Lo if Lo and Hi are the same, otherwise drawn from Lo to Hi after the shuffle.
type EndAt struct{ Lo, Hi int }

// places is EndAt as an object; 0 stands for absent.
type places struct {
	Lo int `json:"lo"`
	Hi int `json:"hi"`
}

// MarshalJSONTo writes a number, or an object with lo and hi.
func (e EndAt) MarshalJSONTo(enc *jsontext.Encoder) error {
	if e.Lo == e.Hi {
		return json.MarshalEncode(enc, e.Lo)
	}
	return json.MarshalEncode(enc, places(e))
}

// UnmarshalJSONFrom reads a number, or an object with lo and hi. The error is a Rule, or of the decoder.
func (e *EndAt) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	var err error
	switch dec.PeekKind() {
	case '0':
		err = json.UnmarshalDecode(dec, &e.Lo)
		e.Hi = e.Lo
	case '{':
		err = json.UnmarshalDecode(dec, (*places)(e))
	default:
		return Rule("must be of another type")
	}
	if err == nil && (e.Lo < 1 || e.Hi < e.Lo) {
		return Rule("must be a place from 1, or lo and hi with lo at least 1 and hi at least lo")
	}
	return err
}

// OperationShuffle names the shuffle of an operation of a batch: by its ID, or, if Op is not nil,
// as the shuffle that the operation with that number made.
type OperationShuffle struct {
	ID uint64
	Op *int
}

// operation is OperationShuffle as an object.
type operation struct {
	Op *int `json:"op"`
}

// MarshalJSONTo writes a number, or an object with op.
func (o OperationShuffle) MarshalJSONTo(enc *jsontext.Encoder) error {
	if o.Op == nil {
		return json.MarshalEncode(enc, o.ID)
	}
	return json.MarshalEncode(enc, operation{o.Op})
}

// UnmarshalJSONFrom reads a number, or an object with op. The error is a Rule, or of the decoder.
func (o *OperationShuffle) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() != '{' {
		return json.UnmarshalDecode(dec, &o.ID)
	}
	var ref operation
	if err := json.UnmarshalDecode(dec, &ref, json.RejectUnknownMembers(true)); err != nil {
		return err
	}
	if ref.Op == nil {
		return Rule("must be an id, or the number of an earlier operation as op")
	}
	o.Op = ref.Op
	return nil
}

// True is a member that is true or absent.
type True bool

// UnmarshalJSONFrom reads true. The error is a Rule, or of the decoder.
func (t *True) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	err := json.UnmarshalDecode(dec, (*bool)(t))
	if err == nil && !*t {
		return Rule("must be true or absent")
	}
	return err
}
