package audit

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"html/template"
	"strings"

	"shuffled/internal/build"
	"shuffled/internal/term"
	"shuffled/internal/verify"
)

//go:embed verdict.html
var verdictPageText string

// verdictPage is one sheet of paper for a reader who was not there, without scripts and without anything from another
// place.
var verdictPage = template.Must(template.New("verdict").Parse(verdictPageText))

// writeVerdictPage writes the verdict on a file to a page. how are the flags of trust, to repeat the check with.
func writeVerdictPage(page, name string, data []byte, t verify.Trust, v *verify.Verdict) error {
	sum, all := sha256.Sum256(data), Conclude(v)
	sheet := struct {
		head
		*verify.Verdict
		Hand, More             facts
		Rounds                 []round
		Ended, Says, Not, Keys []string
		Name, Digest, Binary   string
		Bytes                  int
	}{head: headOf(v), Verdict: v, Ended: told(all, "ended"), Says: told(all, "says"), Not: told(all, "not"),
		Name: name, Keys: keysOf(t), Digest: hex.EncodeToString(sum[:]), Binary: build.This().Name(), Bytes: len(data)}
	if v.Level != "" {
		sheet.Hand, sheet.More, sheet.Rounds = handFacts(v), about(v), roundsOf(data, v.Cards)
	}
	return writePage(page, verdictPage, sheet)
}

// keysOf lists the keys of the ledger that the reader trusts.
func keysOf(t verify.Trust) (keys []string) {
	if t.VKey != "" {
		keys = append(keys, t.VKey)
	}
	for line := range strings.Lines(string(t.Policy)) {
		if key, of := strings.CutPrefix(strings.TrimSpace(line), "log "); of {
			keys = append(keys, term.Visible(strings.TrimSpace(key)))
		}
	}
	return keys
}
