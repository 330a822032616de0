package gateway_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
	"shuffled/internal/keys"
	"shuffled/internal/witness"
	"shuffled/internal/witness/gateway"
	"shuffled/internal/witness/witnesstest"
)

// board is three witnesses, of which two suffice, and the ledger that they cosign.
type board struct {
	t         *testing.T
	signer    note.Signer
	key       note.Verifier
	witnesses []*witnesstest.Witness
	policy    *trust.Policy
}

func newBoard(t *testing.T) *board {
	t.Helper()
	skey, vkey, err := note.GenerateKey(nil, "test.example/ledger")
	if err != nil {
		t.Fatal(err)
	}
	b := &board{t: t}
	if b.signer, err = note.NewSigner(skey); err != nil {
		t.Fatal(err)
	}
	if b.key, err = audit.ParseVKey(vkey); err != nil {
		t.Fatal(err)
	}
	var lines, names []string
	for range 3 {
		w := witnesstest.Start(t, vkey)
		b.witnesses = append(b.witnesses, w)
		lines, names = append(lines, w.PolicyLine), append(names, w.Name)
	}
	b.policy, err = trust.ParsePolicy(fmt.Appendf(nil, "%s\ngroup three 2 %s\nquorum three\n",
		strings.Join(lines, "\n"), strings.Join(names, " ")))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// head is a signed head of some size.
func (b *board) head(size uint64) gateway.Head {
	b.t.Helper()
	h := gateway.Head{Size: size, Root: tlog.Hash{byte(size)}}
	var err error
	text := audit.Checkpoint{Origin: b.signer.Name(), Size: size, Root: h.Root}.Text()
	if h.Checkpoint, err = note.Sign(&note.Note{Text: text}, b.signer); err != nil {
		b.t.Fatal(err)
	}
	return h
}

// at is a witness of the board at an address.
func (b *board) at(i int, url string) trust.Witness {
	w := b.witnesses[i]
	return trust.Witness{Name: w.Name, VKey: w.VKey, URL: url, Key: w.Key}
}

// cosigned are a witness's lines on a head, the first that it sees.
func (b *board) cosigned(i int, h gateway.Head) []string {
	b.t.Helper()
	text, err := b.witnesses[i].Client().AddCheckpoint(b.t.Context(), 0, nil, h.Checkpoint)
	if err != nil {
		b.t.Fatal(err)
	}
	return slices.Collect(strings.Lines(string(text)))
}

// TestRoundCountsWitnesses: in a round a witness counts once, at however many
// addresses it cosigns, and of what it says there the larger size is believed.
func TestRoundCountsWitnesses(t *testing.T) {
	t.Parallel()
	b := newBoard(t)
	h := b.head(7)
	r := gateway.NewRound()
	here, there, second := b.at(0, "here"), b.at(0, "there"), b.at(1, "here")
	lines := b.cosigned(0, h)
	add := func(a gateway.Answer, lines ...string) {
		r.Add(a, lines...)
		r.Sign(h, []*trust.Policy{b.policy})
	}
	add(gateway.Answer{Witness: here, Size: 7}, lines...)
	add(gateway.Answer{Witness: there, Size: 7}, append(slices.Clone(lines), lines...)...)
	if r.Lines() != 1 || strings.Count(string(r.Head.Checkpoint), "\n— ") != 2 || r.Met {
		t.Errorf("one witness at two addresses has %d lines:\n%s", r.Lines(), r.Head.Checkpoint)
	}
	add(gateway.Answer{Witness: second, Size: 7}, b.cosigned(1, h)...)
	if r.Lines() != 2 || !r.Met || !b.policy.Satisfied(r.Head.Checkpoint) {
		t.Errorf("two witnesses have %d lines:\n%s", r.Lines(), r.Head.Checkpoint)
	}
	if r.Sign(h, nil); r.Met {
		t.Error("a round without a quorum was met")
	}
	for _, size := range []uint64{12, 9} {
		r.Add(gateway.Answer{Witness: here, Size: 7, Err: &gateway.Moved{Size: size}})
		r.Add(gateway.Answer{Witness: there, Size: 7}, lines...)
	}
	if at := r.At[gateway.Signer(here.Key)]; at != 12 {
		t.Errorf("a witness that said 12, 9 and 7 is at %d", at)
	}
	r.Add(gateway.Answer{Witness: b.at(2, "here"), Size: 7, Err: errors.New("down")})
	if at, ok := r.At[gateway.Signer(b.witnesses[2].Key)]; ok {
		t.Errorf("a witness that said nothing is at %d", at)
	}
}

// TestConfirm: if another daemon is always with the witnesses first, the ledger is confirmed by a quorum that cosigned
// the newest cosigned checkpoint and said in this round that it has seen no more, and by nothing less.
func TestConfirm(t *testing.T) {
	t.Parallel()
	b := newBoard(t)
	h := b.head(7)
	r := gateway.NewRound()
	for i := range 2 {
		r.Add(gateway.Answer{Witness: b.at(i, "here"), Size: 7}, b.cosigned(i, h)...)
	}
	r.Sign(h, []*trust.Policy{b.policy})
	cosigned := h
	cosigned.Checkpoint = r.Head.Checkpoint
	for _, c := range []struct {
		name  string
		sizes map[int]uint64 // that witnesses say they are at
		want  bool
	}{
		{"nobody says anything", nil, false},
		{"both are where it is", map[int]uint64{0: 7, 1: 7}, true},
		{"both are there or below", map[int]uint64{0: 7, 1: 3}, true},
		{"one says nothing", map[int]uint64{0: 7}, false},
		{"one has seen more", map[int]uint64{0: 7, 1: 8}, false},
		{"both have seen more", map[int]uint64{0: 9, 1: 8}, false},
		{"another that did not cosign it is there", map[int]uint64{0: 7, 2: 7}, false},
		{"all three", map[int]uint64{0: 7, 1: 7, 2: 7}, true},
		{"the third has seen more", map[int]uint64{0: 7, 1: 7, 2: 8}, true},
	} {
		said := gateway.NewRound()
		for i, size := range c.sizes {
			said.Add(gateway.Answer{Witness: b.at(i, "here"), Err: &gateway.Moved{Size: size}})
		}
		if said.Confirms(cosigned, b.policy) != c.want {
			t.Errorf("%s: confirmed %v", c.name, !c.want)
		}
		if said.Confirms(cosigned, nil) {
			t.Errorf("%s: confirmed under no policy", c.name)
		}
	}
}

// TestOneQuestionForTwoKeys: a witness with two keys gets one request for a head, and its answer counts for each of its
// lines. A key that it has no more is missed, and the other line counts.
func TestOneQuestionForTwoKeys(t *testing.T) {
	t.Parallel()
	b := newBoard(t)
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	second, err := keys.GenerateMLDSA("witness.example.org/two")
	if err != nil {
		t.Fatal(err)
	}
	c := witness.Config{Name: "witness.example.org/two", Key: key, Second: second, Dir: t.TempDir(),
		Logs: []note.Verifier{b.key}, Now: time.Now, Log: slog.New(slog.DiscardHandler)}
	open := func() *witness.Witness {
		w, err := witness.Open(c)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	w := open()
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		w.ServeHTTP(rw, r)
	}))
	defer func() {
		server.Close()
		w.Close()
	}()
	policy, err := trust.ParsePolicy([]byte(w.PolicyLine(server.URL) + "\nquorum witness.example.org/two\n"))
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	said := make(map[string]error)
	noProof := func(context.Context, uint64, gateway.Head) ([]tlog.Hash, error) { return nil, nil }
	g := gateway.New(t.Context(), gateway.Log{Prove: noProof}, witness.Reach, func(a gateway.Answer) {
		mu.Lock()
		defer mu.Unlock()
		said[a.Witness.Name] = a.Err
	})
	cosign := func(size uint64, lines int) {
		t.Helper()
		before := requests.Load()
		r := g.Cosign(t.Context(), b.head(size), policy.Witnesses, policy)
		<-r.Heard
		if got := strings.Count(string(r.Head.Checkpoint), "\n— witness"); !r.Met || got != lines {
			t.Errorf("size %d: met %v with %d lines, want %d", size, r.Met, got, lines)
		}
		if n := requests.Load() - before; n != 1 {
			t.Errorf("size %d: %d requests", size, n)
		}
	}
	cosign(7, 2)
	w.Close()
	c.Second = nil
	w = open()
	cosign(7, 1)
	mu.Lock()
	defer mu.Unlock()
	if len(said) != 2 || len(policy.Witnesses) != 2 {
		t.Fatalf("answers for %d of %d lines", len(said), len(policy.Witnesses))
	}
	for _, one := range policy.Witnesses {
		if err := said[one.Name]; (err == nil) != (one.VKey == w.VKey()) {
			t.Errorf("line %s: %v", one.Name, err)
		}
	}
}
