package selftest

import (
	"encoding/hex"
	"errors"
	"fmt"
)

// answers takes what one test computes and holds it against what is known.
type answers struct {
	test  string
	names []string // of the answers compared
	wrong []string
}

// is compares one answer. Every answer of every test passes through here.
func (a *answers) is(what, got string, err error, want string) {
	if err != nil {
		got = "error: " + err.Error()
	}
	a.names = append(a.names, what)
	if got != want {
		a.wrong = append(a.wrong, fmt.Sprintf("%s: %s, want %s", what, short(got), short(want)))
	}
}

// bytes compares bytes with their hexadecimal form.
func (a *answers) bytes(what string, got []byte, err error, want string) {
	a.is(what, hex.EncodeToString(got), err, want)
}

// values compares anything by its printed form: lists of numbers, structs of them.
func (a *answers) values(what string, got any, err error, want any) {
	a.is(what, fmt.Sprint(got), err, fmt.Sprint(want))
}

// refused is an answer too: what is damaged must be told from what is not.
func (a *answers) refused(what string, err, reason error) {
	got := "accepted"
	if errors.Is(err, reason) {
		got = "refused: " + reason.Error()
	} else if err != nil {
		got = "refused for another reason: " + err.Error()
	}
	a.is(what, got, nil, "refused: "+reason.Error())
}

// short keeps a message readable. What it cuts off is in the published vector.
func short(s string) string {
	if len(s) > 72 {
		return s[:72] + "…"
	}
	return s
}

// unhex decodes constants and vectors. Anything else is a damaged binary: the
// test fails.
func unhex(s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		panic("a constant is not hexadecimal")
	}
	return b
}

// hash32 is unhex for 32 bytes.
func hash32(s string) [32]byte { return [32]byte(unhex(s)) }
