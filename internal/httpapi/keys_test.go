package httpapi

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/keys"
	"shuffled/internal/verify"
)

// addKey posts a key request as the administrator.
func (s *stack) addKey(body string) answer {
	s.t.Helper()
	return s.do(ask{method: http.MethodPost, path: "/v1/main/keys", token: s.adminToken, body: body})
}

// TestKeys brings every kind of key into force, and reads the history back.
func TestKeys(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	auditor, err := keys.GenerateAuditor()
	if err != nil {
		t.Fatal(err)
	}
	before := read[Keys](t, s.get("/v1/main/keys", "")).Keys
	if len(before) != 1 || before[0].Entry != 0 || value(before[0].Vkey) != s.vkey || value(before[0].ID) == "" {
		t.Fatalf("%+v", before)
	}
	shuffle, path := s.commit("t", "before")
	old := s.get(path+"/transcript", "").body

	public := base64.StdEncoding.EncodeToString(auditor.Public())
	first := read[Appended](t, s.addKey(`{"subject":"auditor","public":"`+public+`"}`))
	r, err := audit.ParseReceipt(first.Receipt)
	if err != nil || r.Index != uint64(first.Index) {
		t.Errorf("%+v, %v", first, err)
	}
	rotated := read[Appended](t, s.addKey(`{"subject":"signing","vkey":"`+s.next.VKey()+`"}`))
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

	retire := fmt.Sprintf(`{"subject":"retirement","retired":"signing","id":%q,"from":"2026-03-14T15:09:26.535Z"}`,
		value(before[0].ID))
	at := read[Appended](t, s.addKey(retire))
	list = read[Keys](t, s.get("/v1/main/keys", "")).Keys
	if k := list[3]; k.Entry != at.Index || value(k.Retired) != KeyRetiredSigning ||
		value(k.ID) != value(before[0].ID) || k.From == nil || *k.From != 1773500966535 {
		t.Errorf("%+v", k)
	}
	judge(old, verify.Failed) // for this daemon; who pinned the key knows since when it counts no more
	judge(young, verify.Proved)

	for name, c := range map[string]struct {
		body  string
		code  Code
		field string
	}{
		"no subject":            {`{}`, CodeInvalidValue, "subject"},
		"an unknown subject":    {`{"subject":"sealing"}`, CodeInvalidValue, "subject"},
		"a disclosure key":      {`{"subject":"disclosure"}`, CodeInvalidValue, "subject"},
		"signing without a key": {`{"subject":"signing"}`, CodeInvalidRequest, "vkey"},
		"members of another": {`{"subject":"signing","vkey":"x","policy":"quorum none\n"}`, CodeInvalidRequest,
			"policy"},
		"no verifier key": {`{"subject":"signing","vkey":"x"}`, CodeInvalidValue, "vkey"},
		"a key of another ledger": {`{"subject":"signing","vkey":"` + foreignVKey(t) + `"}`, CodeInvalidRequest,
			"vkey"},
		"a key that is not here": {`{"subject":"signing","vkey":"` + anotherVKey(t, s.origin) + `"}`, CodeKey, ""},
		"a key that was there":   {`{"subject":"signing","vkey":"` + s.vkey + `"}`, CodeKey, ""},
		"the same auditor":       {`{"subject":"auditor","public":"` + public + `"}`, CodeKey, ""},
		"no point":               {`{"subject":"auditor","public":"AQIDBA=="}`, CodeKey, ""},
		"a policy in no form":    {`{"subject":"policy","policy":"quorum nobody\n"}`, CodeKey, ""},
		"the longest policy":     {policyOf(audit.MaxPolicy), CodeKey, ""}, // its quorum asks for nobody
		"a policy too long":      {policyOf(audit.MaxPolicy + 1), CodeInvalidValue, "policy"},
		"one too long for a key": {policyOf(1 << 16), CodeInvalidValue, "policy"},
		"an id of other size":    {`{"subject":"retirement","retired":"auditor","id":"AAAA"}`, CodeInvalidValue, "id"},
		"an unknown id": {`{"subject":"retirement","retired":"auditor","id":"` + encodeHash([32]byte{1}) +
			`"}`, CodeKey, ""},
		"the last auditor": {`{"subject":"retirement","retired":"auditor","id":"` +
			encodeHash(audit.KeyID(auditor.Public())) + `"}`, CodeKey, ""},
		"retired before": {retire, CodeKey, ""},
		"witnesses that are away": {`{"subject":"policy","policy":"witness w ` + witnessVKey(t) +
			` http://127.0.0.1:1\nquorum w\n"}`, CodePolicy, ""},
	} {
		t.Run(name, func(t *testing.T) { s.addKey(c.body).want(t, c.code, c.field) })
	}
	if n := len(read[Keys](t, s.get("/v1/main/keys", "")).Keys); n != 4 {
		t.Errorf("%d records after refusals, want 4", n)
	}
}

// policyOf asks for a policy of n bytes.
func policyOf(n int) string {
	const end = "\nquorum nobody\n"
	text := strings.Repeat("#", n-len(end)) + end
	return fmt.Sprintf(`{"subject":"policy","policy":%q}`, text)
}

func foreignVKey(t *testing.T) string { return anotherVKey(t, "example.com/other") }

func anotherVKey(t *testing.T, origin string) string {
	t.Helper()
	k, err := keys.GenerateSigning(origin)
	if err != nil {
		t.Fatal(err)
	}
	return k.VKey()
}

func witnessVKey(t *testing.T) string {
	t.Helper()
	k, err := keys.GenerateWitness("w.example.org")
	if err != nil {
		t.Fatal(err)
	}
	return k.VKey()
}
