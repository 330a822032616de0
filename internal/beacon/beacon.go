// Package beacon checks the rounds of a public randomness beacon: that a signature is the one that the chain's key
// makes of a round (docs/SPEC.md section 4.4). It has no network and no clock, and it is the only package that knows
// BLS: its curve is neither in Go's FIPS 140-3 module nor in WebCrypto, so nothing but the level mixed may rest on it.
//
// The one chain is drand's quicknet, of the scheme bls-unchained-g1-rfc9380. A signature is unique: for a round and a
// key there is one, which anyone who holds fewer shares of the key than drand's threshold cannot know before the round.
package beacon

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"

	"github.com/cloudflare/circl/sign/bls"

	"shuffled/internal/audit"
)

// Size is the length of a round's signature in bytes: a compressed point of G1.
const Size = 48

// ErrSignature reports bytes that are not the chain's signature of the round.
var ErrSignature = errors.New("not the chain's signature of that round")

// quicknetKey is quicknet's public key, a compressed point of G2. The chain's hash covers it.
const quicknetKey = "83cf0f2896adee7eb8b5f01fcad3912212c437e0073e911fb90022d3e760183c" +
	"8c4b450b6a0a6c3ac6a5776a2d1064510d1fec758c921cc22b0e17e63aaf4bcb" +
	"5ed66304de9cf809bd274ca73bab4af5a6e9c76a4bc09e76eae8991ef5ece45a"

// publicKey returns quicknet's key: in G2, for signatures in G1. It is read when it is first needed.
var publicKey = sync.OnceValue(func() *bls.PublicKey[bls.KeyG2SigG1] {
	key := new(bls.PublicKey[bls.KeyG2SigG1])
	encoded, err := hex.DecodeString(quicknetKey)
	if err = cmp.Or(err, key.UnmarshalBinary(encoded)); err != nil {
		panic("beacon: " + err.Error())
	}
	return key
})

// TimeOf returns when a round, from 1, comes out, in seconds since 1970.
func TimeOf(round uint64) int64 {
	at, _ := audit.BeaconTime(audit.Quicknet, round)
	return at
}

// Verify returns ErrSignature unless signature is quicknet's signature of the round, from 1, in its
// one encoding: a point of G1's subgroup of prime order other than infinity.
func Verify(round uint64, signature [Size]byte) error {
	message := sha256.Sum256(binary.BigEndian.AppendUint64(nil, round))
	if !bls.Verify(publicKey(), message[:], signature[:]) {
		return fmt.Errorf("round %d: %w", round, ErrSignature)
	}
	return nil
}

// Steered names what a house could choose of a shuffle with a mix plan, although it did not know
// the value of a beacon or slot when it committed; nil means nothing. A shuffle of which it could
// choose something has the level mixed for nobody (docs/SPEC.md section 10.5).
func Steered(c *audit.Context) error {
	_, cut := c.Find(audit.SourceCut)
	switch {
	case cut:
		return errors.New("the cut could be chosen when all else was known")
	case c.Parent != nil:
		return errors.New("which cards went into a child was chosen by someone who knew the parent's order")
	case !c.IsDraw() && c.Recipe.Take < c.Recipe.Cards:
		return fmt.Errorf("which %d of the %d cards there are hangs on the tape alone, and the mix only moves them",
			c.Recipe.Take, c.Recipe.Cards)
	}
	return nil
}
