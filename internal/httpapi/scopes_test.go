package httpapi

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/keys"
	"shuffled/internal/terms"
)

// right is one operation as the contract declares it: who may call it, and what a token for some tables may do with it.
type right struct {
	id, method, path string
	roles            []string // none: all who may read
	scope            string
	keyed, filtered  bool // it takes an Idempotency-Key; its query may name a table
}

// work is what a request is about.
type work struct {
	table, path string // path is of a shuffle of the table
	close       uint64 // index of the entry that closed a shuffle of the table
}

// bodies are what is sent where the contract wants a body, by operation.
var bodies = map[string]string{
	"createShuffle":    `{"table":"TABLE","deck":"short-36"}`,
	"createDraws":      `{"table":"TABLE","ranges":[6]}`,
	"createBatch":      `{"operations":[{"op":"shuffle","key":"in-a-batch","body":{"table":"TABLE","deck":"short-36"}}]}`,
	"putTerms":         `{"kind":"pay_table","text":"` + payTable + `"}`,
	"mixShuffle":       `{"cut":1}`,
	"dealCards":        twoHands,
	"closeShuffle":     `{"outcome":"completed"}`,
	"revealCards":      `{"places":[0]}`,
	"addStatement":     `{"statement":"x"}`,
	"takeOverShuffle":  `{"reason":"a test"}`,
	"changeCredential": `{"action":"revoke","credential":"tok_nobody","reason":"a test"}`,
	"submitAct":        `{"act":"` + anAct + `","type":8,"body":"TAKEOVER"}`,
	"setTable":         `{"action":"close","table":"TABLE"}`,
	"setSwitch":        `{"scope":"table","table":"TABLE","reason":"a test"}`,
}

// payTable is the document of terms that the ledger keeps.
const payTable = "a flush: 5"

// anAct is the body of an act that nobody signed.
var anAct = base64.StdEncoding.EncodeToString(audit.EncodeBody(&audit.ActEntry{Act: audit.ActTakeover, Expires: 1,
	Signatures: []audit.ActSignature{{Administrator: "ann"}}}))

// takeover is the body of a takeover of the shuffle that the work's path is of.
func (of work) takeover() string {
	id, _ := strconv.ParseUint(path.Base(of.path), 10, 64)
	return base64.StdEncoding.EncodeToString(audit.EncodeBody(&audit.Takeover{Shuffle: id, Extent: audit.ExtentPlay,
		Reason: "a test"}))
}

// rights reads the operations on ledgers from the contract, in the order of their
// paths, with closes last. One that declares no scope, or an unknown one, fails.
func rights(t *testing.T) []right {
	t.Helper()
	doc := loadContract(t)
	var all []right
	for _, path := range slices.Sorted(maps.Keys(doc.Paths.Map())) {
		item := doc.Paths.Value(path)
		for method, op := range item.Operations() {
			if slices.Contains(op.Tags, "operator") {
				continue
			}
			if op.OperationID == "followEvents" {
				continue // it has no end; TestEventsAreFor calls it
			}
			r := right{id: op.OperationID, method: method, path: path}
			for _, requirement := range security(doc, op) {
				r.roles = append(r.roles, requirement["token"]...)
			}
			r.scope, _ = op.Extensions["x-scope"].(string)
			if inLedger := strings.Contains(path,
				"/{ledger}/"); inLedger != slices.Contains([]string{"table", "ledger", "none", "own"}, r.scope) {
				t.Errorf("%s declares the x-scope %q", r.id, r.scope)
			} else if !inLedger {
				continue
			}
			if r.scope == "none" && method != http.MethodGet && r.id != "putTerms" { // a document is of no table
				t.Errorf("%s acts, and its x-scope is none", r.id)
			}
			if op.RequestBody != nil && bodies[r.id] == "" {
				t.Errorf("there is no body here for %s", r.id)
			}
			for _, p := range op.Parameters {
				r.keyed = r.keyed || p.Value.Name == "Idempotency-Key"
				r.filtered = r.filtered || p.Value.In == "query" && p.Value.Name == "table"
			}
			all = append(all, r)
		}
	}
	if len(all) < 24 {
		t.Fatalf("%d operations on ledgers", len(all))
	}
	slices.SortStableFunc(all, func(a, b right) int {
		return strings.Compare(fmt.Sprint(a.id == "closeShuffle"), fmt.Sprint(b.id == "closeShuffle"))
	})
	return all
}

// ask is a call of the operation about the work.
func (r right) ask(s *stack, of work) ask {
	tile := map[string]string{"getTile": "0/000.p/1", "getEntries": fmt.Sprintf("000.p/%d", s.ledger.Live().Size)}[r.id]
	document := &terms.Document{Kind: audit.TermsPayTable, Text: payTable}
	if r.id == "getTerms" {
		must(s.t, s.dealer.PutTerms(s.t.Context(), document))
	}
	hash := document.Hash()
	path := strings.NewReplacer("/v1/{ledger}/shuffles/{id}", of.path, "{ledger}", "main", "{index}",
		fmt.Sprint(of.close), "{tile}", tile, "{hash}", hex.EncodeToString(hash[:])).Replace(r.path)
	if r.filtered {
		path += "?table=" + of.table
	}
	a := ask{method: r.method, path: path}
	if body := bodies[r.id]; body != "" {
		a.body = strings.NewReplacer("TABLE", of.table, "TAKEOVER", of.takeover()).Replace(body)
	}
	if r.keyed {
		a.key = fmt.Sprint("key-", s.api.number.Load())
	}
	return a
}

// party is a caller: a role, and the tables that its token is for.
type party struct {
	role, token string
	tables      []string
}

// may says what the party's call about a table is: refused with a status and the
// words of the reason, or allowed, where with as stranger it is answered as one.
func (r right) may(p party, table string, private bool) (status int, why string, stranger bool) {
	open := len(r.roles) == 0 && !private
	other := p.tables != nil && (r.scope == "ledger" || r.scope == "table" && !slices.Contains(p.tables, table))
	switch {
	case p.role == "" && !open:
		return http.StatusUnauthorized, "", false
	case p.role == "":
		return http.StatusOK, "", true
	case len(r.roles) > 0 && !slices.Contains(r.roles, p.role):
		return http.StatusForbidden, "role", false
	case p.role == "admin" && p.tables != nil:
		return http.StatusForbidden, "for all tables", false
	case other && open:
		return http.StatusOK, "", true
	case other:
		return http.StatusForbidden, "these tables only: a, b", false
	}
	return http.StatusOK, "", false
}

// TestRoles calls every operation of the contract on a ledger as everybody, about a table that the token may be for and
// about one that it is not for, on a ledger that everybody reads and on one that asks readers for a token.
func TestRoles(t *testing.T) {
	t.Parallel()
	for _, private := range []bool{false, true} {
		t.Run(fmt.Sprintf("private=%t", private), func(t *testing.T) {
			t.Parallel()
			m := newMatrix(t, private)
			size := m.s.ledger.Live().Size
			m.try(func(_ right, may bool) bool { return !may })
			if got := m.s.ledger.Live().Size; got != size {
				t.Errorf("%d entries were written by those who may not", got-size)
			}
			m.try(func(r right, may bool) bool { return may && r.method == http.MethodGet })
			m.try(func(r right, may bool) bool { return may && r.method != http.MethodGet })
			if m.refused < 200 || m.allowed < 200 || private != (m.strange == 0) {
				t.Errorf("%d calls were refused, %d allowed, %d of them answered as a stranger's", m.refused, m.allowed,
					m.strange)
			}
			tryBadTokens(t, m.s, m.rights)
		})
	}
}

// matrix is a ledger with two tables, and everybody who may ask about them.
type matrix struct {
	t       *testing.T
	s       *stack
	private bool
	rights  []right
	works   []work
	parties []party
	secrets map[string][][]byte // of a table: tapes and salts, raw and as text

	refused, allowed, strange int
}

func newMatrix(t *testing.T, private bool) *matrix {
	auditor, err := keys.GenerateAuditor()
	must(t, err)
	m := &matrix{t: t, private: private, rights: rights(t), secrets: make(map[string][][]byte)}
	m.s = newStack(t, stackOptions{private: private, auditor: auditor.Public()})
	m.parties = []party{{}}
	for _, role := range []audit.Role{audit.RoleDealer, audit.RoleAuditor, audit.RoleRegulator, audit.RoleAdmin} {
		for _, tables := range [][]string{nil, {"a", "b"}} {
			_, bearer := m.s.putToken(role, func(c *audit.Credential) { c.Tables = tables })
			m.parties = append(m.parties, party{role.String(), bearer, tables})
		}
	}
	for _, table := range []string{"a", "z"} {
		forAuditors := m.play(table, "auditor")
		m.works = append(m.works, m.play(table, "public"), forAuditors)
		_, open := m.s.commit(table, "open-"+table)
		m.works = append(m.works, work{table, open, m.works[0].close})
	}
	return m
}

// play deals and closes a shuffle, and remembers what is secret of it.
func (m *matrix) play(table, disclosure string) work {
	m.t.Helper()
	body := fmt.Sprintf(`{"table":%q,"deck":"standard-52","disclosure":%q}`, table, disclosure)
	path := fmt.Sprintf("/v1/main/shuffles/%d",
		read[Shuffle](m.t, m.s.post("/v1/main/shuffles", table+disclosure, body)).ID)
	dealt := read[Deal](m.t, m.s.post(path+"/deal", "", twoHands))
	closed := read[Close](m.t, m.s.post(path+"/close", "", `{"outcome":"completed"}`))
	receipt, err := audit.ParseReceipt(closed.Receipt)
	must(m.t, err)
	texts := []string{base64.StdEncoding.EncodeToString(closed.Tape)} // "" for auditors
	for _, card := range dealt.Cards {
		texts = append(texts, string(card.Salt))
	}
	for _, text := range texts {
		raw, err := base64.StdEncoding.DecodeString(text)
		must(m.t, err)
		if text != "" {
			m.secrets[table] = append(m.secrets[table], []byte(text), raw)
		}
	}
	return work{table, path, receipt.Index}
}

// try makes all calls that the filter takes, and holds the answers against what the contract declares.
func (m *matrix) try(takes func(r right, may bool) bool) {
	for _, r := range m.rights {
		for _, of := range m.works {
			stranger := m.s.do(r.ask(m.s, of))
			for _, p := range m.parties {
				status, why, asStranger := r.may(p, of.table, m.private)
				if !takes(r, status == http.StatusOK) {
					continue
				}
				a := r.ask(m.s, of)
				if a.token = p.token; r.id == "closeShuffle" && p.role == "admin" {
					a.body = `{"outcome":"void","reason":"tape_lost"}` // what an admin closes for
				}
				if r.id == "submitAct" && p.role == "admin" {
					a.body = `{"act":"` + anAct + `"}` // an admin submits no takeovers
				}
				name := fmt.Sprintf("%s %s as %q for tables %q", a.method, a.path, p.role, p.tables)
				got := m.s.do(a)
				m.judge(name, r, got, status, why)
				if asStranger && r.method == http.MethodGet {
					m.strange++
					if !bytes.Equal(got.body, stranger.body) {
						m.t.Errorf("%s: the answer is not a stranger's: %s", name, cut(got.body))
					}
				}
				if m.private && p.tables != nil {
					m.keeps(name, got.body)
				}
				if public := strings.HasPrefix(got.header.Get("Cache-Control"), "public"); m.private && public {
					m.t.Errorf("%s may be kept by everybody", name)
				}
			}
		}
	}
}

func (m *matrix) judge(name string, r right, got answer, status int, why string) {
	refused := got.status == http.StatusUnauthorized || got.status == http.StatusForbidden
	switch {
	case status != http.StatusOK:
		m.refused++
		if got.status != status {
			m.t.Errorf("%s: %d, not %d: %s", name, got.status, status, cut(got.body))
		} else if why != "" && !strings.Contains(value(got.problem(m.t).Detail), why) {
			m.t.Errorf("%s does not say %q: %s", name, why, cut(got.body))
		}
	default:
		m.allowed++
		if refused || r.method == http.MethodGet && got.status != http.StatusOK {
			m.t.Errorf("%s: %d: %s", name, got.status, cut(got.body))
		}
	}
}

// keeps wants nothing secret of table z in an answer to a token for other tables.
func (m *matrix) keeps(name string, body []byte) {
	for _, secret := range m.secrets["z"] {
		if bytes.Contains(body, secret) {
			m.t.Errorf("%s: a tape or a salt of table z is in the answer", name)
			return
		}
	}
}

// tryBadTokens wants every credential that is sent to be checked, also where none is needed.
func tryBadTokens(t *testing.T, s *stack, all []right) {
	bad := map[string]string{
		"unknown": s.unknown, "wrong secret": s.wrong, "expired": s.expired, "revoked": s.revoked, "no dot": "tok_abc",
		"not ours": "abc.def", "empty secret": s.dealerID + ".", "of another ledger": otherToken(t),
	}
	for _, r := range all {
		for name, token := range bad {
			a := r.ask(s, work{"a", "/v1/main/shuffles/2", 2})
			a.token = token
			if got := s.do(a); got.status != http.StatusUnauthorized || got.header.Get("WWW-Authenticate") != "Bearer" {
				t.Errorf("%s %s with a token that is %s: %d", a.method, a.path, name, got.status)
			}
		}
	}
}

// TestBatchOfOtherTables: an operation that names a refused one is of no shuffle. The house has played a hand at table
// z, and its token for tables a and b sends the same requests again.
func TestBatchOfOtherTables(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	id := read[Shuffle](t, s.post("/v1/main/shuffles", "k", `{"table":"z","deck":"standard-52","mix":{"cut":true}}`)).ID
	for _, c := range [][2]string{{"mix", `{"cut":1}`}, {"deal", twoHands}, {"reveal", `{"places":[0]}`},
		{"close", `{"outcome":"completed"}`}} {
		op, body := c[0], c[1]
		if got := s.post(fmt.Sprintf("/v1/main/shuffles/%d/%s", id, op), "", body); got.status != http.StatusOK {
			t.Fatalf("%s: %d %s", op, got.status, got.body)
		}
		ours := fmt.Sprintf(`{"op":"shuffle","key":%q,"body":{"table":"a","deck":"standard-52"}}`, op)
		again := func(of any) string { return fmt.Sprintf(`{"op":%q,"shuffle":%v,"body":%s}`, op, of, body) }
		for _, ops := range [][]string{
			{again(id), again(`{"op":0}`), again(`{"op":1}`)}, {ours, again(id), again(`{"op":1}`)},
			{strings.Replace(ours, `"a"`, `"z"`, 1), again(`{"op":0}`)},
			{fmt.Sprintf(`{"op":"deal","shuffle":%d,"body":{}}`, id), again(`{"op":0}`)},
		} {
			answer := s.do(ask{method: http.MethodPost, path: "/v1/main/batch", token: s.tableToken,
				body: `{"operations":[` + strings.Join(ops, ",") + `]}`})
			for i, r := range read[Batch](t, answer).Results {
				if (r.Status == http.StatusOK) != (ops[i] == ours) {
					t.Errorf("%s: operation %d: %d %s", ops, i, r.Status, cut(r.Body))
				}
			}
		}
	}
}
