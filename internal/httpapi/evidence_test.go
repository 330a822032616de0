package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"filippo.io/torchwood"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/verify"
)

const twoHands = `{"first":0,"runs":[{"count":2,"purpose":"seat","recipient":"seat-1"},
	{"count":2,"purpose":"seat","recipient":"seat-2"},{"count":1,"purpose":"burn"},{"count":3,"purpose":"board","public":true}]}`

// commit makes a shuffle and returns it with its path.
func (s *stack) commit(table, key string) (Shuffle, string) {
	s.t.Helper()
	shuffle := read[Shuffle](s.t, s.post("/v1/main/shuffles", key,
		fmt.Sprintf(`{"table":%q,"deck":"standard-52"}`, table)))
	return shuffle, fmt.Sprintf("/v1/main/shuffles/%d", shuffle.ID)
}

// TestEvidence fetches receipts and keys, and has good and bad evidence judged.
func TestEvidence(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	shuffle, path := s.commit("t", "k")
	read[Deal](t, s.post(path+"/deal", "", twoHands))
	receipt := s.get(fmt.Sprintf("/v1/main/entries/%d/receipt", shuffle.ID), "")
	if v := verify.Receipt(receipt.body, verify.Trust{VKey: s.vkey}); v.Verdict != verify.Proved ||
		v.Entry.Index != shuffle.ID {
		t.Errorf("%+v", v)
	}
	s.get("/v1/main/entries/99/receipt", "").want(t, CodeNotFound, "")
	s.get("/v1/main/shuffles/99", "").want(t, CodeNotFound, "")
	s.get("/v1/main/shuffles/0/transcript", "").want(t, CodeNotFound, "") // the genesis is no shuffle

	keys := read[Keys](t, s.get("/v1/main/keys", ""))
	if keys.Origin != s.origin || len(keys.Keys) != 1 || value(keys.Keys[0].Vkey) != s.vkey {
		t.Errorf("%+v", keys)
	}

	transcript := s.get(path+"/transcript", "").body
	text := http.Header{"Content-Type": {"text/plain; charset=utf-8"}}
	for name, c := range map[string]struct {
		evidence []byte
		header   http.Header
		want     string
	}{
		"transcript": {transcript, nil, verify.Proved},
		"receipt":    {receipt.body, text, verify.Proved},
		"altered card": {bytes.Replace(transcript, []byte(`"place":5`), []byte(`"place":4`), 1), nil,
			verify.Failed},
		"receipt as JSON":    {receipt.body, nil, verify.Proved}, // its first bytes say what it is
		"transcript as text": {transcript, text, verify.Proved},
		"almost a receipt": {bytes.Replace(receipt.body, []byte("c2sp.org"), []byte("c2s.org"), 1), text,
			verify.Failed},
		"nothing":   {nil, text, verify.Failed},
		"no JSON":   {[]byte("\x00\xff"), nil, verify.Failed},
		"truncated": {transcript[:len(transcript)/2], nil, verify.Failed},
	} {
		got := s.do(ask{method: http.MethodPost, path: "/v1/verify", body: c.evidence, header: c.header})
		var v verify.Verdict
		if err := json.Unmarshal(got.body, &v); err != nil || got.status != 200 || v.Verdict != c.want {
			t.Errorf("%s: %d %s", name, got.status, cut(got.body))
		}
		if name == "almost a receipt" && (len(v.Steps) != 1 || v.Kind != "") {
			t.Errorf("%s: kind %q, %d steps", name, v.Kind, len(v.Steps))
		}
	}
}

// TestForeignEvidence wants evidence of a ledger that is not served to be no more than consistent.
func TestForeignEvidence(t *testing.T) {
	t.Parallel()
	s, other := newStack(t, stackOptions{}), newStack(t, stackOptions{})
	_, path := other.commit("t", "k")
	transcript := other.get(path+"/transcript", "").body
	var v verify.Verdict
	// Both ledgers claim the same origin, so here the signature is wrong.
	got := s.do(ask{method: http.MethodPost, path: "/v1/verify", body: transcript})
	if json.Unmarshal(got.body, &v) != nil || v.Verdict != verify.Failed || v.Failed != "signature" {
		t.Errorf("%s", cut(got.body))
	}
	elsewhere := bytes.ReplaceAll(transcript, []byte(other.origin+`\n`), []byte(`example.org/other\n`))
	if trust := s.api.trust(elsewhere); bytes.Equal(elsewhere, transcript) || trust.VKey != "" || trust.Policy != nil {
		t.Error("an unknown origin is trusted")
	}
}

// TestLog reads the log as a client of tlog-tiles does.
func TestLog(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	var last Shuffle
	var wg sync.WaitGroup
	for i := range 300 { // one full tile and a partial one
		wg.Go(func() {
			s.post("/v1/main/shuffles", fmt.Sprint(i), fmt.Sprintf(`{"table":"t-%d","deck":"short-36"}`, i%7))
		})
	}
	wg.Wait()
	last, _ = s.commit("last", "last")

	checkpoint := s.get("/log/main/checkpoint", "")
	key, err := note.NewVerifier(s.vkey)
	must(t, err)
	c, _, err := torchwood.VerifyCheckpoint(checkpoint.body,
		torchwood.ThresholdPolicy(2, torchwood.OriginPolicy(s.origin), torchwood.SingleVerifierPolicy(key)))
	must(t, err)
	fetcher, err := torchwood.NewTileFetcher(s.url + "/log/main")
	must(t, err)
	client, err := torchwood.NewClient(fetcher)
	must(t, err)
	n := 0
	for i, entry := range client.AllEntries(t.Context(), c.Tree, 0) {
		if _, err := audit.ParseEntry(entry); err != nil {
			t.Errorf("entry %d: %v", i, err)
		}
		n++
	}
	if err := client.Err(); err != nil || int64(n) != c.N || uint64(n) < last.ID {
		t.Errorf("%d entries of %d, the last commit is %d: %v", n, c.N, last.ID, err)
	}

	if got := s.get("/log/main/tile/0/000", ""); len(got.body) != 256*32 {
		t.Errorf("a full tile has %d bytes", len(got.body))
	}
	for path, caching := range map[string]string{
		"checkpoint":           "public, max-age=1",
		"tile/0/000":           "public, max-age=31536000, immutable",
		"tile/entries/000":     "public, max-age=31536000, immutable",
		"tile/0/001.p/3":       "public, max-age=60",
		"tile/1/000.p/1":       "public, max-age=60",
		"tile/entries/001.p/3": "public, max-age=60",
	} {
		got := s.get("/log/main/"+path, "")
		kind := "application/octet-stream"
		if path == "checkpoint" {
			kind = "text/plain; charset=utf-8"
		}
		if got.status != 200 || got.header.Get("Cache-Control") != caching || got.header.Get("Content-Length") == "" ||
			got.header.Get("Content-Type") != kind {
			t.Errorf("%s: %d %v", path, got.status, got.header)
		}
	}
	for _, path := range []string{"0/001", "0/002", "0/001.p/255", "1/000", "2/000.p/1", "entries/001",
		"entries/002.p/1",
		"0/0", "0/1", "0/000.p/0", "0/000.p/256", "0/000.p/01", "00/000", "-1/000", "63/000", "0/x000/000", "0/000/",
		"data/000",
		"8/0/000", "0/000.p/", "0/000.p/1/", "entries", "0/x001/x234/067", "0/999999999999999999999"} {
		got := s.get("/log/main/tile/"+path, "")
		if got.status != 404 {
			t.Errorf("%s: %d", path, got.status)
		}
	}
	if got := s.get("/log/main/tile/0/000?x=1", ""); got.status != 400 {
		t.Errorf("a query string: %d", got.status)
	}
}

// stated is a request body with a statement about the shuffle of a transcript, signed by
// an auditor of this name; change makes it another one.
func stated(t *testing.T, transcript []byte, name string, change func(*openings.Statement)) string {
	t.Helper()
	check := func(err error) {
		t.Helper()
		must(t, err)
	}
	file, err := openings.ParseTranscript(transcript)
	check(err)
	leaf := func(receipt string) tlog.Hash {
		r, err := audit.ParseReceipt(receipt)
		check(err)
		return tlog.RecordHash(r.Entry)
	}
	genesis, err := audit.ParseReceipt(file.Receipts[0])
	check(err)
	e, err := audit.ParseEntry(genesis.Entry)
	check(err)
	s := openings.Statement{Origin: e.Body.(*audit.Genesis).Origin, ID: file.ID, Commit: leaf(file.Receipts[1]),
		Disclosed: leaf(file.Receipts[len(file.Receipts)-1])}
	if change != nil {
		change(&s)
	}
	private, _, err := note.GenerateKey(strings.NewReader(strings.Repeat(name, 32)), name)
	check(err)
	signer, err := note.NewSigner(private)
	check(err)
	signed, err := s.Sign(signer)
	check(err)
	b, err := json.Marshal(map[string]string{"statement": string(signed)})
	check(err)
	return string(b)
}

// TestStatements: auditors hand in statements, nobody else does, and everybody's transcript has them.
func TestStatements(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	_, path := s.commit("t", "k")
	read[Deal](t, s.post(path+"/deal", "", twoHands))
	transcript := func() []byte { return s.get(path+"/transcript", "").body }
	hand := func(token, body string) answer { return s.by(token, path+"/statements", "", body) }
	hand(s.auditorToken, stated(t, transcript(), "lab.example", nil)).want(t, CodeStatement, "")
	read[Close](t, s.post(path+"/close", "", `{"outcome":"completed"}`))
	good := stated(t, transcript(), "lab.example", nil)
	for token, code := range map[string]Code{"": CodeUnauthorized, s.dealerToken: CodeForbidden,
		s.adminToken: CodeForbidden} {
		hand(token, good).want(t, code, "")
	}
	for _, body := range []string{`{}`, `{"statement":""}`, `{"statement":"x"}`,
		stated(t, transcript(), "lab.example", func(s *openings.Statement) { s.ID++ })} {
		hand(s.auditorToken, body).want(t, CodeInvalidRequest, "statement")
	}
	s.by(s.auditorToken, "/v1/main/shuffles/999/statements", "", good).want(t, CodeNotFound, "")
	for range 2 {
		if taken := read[StatementTaken](t, hand(s.auditorToken, good)); taken.Statements != 1 {
			t.Errorf("%+v", taken)
		}
	}
	if taken := read[StatementTaken](t, hand(s.regulatorToken, stated(t, transcript(), "regulator", nil))); taken.
		Statements != 2 {
		t.Errorf("%+v", taken)
	}
	file, err := openings.ParseTranscript(transcript())
	if err != nil || len(file.Statements) != 2 || !strings.Contains(file.Statements[1], "— regulator ") {
		t.Errorf("%v, %v", file, err)
	}
}
