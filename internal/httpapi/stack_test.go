package httpapi

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
	"shuffled/internal/audit/rules"
	"shuffled/internal/config"
	"shuffled/internal/dealer"
	"shuffled/internal/entropy"
	"shuffled/internal/follow"
	"shuffled/internal/keys"
	"shuffled/internal/ledger"
	"shuffled/internal/ledger/sequencer"
	"shuffled/internal/seal"
	"shuffled/internal/witness"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stack is the API over real parts: ledger, dealer, sealing keys, platform
// entropy and a store on disk, behind a listening server.
type stack struct {
	t      testing.TB
	api    *Server
	url    string
	store  ledger.Store
	ledger *sequencer.Ledger
	dealer *dealer.Dealer
	origin string
	vkey   string
	next   *keys.SigningKey // available, and not in force
	clock  *testClock
	log    *syncBuffer
	ring   *seal.Keyring // the house's
	source *entropy.Source
	cfg    ledger.Config // that the ledger was opened with
	size   uint64        // entries of the new ledger

	// Bearer tokens.
	dealerToken, auditorToken, adminToken string
	regulatorToken, tableToken            string // the second of the dealer's identity, for the tables a and b
	otherToken                            string // of another dealer's identity
	expired, revoked, unknown, wrong      string
	dealerID                              string
}

// noRecall finds nothing, as an index that was never made.
type noRecall struct{}

func (noRecall) Find(context.Context, ledger.RecallQuery) (ledger.RecallPage, error) {
	return ledger.RecallPage{}, nil
}

func (noRecall) Tables(context.Context, ledger.TableQuery) ([]rules.TableRef, string, error) {
	return nil, "", nil
}

// stackOptions change what newStack makes.
type stackOptions struct {
	limits  config.Limits
	source  *entropy.Source // nil: the platform's
	private bool            // readers need a token
	auditor []byte          // public key of one, nil: none
	notYet  bool            // the ledger is not added, and Ready not called
	wrap    func(Ledger) Ledger
	genesis func(*audit.Genesis)
	opening func(*ledger.Config)
	byClock bool // the ledger goes by the stack's clock
	stored  func(ledger.Store) ledger.Store
}

func newStack(t testing.TB, o stackOptions) *stack {
	t.Helper()
	dir := t.TempDir()
	s := &stack{t: t, origin: "example.com/test", clock: &testClock{now: time.Now()}, log: new(syncBuffer)}
	if s.store = openStore(t, dir); o.stored != nil {
		s.store = o.stored(s.store)
	}
	s.openLedger(dir, o)
	s.makeTokens()
	s.size = s.ledger.Live().Size

	s.serve(o)
	return s
}

// serve makes the API and a server that listens.
func (s *stack) serve(o stackOptions) {
	s.t.Helper()
	log := slog.New(slog.NewJSONHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	limits := limitsOf(o.limits)
	var err error
	s.api, err = New(Config{Limits: limits, Version: "test", Log: log, Now: s.clock.Now})
	must(s.t, err)
	if !o.notYet {
		s.add(o)
	}
	server := httptest.NewUnstartedServer(nil)
	server.Config = NewHTTPServer(s.api, limits, log)
	server.Start()
	s.t.Cleanup(server.Close)
	s.url = server.URL
}

// must fails the test for an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// limitsOf are a sandbox's limits, except for those that are set.
func limitsOf(set config.Limits) config.Limits {
	l := config.Default().Limits.Sandbox()
	from, to := reflect.ValueOf(set), reflect.ValueOf(&l).Elem()
	for i := range to.NumField() {
		if !from.Field(i).IsZero() {
			to.Field(i).Set(from.Field(i))
		}
	}
	l.Patience = cmp.Or(set.Patience, l.RequestTimeout)
	return l
}

func (s *stack) add(o stackOptions) {
	s.t.Helper()
	feed := follow.New(follow.Config{Ledger: s.ledger, Tables: s.dealer.Shuffles(), Now: s.clock.Now,
		Log: slog.New(slog.NewJSONHandler(s.log, nil))})
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); feed.Run(ctx) }()
	s.t.Cleanup(func() { stop(); <-ended })
	l := Ledger{Dealer: s.dealer, Log: s.ledger, Access: s.store, Recall: noRecall{}, Events: feed}
	if o.wrap != nil {
		l = o.wrap(l)
	}
	must(s.t, s.api.Add(l))
	s.api.Ready()
}

func (s *stack) openLedger(dir string, o stackOptions) {
	s.t.Helper()
	check := func(err error) {
		s.t.Helper()
		must(s.t, err)
	}
	signing, err := keys.GenerateSigning(s.origin)
	check(err)
	s.vkey = signing.VKey()
	s.next, err = keys.GenerateSigning(s.origin)
	check(err)
	g := &audit.Genesis{Revision: audit.Revision, Origin: s.origin, SigningKey: signing.Public(),
		Administrators: []audit.Administrator{ann.administrator()}, Deals: audit.DealsSigned,
		MixModes: 7, Disclosure: audit.DisclosurePublic, DefaultCloseBy: 3600, MaxCloseBy: 86_400,
		Access: audit.AccessPublic}
	if o.auditor != nil {
		g.AuditorKeys = [][]byte{o.auditor}
	}
	if o.private {
		g.Access = audit.AccessToken
	}
	if o.genesis != nil {
		o.genesis(g)
	}
	info := ledger.Info{Name: "main", Origin: s.origin}
	mark := filepath.Join(dir, "main.mark")
	check(sequencer.Create(s.t.Context(), s.store, info, g, signing.Signer(), mark, time.Now()))
	s.cfg = ledger.Config{
		Store: s.store, Info: info, Signers: []note.Signer{signing.Signer(), s.next.Signer()}, Mark: mark,
		Start: audit.Event{Name: "test", VDSO: audit.VDSONotKnown}, Witness: witness.Reach,
	}
	if o.opening != nil {
		o.opening(&s.cfg)
	}
	if o.byClock {
		s.clock.opened(&s.cfg)
	}
	s.ledger, err = sequencer.Open(s.t.Context(), s.cfg)
	check(err)
	s.t.Cleanup(func() { s.ledger.Close() })

	if s.source = o.source; s.source == nil {
		s.source, err = entropy.New(entropy.Config{})
		check(err)
	}
	key, err := seal.NewKey(keys.GenerateSealing().Bytes())
	check(err)
	s.ring, err = seal.NewKeyring(key)
	check(err)
	s.makeDealer()
}

func (s *stack) makeDealer() {
	s.dealer = dealer.New(dealer.Config{Ledger: s.ledger, Store: s.store, Entropy: s.source, Keys: s.ring,
		Log: slog.New(slog.NewJSONHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Now: func() int64 { return s.clock.Now().UnixMilli() }})
}

// ask is one request.
type ask struct {
	method, path string
	token        string
	key          string
	body         any // string, []byte or io.Reader
	header       http.Header
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// do makes a request and holds the answer against the contract.
func (s *stack) do(a ask) answer {
	s.t.Helper()
	req := a.request(s.t, s.url)
	resp, err := http.DefaultClient.Do(req)
	must(s.t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	must(s.t, err)
	out := answer{resp.StatusCode, resp.Header, body}
	checkContract(s.t, a, out)
	return out
}

func (a ask) request(t testing.TB, base string) *http.Request {
	t.Helper()
	var body io.Reader
	switch b := a.body.(type) {
	case string:
		body = bytes.NewReader([]byte(b))
	case []byte:
		body = bytes.NewReader(b)
	case io.Reader:
		body = b
	}
	req, err := http.NewRequestWithContext(t.Context(), a.method, base+a.path, body)
	must(t, err)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if a.token != "" {
		req.Header.Set("Authorization", "Bearer "+a.token)
	}
	if a.key != "" {
		req.Header.Set("Idempotency-Key", a.key)
	}
	for name, values := range a.header {
		req.Header[name] = values
	}
	return req
}

func (s *stack) get(path, token string) answer {
	s.t.Helper()
	return s.do(ask{method: http.MethodGet, path: path, token: token})
}

func (s *stack) post(path, key, body string) answer {
	s.t.Helper()
	return s.do(ask{method: http.MethodPost, path: path, token: s.dealerToken, key: key, body: body})
}

// syncBuffer is a log that may be read while it is written.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
