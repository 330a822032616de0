// Package known is what known-answer tests report to, and what their vectors are read with. The packages that a daemon
// and a verifier compute with have their known-answer tests alongside the code, in selftest.go; internal/selftest is
// the list that runs them.
package known

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
)

// Answers takes what one test computes and compares it with what is known.
type Answers struct {
	Test  string
	Names []string // of the answers that were compared, in order
	Wrong []string // the wrong ones, and what came instead
}

// Is compares one answer. Every answer of every test passes through here.
func (a *Answers) Is(what, got string, err error, want string) {
	if err != nil {
		got = "error: " + err.Error()
	}
	a.Names = append(a.Names, what)
	if got != want {
		a.Wrong = append(a.Wrong, fmt.Sprintf("%s: %s, want %s", what, short(got), short(want)))
	}
}

// Bytes compares bytes with their hexadecimal form.
func (a *Answers) Bytes(what string, got []byte, err error, want string) {
	a.Is(what, hex.EncodeToString(got), err, want)
}

// Values compares values by their printed form: lists of numbers, structs of them.
func (a *Answers) Values(what string, got any, err error, want any) {
	a.Is(what, fmt.Sprint(got), err, fmt.Sprint(want))
}

// Refused compares the reason for which something damaged is refused.
func (a *Answers) Refused(what string, err, reason error) {
	got := "accepted"
	if errors.Is(err, reason) {
		got = "refused: " + reason.Error()
	} else if err != nil {
		got = "refused for another reason: " + err.Error()
	}
	a.Is(what, got, nil, "refused: "+reason.Error())
}

// short keeps a message readable. What it cuts off is in the published vector.
func short(s string) string {
	if len(s) > 72 {
		return s[:72] + "…"
	}
	return s
}

// Bytes are a byte string of a vector: lower-case hexadecimal in its file.
type Bytes []byte

// MarshalText returns the hexadecimal form.
func (b Bytes) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, b), nil }

// UnmarshalText reads lower-case hexadecimal and nothing else.
func (b *Bytes) UnmarshalText(text []byte) (err error) {
	*b, err = hex.DecodeString(string(text))
	if err == nil && b.String() != string(text) {
		err = fmt.Errorf("%q is not lower-case hex", text)
	}
	return err
}

// String returns the hexadecimal form.
func (b Bytes) String() string { return hex.EncodeToString(b) }

// Unhex decodes a constant. If it is not hexadecimal, the binary is damaged: the test that needs it fails.
func Unhex(s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		panic("a constant is not hexadecimal")
	}
	return b
}

// Hash is Unhex for 32 bytes.
func Hash(s string) [32]byte { return [32]byte(Unhex(s)) }

// Count returns n bytes that count up from first.
func Count(first byte, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = first + byte(i)
	}
	return b
}

// Load reads embedded vectors. If they are damaged, so is the binary: the test that needs them fails.
func Load[V any](embedded []byte) *V {
	v := new(V)
	d := json.NewDecoder(bytes.NewReader(embedded))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		panic("reading the vectors: " + err.Error())
	}
	return v
}
