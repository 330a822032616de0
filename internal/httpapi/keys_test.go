package httpapi

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/keys"
	"shuffled/internal/verify"
)

// TestKeys brings every kind of key into force, and reads the history back.
func TestKeys(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	auditor, err := keys.GenerateAuditor()
	must(t, err)
	before := read[Keys](t, s.get("/v1/main/keys", "")).Keys
	if len(before) != 1 || before[0].Entry != 0 || value(before[0].Vkey) != s.vkey || value(before[0].ID) == "" {
		t.Fatalf("%+v", before)
	}
	shuffle, path := s.commit("t", "before")
	old := s.get(path+"/transcript", "").body

	public := base64.StdEncoding.EncodeToString(auditor.Public())
	added := &audit.Key{Subject: audit.SubjectAuditor, Public: auditor.Public()}
	first := read[Appended](t, s.act(added))
	r, err := audit.ParseReceipt(first.Receipt)
	if err != nil || r.Index != uint64(first.Index) {
		t.Errorf("%+v, %v", first, err)
	}
	rotated := read[Appended](t, s.act(&audit.Key{Subject: audit.SubjectSigning, Public: s.next.Public()}))
	if v := verify.Receipt([]byte(rotated.Receipt), verify.Trust{VKey: s.vkey}); v.Verdict != verify.Proved {
		t.Errorf("the hand-over under the old key: %+v", v)
	}
	list := read[Keys](t, s.get("/v1/main/keys", "")).Keys
	if len(list) != 3 || list[1].Subject != KeySubjectAuditor ||
		base64.StdEncoding.EncodeToString(list[1].Public) != public ||
		list[2].Entry != rotated.Index || value(list[2].Vkey) != s.next.VKey() {
		t.Errorf("%+v", list)
	}
	judge := func(evidence []byte, want string) {
		t.Helper()
		var v verify.Verdict
		got := s.do(ask{method: http.MethodPost, path: "/v1/verify", body: evidence})
		if err := json.Unmarshal(got.body, &v); err != nil || v.Verdict != want {
			t.Errorf("%s, want %s", cut(got.body), want)
		}
	}
	young := s.get(path+"/transcript", "").body
	judge(old, verify.Proved)
	judge(young, verify.Proved)
	if got := read[ShuffleState](t, s.get(path, "")); got.ID != shuffle.ID || got.Receipt != shuffle.Receipt {
		t.Error("the first receipt changed with the key")
	}

	retire := &audit.Key{Subject: audit.SubjectRetirement, Retired: audit.SubjectSigning,
		ID: hashOf(t, value(before[0].ID)), From: 1773500966535}
	at := read[Appended](t, s.act(retire))
	list = read[Keys](t, s.get("/v1/main/keys", "")).Keys
	if k := list[3]; k.Entry != at.Index || value(k.Retired) != KeyRetiredSigning ||
		value(k.ID) != value(before[0].ID) || k.From == nil || *k.From != 1773500966535 {
		t.Errorf("%+v", k)
	}
	judge(old, verify.Failed) // for this daemon; who pinned the key knows since when it counts no more
	judge(young, verify.Proved)

	signing := func(k *keys.SigningKey) *audit.Key {
		return &audit.Key{Subject: audit.SubjectSigning, Public: k.Public()}
	}
	policy := func(text string) *audit.Key { return &audit.Key{Subject: audit.SubjectPolicy, Policy: []byte(text)} }
	unknown := &audit.Key{Subject: audit.SubjectRetirement, Retired: audit.SubjectAuditor, ID: [32]byte{1}}
	last := *unknown
	last.ID = audit.KeyID(auditor.Public())
	elsewhere, err := keys.GenerateSigning(s.origin)
	must(t, err)
	for name, c := range map[string]struct {
		key  *audit.Key
		code Code
	}{
		"a key that is not here": {signing(elsewhere), CodeKey},
		"a key that was there":   {signing(s.next), CodeKey},
		"the same auditor":       {added, CodeKey},
		"a policy in no form":    {policy("quorum nobody\n"), CodeKey},
		"the longest policy":     {policyOf(audit.MaxPolicy), CodeKey}, // its quorum asks for nobody
		"an unknown id":          {unknown, CodeKey},
		"the last auditor":       {&last, CodeKey},
		"retired before":         {retire, CodeKey},
		"witnesses that are away": {policy("witness w " + witnessVKey(t) + " http://127.0.0.1:1\nquorum w\n"),
			CodePolicy},
	} {
		t.Run(name, func(t *testing.T) { s.act(c.key).want(t, c.code, "") })
	}
	if n := len(read[Keys](t, s.get("/v1/main/keys", "")).Keys); n != 4 {
		t.Errorf("%d records after refusals, want 4", n)
	}
}

// policyOf is a policy of n bytes.
func policyOf(n int) *audit.Key {
	const end = "\nquorum nobody\n"
	return &audit.Key{Subject: audit.SubjectPolicy, Policy: []byte(strings.Repeat("#", n-len(end)) + end)}
}

func witnessVKey(t *testing.T) string {
	t.Helper()
	k, err := keys.GenerateWitness("w.example.org")
	must(t, err)
	return k.VKey()
}
