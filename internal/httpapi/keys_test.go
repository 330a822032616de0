package httpapi

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/audit/trust"
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
		"the longest policy":     {policy(strings.Repeat("#", audit.MaxPolicy-15) + "\nquorum nobody\n"), CodeKey},
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

func witnessVKey(t *testing.T) string {
	t.Helper()
	k, err := keys.GenerateWitness("w.example.org")
	must(t, err)
	return k.VKey()
}

// historyOf is that of a ledger whose entries from 0 on bring these signing keys.
func historyOf(origin string, public ...[]byte) *trust.History {
	h := &trust.History{Origin: origin}
	for i, k := range public {
		h.Take(uint64(i), audit.Entry{Body: &audit.Key{Subject: audit.SubjectSigning, Public: k}})
	}
	return h
}

// TestTrustInManyKeys: however often a ledger changed its signing key, its own evidence is judged under keys that can
// be read, the first and the newest among them, and under none that was retired.
func TestTrustInManyKeys(t *testing.T) {
	t.Parallel()
	const origin = "example.com/main"
	key := func(i int) []byte {
		seed := sha256.Sum256(fmt.Append(nil, i))
		return append([]byte{1}, ed25519.NewKeyFromSeed(seed[:]).Public().(ed25519.PublicKey)...)
	}
	for _, n := range []int{1, 2, 64, 65, 200} {
		var public [][]byte
		for i := range n + 1 {
			public = append(public, key(i))
		}
		history, retired := historyOf(origin, public...), public[n]
		history.Take(uint64(n+1), audit.Entry{Body: &audit.Key{Subject: audit.SubjectRetirement,
			Retired: audit.SubjectSigning, ID: audit.KeyID(retired)}})
		trusted := trustIn(1, history)
		if err := trusted.Check(); err != nil {
			t.Fatalf("%d keys: %v", n, err)
		}
		var text []byte
		if text = trusted.Policy; n == 1 {
			text = []byte("log " + trusted.VKey + "\nquorum none\n")
		}
		p, err := trust.ParsePolicy(text)
		must(t, err)
		if len(p.Logs) != min(n, maxLogs) {
			t.Errorf("%d keys: %d are trusted", n, len(p.Logs))
		}
		for name, want := range map[string]struct {
			key  []byte
			here bool
		}{"first": {key(0), true}, "newest": {key(n - 1), true}, "retired": {retired, false}} {
			v, err := audit.Verifier(origin, want.key)
			must(t, err)
			here := false
			for _, log := range p.Logs {
				here = here || log.KeyHash() == v.KeyHash()
			}
			if here != want.here {
				t.Errorf("%d keys, the %s one: trusted %t", n, name, here)
			}
		}
	}
}

// TestTrustInManyLongKeys: 64 keys of ML-DSA-44 of the longest origin have room in a policy,
// and evidence that one of them signed is judged under it.
func TestTrustInManyLongKeys(t *testing.T) {
	t.Parallel()
	origin := "example.com/" + strings.Repeat("o", audit.MaxOrigin-len("example.com/"))
	var public [][]byte
	var newest *keys.MLDSAKey
	for range maxLogs {
		k, err := keys.GenerateMLDSA(origin)
		must(t, err)
		newest = k
		public = append(public, k.Public())
	}
	trusted := trustIn(maxLogs, historyOf(origin, public...))
	p, err := trust.ParsePolicy(trusted.Policy)
	if err != nil || len(p.Logs) != maxLogs || len(trusted.Policy) != 121_292 { // docs/SPEC.md section 7.3
		t.Fatalf("%d keys in %d bytes: %v", maxLogs, len(trusted.Policy), err)
	}
	entry, err := audit.Entry{Time: 1, Actor: audit.Actor{Identity: "d", Credential: "d"},
		Body: &audit.Event{Kind: audit.EventTableOpen, Name: "t"}}.Encode()
	must(t, err)
	genesis := tlog.RecordHash([]byte("the genesis"))
	root := tlog.NodeHash(genesis, tlog.RecordHash(entry))
	text := audit.Checkpoint{Origin: origin, Size: 2, Root: root}.Text()
	signed, err := note.Sign(&note.Note{Text: text}, newest.At(0))
	must(t, err)
	receipt := audit.Receipt{Index: 1, Entry: entry, Proof: []tlog.Hash{genesis}, Checkpoint: signed}.Text()
	if v := verify.File([]byte(receipt), trusted); v.Verdict != verify.Proved {
		t.Errorf("%s: failed %q, unknown %q", v.Verdict, v.Failed, v.Unknown)
	}
}

// TestTrustBeforeALongKey: evidence from before the entry of a key of ML-DSA-44 is judged
// without that key, and later evidence with it. The smallest checkpoint of a file decides.
func TestTrustBeforeALongKey(t *testing.T) {
	t.Parallel()
	const origin = "example.com/main"
	ed, err := keys.GenerateSigning(origin)
	must(t, err)
	long, err := keys.GenerateMLDSA(origin)
	must(t, err)
	history := historyOf(origin, ed.Public(), long.Public())
	entry, other := []byte("the entry"), tlog.RecordHash([]byte("another"))
	leaf := tlog.RecordHash(entry)
	before, after := audit.Receipt{Entry: entry}, audit.Receipt{Entry: entry, Proof: []tlog.Hash{other}}
	for r, of := range map[*audit.Receipt]struct {
		size    uint64
		root    tlog.Hash
		signers []note.Signer
	}{&before: {1, leaf, []note.Signer{ed.Signer()}},
		&after: {2, tlog.NodeHash(leaf, other), []note.Signer{ed.Signer(), long.At(0)}}} {
		text := audit.Checkpoint{Origin: origin, Size: of.size, Root: of.root}.Text()
		if r.Checkpoint, err = note.Sign(&note.Note{Text: text}, of.signers...); err != nil {
			t.Fatal(err)
		}
	}
	file := func(under, witnessed audit.Receipt) []byte {
		transcript := openings.Transcript{Format: openings.TranscriptFormat, Checkpoint: string(under.Checkpoint),
			Witnessed: &openings.Prefix{Checkpoint: string(witnessed.Checkpoint)}}
		b, err := transcript.Marshal()
		must(t, err)
		return b
	}
	for name, of := range map[string]struct {
		evidence []byte
		size     uint64
		logs     int
	}{
		"a receipt of before": {[]byte(before.Text()), 1, 1},
		"a later receipt":     {[]byte(after.Text()), 2, 2},
		"a file of before":    {file(before, before), 1, 1},
		"a file of both":      {file(after, before), 1, 1},
		"a later file":        {file(after, after), 2, 2},
		"no evidence":         {[]byte("{}"), 0, 1},
	} {
		claims, smallest := claimed(of.evidence)
		if (claims == origin) != (of.size > 0) || smallest != of.size {
			t.Errorf("%s claims to be of %q and size %d, not %d", name, claims, smallest, of.size)
		}
		trust := trustIn(smallest, history)
		if n := max(1, strings.Count(string(trust.Policy), "log ")); n != of.logs {
			t.Errorf("%s: %d keys are trusted, and not %d", name, n, of.logs)
		}
		if of.evidence[0] != '{' && verify.File(of.evidence, trust).Failed == "signature" {
			t.Errorf("%s: honest evidence is called forged", name)
		}
	}
}
