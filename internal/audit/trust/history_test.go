package trust

import (
	"bytes"
	"crypto/ed25519"
	"slices"
	"testing"

	"filippo.io/mldsa"
	"github.com/google/go-cmp/cmp"

	"shuffled/internal/audit"
)

// TestKeyRecords: what each kind of entry says of keys, in its order.
func TestKeyRecords(t *testing.T) {
	t.Parallel()
	signing, auditor, policy, id := []byte{1, 's'}, []byte{1, 'a'}, []byte("quorum none\n"), [32]byte{7}
	genesis := &audit.Genesis{SigningKey: signing, AuditorKeys: [][]byte{auditor}, Policy: policy}
	for name, c := range map[string]struct {
		body audit.Body
		want []KeyRecord
	}{
		"genesis": {genesis, []KeyRecord{
			{Index: 5, Time: 9, Subject: audit.SubjectSigning, ID: audit.KeyID(signing), Public: signing},
			{Index: 5, Time: 9, Subject: audit.SubjectAuditor, ID: audit.KeyID(auditor), Public: auditor},
			{Index: 5, Time: 9, Subject: audit.SubjectPolicy, Policy: policy},
		}},
		"genesis without a policy": {&audit.Genesis{SigningKey: signing}, []KeyRecord{
			{Index: 5, Time: 9, Subject: audit.SubjectSigning, ID: audit.KeyID(signing), Public: signing}}},
		"signing": {&audit.Key{Subject: audit.SubjectSigning, Public: signing}, []KeyRecord{
			{Index: 5, Time: 9, Subject: audit.SubjectSigning, ID: audit.KeyID(signing), Public: signing}}},
		"disclosure": {&audit.Key{Subject: audit.SubjectDisclosure, Public: auditor}, []KeyRecord{
			{Index: 5, Time: 9, Subject: audit.SubjectDisclosure, ID: audit.KeyID(auditor), Public: auditor}}},
		"policy": {&audit.Key{Subject: audit.SubjectPolicy, Policy: policy}, []KeyRecord{
			{Index: 5, Time: 9, Subject: audit.SubjectPolicy, Policy: policy}}},
		"retirement": {&audit.Key{Subject: audit.SubjectRetirement, Retired: audit.SubjectAuditor, ID: id, From: 3},
			[]KeyRecord{
				{Index: 5, Time: 9, Subject: audit.SubjectRetirement, ID: id, Retired: audit.SubjectAuditor, From: 3}}},
		"close": {&audit.Close{}, nil},
	} {
		e := audit.Entry{Time: 9, Body: c.body}
		if diff := cmp.Diff(c.want, KeyRecords(5, e)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestKeyHistory: of each algorithm the newest key below a size signs its checkpoint.
func TestKeyHistory(t *testing.T) {
	t.Parallel()
	ed := func(seed byte) []byte {
		public := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, 32)).Public().(ed25519.PublicKey)
		return append([]byte{audit.KeyEd25519}, public...)
	}
	long := bytes.Repeat([]byte{audit.KeyMLDSA}, 1+mldsa.MLDSA44PublicKeySize)
	var h History
	if err := h.Take(0, audit.Entry{Body: &audit.Genesis{Origin: "example.org/keys", SigningKey: ed(1)}}); err != nil {
		t.Fatal(err)
	}
	for _, k := range []struct {
		index uint64
		key   *audit.Key
	}{{3, &audit.Key{Subject: audit.SubjectSigning, Public: ed(2)}},
		{5, &audit.Key{Subject: audit.SubjectSigning, Public: long}},
		{6, &audit.Key{Subject: audit.SubjectRetirement, Retired: audit.SubjectSigning, ID: audit.KeyID(ed(1))}}} {
		if err := h.Take(k.index, audit.Entry{Body: k.key}); err != nil {
			t.Fatal(err)
		}
	}
	for size, want := range map[uint64][]uint64{1: {0}, 3: {0}, 4: {3}, 5: {3}, 6: {3, 5}, audit.MaxInteger: {3, 5}} {
		var got []uint64
		for _, k := range h.At(size) {
			got = append(got, k.Index)
		}
		if !slices.Equal(got, want) {
			t.Errorf("size %d: keys of entries %d, want %d", size, got, want)
		}
	}
	if !h.Signing[0].Retired || h.Signing[1].Retired || h.Signing[2].Retired || len(Verifiers(h.InForce())) != 2 {
		t.Errorf("keys %+v", h.Signing)
	}
	if err := h.Take(7, audit.Entry{Body: &audit.Key{Subject: audit.SubjectSigning, Public: []byte{9,
		9}}}); err == nil || len(Verifiers(h.InForce())) != 2 || len(h.InForce()) != 3 {
		t.Errorf("a key of no known type: %v", err)
	}
}
