package client

import (
	"crypto/rand"
	"encoding/hex"
	"time"
)

// NewKey makes an idempotency key: a UUID of version 7 (RFC 9562 section 5.7),
// which starts with the time in milliseconds and ends in 74 random bits. Keep it
// with the game before it is used.
func NewKey() string {
	var b [16]byte
	rand.Read(b[:]) // never fails (crypto/rand)
	ms := uint64(time.Now().UnixMilli())
	for i := range 6 {
		b[i] = byte(ms >> (40 - 8*i))
	}
	b[6] = 0x70 | b[6]&0x0f // version
	b[8] = 0x80 | b[8]&0x3f // variant
	s := hex.EncodeToString(b[:])
	return s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:]
}
