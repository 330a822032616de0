package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
)

// Keys returns the ledger's keys, policies and retirements. Each is proved under the pinned key to stand in the entry
// that it names. That none is left out, only an audit of the whole ledger shows. Do not pin a key from here.
func (c *Client) Keys(ctx context.Context) (*Keys, error) {
	answer, err := c.getKeys(ctx)
	k, err := decoded[Keys](answer, err)
	if err != nil {
		return nil, err
	}
	said := make(map[uint64][]Key)
	for i, one := range k.Keys {
		if i > 0 && one.Entry < k.Keys[i-1].Entry {
			return nil, &Fault{What: "the keys are not in their order", Answer: answer}
		}
		said[one.Entry] = append(said[one.Entry], one)
	}
	if len(said[0]) == 0 {
		return nil, &Fault{What: "the keys of the genesis are missing", Answer: answer}
	}
	for index, keys := range said {
		_, e, err := c.receipt(ctx, index)
		if err != nil {
			return nil, fmt.Errorf("proving the key of entry %d: %w", index, err)
		}
		told, err := json.Marshal(keys)
		want, err2 := json.Marshal(c.saidBy(e))
		if err != nil || err2 != nil || !bytes.Equal(told, want) {
			return nil, &Fault{What: fmt.Sprintf("entry %d says other keys", index), Answer: answer}
		}
		if g, ok := e.Body.(*audit.Genesis); ok &&
			(g.Origin != k.Origin || g.Origin != c.origin || g.Production != k.Production) {
			return nil, &Fault{What: "the genesis says another origin, or other than production", Answer: answer}
		}
	}
	return k, nil
}

// SaidKeys returns the ledger's keys as the daemon tells them, without any proof. It is for a person who has no key
// yet.
func (c *Client) SaidKeys(ctx context.Context) (*Keys, error) {
	return decoded[Keys](c.getKeys(ctx))
}

// saidBy returns what an entry says of keys, as the daemon tells it.
func (c *Client) saidBy(e proved) (keys []Key) {
	for _, r := range trust.KeyRecords(e.index, e.Entry) {
		k := Key{Subject: KeySubject(r.Subject.String()), Entry: e.index, Time: timestamp(r.Time)}
		if r.Subject != audit.SubjectPolicy {
			k.ID = new(Hash(r.ID))
		}
		switch r.Subject {
		case audit.SubjectPolicy:
			k.Policy = new(string(r.Policy))
		case audit.SubjectSigning:
			vkey, _ := audit.VKey(c.origin, r.Public) // "" for a key of another kind, which the rules forbid
			k.Vkey = &vkey
		case audit.SubjectRetirement:
			k.Retired, k.From = new(KeyRetired(r.Retired.String())), new(timestamp(r.From))
		default:
			k.Public = r.Public
		}
		keys = append(keys, k)
	}
	return keys
}

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
