package seal

import (
	"bytes"

	"shuffled/internal/known"
)

// sealedBox is a box at rest: key 01 02 …, commitment 40 41 …, nonce c0 c1 …, tape a0 a1 …, and the origin of SelfTest
// (TestSealedBox makes it again from HMAC and AES).
const sealedBox = "01f7cc26a7e1d9eba06f691b1476287d0ac0c1c2c3c4c5c6c7c8c9cacb4cb39b541c67401bed7ebfe0d5d2fb4dd73fbe0131a469b3b2ae86ecc9704e0d"

// SelfTest runs the known-answer test of sealed tapes.
func SelfTest(_ string, a *known.Answers) {
	const origin = "vectors.example/ledger-1"
	box := known.Unhex(sealedBox)
	key, err := NewKey(known.Count(0x01, KeySize))
	if err != nil {
		a.Is("the key", "", err, "a key")
		return
	}
	a.Is("the key's id", key.ID().String(), nil, "f7cc26a7e1d9eba06f691b1476287d0a")
	ring, err := NewKeyring(key)
	if err != nil {
		a.Is("the ring", "", err, "a ring")
		return
	}
	commitment := [32]byte(known.Count(0x40, 32))
	tape, err := ring.Open(origin, commitment, box)
	a.Bytes("open", tape, err, "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf")
	_, err = ring.Open(origin+"0", commitment, box)
	a.Refused("another ledger", err, ErrOpen)
	other := commitment
	other[0]++
	_, err = ring.Open(origin, other, box)
	a.Refused("another commitment", err, ErrOpen)
	altered := bytes.Clone(box)
	altered[len(box)-1] ^= 1
	_, err = ring.Open(origin, commitment, altered)
	a.Refused("a bit of the tag", err, ErrOpen)
	altered = bytes.Clone(box)
	altered[1] ^= 1
	_, err = ring.Open(origin, commitment, altered)
	a.Refused("another key's id", err, ErrUnknownKey)
}
