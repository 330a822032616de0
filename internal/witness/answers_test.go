package witness_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/witness"
)

// wants is what C2SP tlog-witness says of a request to a witness that cosigned
// size known last; good says whether proof and root are those of the log.
func wants(known, old, size int64, proofGood, rootGood bool) int {
	switch {
	case old > size:
		return http.StatusBadRequest
	case old != known:
		return http.StatusConflict
	case old == size && !rootGood:
		return http.StatusConflict
	case !proofGood:
		return http.StatusUnprocessableEntity
	case old > 0 && !rootGood:
		return http.StatusUnprocessableEntity
	}
	return http.StatusOK
}

// wrongProofs returns proofs that do not prove what p does.
func wrongProofs(p []tlog.Hash) [][]tlog.Hash {
	other := tlog.RecordHash([]byte("other"))
	wrong := [][]tlog.Hash{append(slices.Clone(p), other), append([]tlog.Hash{other}, p...)}
	for i := range p {
		changed := slices.Clone(p)
		changed[i][0] ^= 1
		wrong = append(wrong, changed, slices.Delete(slices.Clone(p), i, i+1))
		if i > 0 && p[i] != p[i-1] {
			swapped := slices.Clone(p)
			swapped[i], swapped[i-1] = p[i-1], p[i]
			wrong = append(wrong, swapped)
		}
	}
	if len(p) > 0 {
		wrong = append(wrong, nil)
	}
	return wrong
}

// TestSmallTrees puts every request of sizes up to 8 to a witness in every state
// up to 8: with the right proof, with wrong ones, and with another root.
func TestSmallTrees(t *testing.T) {
	const limit = 8
	l := newTestLog(t, "example.org/log", "log")
	fork := l.forked(0)
	answered := map[int]int{}
	for known := int64(0); known <= limit; known++ {
		var w *testWitness
		var before string
		fresh := func() {
			w = openWitness(t, t.TempDir(), nil, l.vkey)
			if known > 0 {
				w.must(l, 0, known)
			}
			before = w.latest(l.origin)
		}
		fresh()
		for old := int64(0); old <= limit; old++ {
			for size := int64(0); size <= limit; size++ {
				try := func(what string, log *testLog, proof []tlog.Hash, proofGood bool) {
					t.Helper()
					rootGood := log == l || size == 0 // there is one empty tree
					want := wants(known, old, size, proofGood, rootGood)
					a := w.add(witness.Request{Old: old, Proof: proof, Checkpoint: log.signed(size)})
					where := fmt.Sprintf("known %d, old %d, size %d, %s", known, old, size, what)
					check(t, where, a, want, known, old)
					answered[want]++
					if want != http.StatusOK {
						if after := w.latest(l.origin); after != before {
							t.Fatalf("%s: the refusal left %q", where, after)
						}
						return
					}
					w.cosigned(log.text(size), []byte(a.body))
					if after := w.latest(l.origin); !strings.HasPrefix(after, string(log.signed(size))) {
						t.Fatalf("%s: %q is kept", where, after)
					}
					fresh()
				}
				right := l.proof(old, size)
				try("right", l, right, true)
				for i, wrong := range wrongProofs(right) {
					try(fmt.Sprint("wrong proof ", i), l, wrong, false)
				}
				try("another root", fork, right, true)
				try("another history", fork, fork.proof(old, size), true)
			}
		}
	}
	for _, status := range []int{200, 400, 409, 422} {
		if answered[status] < limit {
			t.Errorf("void: status %d was wanted %d times", status, answered[status])
		}
	}
}

// check holds an answer against the specification, down to its bytes.
func check(t *testing.T, where string, a got, want int, known, old int64) {
	t.Helper()
	if a.status != want {
		t.Fatalf("%s: %+v, want %d", where, a, want)
	}
	isSize := want == http.StatusConflict && old != known
	if isSize != (a.contentType == "text/x.tlog.size") {
		t.Fatalf("%s: content type %q", where, a.contentType)
	}
	if isSize && a.body != fmt.Sprintf("%d\n", known) {
		t.Fatalf("%s: body %q", where, a.body)
	}
}

// TestRefusals has what the small trees have not: notes, signatures, addresses.
func TestRefusals(t *testing.T) {
	l := newTestLog(t, "example.org/log", "log")
	thief := newTestLog(t, "example.org/log", "thief")
	other := newTestLog(t, "example.org/other", "log")
	w := openWitness(t, t.TempDir(), nil, l.vkey)
	w.must(l, 0, 3)
	before := w.latest(l.origin)

	signed := string(l.signed(5))
	proof := l.proof(3, 5)
	broken := signed[:len(signed)-8] + "AAAAAA=\n"
	text, _, _ := strings.Cut(signed, "\n\n")
	big := "example.org/log\n9007199254740992\n" + l.root(5).String() + "\n"
	for _, c := range []struct {
		name, checkpoint string
		want             int
	}{
		{"unknown log", string(other.signed(5)), 404},
		{"unknown log, unsigned", "example.org/unknown\n", 404},
		{"empty", "", 404},
		{"another key of that name", string(thief.signed(5)), 403},
		{"broken signature", broken, 403},
		{"another text under the signature", strings.Replace(signed, "\n5\n", "\n6\n", 1), 403},
		{"a good and a broken signature", signed + strings.SplitAfter(broken, "\n\n")[1], 200},
		{"a broken and a good signature", broken + strings.SplitAfter(signed, "\n\n")[1], 403},
		{"no signatures", text + "\n", 400},
		{"a blank line for signatures", text + "\n\n", 400},
		{"no line end", strings.TrimSuffix(signed, "\n"), 400},
		{"return", strings.ReplaceAll(signed, "\n", "\r\n"), 404},
		{"no root", string(sign(t, "example.org/log\n5\n", l.signer)), 400},
		{"leading zero", string(sign(t, strings.Replace(l.text(5), "\n5\n", "\n05\n", 1), l.signer)), 400},
		{"negative", string(sign(t, strings.Replace(l.text(5), "\n5\n", "\n-5\n", 1), l.signer)), 400},
		{"size above 2^53-1", string(sign(t, big, l.signer)), 400},
		{"short root", string(sign(t, "example.org/log\n5\nAAAA\n", l.signer)), 400},
		{"spare bits in the root", string(sign(t, "example.org/log\n5\n"+strings.Repeat("A", 42)+"B=\n", l.signer)),
			400},
		{"blank line in the text", string(sign(t, l.text(5)+"\nextension\n", l.signer)), 400},
	} {
		w := openWitness(t, t.TempDir(), nil, l.vkey)
		w.must(l, 0, 3)
		a := w.add(witness.Request{Old: 3, Proof: proof, Checkpoint: []byte(c.checkpoint)})
		if a.status != c.want || a.contentType != "text/plain; charset=utf-8" {
			t.Errorf("%s: %+v, want %d", c.name, a, c.want)
		}
		if kept := w.latest(l.origin); c.want != http.StatusOK && strings.HasPrefix(kept, string(l.signed(5))) {
			t.Errorf("%s: kept", c.name)
		}
	}
	for _, body := range []string{"", "old 0", "old x\n\n", "old 3\n\n" + strings.Repeat("x", witness.MaxRequest)} {
		if a := w.ask(http.MethodPost, "/add-checkpoint", []byte(body)); a.status != 400 {
			t.Errorf("%.20q: %+v", body, a)
		}
	}
	if w.latest(l.origin) != before {
		t.Error("a refusal changed the state")
	}
}

// TestEndlessBody is read up to the limit.
func TestEndlessBody(t *testing.T) {
	w := openWitness(t, t.TempDir(), nil, newTestLog(t, "example.org/log", "log").vkey)
	body, rec := new(endless), httptest.NewRecorder()
	w.w.ServeHTTP(rec, httptest.NewRequest(http.MethodPost, "/add-checkpoint", body))
	if rec.Code != http.StatusBadRequest || body.n > 2*witness.MaxRequest {
		t.Errorf("%d after %d bytes", rec.Code, body.n)
	}
}

func TestAddresses(t *testing.T) {
	l := newTestLog(t, "example.org/log", "log")
	w := openWitness(t, t.TempDir(), nil, l.vkey)
	body := witness.Request{Checkpoint: l.signed(3)}.Encode()
	for _, c := range []struct {
		method, path string
		want         int
	}{
		{"GET", "/add-checkpoint", 405},
		{"PUT", "/add-checkpoint", 405},
		{"OPTIONS", "/add-checkpoint", 405},
		{"POST", "/", 404},
		{"POST", "/add-checkpoint/", 404},
		{"POST", "//add-checkpoint", 404},
		{"POST", "/w/add-checkpoint", 404},
		{"POST", "/x/../add-checkpoint", 404},
		{"POST", monitoring(l.origin), 405},
		{"GET", monitoring(l.origin), 404}, // nothing yet
		{"GET", monitoring("example.org/unknown"), 404},
		{"GET", "/example.org/log/checkpoint", 404},
		{"GET", strings.ToUpper(monitoring(l.origin)), 404},
		{"GET", "/checkpoint", 404},
		{"GET", "/", 404},
		{"GET", "/healthz", 200},
		{"POST", "/healthz", 405},
		{"POST", "/add-checkpoint", 200},
		{"GET", monitoring(l.origin), 200},
		{"HEAD", monitoring(l.origin), 200},
		{"GET", "/" + monitoring(l.origin), 404},
	} {
		if a := w.ask(c.method, c.path, body); a.status != c.want || c.method == "HEAD" && a.body != "" {
			t.Errorf("%s %s: %+v, want %d", c.method, c.path, a, c.want)
		}
	}
	// The note of the monitoring address has the log's signature and ours, in that order.
	n, err := note.Open([]byte(w.latest(l.origin)), note.VerifierList(mustVerifier(t, l.vkey), w.key))
	if err != nil || len(n.Sigs) != 2 || n.Sigs[0].Name != l.origin || n.Sigs[1].Name != witnessName ||
		len(n.UnverifiedSigs) != 0 {
		t.Errorf("%+v, %v", n, err)
	}
}

// TestForkLeavesEvidence has a log show two histories under its real key. The
// second is refused, and its signed checkpoint kept in the log of the witness.
func TestForkLeavesEvidence(t *testing.T) {
	l := newTestLog(t, "example.org/log", "log")
	fork := l.forked(4)
	w := openWitness(t, t.TempDir(), nil, l.vkey)
	w.must(l, 0, 6)
	for _, c := range []struct {
		name string
		r    witness.Request
		want int
		kept bool
	}{
		{"longer fork", witness.Request{Old: 6, Proof: fork.proof(6, 9), Checkpoint: fork.signed(9)}, 422, true},
		{"fork of the same size", witness.Request{Old: 6, Checkpoint: fork.signed(6)}, 409, true},
		{"rollback", witness.Request{Old: 3, Proof: l.proof(3, 5), Checkpoint: l.signed(5)}, 409, false},
		{"rollback that claims the size", witness.Request{Old: 6, Checkpoint: l.signed(5)}, 400, false},
		{"anew", witness.Request{Checkpoint: fork.signed(9)}, 409, false},
		{"rollback to nothing", witness.Request{Checkpoint: l.signed(0)}, 409, false},
	} {
		w.log.Reset()
		if a := w.add(c.r); a.status != c.want {
			t.Errorf("%s: %+v", c.name, a)
		}
		quoted := strings.Trim(fmt.Sprintf("%q", c.r.Checkpoint[len(c.r.Checkpoint)-40:]), `"`)
		if kept := strings.Contains(w.log.String(), quoted); kept != c.kept {
			t.Errorf("%s: checkpoint in the log: %v\n%s", c.name, kept, w.log)
		}
	}
	w.must(l, 6, 9)
}

// TestManyLogs has logs of one witness keep apart, and a log whose signing key is rotated sign with either key or both.
func TestManyLogs(t *testing.T) {
	a, b := newTestLog(t, "example.org/a", "one key"), newTestLog(t, "example.org/b", "one key")
	rotated := newTestLog(t, "example.org/a", "the next key")
	dir := t.TempDir()
	w := openWitness(t, dir, nil, a.vkey, rotated.vkey, b.vkey)
	w.must(a, 0, 4)
	w.must(b, 0, 2)
	w.must(a, 4, 5)
	both := sign(t, a.text(6), a.signer, rotated.signer)
	if got := w.add(witness.Request{Old: 5, Proof: a.proof(5, 6), Checkpoint: both}); got.status != http.StatusOK {
		t.Errorf("signed with both keys: %+v", got)
	}
	if kept := w.latest(a.origin); !strings.HasPrefix(kept, string(both)) {
		t.Errorf("both signatures are not kept: %q", kept)
	}
	w.must(rotated, 6, 7)
	if got := w.add(witness.Request{Old: 7, Proof: a.proof(7, 8),
		Checkpoint: sign(t, b.text(8), a.signer)}); got.status != 403 {
		t.Errorf("another log's text under this log's key: %+v", got)
	}
	if got := w.latest(b.origin); !strings.HasPrefix(got, string(b.signed(2))) {
		t.Errorf("the other log: %q", got)
	}
	w.w.Close()
	// The old key is not trusted any more, and what it signed still counts.
	w = openWitness(t, dir, nil, rotated.vkey)
	w.must(rotated, 7, 8)
	if got := w.add(witness.Request{Old: 8, Proof: a.proof(8, 9), Checkpoint: a.signed(9)}); got.status != 403 {
		t.Errorf("the old key: %+v", got)
	}
	if got := w.add(witness.Request{Old: 2, Proof: b.proof(2, 3), Checkpoint: b.signed(3)}); got.status != 404 {
		t.Errorf("a log that is not configured any more: %+v", got)
	}
	if _, err := os.Stat(stateFile(dir, b.origin)); err != nil {
		t.Errorf("its state: %v", err)
	}
}

// TestForeignSignaturesAndExtensions: other witnesses' lines are not kept, and
// extension lines, which foreign logs have, are cosigned.
func TestForeignSignaturesAndExtensions(t *testing.T) {
	l, stranger := newTestLog(t, "example.org/log", "log"), newTestLog(t, "example.org/stranger", "stranger")
	w := openWitness(t, t.TempDir(), nil, l.vkey)
	text := l.text(3) + "an extension\nanother one\n"
	a := w.add(witness.Request{Checkpoint: sign(t, text, stranger.signer, l.signer)})
	if a.status != http.StatusOK {
		t.Fatalf("%+v", a)
	}
	w.cosigned(text, []byte(a.body))
	if kept := w.latest(l.origin); kept != string(sign(t, text, l.signer))+a.body {
		t.Errorf("%q is kept", kept)
	}
	// The same tree, said without the extensions.
	w.must(l, 3, 3)
}
