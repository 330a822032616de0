package audit

import (
	"bytes"
	"crypto/ed25519"
	"slices"
	"testing"

	"filippo.io/mldsa"
	"github.com/google/go-cmp/cmp"
)

// TestKeyRecords: what each kind of entry says of keys, in its order.
func TestKeyRecords(t *testing.T) {
	t.Parallel()
	signing, auditor, policy, id := []byte{1, 's'}, []byte{1, 'a'}, []byte("quorum none\n"), [32]byte{7}
	genesis := &Genesis{SigningKey: signing, AuditorKeys: [][]byte{auditor}, Policy: policy}
	for name, c := range map[string]struct {
		body Body
		want []KeyRecord
	}{
		"genesis": {genesis, []KeyRecord{
			{Index: 5, Time: 9, Subject: SubjectSigning, ID: KeyID(signing), Public: signing},
			{Index: 5, Time: 9, Subject: SubjectAuditor, ID: KeyID(auditor), Public: auditor},
			{Index: 5, Time: 9, Subject: SubjectPolicy, Policy: policy},
		}},
		"genesis without a policy": {&Genesis{SigningKey: signing}, []KeyRecord{
			{Index: 5, Time: 9, Subject: SubjectSigning, ID: KeyID(signing), Public: signing}}},
		"signing": {&Key{Subject: SubjectSigning, Public: signing}, []KeyRecord{
			{Index: 5, Time: 9, Subject: SubjectSigning, ID: KeyID(signing), Public: signing}}},
		"disclosure": {&Key{Subject: SubjectDisclosure, Public: auditor}, []KeyRecord{
			{Index: 5, Time: 9, Subject: SubjectDisclosure, ID: KeyID(auditor), Public: auditor}}},
		"policy": {&Key{Subject: SubjectPolicy, Policy: policy}, []KeyRecord{
			{Index: 5, Time: 9, Subject: SubjectPolicy, Policy: policy}}},
		"retirement": {&Key{Subject: SubjectRetirement, Retired: SubjectAuditor, ID: id, From: 3}, []KeyRecord{
			{Index: 5, Time: 9, Subject: SubjectRetirement, ID: id, Retired: SubjectAuditor, From: 3}}},
		"close": {&Close{}, nil},
	} {
		e := Entry{Time: 9, Body: c.body}
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
		return append([]byte{KeyEd25519}, public...)
	}
	long := bytes.Repeat([]byte{KeyMLDSA}, 1+mldsa.MLDSA44PublicKeySize)
	var h History
	if err := h.Take(0, Entry{Body: &Genesis{Origin: "example.org/keys", SigningKey: ed(1)}}); err != nil {
		t.Fatal(err)
	}
	for _, k := range []struct {
		index uint64
		key   *Key
	}{{3, &Key{Subject: SubjectSigning, Public: ed(2)}}, {5, &Key{Subject: SubjectSigning, Public: long}},
		{6, &Key{Subject: SubjectRetirement, Retired: SubjectSigning, ID: KeyID(ed(1))}}} {
		if err := h.Take(k.index, Entry{Body: k.key}); err != nil {
			t.Fatal(err)
		}
	}
	for size, want := range map[uint64][]uint64{1: {0}, 3: {0}, 4: {3}, 5: {3}, 6: {3, 5}, MaxInteger: {3, 5}} {
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
	if err := h.Take(7, Entry{Body: &Key{Subject: SubjectSigning, Public: []byte{9, 9}}}); err == nil ||
		len(Verifiers(h.InForce())) != 2 || len(h.InForce()) != 3 {
		t.Errorf("a key of no known type: %v", err)
	}
}
