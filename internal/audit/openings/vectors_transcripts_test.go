package openings

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/spec"
)

type transcriptCase struct {
	Name string `json:"name"`
	Text string `json:"text"`
	Want string `json:"want,omitempty"`
}

type transcriptVectors struct {
	spec.VectorHead
	Good []transcriptCase `json:"good"`
	Bad  []transcriptCase `json:"bad"`
}

var transcriptHead = spec.NewHead("transcripts",
	"The form of transcripts, docs/SPEC.md section 8: step format of section 10.1 without the receipts, which are in receipts.json, and without the limits.",
	"good: a reader takes text and would write the same bytes. bad: want is malformed or unknown (section 1.4).")

func makeTranscripts() transcriptVectors {
	v := transcriptVectors{VectorHead: transcriptHead}
	tr := sampleTranscript()
	opening, err := tr.Cards[0].Opening()
	if err != nil {
		panic(err)
	}
	last := audit.Last{Leaf: opening.Salt, Proof: opening.Proof}
	for _, c := range []struct {
		name   string
		change func(*Transcript)
	}{
		{"a recipient's file", func(*Transcript) {}},
		{"everybody's file", func(t *Transcript) { t.Recipient = "" }},
		{"a draw list: no deck, no names", func(t *Transcript) {
			t.Recipient, t.Deck, t.Cards = "", nil, []Card{sampleCard(0, 0, "")}
		}},
		{"with an early checkpoint", func(t *Transcript) {
			t.Witnessed = &Prefix{t.Checkpoint, last}
		}},
		{"an early checkpoint that is the file's own in a tree of one entry", func(t *Transcript) {
			t.Witnessed = &Prefix{t.Checkpoint, audit.Last{Leaf: last.Leaf, Proof: nil}}
		}},
		{"with the hand-over of a signing key", func(t *Transcript) {
			t.Keys = []audit.Handover{{Receipt: t.Receipts[1], Checkpoint: t.Checkpoint}}
		}},
		{"with an auditor's statement", func(t *Transcript) { t.Statements = []string{sampleStatement()} }},
		{"takeovers among the receipts", func(t *Transcript) {
			s := spec.NewStory()
			id := s.Then(s.Commit("t"))
			s.Then(s.Takeover(id, "dealer-2", 1))
			s.Then(s.Takeover(id, "dealer-2", 2))
			s.Then(spec.Of("dealer-2", s.Deal(id, 0, 4)))
			s.Then(s.Takeover(id, "dealer-3", 1))
			s.Then(spec.Of("dealer-3", s.Close(id, 2)))
			h := new(spec.House)
			for _, e := range s.Entries {
				h.Entries = append(h.Entries, e.Bytes())
				h.Leaves = append(h.Leaves, spec.EntryLeaf(e.Bytes()))
			}
			t.Checkpoint, t.Receipts = h.Signed(len(s.Entries)), nil
			for i := range s.Entries {
				if i != 1 { // the start of the daemon
					t.Receipts = append(t.Receipts, h.Receipt(i, len(s.Entries), ""))
				}
			}
		}},
		{"4,116 receipts: genesis, commit, mix, 4,096 deals, 16 takeovers and a close, here without their texts",
			func(t *Transcript) {
				t.Receipts = slices.Repeat([]string{"r"}, 4116)
			}},
		{"no cards yet", func(t *Transcript) { t.Cards = nil }},
		{"the largest id", func(t *Transcript) { t.ID = spec.MaxInteger }},
		{"names with every escape and with what needs none", func(t *Transcript) {
			t.Deck = []string{"\" \\ \b \f \n \r \t \x00 \x1f", "/ < > & ' \x7f \u0080 \u2028 \u2029 é 🂡"}
		}},
	} {
		t := *tr
		c.change(&t)
		v.Good = append(v.Good, transcriptCase{Name: c.name, Text: refTranscript(&t)})
	}
	small := &Transcript{Format: TranscriptFormat, ID: 2, Deck: []string{"As", "Kd"},
		Checkpoint: "c\n", Receipts: []string{"r0\n", "r1\n"}, Cards: []Card{tr.Cards[0]}}
	good := refTranscript(small)
	add := func(name, want, text string) { v.Bad = append(v.Bad, transcriptCase{name, text, want}) }
	edit := func(name, old, with string) {
		if !strings.Contains(good, old) {
			panic("nothing to replace: " + old)
		}
		add(name, spec.Malformed, strings.Replace(good, old, with, 1))
	}
	edit("a space after a colon", `"id":2`, `"id": 2`)
	edit("a space after a comma", `,"id"`, `, "id"`)
	add("a newline at the end", spec.Malformed, good+"\n")
	add("a byte order mark", spec.Malformed, "\ufeff"+good)
	edit("members in another order", `"format":"shuffled/v1/transcript","id":2`,
		`"id":2,"format":"shuffled/v1/transcript"`)
	edit("members of a card in another order", `"place":0,"position":3`, `"position":3,"place":0`)
	edit("a member twice", `"id":2`, `"id":2,"id":2`)
	edit("an unknown member", `"id":2`, `"id":2,"note":""`)
	edit("an unknown member of a card", `"place":0`, `"place":0,"seat":1`)
	edit("a member in another case", `"id":2`, `"ID":2`)
	edit("an empty recipient", `"id":2`, `"id":2,"recipient":""`)
	edit("an empty deck", `"deck":["As","Kd"]`, `"deck":[]`)
	edit("null for the deck", `"deck":["As","Kd"]`, `"deck":null`)
	edit("null for the receipts", `"receipts":["r0\n","r1\n"]`, `"receipts":null`)
	checkpoint := `"checkpoint":"c\n",`
	edit("no checkpoint", checkpoint, ``)
	edit("the checkpoint twice", checkpoint, checkpoint+checkpoint)
	edit("the checkpoint behind the receipts", checkpoint+`"receipts":["r0\n","r1\n"],`,
		`"receipts":["r0\n","r1\n"],`+checkpoint)
	edit("null for the checkpoint", checkpoint, `"checkpoint":null,`)
	edit("a list of checkpoints", checkpoint, `"checkpoint":["c\n"],`)
	edit("null for an id", `"id":2`, `"id":null`)
	edit("no id", `"id":2,`, ``)
	edit("no receipts", `"receipts":["r0\n","r1\n"],`, ``)
	edit("a card that is null", `"cards":[`, `"cards":[null,`)
	edit("an integer with a fraction", `"id":2`, `"id":2.0`)
	edit("an integer with an exponent", `"id":2`, `"id":2e0`)
	edit("an integer with a leading zero", `"id":2`, `"id":02`)
	edit("an integer in a string", `"id":2`, `"id":"2"`)
	edit("a negative id", `"id":2`, `"id":-2`)
	edit("minus zero", `"place":0`, `"place":-0`)
	edit("a letter as an escape", `"As"`, `"\u0041s"`)
	edit("a solidus as an escape", `"As"`, `"A\/s"`)
	edit("a newline as \\u000a", `r0\n`, `r0\u000a`)
	edit("an escape in capitals", `"As"`, `"\u001F"`)
	edit("a lone surrogate", `"As"`, `"\ud83c"`)
	edit("a surrogate pair as escapes", `"As"`, `"\ud83c\udca1"`)
	edit("a raw newline in a string", `"As"`, "\"A\ns\"")
	edit("a comma at the end of a list", `"Kd"]`, `"Kd",]`)
	add("two objects", spec.Malformed, good+good)
	add("no object", spec.Malformed, "[]")
	add("no format", spec.Malformed, strings.Replace(good, `"format":"shuffled/v1/transcript",`, "", 1))
	early := `,"witnessed":{"checkpoint":"w","leaf":"` + tr.Cards[0].Salt + `","proof":[]}`
	edit("an early checkpoint that is a text", `,"cards"`, `,"witnessed":"w","cards"`)
	edit("null for the early checkpoint", `,"cards"`, `,"witnessed":null,"cards"`)
	edit("an early checkpoint without a proof", `,"cards"`, strings.Replace(early, `,"proof":[]`, "", 1)+`,"cards"`)
	edit("an early checkpoint with its leaf in front", `,"cards"`, `,"witnessed":{"leaf":"`+tr.Cards[0].Salt+
		`","checkpoint":"w","proof":[]},"cards"`)
	edit("an early checkpoint and more", `,"cards"`, strings.Replace(early, `[]}`, `[],"index":1}`, 1)+`,"cards"`)
	edit("a key that is a text", `,"cards"`, `,"keys":["k"],"cards"`)
	edit("a key without a checkpoint", `,"cards"`, `,"keys":[{"receipt":"k"}],"cards"`)
	edit("a key with its checkpoint in front", `,"cards"`, `,"keys":[{"checkpoint":"c","receipt":"k"}],"cards"`)
	edit("keys without any", `,"cards"`, `,"keys":[],"cards"`)
	edit("keys in front of the receipts", `,"receipts"`, `,"keys":[{"receipt":"k","checkpoint":"c"}],"receipts"`)
	edit("keys behind the cards", `]}]}`, `]}],"keys":[{"receipt":"k","checkpoint":"c"}]}`)
	edit("statements without any", `,"cards"`, `,"statements":[],"cards"`)
	edit("statements behind the cards", `]}]}`, `]}],"statements":["s"]}`)
	edit("an early checkpoint in front of the receipts", `,"receipts"`, early+`,"receipts"`)
	edit("an early checkpoint behind the cards", `]}]}`, `]}]`+early+`}`)
	edit("an empty card name", `"card":"As"`, `"card":""`)
	edit("version 0", "/v1/", "/v0/")
	edit("a version with a leading zero", "/v1/", "/v02/")
	edit("another format", "/v1/transcript", "/v1/receipt")
	add("a later format", spec.Unknown, strings.Replace(good, "/v1/", "/v2/", 1))
	add("a later format with other members", spec.Unknown,
		`{"format":"shuffled/v2/transcript","shuffle":{"id":2},"pages":[]}`)
	add("a later format and nothing that JSON is", spec.Unknown, `{"format":"shuffled/v10/transcript"`)
	return v
}

func TestTranscriptVectorsAreTheReferences(t *testing.T) {
	v := makeTranscripts()
	spec.HoldVectors(t, "transcripts", spec.EncodeVectors(t, v.VectorHead, "good", v.Good, "bad", v.Bad))
}

func loadTranscripts(t testing.TB) (v transcriptVectors) {
	t.Helper()
	spec.LoadVectors(t, "transcripts", &v.VectorHead, &v)
	spec.WantCases(t, "good transcripts", 5, v.Good, func(c transcriptCase) string { return c.Name })
	spec.WantCases(t, "bad transcripts", 30, v.Bad, func(c transcriptCase) string { return c.Name })
	return v
}

func TestTranscriptVectors(t *testing.T) {
	v := loadTranscripts(t)
	for _, c := range v.Good {
		if !utf8.ValidString(c.Text) {
			t.Errorf("%s: not UTF-8", c.Name)
		}
	}
	for _, c := range v.Good {
		tr, err := ParseTranscript([]byte(c.Text))
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
		} else if b, err := tr.Marshal(); err != nil || string(b) != c.Text {
			t.Errorf("%s: written as %q, %v", c.Name, b, err)
		}
	}
	for _, c := range v.Bad {
		if _, err := ParseTranscript([]byte(c.Text)); spec.FaultOf(err) != c.Want {
			t.Errorf("%s: %v, want %s", c.Name, err, c.Want)
		}
	}
}

// refString is a JSON string in the one form of docs/SPEC.md section 8.
func refString(s string) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			out.WriteString(`\` + string(r))
		case strings.ContainsRune("\b\f\n\r\t", r):
			out.WriteString(`\` + string("btnfr"[strings.IndexRune("\b\t\n\f\r", r)]))
		case r < 0x20:
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			out.WriteRune(r)
		}
	}
	out.WriteByte('"')
	return out.String()
}

func refList(items []string) string { return "[" + strings.Join(items, ",") + "]" }

func refStrings(list []string) string {
	var quoted []string
	for _, s := range list {
		quoted = append(quoted, refString(s))
	}
	return refList(quoted)
}

// refTranscript is the one form of a transcript, written by hand.
func refTranscript(t *Transcript) string {
	out := `{"format":` + refString(t.Format) + `,"id":` + strconv.FormatUint(t.ID, 10)
	if t.Recipient != "" {
		out += `,"recipient":` + refString(t.Recipient)
	}
	if len(t.Deck) > 0 {
		out += `,"deck":` + refStrings(t.Deck)
	}
	out += `,"checkpoint":` + refString(t.Checkpoint)
	out += `,"receipts":` + refStrings(t.Receipts)
	if w := t.Witnessed; w != nil {
		out += `,"witnessed":{"checkpoint":` + refString(w.Checkpoint) + `,"leaf":` + refString(hashTexts([]tlog.Hash{w.Leaf})[0]) + `,"proof":` +
			refStrings(hashTexts(w.Proof)) + "}"
	}
	var keys []string
	for _, k := range t.Keys {
		keys = append(keys, `{"receipt":`+refString(k.Receipt)+`,"checkpoint":`+refString(k.Checkpoint)+"}")
	}
	if keys != nil {
		out += `,"keys":` + refList(keys)
	}
	if len(t.Statements) > 0 {
		out += `,"statements":` + refStrings(t.Statements)
	}
	var cards []string
	for _, c := range t.Cards {
		card := fmt.Sprintf(`{"place":%d,"position":%d,"value":%d`, c.Place, c.Position, c.Value)
		if c.Card != "" {
			card += `,"card":` + refString(c.Card)
		}
		cards = append(cards, card+`,"salt":`+refString(c.Salt)+`,"proof":`+refStrings(c.Proof)+"}")
	}
	return out + `,"cards":` + refList(cards) + "}"
}
