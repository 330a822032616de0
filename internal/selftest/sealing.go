package selftest

import (
	"bytes"

	"shuffled/internal/audit"
	"shuffled/internal/disclosure"
	"shuffled/internal/seal"
)

// Sealed tapes: at rest, and to auditors (docs/SPEC.md section 12).
var sealing = []test{
	{"disclosure-key", "the key that auditors open tapes with", "SPEC 12.2", "internal/disclosure/testdata/disclosure.json", wrapTest},
	{"disclosed-tape", "a tape as auditors get it", "SPEC 12.3", "internal/disclosure/testdata/disclosure.json", tapeTest},
	{"sealed-tape", "a tape at rest", "package seal", "the layout of package seal, made with another implementation", sealedTest},
}

func wrapTest(a *answers, v *vectors) {
	for _, c := range v.Wraps {
		auditor, err := disclosure.NewAuditor(unhex(c.Auditor))
		if err != nil {
			a.is(c.Name+": the auditor", "", err, c.ID)
			continue
		}
		id := auditor.ID()
		a.bytes(c.Name+", the auditor's id", id[:], nil, c.ID)
		_, err = auditor.Unwrap(c.Origin, c.entry())
		if c.Opens {
			a.is(c.Name, "opens", err, "opens")
		} else {
			a.refused(c.Name, err, disclosure.ErrOpen)
		}
	}
}

// entry is the key entry that carries the wrap.
func (c wrapVector) entry() *audit.Key {
	return &audit.Key{Subject: audit.SubjectDisclosure, Public: unhex(c.Public), Wraps: []audit.Wrap{{Auditor: hash32(c.ID), Sealed: unhex(c.Sealed)}}}
}

// tapeTest opens tapes with the key that the first wrap holds, as an auditor does.
func tapeTest(a *answers, v *vectors) {
	w := v.Wraps[0]
	auditor, err := disclosure.NewAuditor(unhex(w.Auditor))
	if err != nil {
		a.is("the auditor", "", err, w.ID)
		return
	}
	key, err := auditor.Unwrap(w.Origin, w.entry())
	if err != nil {
		a.is("the disclosure key", "", err, w.Public)
		return
	}
	for _, c := range v.Tapes {
		tape, err := key.Open(c.Origin, c.Shuffle, hash32(c.Commitment), unhex(c.Sealed))
		if c.Opens {
			a.bytes(c.Name, tape, err, c.Tape)
		} else {
			a.refused(c.Name, err, disclosure.ErrOpen)
		}
	}
}

// sealedBox is a box at rest: key 01 02 …, commitment 40 41 …, nonce c0 c1 …, tape
// a0 a1 …, and the origin of sealedTest (TestSealedBox makes it again from HMAC
// and AES).
const sealedBox = "01f7cc26a7e1d9eba06f691b1476287d0ac0c1c2c3c4c5c6c7c8c9cacb4cb39b541c67401bed7ebfe0d5d2fb4dd73fbe0131a469b3b2ae86ecc9704e0d"

func sealedTest(a *answers, _ *vectors) {
	const origin = "vectors.example/ledger-1"
	box := unhex(sealedBox)
	key, err := seal.NewKey(count(0x01, seal.KeySize))
	if err != nil {
		a.is("the key", "", err, "a key")
		return
	}
	a.is("the key's id", key.ID().String(), nil, "f7cc26a7e1d9eba06f691b1476287d0a")
	ring, err := seal.NewKeyring(key)
	if err != nil {
		a.is("the ring", "", err, "a ring")
		return
	}
	commitment := [32]byte(count(0x40, 32))
	tape, err := ring.Open(origin, commitment, box)
	a.bytes("open", tape, err, "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf")
	_, err = ring.Open(origin+"0", commitment, box)
	a.refused("another ledger", err, seal.ErrOpen)
	other := commitment
	other[0]++
	_, err = ring.Open(origin, other, box)
	a.refused("another commitment", err, seal.ErrOpen)
	altered := bytes.Clone(box)
	altered[len(box)-1] ^= 1
	_, err = ring.Open(origin, commitment, altered)
	a.refused("a bit of the tag", err, seal.ErrOpen)
	altered = bytes.Clone(box)
	altered[1] ^= 1
	_, err = ring.Open(origin, commitment, altered)
	a.refused("another key's id", err, seal.ErrUnknownKey)
}

// count is n bytes that count up from first.
func count(first byte, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = first + byte(i)
	}
	return b
}
