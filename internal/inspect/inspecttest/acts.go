package inspecttest

import (
	"crypto/ed25519"

	"shuffled/internal/audit"
)

// By writes an entry of this actor.
func (l *Ledger) By(a audit.Actor, body audit.Body) uint64 {
	return l.AppendEntry(audit.Entry{Time: l.Now, Actor: a, Body: l.State.Counted(body)})
}

// Act writes an act of these administrators, by name in ascending order, and returns its
// index. It approves an entry of this digest, audit.Approved.
func (l *Ledger) Act(act audit.Act, digest [32]byte, administrators ...string) uint64 {
	a := &audit.ActEntry{Act: act, Digest: digest, Previous: l.State.NewestAct(),
		HeadSize: l.Size, HeadRoot: l.Root(), Expires: l.Now + 3_600_000}
	if l.Saw != nil {
		a.HeadSize, a.HeadRoot = l.Saw.Size, l.Saw.Root
	}
	for _, name := range administrators {
		a.Signatures = append(a.Signatures, audit.ActSignature{Administrator: name,
			Signature: [64]byte(ed25519.Sign(Key("administrator "+name), a.Signed(l.State.GenesisHash())))})
	}
	return l.Append(a)
}
