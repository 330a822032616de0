package disclosure

import (
	_ "embed"
	"sync"

	"shuffled/internal/audit"
	"shuffled/internal/known"
)

// selfTestJSON has cases of testdata/disclosure.json, word for word. Embedded, so that
// the binary needs no file to test itself.
//
//go:embed selftest.json
var selfTestJSON []byte

// vectors are cases of testdata/disclosure.json.
type vectors struct {
	Wraps []wrapVector `json:"wraps"`
	Tapes []tapeVector `json:"tapes"`
}

type wrapVector struct {
	Name    string      `json:"name"`
	Type    byte        `json:"type"` // of the auditor key
	Origin  string      `json:"origin"`
	Auditor known.Bytes `json:"auditor_private"`
	ID      known.Bytes `json:"auditor_id"`
	Public  known.Bytes `json:"disclosure_public"`
	Sealed  known.Bytes `json:"sealed"`
	Opens   bool        `json:"opens"`
	Private known.Bytes `json:"disclosure_private,omitempty"`
}

type tapeVector struct {
	Name       string      `json:"name"`
	Type       byte        `json:"type"`
	Origin     string      `json:"origin"`
	Private    known.Bytes `json:"disclosure_private"`
	Shuffle    uint64      `json:"shuffle"`
	Commitment known.Bytes `json:"commitment"`
	Sealed     known.Bytes `json:"sealed"`
	Opens      bool        `json:"opens"`
	Tape       known.Bytes `json:"tape,omitempty"`
}

var embedded = sync.OnceValue(func() *vectors { return known.Load[vectors](selfTestJSON) })

// SelfTest runs the known-answer test of that name on the embedded vectors. It panics if there is none.
func SelfTest(name string, a *known.Answers) { selfTests[name](a, embedded()) }

// selfTests are the known-answer tests, by name.
var selfTests = map[string]func(*known.Answers, *vectors){"disclosure-key": wrapTest, "disclosed-tape": tapeTest}

func wrapTest(a *known.Answers, v *vectors) {
	for _, c := range v.Wraps {
		auditor, err := NewAuditor(typed(c.Type, c.Auditor))
		if err != nil {
			a.Is(c.Name+": the auditor", "", err, c.ID.String())
			continue
		}
		id := auditor.ID()
		a.Bytes(c.Name+", the auditor's id", id[:], nil, c.ID.String())
		_, err = auditor.Unwrap(c.Origin, c.entry())
		if c.Opens {
			a.Is(c.Name, "opens", err, "opens")
		} else {
			a.Refused(c.Name, err, ErrOpen)
		}
	}
}

func typed(kind byte, private []byte) []byte { return append([]byte{kind}, private...) }

// entry is the key entry that carries the wrap.
func (c wrapVector) entry() *audit.Key {
	return &audit.Key{Subject: audit.SubjectDisclosure, Public: c.Public,
		Wraps: []audit.Wrap{{Auditor: [32]byte(c.ID), Sealed: c.Sealed}}}
}

// tapeTest opens tapes with the private half of each vector.
func tapeTest(a *known.Answers, v *vectors) {
	for _, c := range v.Tapes {
		private, err := newKey(typed(c.Type, c.Private))
		if err != nil {
			a.Is(c.Name+": the private half", "", err, c.Private.String())
			continue
		}
		tape, err := (&Opener{private}).Open(c.Origin, c.Shuffle, [32]byte(c.Commitment), c.Sealed)
		if c.Opens {
			a.Bytes(c.Name, tape, err, c.Tape.String())
		} else {
			a.Refused(c.Name, err, ErrOpen)
		}
	}
}
