package witness_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"testing"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
)

// seeded returns the key of a seed: the same in every run.
func seeded(seed string) ed25519.PrivateKey {
	h := sha256.Sum256([]byte(seed))
	return ed25519.NewKeyFromSeed(h[:])
}

// testLog is a log in memory. Its entries are fork, then their index.
type testLog struct {
	t      testing.TB
	origin string
	signer note.Signer
	vkey   string
	fork   string
	from   int64 // the first index whose entry is the fork's
	hashes []tlog.Hash
	size   int64
}

func newTestLog(t testing.TB, origin, seed string) *testLog {
	t.Helper()
	key := seeded(seed)
	vkey, err := note.NewEd25519VerifierKey(origin, key.Public().(ed25519.PublicKey))
	if err != nil {
		t.Fatal(err)
	}
	return &testLog{t: t, origin: origin, vkey: vkey, signer: logSigner{origin, vkey, key, t}}
}

// forked is a log of the same origin and key whose entries differ from index on.
func (l *testLog) forked(index int64) *testLog {
	return &testLog{t: l.t, origin: l.origin, signer: l.signer, vkey: l.vkey, fork: "fork ", from: index}
}

// logSigner signs as sumdb/note does, without the text of a private key.
type logSigner struct {
	name, vkey string
	key        ed25519.PrivateKey
	t          testing.TB
}

func (s logSigner) Name() string                    { return s.name }
func (s logSigner) KeyHash() uint32                 { return mustVerifier(s.t, s.vkey).KeyHash() }
func (s logSigner) Sign(msg []byte) ([]byte, error) { return ed25519.Sign(s.key, msg), nil }

func mustVerifier(t testing.TB, vkey string) note.Verifier {
	t.Helper()
	v, err := note.NewVerifier(vkey)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func (l *testLog) grow(n int64) {
	for ; l.size < n; l.size++ {
		entry := fmt.Sprintf("entry %d", l.size)
		if l.size >= l.from {
			entry = l.fork + entry
		}
		more, err := tlog.StoredHashes(l.size, []byte(entry), tlog.HashReaderFunc(l.read))
		if err != nil {
			l.t.Fatal(err)
		}
		l.hashes = append(l.hashes, more...)
	}
}

func (l *testLog) read(indexes []int64) ([]tlog.Hash, error) {
	var out []tlog.Hash
	for _, i := range indexes {
		out = append(out, l.hashes[i])
	}
	return out, nil
}

func (l *testLog) root(n int64) tlog.Hash {
	l.t.Helper()
	l.grow(n)
	h, err := tlog.TreeHash(n, tlog.HashReaderFunc(l.read))
	if err != nil {
		l.t.Fatal(err)
	}
	return h
}

// text returns the checkpoint of size n, unsigned.
func (l *testLog) text(n int64) string {
	l.t.Helper()
	return audit.Checkpoint{Origin: l.origin, Size: uint64(n), Root: l.root(n)}.Text()
}

// signed returns the checkpoint of size n.
func (l *testLog) signed(n int64) []byte {
	l.t.Helper()
	return sign(l.t, l.text(n), l.signer)
}

func sign(t testing.TB, text string, signers ...note.Signer) []byte {
	t.Helper()
	b, err := note.Sign(&note.Note{Text: text}, signers...)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// proof returns the proof that n extends old; none where nothing is to be proved.
func (l *testLog) proof(old, n int64) []tlog.Hash {
	l.t.Helper()
	l.grow(n)
	if old == 0 || old >= n {
		return nil
	}
	p, err := tlog.ProveTree(n, old, tlog.HashReaderFunc(l.read))
	if err != nil {
		l.t.Fatal(err)
	}
	return p
}

// join puts signature lines under a signed note.
func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
