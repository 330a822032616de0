package audit

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestKeyRecords: what each kind of entry says of keys, in its order.
func TestKeyRecords(t *testing.T) {
	t.Parallel()
	signing, auditor, policy, id := []byte{1, 's'}, []byte{1, 'a'}, []byte("quorum none\n"), [32]byte{7}
	genesis := &Genesis{SigningKey: signing, AuditorKeys: [][]byte{auditor}, Policy: policy}
	for name, c := range map[string]struct {
		body  Body
		want  []KeyRecord
		signs []byte
	}{
		"genesis": {genesis, []KeyRecord{
			{Index: 5, Time: 9, Subject: SubjectSigning, ID: KeyID(signing), Public: signing},
			{Index: 5, Time: 9, Subject: SubjectAuditor, ID: KeyID(auditor), Public: auditor},
			{Index: 5, Time: 9, Subject: SubjectPolicy, Policy: policy},
		}, signing},
		"genesis without a policy": {&Genesis{SigningKey: signing}, []KeyRecord{
			{Index: 5, Time: 9, Subject: SubjectSigning, ID: KeyID(signing), Public: signing}}, signing},
		"signing": {&Key{Subject: SubjectSigning, Public: signing}, []KeyRecord{
			{Index: 5, Time: 9, Subject: SubjectSigning, ID: KeyID(signing), Public: signing}}, signing},
		"disclosure": {&Key{Subject: SubjectDisclosure, Public: auditor}, []KeyRecord{
			{Index: 5, Time: 9, Subject: SubjectDisclosure, ID: KeyID(auditor), Public: auditor}}, nil},
		"policy": {&Key{Subject: SubjectPolicy, Policy: policy}, []KeyRecord{
			{Index: 5, Time: 9, Subject: SubjectPolicy, Policy: policy}}, nil},
		"retirement": {&Key{Subject: SubjectRetirement, Retired: SubjectAuditor, ID: id, From: 3}, []KeyRecord{
			{Index: 5, Time: 9, Subject: SubjectRetirement, ID: id, Retired: SubjectAuditor, From: 3}}, nil},
		"close": {&Close{}, nil, nil},
	} {
		e := Entry{Time: 9, Body: c.body}
		if diff := cmp.Diff(c.want, KeyRecords(5, e)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if got := SigningKeyOf(e); string(got) != string(c.signs) {
			t.Errorf("%s: signing key %x, want %x", name, got, c.signs)
		}
	}
}
