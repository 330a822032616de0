package witness_test

import (
	"strings"
	"testing"
	"time"

	"filippo.io/torchwood"
	"github.com/google/go-cmp/cmp"
	fnote "github.com/transparency-dev/formats/note"
	fwitness "github.com/transparency-dev/formats/witness"
	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit/trust"
	"shuffled/internal/witness/witnesstest"
)

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
