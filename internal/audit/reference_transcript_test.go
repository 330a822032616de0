package audit

import (
	"fmt"
	"strconv"
	"strings"
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
	if t.Witnessed != "" {
		out += `,"witnessed":` + refString(t.Witnessed)
	}
	if len(t.Keys) > 0 {
		out += `,"keys":` + refStrings(t.Keys)
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
