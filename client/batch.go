package client

import "github.com/go-json-experiment/json/jsontext"

// The parts of a batch that are JSON of a single request.
type (
	OperationBody   = jsontext.Value
	OperationAnswer = jsontext.Value
)

// OperationShuffle is the shuffle that an operation of a batch is of: ID, or that of the
// earlier operation Op, if it is not nil.
type OperationShuffle struct {
	ID uint64
	Op *int
}

// MarshalJSONTo writes a number, or an object with op.
func (o OperationShuffle) MarshalJSONTo(enc *jsontext.Encoder) error {
	if o.Op == nil {
		return enc.WriteToken(jsontext.Uint(o.ID))
	}
	for _, t := range []jsontext.Token{jsontext.BeginObject, jsontext.String("op"), jsontext.Int(int64(*o.Op)),
		jsontext.EndObject} {
		if err := enc.WriteToken(t); err != nil {
			return err
		}
	}
	return nil
}
