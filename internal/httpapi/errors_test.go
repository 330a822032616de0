package httpapi

import (
	"fmt"
	"html"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestEveryMemberIsRefusedInWords sends, of every operation with a body and for every member of it, a value of a wrong
// type and the name with a letter too many: the answer names the member, the value and the nearest name.
func TestEveryMemberIsRefusedInWords(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	_, path := s.commit("words", "words")
	id := path[strings.LastIndex(path, "/")+1:]
	tried := 0
	for template, item := range loadContract(t).Paths.Map() {
		if item.Post == nil || item.Post.RequestBody == nil {
			continue
		}
		media := item.Post.RequestBody.Value.Content["application/json"]
		if media == nil || media.Schema.Value.Properties == nil || template == "/v1/verify" {
			continue
		}
		token := s.dealerToken
		if roles := security(loadContract(t), item.Post)[0]["token"]; !slices.Contains(roles, "dealer") {
			token = map[string]string{"admin": s.adminToken, "auditor": s.auditorToken}[roles[0]]
		}
		for member, schema := range media.Schema.Value.Properties {
			tried++
			wrong := "true"
			if schema.Value.Type.Is("boolean") {
				wrong = "7"
			}
			for _, body := range []string{`{"` + member + `":` + wrong + `}`, `{"` + member + `x":` + wrong + `}`} {
				got := s.do(ask{method: http.MethodPost, token: token, key: "k", body: body,
					path: strings.NewReplacer("{ledger}", "main", "{id}", id).Replace(template)})
				detail := value(got.problem(t).Detail)
				named := `The value sent is ` + wrong + `.`
				if strings.Contains(body, member+`x"`) {
					named = `The nearest is "` + member + `".`
				}
				if got.status/100 != 4 || !strings.HasPrefix(detail, `"`+member) || !strings.Contains(detail, named) {
					t.Errorf("%s %s: %d %s", template, body, got.status, detail)
				}
			}
		}
	}
	if tried < 50 {
		t.Fatalf("%d members", tried)
	}
}

// TestWords: what people are told who mistype.
func TestWords(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	_, path := s.commit("words", "words")
	s.post(path+"/deal", "", `{"first":0,"runs":[{"count":2,"purpose":"seat","recipient":"seat-1"}]}`)
	id := path[strings.LastIndex(path, "/")+1:]
	for _, c := range []struct {
		path, body string
		says       []string
	}{
		{"/v1/main/shuffles", `{"table":"t","deck":"standard52"}`, []string{
			`"deck" must be one of the published decks`, `The nearest is "standard-52".`, `The value sent is "standard52".`}},
		{"/v1/main/shuffles", `{"table":"t","deck":"standard-52","gameRef":"g"}`, []string{
			`"gameRef" is no member here. The nearest is "game_ref".`}},
		{"/v1/main/shuffles", `{"table":"t","deck":"standard-52","take":60}`, []string{
			`"take" must be 1 to 52, the number of cards. The value sent is 60.`}},
		{"/v1/main/shuffles", `{"table":"t","deck":"standard-52","end_at":{"lo":40,"hi":53}}`, []string{
			`with lo < hi. The value sent is {"lo":40,"hi":53}.`}},
		{"/v1/main/shuffles", `{"table":"t","deck":"standard-52","disclosure":"publik"}`, []string{
			`"disclosure" must be public or auditor. The value sent is "publik". The nearest is "public".`}},
		{"/v1/main/shuffles", `{"table":"t","deck":"standard-52","close_by":"2020-01-02T03:04:05Z"}`, []string{
			`Close_by must be later than `, `and is 2020-01-02T03:04:05`}},
		{"/v1/main/shuffles", `{"table":"t","deck":"standard-52","close_by":0}`, []string{
			`"close_by" must be a time in UTC since 1970, such as 2026-03-14T15:09:26.535Z. The value sent is 0.`}},
		{"/v1/mian/shuffles", `{}`, []string{`"mian" is no ledger of this daemon. The nearest is "main".`}},
		{path + "/deal", `{"first":0,"runs":[{"count":3,"purpose":"board"}]}`, []string{
			"Shuffle " + id + " dealt from place 0: 2 seat to seat-1."}},
		{path + "/deal", `{"first":6,"runs":[{"count":3,"purpose":"bord"}]}`, []string{
			`"runs[0].purpose" must be seat, board, `, `The value sent is "bord". The nearest is "board".`}},
		{path + "/deal", `{"first":6,"runs":[{"count":3,"purpose":"board"}]}`, []string{
			`The next place is 2, not 6.`, `Read the member next`}},
		{path + "/deal", `{"first":2,"runs":[{"count":51,"purpose":"board"}]}`, []string{`50 places are left, not 51.`}},
		{path + "/deal", `{"first":2,"runs":[{"count":1,"purpose":"board","round":2}]}`, []string{
			`Run 0 is of round 2 (0 for none), and comes after one of round 0.`}},
		{"/v1/main/shuffles/99/deal", `{"first":2,"runs":[{"count":51,"purpose":"board"}]}`, []string{
			`The ledger has no shuffle 99.`}},
		{path + "/close", `{"outcome":"complete"}`, []string{`The nearest is "completed".`}},
		{path + "/closed", `{}`, []string{`/openapi.yaml`}},
		{"/v1/main/batch", `{"operations":[{"op":"dael","body":{}}]}`, []string{`must be shuffle, draw, mix, deal, reveal or close`,
			`The nearest is \"deal\"`}},
	} {
		got := s.post(c.path, "k2", c.body)
		for _, want := range c.says {
			detail := value(got.problem(t).Detail)
			if !strings.Contains(detail, want) && !strings.Contains(string(got.body), want) {
				t.Errorf("%s %s: %s", c.path, c.body, detail)
			}
		}
	}
	get := func(path, token, want string) {
		t.Helper()
		if got := s.get(path, token); !strings.Contains(value(got.problem(t).Detail), want) {
			t.Errorf("%s: %s", path, got.body)
		}
	}
	get("/v1/main/access", "", "The request has no credential.")
	get("/v1/main/access", "x", "The header Authorization is not one")
	get("/v1/main/access", s.wrong, "is not known to ledger main, was revoked, or has another secret.")
	get("/v1/main/access", s.expired, "expired at 20")
	get("/v1/main/shuffles?tabel=t", s.dealerToken, `"tabel" is no parameter of this address. The nearest is "table".`)
	get("/v1/main/shuffles?limit=0", s.dealerToken, `"limit" must be 1 to`)
	get("/v1/main/shuffles/x2", s.dealerToken, `"id" must be a number without`)
	get("/v1/main/batch", s.dealerToken, `This address takes POST, not "GET".`)
}

// TestSecretsAreNotRepeated: what is as long as a secret is counted, and not shown.
func TestSecretsAreNotRepeated(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	_, path := s.commit("words", "words")
	for _, body := range []string{`{"slots":["` + strings.Repeat("A", 43) + `"]}`, `{"cut":"` + s.dealerToken + `"}`} {
		got := s.post(path+"/mix", "", body)
		if strings.Contains(string(got.body), strings.Repeat("A", 43)) || strings.Contains(value(got.problem(t).Detail),
			s.dealerToken) {
			t.Errorf("%s: %s", body, got.body)
		}
	}
}

// TestErrorsPage holds the page that the daemon serves, and docs/ERRORS.md, against the
// table. UPDATE_GOLDEN=1 writes the document.
func TestErrorsPage(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	page := string(s.do(ask{method: http.MethodGet, path: "/errors"}).body)
	var b strings.Builder
	b.WriteString(`# What each code of a problem means

A request that is refused is answered with a problem document of RFC 9457. Its member ` + "`code`" + ` is one of these, and
` + "`type`" + ` is the address of this page at the daemon. *Again*: the same request helps after the seconds of Retry-After. Made by ` +
		"`go generate ./internal/httpapi`" + ` from the table in openapi.yaml.
`)
	for _, code := range slices.Sorted(maps.Keys(problems)) {
		k := problems[code]
		again := map[bool]string{true: ", again"}[k.Retry]
		fmt.Fprintf(&b, "\n## %s\n\n%d%s. %s **Cure:** %s\n", code, k.Status, again, k.Cause, k.Cure)
		for _, want := range []string{`<section id="` + string(code) + `">`, html.EscapeString(k.Cause),
			html.EscapeString(k.Cure)} {
			if !strings.Contains(page, want) {
				t.Errorf("the page has no %s", want)
			}
		}
	}
	want := wrapped(b.String())
	const path = "../../docs/ERRORS.md"
	if os.Getenv("UPDATE_GOLDEN") != "" {
		must(t, os.WriteFile(path, []byte(want), 0o644))
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != want {
		t.Errorf("docs/ERRORS.md is not the table: go generate ./internal/httpapi (%v)", err)
	}
}

// wrapped breaks long lines between words, as documents have them.
func wrapped(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		for len(line) > 120 {
			at := strings.LastIndex(line[:119], " ")
			b.WriteString(line[:at] + "\n")
			line = line[at+1:]
		}
		b.WriteString(line)
	}
	return b.String()
}
