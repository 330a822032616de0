package client

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"shuffled/internal/audit"
)

// clockSkew is how far the daemon's clock may be behind this host's before an entry
// counts as older than the first try of its request.
const clockSkew = 10 * time.Second

type firstTried struct{}

// FirstTried returns a context for requests that were tried before, from the time at on: by this program before it was
// started again, or by another one with the same journal. Without it, a request that was answered before this client
// tried it is a *Fault: somebody else made it before the game did.
func FirstTried(ctx context.Context, at time.Time) context.Context {
	return context.WithValue(ctx, firstTried{}, at)
}

type openTries struct{}

// in returns the context of the call. In it send notes that a try may have been done.
func (a asked) in(ctx context.Context) context.Context {
	return context.WithValue(ctx, openTries{}, a.open)
}

// said is what an answer says of its entry.
type said struct {
	receipt  string
	index    uint64 // anyIndex if only the receipt says it
	time     Timestamp
	repeated bool
}

// acted returns the entry of a command about a shuffle. It proves that the entry is of this client, belongs to the life
// of the shuffle, and has the body that was asked for, which is reports.
func acted[B audit.Body](ctx context.Context, c *Client, s *Committed, says said, r reply,
	is func(B) bool) (e proved, body B, err error) {
	if e, err = c.prove(ctx, says.receipt, says.index, r); err != nil {
		return e, body, err
	}
	body, ok := e.Body.(B)
	ending, _ := e.Body.(*audit.Close)
	late := e.Time >= s.commit.CloseBy && deref(ending).Reason != audit.ReasonTapeLost // that is legal at any time
	if !ok || e.index <= s.ID || e.Time < s.entry.Time || late || !is(body) {
		return e, body, r.fault(fmt.Sprintf("the %s in the ledger is another one", body.Type()), nil)
	}
	return e, body, c.own(e, says, r)
}

// own returns a *Fault for an answer that misstates its entry, or whose entry is of another identity or older than the
// request. A repeated answer is accepted only if an earlier try may have been done. An answer that says that it is not
// repeated is refuted if its entry stood in the ledger before the request was made. An answer that says that it is
// repeated cannot be refuted so.
func (c *Client) own(e proved, says said, r reply) error {
	known := c.identity.Load()
	early := "it was done at " + audit.Instant(e.Time) + ", before this client asked for it"
	switch {
	case says.time.UnixMilli() != e.Time:
		return r.fault("its time is not the one in the ledger", nil)
	case !says.repeated && e.index < r.since:
		return r.fault("the request was answered before, and the answer does not say so", nil)
	case says.repeated && !r.again && !r.open.Load():
		return r.fault(early, nil)
	case known != nil && e.Actor.Identity != *known:
		return r.fault(fmt.Sprintf("it was done by %s, and not by %s", e.Actor.Identity, *known), nil)
	case known == nil && c.credential != "" && e.Actor.Credential != c.credential:
		return r.fault(fmt.Sprintf("it was done with %s, and not with this client's token", e.Actor.Credential), nil)
	case e.Time < r.first.Add(-clockSkew).UnixMilli():
		return r.fault(early, nil)
	case known == nil && e.Actor.Credential == c.credential:
		c.identity.Store(&e.Actor.Identity)
	}
	return nil
}

// TakeOver makes this client's identity the owner of a shuffle of another identity, to close it and for nothing else
// (docs/CLIENT.md). It returns when the takeover is proved to stand in the ledger. From, the owner before, is the
// daemon's word: Transcript proves it.
func (c *Client) TakeOver(ctx context.Context, s *Committed, req TakeoverRequest) (*Takeover, error) {
	when := c.command(ctx)
	answer, err := c.takeOverShuffle(when.in(ctx), s.ID, req)
	r := reply{when, answer}
	return held(r, err, func(taken *Takeover) error {
		repeated := bool(deref(taken.Repeated))
		if repeated { // a takeover is told again for as long as it holds, also with another reason
			r.first, r.again = taken.Time.Time, true
		}
		says := said{taken.Receipt, anyIndex, taken.Time, repeated}
		_, _, err := acted(ctx, c, s, says, r, func(b *audit.Takeover) bool {
			return b.Shuffle == s.ID && b.Extent == audit.ExtentClose && (b.Reason == req.Reason || repeated)
		})
		return err
	})
}

// under is the request with an idempotency key. A key of NewKey says when it was made, so that a program that kept the
// key needs no FirstTried.
func (a asked) under(key string) asked {
	b, err := hex.DecodeString(strings.ReplaceAll(key, "-", ""))
	if err != nil || len(b) != 16 || b[6]>>4 != 7 || b[8]>>6 != 2 {
		return a // it is no key of NewKey
	}
	// Nobody guesses its random bits: a commit under this key is of the program that made it.
	a.again = true
	if at := time.UnixMilli(int64(binary.BigEndian.Uint64(b) >> 16)); at.Before(a.first) {
		a.first = at
	}
	return a
}

// NewKey makes an idempotency key: a UUID of version 7 (RFC 9562 section 5.7), which has the time in milliseconds and
// 74 random bits. Keep it with the game before you use it.
func NewKey() string {
	var b [16]byte
	rand.Read(b[:]) // never fails (crypto/rand)
	copy(b[:], binary.BigEndian.AppendUint64(nil, uint64(time.Now().UnixMilli()))[2:])
	b[6] = 0x70 | b[6]&0x0f // version
	b[8] = 0x80 | b[8]&0x3f // variant
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
