package httpapi

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"shuffled/internal/audit"
)

// person is an administrator with a key.
type person struct {
	name string
	key  ed25519.PrivateKey
}

func newPerson(name string) person {
	seed := sha256.Sum256([]byte(name))
	return person{name, ed25519.NewKeyFromSeed(seed[:])}
}

func (p person) administrator() audit.Administrator {
	return audit.Administrator{Name: p.name, Key: append([]byte{1}, p.key.Public().(ed25519.PublicKey)...)}
}

var ann, ben, eve = newPerson("ann"), newPerson("ben"), newPerson("eve")

// actsDelay is how long an act of one administrator waits, in the stack of the tests.
const actsDelay = time.Hour

// twoPersons is a stack whose ledger asks for two administrators, who are ann and ben, from when its tokens are made.
func twoPersons(t *testing.T) *stack {
	t.Helper()
	s := newStack(t, stackOptions{byClock: true, genesis: func(g *audit.Genesis) {
		g.Administrators = []audit.Administrator{ann.administrator(), ben.administrator()}
	}})
	s.write(&audit.Key{Subject: audit.SubjectTwoPersons, Delay: uint32(actsDelay / time.Second), Acts: []audit.Act{
		audit.ActPolicy, audit.ActKillClear, audit.ActAdministrator, audit.ActAdminCredential, audit.ActTakeover,
		audit.ActTwoPersons}})
	s.size++
	return s
}

// propose is the act over what the API says, for a digest, without signatures.
func (s *stack) propose(act audit.Act, digest [32]byte) *audit.ActEntry {
	s.t.Helper()
	said := read[Acts](s.t, s.get("/v1/main/acts", s.auditorToken))
	a := &audit.ActEntry{Act: act, Digest: digest, Previous: said.Newest, HeadSize: said.Size, HeadRoot: hashOf(s.t,
		said.Root),
		Expires: s.clock.Now().Add(10 * time.Minute).UnixMilli()}
	if act == audit.ActKillClear {
		a.Expires += actsDelay.Milliseconds()
	}
	return a
}

func hashOf(t testing.TB, text string) [32]byte {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(b) != 32 {
		t.Fatalf("%q is no hash", text)
	}
	return [32]byte(b)
}

// sign has the persons sign it, in their order.
func (s *stack) sign(a *audit.ActEntry, by ...person) *audit.ActEntry {
	s.t.Helper()
	genesis := hashOf(s.t, read[Acts](s.t, s.get("/v1/main/acts", s.auditorToken)).Genesis)
	signed := *a
	signed.Signatures = nil
	for _, p := range by {
		signature := audit.ActSignature{Administrator: p.name,
			Signature: [64]byte(ed25519.Sign(p.key, a.Signed(genesis)))}
		signed.Signatures = append(signed.Signatures, signature)
	}
	return &signed
}

// submit sends an act and what it approves, except what is nil.
func (s *stack) submit(bearer string, act *audit.ActEntry, body audit.Body) answer {
	s.t.Helper()
	var members []string
	if act != nil {
		members = append(members, fmt.Sprintf(`"act":%q`, base64.StdEncoding.EncodeToString(audit.EncodeBody(act))))
	}
	if body != nil {
		members = append(members, fmt.Sprintf(`"type":%d,"body":%q`, body.Type(),
			base64.StdEncoding.EncodeToString(audit.EncodeBody(body))))
	}
	return s.by(bearer, "/v1/main/acts", "", "{"+strings.Join(members, ",")+"}")
}

// wantAct wants the refusal act with the words, and nothing written.
func (s *stack) wantAct(got answer, says string) {
	s.t.Helper()
	if got.want(s.t, CodeAct, ""); !strings.Contains(value(got.problem(s.t).Detail), says) {
		s.t.Errorf("no %q in %s", says, got.body)
	}
}

// TestPolicyByTwo: a policy that needs two administrators is set by what both signed, once, and by nothing less.
func TestPolicyByTwo(t *testing.T) {
	t.Parallel()
	s := twoPersons(t)
	policy := &audit.Key{Subject: audit.SubjectPolicy, Policy: []byte("# by two\nquorum none\n")}
	digest := audit.Approved("admin", policy)
	said := read[Acts](t, s.get("/v1/main/acts", s.dealerToken))
	vkey, err := audit.VKey("ann", ann.administrator().Key)
	if len(said.Administrators) != 2 || said.Administrators[0] != (Administrator{Name: "ann", Vkey: vkey}) ||
		err != nil || said.Newest != 0 || len(said.Waiting) != 0 ||
		fmt.Sprint(said.TwoPersons) != "[policy kill_clear administrator admin_credential takeover two_persons]" ||
		said.Delay != 3600 || said.Size != s.size {
		t.Errorf("%+v: %v", said, err)
	}

	s.wantAct(s.submit(s.adminToken, nil, policy), "No act that waits approves this entry")
	proposed := s.propose(audit.ActPolicy, digest)
	both := s.sign(proposed, ann, ben)
	s.wantAct(s.submit(s.adminToken, s.sign(proposed, ann), policy), "policy needs two administrators")
	s.wantAct(s.submit(s.adminToken, s.sign(proposed, ann, eve), policy), "No administrator eve is in force")
	s.by(s.adminToken, "/v1/main/acts", "", twice(both)).want(t, CodeInvalidValue, "act")
	s.submit(s.otherToken, both, policy).want(t, CodeForbidden, "type")
	s.submit(s.otherToken, both, nil).want(t, CodeForbidden, "type")
	if got := read[Acts](t, s.get("/v1/main/acts", s.adminToken)); got.Size != s.size {
		t.Fatalf("%d entries were written by acts that do not hold", got.Size-s.size)
	}

	done := read[Appended](t, s.submit(s.adminToken, both, policy))
	if done.Index != s.size+1 {
		t.Errorf("%+v", done)
	}
	s.wantAct(s.submit(s.adminToken, both, policy), "The newest act is entry")
	said = read[Acts](t, s.get("/v1/main/acts", s.regulatorToken))
	if said.Newest != s.size || said.Size != s.size+2 {
		t.Errorf("%+v", said)
	}
	if list := read[Keys](t, s.get("/v1/main/keys",
		"")).Keys; value(list[len(list)-1].Policy) != string(policy.Policy) {
		t.Errorf("%+v", list)
	}
}

// twice is the request with one person's signature two times.
func twice(a *audit.ActEntry) string {
	b := *a
	b.Signatures = []audit.ActSignature{a.Signatures[0], a.Signatures[0]}
	return fmt.Sprintf(`{"act":%q}`, base64.StdEncoding.EncodeToString(audit.EncodeBody(&b)))
}

// TestAdminCredentialByTwo: an administrator's token alone makes no other one.
func TestAdminCredentialByTwo(t *testing.T) {
	t.Parallel()
	s := twoPersons(t)
	made, bearer := newToken(audit.RoleAdmin, of("second"))
	request := func(c *audit.Credential, bearer string) string {
		_, secret, _ := strings.Cut(bearer, ".")
		return fmt.Sprintf(`{"action":"create","credential":%q,"role":%q,"identity":%q,"hash":%q}`, c.ID, c.Role,
			c.Identity, encodeHash(sha256.Sum256([]byte(secret))))
	}
	s.admin("/v1/main/credentials", request(made, bearer)).want(t, CodeInvalidValue, "role")
	if got := s.status(bearer); got != 401 {
		t.Errorf("before the act: %d", got)
	}
	dealer, plain := newToken(audit.RoleDealer, nil)
	read[Appended](t, s.admin("/v1/main/credentials", request(dealer, plain))) // of another role it takes no act

	wrong := s.sign(s.propose(audit.ActAdminCredential, audit.Approved("second", made)), ann, ben)
	s.wantAct(s.submit(s.adminToken, wrong, made), "must follow") // the identity that the act names
	of := s.sign(s.propose(audit.ActAdminCredential, audit.Approved("admin", made)), ann, ben)
	read[Appended](t, s.submit(s.adminToken, of, made))
	if got := s.get("/v1/main/access", bearer); got.status != 200 {
		t.Errorf("after the act: %d", got.status)
	}
	read[Appended](t, s.by(bearer, "/v1/main/tables", "", `{"action":"open","table":"new"}`))
}

// TestTakeoverByTwo: a takeover to play needs two administrators, and a dealer of the
// identity that they signed it for submits it. One to close needs nobody.
func TestTakeoverByTwo(t *testing.T) {
	t.Parallel()
	s := twoPersons(t)
	shuffle, path := s.commit("t", "k")
	read[Deal](t, s.post(path+"/deal", "", twoHands))
	read[Takeover](t, s.by(s.otherToken, path+"/takeover", "", `{"reason":"gone"}`))
	s.by(s.otherToken, path+"/deal", "", next).want(t, CodeNotYours, "")

	takeover := &audit.Takeover{Shuffle: shuffle.ID, Extent: audit.ExtentPlay, Reason: "gone"}
	act := s.sign(s.propose(audit.ActTakeover, audit.Approved("another", takeover)), ann, ben)
	s.submit(s.adminToken, act, takeover).want(t, CodeForbidden, "type")
	s.wantAct(s.submit(s.dealerToken, act, takeover), "must follow")
	s.wantAct(s.submit(s.otherToken, s.sign(act, ben), takeover), "takeover needs two administrators")
	read[Appended](t, s.submit(s.otherToken, act, takeover))
	if state := read[ShuffleState](t, s.get(path, "")); state.Owner != "another" || state.Extent != "" {
		t.Errorf("%+v", state)
	}
	read[Deal](t, s.by(s.otherToken, path+"/deal", "", next))
	s.wantAct(s.submit(s.otherToken, act, takeover), "The newest act")
}

// TestActWaits: for what may be urgent one administrator suffices after the delay, and another cancels it until then.
func TestActWaits(t *testing.T) {
	t.Parallel()
	s := twoPersons(t)
	const set, alone = `{"scope":"ledger","reason":"fire"}`, "No act that waits approves this entry"
	read[Appended](t, s.admin("/v1/main/switches", set))
	putOut := &audit.Event{Kind: audit.EventKillClear, Scope: audit.ScopeLedger, Reason: "put out"}
	clear := func() answer { return s.submit(s.adminToken, nil, putOut) }
	s.wantAct(clear(), alone)
	digest := audit.Approved("admin", putOut)
	waiting := func(want int) []WaitingAct {
		t.Helper()
		said := read[Acts](t, s.get("/v1/main/acts", s.adminToken))
		if len(said.Waiting) != want {
			t.Fatalf("%d acts wait: %+v", len(said.Waiting), said)
		}
		return said.Waiting
	}
	wait := func() Appended {
		t.Helper()
		return read[Appended](t, s.submit(s.adminToken, s.sign(s.propose(audit.ActKillClear, digest), ben), nil))
	}
	one := wait()
	receipt, err := audit.ParseReceipt(one.Receipt)
	must(t, err)
	act, err := audit.ParseEntry(receipt.Entry)
	if w := waiting(1)[0]; err != nil || w.Entry != one.Index || w.Digest != encodeHash(digest) ||
		int64(w.Due) != act.Time+actsDelay.Milliseconds() || int64(w.Expires) != act.Body.(*audit.ActEntry).Expires {
		t.Errorf("%+v of %+v: %v", w, act, err)
	}
	got := clear()
	if got.want(t, CodeTwoPersons, ""); !strings.Contains(value(got.problem(t).Detail),
		"of one administrator takes effect at") {
		t.Errorf("%s", got.body)
	}

	// The other administrator takes it back.
	s.wantAct(s.submit(s.adminToken, s.sign(s.propose(audit.ActCancel, [32]byte{1}), ann), nil),
		"No act with this digest waits")
	read[Appended](t, s.submit(s.adminToken, s.sign(s.propose(audit.ActCancel, digest), ann), nil))
	waiting(0)
	s.clock.add(actsDelay)
	s.wantAct(clear(), alone)

	wait()
	s.clock.add(actsDelay - time.Millisecond)
	clear().want(t, CodeTwoPersons, "")
	s.clock.add(time.Millisecond)
	read[Appended](t, clear())
	waiting(0)
	read[Appended](t, s.admin("/v1/main/switches", set))
	s.wantAct(clear(), alone) // it approves one entry

	// It lapses.
	wait()
	s.clock.add(actsDelay + 10*time.Minute)
	s.wantAct(clear(), alone)
	early := s.propose(audit.ActKillClear, digest)
	early.Expires -= (10 * time.Minute).Milliseconds()
	s.wantAct(s.submit(s.adminToken, s.sign(early, ben), nil), "An act of one administrator takes effect at ")

	// Two need not wait.
	both := s.sign(s.propose(audit.ActKillClear, digest), ann, ben)
	read[Appended](t, s.submit(s.adminToken, both, putOut))
	s.commit("t", "k")
}

// TestNothingWithoutAct: where one administrator suffices, what an act approves still takes the act.
func TestNothingWithoutAct(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	read[Appended](t, s.admin("/v1/main/switches", `{"scope":"ledger","reason":"fire"}`))
	made, _ := newToken(audit.RoleAdmin, of("second"))
	size := s.ledger.Live().Size
	for _, body := range []audit.Body{made, &audit.Key{Subject: audit.SubjectPolicy, Policy: []byte("quorum none\n")},
		&audit.Event{Kind: audit.EventKillClear, Scope: audit.ScopeLedger, Reason: "put out"},
		&audit.Event{Kind: audit.EventTableOpen, Name: "t"}} {
		s.wantAct(s.submit(s.adminToken, nil, body), "No act that waits approves this entry")
	}
	if got := s.ledger.Live().Size; got != size {
		t.Errorf("%d entries were written", got-size)
	}
}

// TestMalformedActs: what is no act is refused by its member.
func TestMalformedActs(t *testing.T) {
	t.Parallel()
	s := twoPersons(t)
	policy := &audit.Key{Subject: audit.SubjectPolicy, Policy: []byte("quorum none\n")}
	act := base64.StdEncoding.EncodeToString(audit.EncodeBody(s.sign(s.propose(audit.ActPolicy, audit.Approved("admin",
		policy)), ann, ben)))
	body := base64.StdEncoding.EncodeToString(audit.EncodeBody(policy))
	for request, field := range map[string]string{
		`{}`: "act", `{"type":6}`: "act",
		`{"act":""}`: "act", `{"act":"%%%"}`: "act", `{"act":"AAAA"}`: "act", `{"act":7}`: "act",
		`{"act":"` + act[:len(act)-8] + `"}`:                    "act",
		`{"act":"` + act + `","type":6}`:                        "body",
		`{"act":"` + act + `","body":"` + body + `"}`:           "body",
		`{"act":"` + act + `","type":9,"body":"` + body + `"}`:  "body",
		`{"act":"` + act + `","type":99,"body":"` + body + `"}`: "body",
		`{"act":"` + act + `","type":6,"body":"AAAA"}`:          "body",
		`{"act":"` + act + `","type":6,"body":"!"}`:             "body",
		`{"act":"` + act + `","signed":true}`:                   "signed",
	} {
		got := s.by(s.adminToken, "/v1/main/acts", "", request)
		if p := got.problem(t); got.status != 400 || value(p.Field) != field {
			t.Errorf("%.40s … %.20s: %d %s", request, request[max(0, len(request)-20):], got.status, got.body)
		}
	}
	// An act is no entry that an act approves.
	again := s.propose(audit.ActPolicy, [32]byte{1})
	s.submit(s.adminToken, s.sign(again, ann, ben), s.sign(again, ann, ben)).want(t, CodeAct, "")
	if got := s.ledger.Live().Size; got != s.size {
		t.Errorf("%d entries were written", got-s.size)
	}
}
