package client

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"time"
)

// NewKey makes an idempotency key: a UUID of version 7 (RFC 9562 section 5.7), which has the time in milliseconds and
// 74 random bits. Keep it with the game before you use it.
func NewKey() string {
	var b [16]byte
	rand.Read(b[:]) // never fails (crypto/rand)
	copy(b[:], binary.BigEndian.AppendUint64(nil, uint64(time.Now().UnixMilli()))[2:])
	b[6] = 0x70 | b[6]&0x0f // version
	b[8] = 0x80 | b[8]&0x3f // variant
	s := hex.EncodeToString(b[:])
	return s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:]
}

// keyTime returns the time in a key of NewKey; ok is false for any other key.
func keyTime(key string) (at time.Time, ok bool) {
	b, err := hex.DecodeString(strings.ReplaceAll(key, "-", ""))
	if err != nil || len(b) != 16 || b[6]>>4 != 7 || b[8]>>6 != 2 {
		return at, false
	}
	return time.UnixMilli(int64(binary.BigEndian.Uint64(b) >> 16)), true
}
