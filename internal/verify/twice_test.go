package verify

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
)

// wholes are files with every member that a transcript can have: the keys of two
// rotations, what the witnesses saw, and all types of entries.
func wholes(p *player) []*openings.Transcript {
	hand := func(g *game) {
		g.h.witnesses = []keyPair{p.a, p.b}
		g.witness().h.rotate("second ledger key")
	}
	cards := mixed(p.t, hand).deal(seat("seat-1", 2)).deal(board(1))
	cards.h.rotate("third ledger key")
	cards.close(audit.OutcomeEndedEarly, 0).state(firstLab, secondLab)
	h := open(p.t)
	draws := h.commitTo(h.draws(6, 37, 1000), nil)
	hand(draws)
	draws.deal(board(2)).close(audit.OutcomeCompleted, 0)
	return []*openings.Transcript{cards.transcript(""), cards.transcript("seat-1"), draws.transcript("")}
}

// A wrong is one thing that is wrong with a transcript.
type wrong struct {
	name string
	do   func(p *player, f *openings.Transcript)
}

// inText is what can be wrong with the text of a receipt.
var inText = []struct {
	name string
	do   func(p *player, text string) string
}{
	{"version", func(_ *player, s string) string { return strings.Replace(s, "@v1", "@v2", 1) }},
	{"no version", func(_ *player, s string) string { return strings.Replace(s, "@v1", "@v01", 1) }},
	{"end", func(_ *player, s string) string { return s + "x" }},
	{"empty entry", func(p *player, s string) string { return reread(p, s, func(r *audit.Receipt) { r.Entry = nil }) }},
	{"later entry", func(p *player, s string) string {
		return reread(p, s, func(r *audit.Receipt) { r.Entry[0] = 2 })
	}},
	{"later type", func(p *player, s string) string {
		return reread(p, s, func(r *audit.Receipt) { r.Entry[1] = 15 })
	}},
	{"byte", func(p *player, s string) string {
		return reread(p, s, func(r *audit.Receipt) { r.Entry[p.IntN(len(r.Entry))] = byte(p.IntN(12)) })
	}},
	{"cut entry", func(p *player, s string) string {
		return reread(p, s, func(r *audit.Receipt) { r.Entry = r.Entry[:1+p.IntN(len(r.Entry)-1)] })
	}},
	{"index", func(p *player, s string) string {
		return reread(p, s, func(r *audit.Receipt) { r.Index = p.Uint64N(12) })
	}},
	{"proof", func(p *player, s string) string {
		return reread(p, s, func(r *audit.Receipt) { r.Proof = r.Proof[:p.IntN(len(r.Proof))] })
	}},
	{"size", func(p *player, s string) string {
		return reread(p, s, func(r *audit.Receipt) {
			lines := strings.Split(string(r.Checkpoint), "\n")
			if len(lines) > 1 {
				lines[1] = fmt.Sprint(p.IntN(12))
			}
			r.Checkpoint = []byte(strings.Join(lines, "\n"))
		})
	}},
	{"origin", func(p *player, s string) string {
		return strings.ReplaceAll(s, "example.com/main", "example.com/mine")
	}},
	{"signature", func(p *player, s string) string {
		return reread(p, s, func(r *audit.Receipt) {
			r.Checkpoint = resigned(r.Checkpoint, func(b []byte) {
				if len(b) > 9 {
					b[9] ^= 1
				}
			})
		})
	}},
	{"line", func(p *player, s string) string { return p.rewritten(s) }},
}

// reread edits a receipt, if it is one still.
func reread(p *player, text string, edit func(*audit.Receipt)) string {
	r, err := audit.ParseReceipt(text)
	if err != nil || len(r.Proof) == 0 || len(r.Entry) < 2 {
		return text + "x"
	}
	r.Entry = bytes.Clone(r.Entry)
	edit(&r)
	return r.Text()
}

// early is a text of the member witnessed, or the file's checkpoint where there is none.
func early(p *player, f *openings.Transcript) *string {
	if f.Witnessed == nil {
		return &f.Checkpoint
	}
	return pick(p, &f.Witnessed.Checkpoint, &f.Checkpoint)
}

// wrongs are all of them, for each part of a transcript.
func wrongs() (all []wrong) {
	parts := map[string]func(p *player, f *openings.Transcript) *string{
		"receipt":    func(p *player, f *openings.Transcript) *string { return &f.Receipts[p.IntN(len(f.Receipts))] },
		"checkpoint": func(_ *player, f *openings.Transcript) *string { return &f.Checkpoint },
		"witnessed":  func(p *player, f *openings.Transcript) *string { return early(p, f) },
		"key": func(p *player, f *openings.Transcript) *string {
			if len(f.Keys) == 0 {
				return early(p, f)
			}
			k := &f.Keys[p.IntN(len(f.Keys))]
			return pick(p, &k.Receipt, &k.Receipt, &k.Checkpoint)
		},
	}
	parts["statement"] = func(p *player, f *openings.Transcript) *string {
		if len(f.Statements) == 0 {
			return early(p, f)
		}
		return &f.Statements[p.IntN(len(f.Statements))]
	}
	for _, name := range []string{"checkpoint", "receipt", "witnessed", "key", "statement"} {
		part := parts[name]
		for _, w := range inText {
			all = append(all, wrong{name + " " + w.name,
				func(p *player, f *openings.Transcript) { text := part(p, f); *text = w.do(p, *text) }})
		}
		all = append(all, wrong{name + " of another place", func(p *player, f *openings.Transcript) {
			*part(p, f) = pick(p, append(slices.Clone(f.Receipts), *early(p, f), f.Checkpoint)...)
		}})
	}
	all = append(all, listed("receipts", func(f *openings.Transcript) *[]string { return &f.Receipts })...)
	all = append(all, listed("keys", func(f *openings.Transcript) *[]audit.Handover { return &f.Keys })...)
	all = append(all, listed("statements", func(f *openings.Transcript) *[]string { return &f.Statements })...)
	all = append(all, listed("names", func(f *openings.Transcript) *[]string { return &f.Deck })...)
	card := func(name string, do func(p *player, c *openings.Card)) {
		all = append(all, wrong{"card " + name, func(p *player, f *openings.Transcript) {
			if len(f.Cards) > 0 {
				do(p, &f.Cards[p.IntN(len(f.Cards))])
			}
		}})
	}
	card("place", func(p *player, c *openings.Card) { c.Place = pick(p, -1, 1, 4095, 4096, 1<<40) })
	card("position", func(p *player, c *openings.Card) { c.Position = pick(p, -1, 1, 4095, 4096, 1<<40) })
	card("value", func(p *player, c *openings.Card) { c.Value = pick[uint32](p, 0, 1, 5, 1<<32-1) })
	card("name", func(p *player, c *openings.Card) { c.Card = pick(p, "", "As", "\u200b") })
	card("salt", func(p *player, c *openings.Card) {
		c.Salt = pick(p, "", "x", c.Salt+"=", strings.ToLower(c.Salt), strings.TrimRight(c.Salt, "="))
	})
	card("13 hashes", func(_ *player, c *openings.Card) { c.Proof = slices.Repeat([]string{c.Salt}, 13) })
	card("proof", func(p *player, c *openings.Card) {
		c.Proof = append(slices.Clone(c.Proof), pick(p, "", c.Salt, base64.StdEncoding.EncodeToString([]byte("short"))))
	})
	return append(all, wrong{"id", func(p *player, f *openings.Transcript) {
		f.ID = pick[uint64](p, 0, 1, f.ID+1, audit.MaxInteger+1)
	}},
		wrong{"recipient", func(p *player, f *openings.Transcript) { f.Recipient = pick(p, "", "seat-2", "no name") }},
		wrong{"no deck", func(_ *player, f *openings.Transcript) { f.Deck = nil }},
		wrong{"no cards", func(_ *player, f *openings.Transcript) { f.Cards = []openings.Card{} }},
	)
}

// listed are the wrongs of a list.
func listed[T any](name string, of func(*openings.Transcript) *[]T) []wrong {
	return []wrong{
		{name + " missing", func(p *player, f *openings.Transcript) {
			if l := of(f); len(*l) > 0 {
				i := p.IntN(len(*l))
				*l = slices.Delete(*l, i, i+1)
			}
		}},
		{name + " twice", func(p *player, f *openings.Transcript) {
			if l := of(f); len(*l) > 0 {
				*l = slices.Insert(*l, p.IntN(len(*l)), pick(p, *l...))
			}
		}},
		{name + " exchanged", func(p *player, f *openings.Transcript) {
			if l := *of(f); len(l) > 0 {
				i, j := p.IntN(len(l)), p.IntN(len(l))
				l[i], l[j] = l[j], l[i]
			}
		}},
	}
}

// TestTwoWrongsInBoth damages a file in two places, in any order, and has both
// implementations judge it: what comes first decides for both (docs/SPEC.md section
// 1.4). SHUFFLED_SEED and SHUFFLED_FILES are as in TestBothImplementations.
func TestTwoWrongsInBoth(t *testing.T) {
	t.Parallel()
	js, seed := openJavaScript(t), setting(t, "SHUFFLED_SEED", rand.Uint64()>>1)
	p := newPlayer(t, seed)
	honest, all, seen, differing := wholes(p), wrongs(), map[string]int{}, 0
	trusts := []Trust{{VKey: p.key.vkey, Auditors: []string{lab(t, firstLab).vkey}}, {},
		{Policy: []byte(p.policy("quorum a\n"))}}
	for _, f := range honest {
		b, err := f.Marshal()
		must(t, err)
		for _, trust := range trusts {
			if v, diff := js.differ(b, trust); v.Verdict == Failed || v.Verdict == CannotJudge || diff != "" {
				t.Fatalf("the honest file: %+v %s", v, diff)
			}
		}
	}
	for i := range int(setting(t, "SHUFFLED_FILES", 2000)) {
		f := copyOf(pick(p, honest...))
		one, two := pick(p, all...), pick(p, all...)
		one.do(p, f)
		if len(f.Receipts) > 0 {
			two.do(p, f)
		}
		file, err := f.Marshal()
		if err != nil {
			continue // it has no form
		}
		v, diff := js.differ(file, pick(p, trusts...))
		seen[v.Verdict+" "+v.Failed]++
		if diff == "" {
			continue
		}
		t.Errorf("SHUFFLED_SEED=%d, file %d, %s and %s (-Go +JavaScript):\n%s\nGo: %+v", seed, i, one.name, two.name,
			diff, v.Steps)
		if differing++; differing == 5 {
			t.FailNow()
		}
	}
	t.Logf("SHUFFLED_SEED=%d: %v", seed, seen)
	for _, want := range []string{"cannot judge ", "failed format", "failed entries", "failed signature",
		"failed inclusion", "failed openings"} {
		if seen[want] == 0 {
			t.Errorf("no file is %q", want)
		}
	}
}
