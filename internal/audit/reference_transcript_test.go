package audit

import (
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/tlog"
)

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
