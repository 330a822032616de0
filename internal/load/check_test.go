package load

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/keys"
	"shuffled/internal/shuffle"
)

const origin = "example.com/load"

// signed is a ledger of these entries under one checkpoint.
type signed struct {
	checkpoint []byte
	receipts   []string
}

// sign makes the receipts of a ledger; a whole ledger's legality is nobody's
// business here.
func sign(t *testing.T, key *keys.SigningKey, bodies ...audit.Body) signed {
	t.Helper()
	var entries [][]byte
	var hashes []tlog.Hash
	reader := tlog.HashReaderFunc(func(indexes []int64) (out []tlog.Hash, err error) {
		for _, i := range indexes {
			out = append(out, hashes[i])
		}
		return out, nil
	})
	for i, body := range bodies {
		b, err := audit.Entry{Time: 1_700_000_000_000, Actor: "tok_x", Body: body}.Encode()
		if err != nil {
			t.Fatal(err)
		}
		more, err := tlog.StoredHashes(int64(i), b, reader)
		if err != nil {
			t.Fatal(err)
		}
		entries, hashes = append(entries, b), append(hashes, more...)
	}
	n := int64(len(entries))
	root, err := tlog.TreeHash(n, reader)
	if err != nil {
		t.Fatal(err)
	}
	s := signed{}
	s.checkpoint, err = note.Sign(&note.Note{Text: audit.Checkpoint{Origin: origin, Size: uint64(n), Root: root}.Text()}, key.Signer())
	if err != nil {
		t.Fatal(err)
	}
	for i, b := range entries {
		p, err := tlog.ProveRecord(n, int64(i), reader)
		if err != nil {
			t.Fatal(err)
		}
		s.receipts = append(s.receipts, audit.Receipt{Index: uint64(i), Entry: b, Proof: p, Checkpoint: s.checkpoint}.Text())
	}
	return s
}

func text(t *testing.T, a any) []byte {
	t.Helper()
	b, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestCheck accepts what was asked for and proved, and nothing else.
func TestCheck(t *testing.T) {
	key, err := keys.GenerateSigning(origin)
	if err != nil {
		t.Fatal(err)
	}
	other, err := keys.GenerateSigning(origin)
	if err != nil {
		t.Fatal(err)
	}
	pinned, err := audit.ParseVKey(key.VKey())
	if err != nil {
		t.Fatal(err)
	}
	standard, _ := shuffle.Named("standard-52")
	commit := func(i int) *audit.Commit {
		return &audit.Commit{
			Context:    &audit.Context{Origin: origin, Table: "t-1", DeckHash: standard.Hash(), Recipe: shuffle.Recipe{Cards: 52, Take: 52}, Disclosure: audit.DisclosurePublic},
			Commitment: [32]byte{1, byte(i)}, DeckRoot: [32]byte{2, byte(i)}, Serial: uint64(i + 1), Previous: uint64(i), CloseBy: 1, KeyTag: audit.KeyTagOf(origin, "t-1", "k", i),
		}
	}
	deal := &audit.Deal{Shuffle: 1, First: 4, Runs: []audit.Run{{Count: 2, Purpose: audit.PurposeSeat, Recipient: "seat-1"}}}
	end := &audit.Close{Shuffle: 1, Outcome: audit.OutcomeCompleted, Form: audit.FormTape, Tape: make([]byte, 129)}
	early := &audit.Close{Shuffle: 1, Outcome: audit.OutcomeEndedEarly, Form: audit.FormTape, Tape: make([]byte, 129)}
	marked := commit(0)
	marked.Context.DeckHash = [32]byte{1}
	stacked := sign(t, key, deal, marked)
	l := sign(t, key, deal, commit(0), commit(1), deal, end)
	fork := sign(t, key, deal, commit(0), commit(1), deal, early)
	foreign := sign(t, other, deal, commit(0), commit(1), deal, end)
	one := func(i, n int) answer {
		return answer{ID: uint64(i), Commitment: []byte{1, byte(n), 31: 0}, DeckRoot: []byte{2, byte(n), 31: 0}, Receipt: l.receipts[i]}
	}
	batch := func(a ...answer) any { return map[string]any{"shuffles": a} }
	receipt := func(r string) any { return map[string]any{"receipt": r} }
	single := claim{kind: Commit, count: 1, key: "k", table: "t-1", answer: text(t, one(1, 0))}
	pair := claim{kind: Commit, count: 2, key: "k", table: "t-1", answer: text(t, batch(one(1, 0), one(2, 1)))}
	dealt := claim{kind: Deal, shuffle: 1, first: 4, count: 2, answer: text(t, receipt(l.receipts[3]))}
	closed := claim{kind: Close, shuffle: 1, answer: text(t, receipt(l.receipts[4]))}

	lying := func(c claim, change func(*claim)) claim {
		c.answer = bytes.Clone(c.answer)
		change(&c)
		return c
	}
	say := func(a any) func(*claim) { return func(c *claim) { c.answer = text(t, a) } }
	// The same checkpoint, of which one byte of the signature is another's.
	resigned := l.receipts[3]
	if i := strings.LastIndex(resigned, " "); resigned[i+20] == 'A' {
		resigned = resigned[:i+20] + "B" + resigned[i+21:]
	} else {
		resigned = resigned[:i+20] + "A" + resigned[i+21:]
	}
	for name, c := range map[string]struct {
		claims []claim
		says   string // of the last claim; empty: all hold
	}{
		"all four":                       {[]claim{pair, dealt, closed}, ""},
		"a single commit":                {[]claim{single}, ""},
		"an entry twice":                 {[]claim{dealt, dealt}, "entry 3 answers two requests"},
		"a commit twice":                 {[]claim{single, pair}, "entry 1 answers two requests"},
		"another key":                    {[]claim{lying(single, func(c *claim) { c.key = "k2" })}, "not asked for"},
		"another table":                  {[]claim{lying(single, func(c *claim) { c.table = "t-2" })}, "not asked for"},
		"a deal for one":                 {[]claim{lying(single, say(answer{ID: 3, Receipt: l.receipts[3]}))}, "a deal that was not asked for"},
		"another id":                     {[]claim{lying(single, func(c *claim) { c.answer = bytes.Replace(c.answer, []byte(`"id":1`), []byte(`"id":2`), 1) })}, "it is of shuffle 2"},
		"another commitment":             {[]claim{lying(single, say(answer{ID: 1, Commitment: []byte{9}, DeckRoot: []byte{2, 31: 0}, Receipt: l.receipts[1]}))}, "another commitment"},
		"another root":                   {[]claim{lying(single, say(answer{ID: 1, Commitment: []byte{1, 31: 0}, DeckRoot: []byte{9}, Receipt: l.receipts[1]}))}, "another commitment or deck root"},
		"another deck":                   {[]claim{lying(single, say(answer{ID: 1, Commitment: []byte{1, 31: 0}, DeckRoot: []byte{2, 31: 0}, Receipt: stacked.receipts[1]}))}, "another deck"},
		"one too few":                    {[]claim{lying(pair, say(batch(one(1, 0))))}, "2 shuffles were asked for, and 1"},
		"in another order":               {[]claim{lying(pair, say(batch(one(2, 1), one(1, 0))))}, "not asked for"},
		"the second's key":               {[]claim{lying(single, say(one(2, 1)))}, "not asked for"},
		"another shuffle":                {[]claim{lying(dealt, func(c *claim) { c.shuffle = 2 })}, "not asked for"},
		"another place":                  {[]claim{lying(dealt, func(c *claim) { c.first = 6 })}, "not asked for"},
		"fewer cards":                    {[]claim{lying(dealt, func(c *claim) { c.count = 3 })}, "not asked for"},
		"a close for a deal":             {[]claim{lying(dealt, say(receipt(l.receipts[4])))}, "a close that was not asked for"},
		"a deal for a close":             {[]claim{lying(closed, say(receipt(l.receipts[3])))}, "a deal that was not asked for"},
		"another's close":                {[]claim{lying(closed, func(c *claim) { c.shuffle = 2 })}, "not asked for"},
		"another outcome":                {[]claim{lying(closed, say(receipt(fork.receipts[4])))}, "a close that was not asked for"},
		"another ledger key":             {[]claim{lying(dealt, say(receipt(foreign.receipts[3])))}, "not signed by the ledger's key"},
		"a known checkpoint signed anew": {[]claim{closed, lying(dealt, say(receipt(resigned)))}, "not signed by the ledger's key"},
		"a fork":                         {[]claim{closed, lying(dealt, say(receipt(fork.receipts[3])))}, "the ledger was forked"},
		"another entry's proof":          {[]claim{lying(dealt, say(receipt(strings.Replace(l.receipts[0], "index 0\n", "index 3\n", 1))))}, "does not lead"},
		"no JSON":                        {[]claim{lying(dealt, func(c *claim) { c.answer = c.answer[1:] })}, "not what the contract says"},
	} {
		k := newChecker([]note.Verifier{pinned}, "standard-52")
		for i, claim := range c.claims {
			err := k.check(&claim)
			if last := i == len(c.claims)-1; !last || c.says == "" {
				if err != nil {
					t.Errorf("%s: claim %d: %v", name, i, err)
				}
			} else if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v; want %q", name, err, c.says)
			}
		}
	}
}

// TestJudged notes what the daemon itself does not prove.
func TestJudged(t *testing.T) {
	var k kept
	for i, verdict := range []string{`{"verdict":"proved","level":"recorded"}`, `{"verdict":"failed"}`, `{"Verdict":"proved"}`, `proved`} {
		k.judged([]byte(verdict))
		if want := min(i, 3); len(k.unproved) != want {
			t.Errorf("%s: %s", verdict, fmt.Sprint(len(k.unproved)))
		}
	}
}
