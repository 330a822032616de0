package verify

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
)

// TestEveryByteCounts changes every byte of honest files to three other values.
// None of them holds: there is no byte that does not matter.
func TestEveryByteCounts(t *testing.T) {
	t.Parallel()
	h := open(t)
	g := h.commitTo(h.draws(6, 6), nil).deal(board(1), seat("seat-1", 1)).close(audit.OutcomeCompleted, 0)
	m := mixedDraws(t).deal(board(1))
	files := map[string][]byte{
		"closed":    g.file(""),
		"recipient": g.file("seat-1"),
		"mixed":     m.file(""),
		"witnessed": h.commitTo(h.draws(6), nil).witness().deal(board(1)).file(""),
		"receipt":   []byte(h.receipt(g.id).Text()),
		"last":      []byte(h.receipt(uint64(len(h.entries) - 1)).Text()),
	}
	trust := Trust{VKey: h.key.vkey}
	for name, file := range files {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if v := File(file, trust); v.Verdict != Proved {
				t.Fatalf("the honest file: %+v", v)
			}
			held := 0
			for i := range file {
				for _, with := range []byte{file[i] ^ 0x01, file[i] ^ 0x20, file[i] + 1 | 0x80} {
					changed := bytes.Clone(file)
					changed[i] = with
					if v := File(changed, trust); with != file[i] && (v.Verdict == Proved || v.Verdict == Consistent) {
						t.Errorf("byte %d changed from %q to %q: %s", i, file[i], with, v.Verdict)
						if held++; held > 20 {
							t.FailNow()
						}
					}
				}
			}
		})
	}
}

// TestEveryByteOfCosigned does the same to a cosigned receipt. A cosignature is evidence for anyone who asks for it:
// under a policy every byte of it matters, and under a key alone none, since nothing is claimed from it.
func TestEveryByteOfCosigned(t *testing.T) {
	t.Parallel()
	h := open(t)
	w := newKey(t, "witness.example/1", "w1")
	h.witnesses = []keyPair{w}
	file := []byte(h.receipt(1).Text())
	vkey, _ := w.witnessKey()
	line := bytes.Index(file, []byte("— witness.example"))
	name := line + len("— ")
	for trust, from := range map[string]int{"key": line, "policy": len(file)} {
		p := Trust{VKey: h.key.vkey}
		if trust == "policy" {
			p = Trust{Policy: fmt.Appendf(nil, "log %s\nwitness w %s\nquorum w\n", h.key.vkey, vkey)}
		}
		for i := range file {
			for _, with := range []byte{file[i] ^ 0x01, file[i] ^ 0x03, file[i] ^ 0x20} {
				changed := bytes.Clone(file)
				changed[i] = with
				if v := File(changed, p); v.Verdict == Proved && i < from {
					t.Errorf("under a %s: byte %d changed from %q to %q: %s", trust, i, file[i], with, v.Verdict)
				}
			}
		}
	}
	// The name of an unknown signer may read as one likes, under a key alone.
	file[name] = 'W'
	if v := File(file, Trust{VKey: h.key.vkey}); v.Verdict != Proved {
		t.Errorf("another signer's name: %+v", v)
	}
}

// truth is what a house wrote and dealt, as an oracle for any file under its key.
type truth struct {
	h      *house
	heads  []string // the checkpoints that the house signed
	games  map[uint64]*game
	policy Trust // two of three witnesses
}

// lies returns what a file that was proved says alongside the truth.
func (w truth) lies(v *Verdict, file []byte) error {
	if v.Verdict != Proved {
		return nil
	}
	texts, signed := []string{string(file)}, []string(nil)
	if v.Kind == KindTranscript {
		f, err := openings.ParseTranscript(file)
		if err != nil {
			return err
		}
		texts = nil
		for i := range f.Receipts {
			texts = append(texts, f.Receipt(i))
		}
		if f.Witnessed != nil {
			signed = append(signed, f.Witnessed.Checkpoint)
		}
		if v.Level == LevelWitnessed {
			if err := late(f); err != nil {
				return err
			}
		}
	}
	for _, text := range texts {
		r, err := audit.ParseReceipt(text)
		if err != nil {
			return err
		}
		if r.Index >= uint64(len(w.h.entries)) || !bytes.Equal(r.Entry, w.h.entries[r.Index]) {
			return fmt.Errorf("entry %d is not the ledger's", r.Index)
		}
		signed = append(signed, string(r.Checkpoint))
	}
	for _, one := range signed {
		text, _, _ := strings.Cut(one, "\n\n")
		if !slices.ContainsFunc(w.heads, func(head string) bool { return strings.HasPrefix(head, text+"\n\n") }) {
			return fmt.Errorf("a checkpoint that the house never signed: %q", text)
		}
	}
	for _, t := range v.Takeovers {
		if owner := w.owner(v.ID, t.Index); v.Outcome != "" && t.From != owner {
			return fmt.Errorf("entry %d takes over from %s, and the file says from %s", t.Index, owner, t.From)
		}
	}
	for _, c := range v.Cards {
		g := w.games[v.ID]
		want := g.card(c.Place)
		if got := (openings.Card{Place: c.Place, Position: c.Position, Value: c.Value,
			Card: c.Name}); got.Position != want.Position ||
			got.Value != want.Value || got.Card != want.Card || c.Place >= g.next() {
			return fmt.Errorf("place %d shows %+v, where the house dealt %+v", c.Place, got, want)
		}
	}
	return nil
}

// owner returns who owned the shuffle in front of the entry with this index.
func (w truth) owner(id, index uint64) (owner string) {
	for i, b := range w.h.entries[:index] {
		e, err := audit.ParseEntry(b)
		if _, taken := e.Body.(*audit.Takeover); err == nil &&
			(uint64(i) == id || taken && audit.ShuffleOf(e.Body) == id) {
			owner = e.Actor.Identity
		}
	}
	return owner
}

// late reports that the early checkpoint of a file says nothing of its commit, or nothing early.
func late(f *openings.Transcript) error {
	head, err := audit.CheckpointText([]byte(f.Witnessed.Checkpoint))
	if err != nil {
		return err
	}
	first := ^uint64(0)
	for _, text := range f.Receipts[2:] {
		next, err := audit.ParseReceipt(text)
		if err != nil {
			return err
		}
		if t := audit.Type(next.Entry[1]); t == audit.TypeMix || t == audit.TypeDeal {
			first = min(first, next.Index)
		}
	}
	if head.Size <= f.ID || head.Size > first {
		return fmt.Errorf("witnessed at %d entries of commit %d, where entry %d began the play", head.Size, f.ID, first)
	}
	return nil
}

// world returns a house with one shuffle and one draw list, and their files. Its
// key is its own, so that a vector changed by the fuzzer is not its word.
func world(t testing.TB) (truth, [][]byte) {
	h := openAs(t, newKey(t, "example.com/world", "world key"))
	w := newTrio(t)
	w.key = h.key
	h.witnesses = []keyPair{w.a, w.b}
	var heads []string
	witness := func(g *game) *game { heads = append(heads, string(h.head())); return g.witness() }
	a := witness(h.commitTo(h.cards(sixCards), sixCards)).deal(seat("seat-1", 2),
		board(1)).close(audit.OutcomeEndedEarly, 0)
	ctx := h.draws(6, 37, 1000)
	ctx.Plan = []audit.Planned{{Source: audit.SourceSlot,
		Slot: audit.SlotHash(h.key.name, ctx.Table, hash32("slot 1"))}}
	b := witness(h.commitTo(ctx, nil)).mix(mixValues()[0]).deal(board(2))
	c := witness(h.commitTo(h.cards(sixCards), sixCards)).deal(board(1)).takeOver("second", audit.ExtentPlay).
		takeOver("third", audit.ExtentPlay)
	files := [][]byte{a.file(""), a.file("seat-1"), b.file(""), c.file("")}
	heads = append(heads, string(h.head()))
	files = append(files, c.close(audit.OutcomeEndedEarly, 0).file(""))
	for i := range uint64(len(h.entries)) {
		files = append(files, []byte(h.receipt(i).Text()))
	}
	heads = append(heads, string(h.head()))
	games := map[uint64]*game{a.id: a, b.id: b, c.id: c}
	return truth{h, heads, games, Trust{Policy: []byte(w.policy(twoOfThree))}}, files
}

// FuzzTranscript and FuzzReceipt: whatever the bytes, there is a verdict, and
// what is proved is true. (A file may leave things out; see section 10.)
func FuzzTranscript(f *testing.F) { fuzz(f, Transcript) }

func FuzzReceipt(f *testing.F) { fuzz(f, Receipt) }

func fuzz(f *testing.F, judge func([]byte, Trust) *Verdict) {
	w, files := world(f)
	for _, file := range files {
		f.Add(file)
	}
	for _, dir := range []string{"good", "bad"} {
		for _, v := range load(f, dir) {
			if len(v.bytes()) < 10_000 {
				f.Add(v.bytes())
			}
		}
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		for _, trust := range []Trust{{}, {VKey: w.h.key.vkey}, w.policy} {
			v := judge(file, trust)
			checkShape(t, v)
			if trust.VKey == "" && trust.Policy == nil {
				if v.Verdict == Proved {
					t.Error("proved, though nothing is trusted")
				}
				continue
			}
			if err := w.lies(v, file); err != nil {
				t.Errorf("proved, and untrue: %v", err)
			}
		}
	})
}
