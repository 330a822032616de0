package witness_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"filippo.io/torchwood"
	"github.com/google/go-cmp/cmp"
	fnote "github.com/transparency-dev/formats/note"
	fwitness "github.com/transparency-dev/formats/witness"
	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
	"shuffled/internal/keys"
	"shuffled/internal/witness"
	"shuffled/internal/witness/witnesstest"
)

// TestSecondKey: a witness that gets a key of ML-DSA-44 goes on from the state that it has, gives a line of each key,
// and the same ones after a restart; policies count them as one witness.
func TestSecondKey(t *testing.T) {
	t.Parallel()
	log := newTestLog(t, "example.com/log", "log")
	log.grow(3)
	key, err := audit.ParseVKey(log.vkey)
	if err != nil {
		t.Fatal(err)
	}
	second, err := keys.GenerateMLDSA("witness.example/w")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1_790_000_000, 0)
	c := witness.Config{Name: "witness.example/w", Key: seeded("w"), Dir: t.TempDir(), Logs: []note.Verifier{key},
		Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler)}
	ask := func(old, size int64, want int) string {
		t.Helper()
		w, err := witness.Open(c)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		policy, err := trust.ParsePolicy([]byte(w.PolicyLine("http://127.0.0.1") + "\nquorum witness.example/w\n"))
		if err != nil {
			t.Fatal(err)
		}
		server := httptest.NewServer(w)
		defer server.Close()
		signed := log.signed(size)
		all := string(signed)
		for _, one := range policy.Witnesses {
			client := witness.Client{URL: server.URL, Keys: []note.Verifier{one.Key}}
			lines, err := client.AddCheckpoint(t.Context(), uint64(old), log.proof(old, size), signed)
			if err != nil {
				t.Fatal(err)
			}
			old, all = size, all+string(lines)
		}
		got := policy.Cosignatures([]byte(all))
		if len(got) != want || policy.Overlap() != 1 {
			t.Errorf("size %d: %d lines count, want %d; overlap %d", size, len(got), want, policy.Overlap())
		}
		return all
	}
	ask(0, 1, 1)
	c.Second = second
	ask(1, 2, 2)
	again := ask(2, 2, 2)
	if ask(2, 2, 2) != again {
		t.Error("another answer after a restart, at the same second")
	}
	other, err := keys.GenerateMLDSA("witness.example/other")
	if err != nil {
		t.Fatal(err)
	}
	c.Second = other
	if _, err := witness.Open(c); err == nil {
		t.Error("keys of two names")
	}
}

// TestThiefOfOneAlgorithm: a witness with keys of both algorithms of a log takes no checkpoint that one of them alone
// signed, in whatever place its keys stand, and says which is missing. Of each algorithm any key will do.
func TestThiefOfOneAlgorithm(t *testing.T) {
	t.Parallel()
	log := newTestLog(t, "example.com/log", "log")
	next := newTestLog(t, log.origin, "next")
	thief := log.forked(3)
	var long []*keys.MLDSAKey
	for range 3 {
		k, err := keys.GenerateMLDSA(log.origin)
		if err != nil {
			t.Fatal(err)
		}
		long = append(long, k)
	}
	w := openWitness(t, t.TempDir(), nil, long[0].VKey(), log.vkey, next.vkey, long[1].VKey())
	add := func(of *testLog, old, size int64, signers ...note.Signer) got {
		t.Helper()
		signed := sign(t, of.text(size), signers...)
		return w.add(witness.Request{Old: old, Proof: of.proof(old, size), Checkpoint: signed})
	}
	if a := add(log, 0, 3, log.signer, long[0].At(0)); a.status != http.StatusOK {
		t.Fatalf("both: %+v", a)
	}
	before := w.latest(log.origin)
	for name, c := range map[string]struct {
		signers []note.Signer
		lacks   string
	}{
		"Ed25519 alone":                      {[]note.Signer{log.signer}, "ML-DSA-44"},
		"two of Ed25519":                     {[]note.Signer{log.signer, next.signer}, "ML-DSA-44"},
		"ML-DSA-44 alone":                    {[]note.Signer{long[0].At(0)}, "Ed25519"},
		"ML-DSA-44 of a key that it has not": {[]note.Signer{log.signer, long[2].At(0)}, "ML-DSA-44"},
	} {
		w.log.Reset()
		a := add(thief, 3, 5, c.signers...)
		want := "the checkpoint has no signature by a key of " + c.lacks
		if a.status != http.StatusForbidden || !strings.HasPrefix(a.body, want) ||
			!strings.Contains(w.log.String(), want) {
			t.Errorf("%s: %+v, log %s", name, a, w.log)
		}
	}
	if w.latest(log.origin) != before {
		t.Error("a thief's checkpoint is kept")
	}
	for i, signers := range [][]note.Signer{{next.signer, long[0].At(0)}, {log.signer, long[1].At(0)},
		{long[1].At(0), long[0].At(0), next.signer, log.signer, long[2].At(0)}} {
		size := int64(4 + i)
		if a := add(log, size-1, size, signers...); a.status != http.StatusOK {
			t.Errorf("size %d: %+v", size, a)
		}
		if kept := w.latest(log.origin); strings.Count(kept, "\n— "+log.origin) != min(len(signers), 4) {
			t.Errorf("size %d: kept with %s", size, kept)
		}
	}
}

// TestForeignVerifiers gives our cosignatures to the verifiers of two libraries and to their policies.
func TestForeignVerifiers(t *testing.T) {
	l := newTestLog(t, "example.org/log", "log")
	w := witnesstest.Start(t, l.vkey)
	before := time.Now().Unix()
	lines, err := w.Client().AddCheckpoint(t.Context(), 0, nil, l.signed(5))
	if err != nil {
		t.Fatal(err)
	}
	cosigned := join(l.signed(5), lines)

	fromTorchwood, err := torchwood.NewCosignatureVerifier(w.VKey)
	if err != nil {
		t.Fatal(err)
	}
	fromFormats, err := fnote.NewVerifierForCosignatureV1(w.VKey)
	if err != nil {
		t.Fatal(err)
	}
	var times []int64
	for _, v := range []note.Verifier{fromTorchwood, fromFormats} {
		n, err := note.Open(cosigned, note.VerifierList(v))
		if err != nil {
			t.Fatalf("%T: %v", v, err)
		}
		unix, err := torchwood.CosignatureTimestamp(n.Sigs[0])
		if err != nil {
			t.Fatal(err)
		}
		times = append(times, unix)
		other := strings.Replace(string(cosigned), "\n5\n", "\n6\n", 1)
		if _, err := note.Open([]byte(other), note.VerifierList(v)); err == nil {
			t.Errorf("%T: accepts another text", v)
		}
	}
	if times[0] != times[1] || times[0] < before || times[0] > time.Now().Unix() {
		t.Errorf("cosigned at %v, asked at %d", times, before)
	}
	when, err := fnote.CoSigV1Timestamp(sigOf(t, cosigned, fromFormats))
	if err != nil || when.Unix() != times[0] {
		t.Errorf("formats reads %v, %v", when, err)
	}

	policy := w.PolicyLine + "\nquorum " + w.Name + "\n"
	group, err := fwitness.ParsePolicy([]byte(policy))
	if err != nil || !group.Satisfied(cosigned) || group.Satisfied(l.signed(5)) {
		t.Errorf("formats' policy: %v", err)
	}
	ours, err := trust.ParsePolicy([]byte(policy))
	if err != nil || len(ours.Witnesses) != 1 || ours.Witnesses[0].URL != w.URL || ours.Witnesses[0].VKey != w.VKey {
		t.Errorf("our policy: %+v, %v", ours, err)
	}
	theirs, err := torchwood.ParsePolicy([]byte("log " + l.vkey + "\n" + policy))
	if err != nil {
		t.Fatal(err)
	}
	cp, _, err := torchwood.VerifyCheckpoint(cosigned, theirs)
	if err != nil || cmp.Diff(cp.Hash, l.root(5)) != "" {
		t.Errorf("torchwood's policy: %v", err)
	}
	if _, _, err := torchwood.VerifyCheckpoint(l.signed(5), theirs); err == nil {
		t.Error("torchwood's policy accepts a checkpoint without cosignature")
	}
}

func sigOf(t *testing.T, signed []byte, v note.Verifier) note.Signature {
	t.Helper()
	n, err := note.Open(signed, note.VerifierList(v))
	if err != nil {
		t.Fatal(err)
	}
	return n.Sigs[0]
}
