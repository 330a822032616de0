package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"shuffled/internal/audit"
	"shuffled/internal/verify"
)

// Verify answers with the verdict on a transcript or a receipt. It holds no
// ledger and no store up: it works while neither answers.
func (s *Server) Verify(c *call) error {
	if !s.verifyRates.allow(remote(c.r), s.cfg.Now()) {
		return refuse(CodeRateLimited)
	}
	want := "application/json"
	if mediaType(c.r) == "text/plain" {
		want = "text/plain"
	}
	if err := checkMedia(c.r, want); err != nil {
		return err
	}
	// Evidence is large, and its check is work: each behind a limit of its own, so
	// that slow uploads do not keep the judge idle, nor those of one address others.
	from := remote(c.r)
	if !s.uploads.enter(from) {
		return refuse(CodeOverloaded)
	}
	defer s.uploads.leave(from)
	evidence, err := readBody(c.r)
	if err != nil {
		return err
	}
	if !s.verifying.TryAcquire(1) {
		return refuse(CodeOverloaded)
	}
	defer s.verifying.Release(1)
	var verdict *verify.Verdict
	// What the file is, its first bytes say (docs/SPEC.md section 10), whatever the
	// media type.
	if bytes.HasPrefix(evidence, []byte("{")) {
		verdict = verify.File(evidence, s.trust(originOfTranscript(evidence)))
	} else {
		verdict = verify.File(evidence, s.trust(originOfReceipt(string(evidence))))
	}
	// The standard library leaves empty members out, as `shuffled verify --json`
	// does: one verdict, one form.
	body, err := json.Marshal(verdict)
	if err != nil {
		return fmt.Errorf("writing the verdict: %w", err)
	}
	return c.write("application/json", noStore, body, newline)
}

// trust is what our ledger of that origin signs and signed with, except what was
// retired. Evidence of any other ledger is judged without a key, and the verdict
// says so.
func (s *Server) trust(origin string) verify.Trust {
	ledgers, _, _ := s.ledgers.all()
	for _, l := range ledgers {
		if l.Log.Info().Origin == origin {
			return trustIn(origin, l.Log.KeyHistory())
		}
	}
	return verify.Trust{}
}

// maxLogs is how many keys a policy names at most (docs/SPEC.md section 1.2).
const maxLogs = 64

// trustIn returns trust in the signing keys of a history that were not retired: of
// more than maxLogs in the first and the newest.
func trustIn(origin string, history []audit.KeyRecord) verify.Trust {
	retired := make(map[[32]byte]bool)
	for _, r := range history {
		retired[r.ID] = retired[r.ID] || r.Subject == audit.SubjectRetirement
	}
	var vkeys []string
	for _, r := range history {
		if vkey, err := audit.VKey(origin, r.Public); r.Subject == audit.SubjectSigning && err == nil &&
			!retired[r.ID] {
			vkeys = append(vkeys, vkey)
		}
	}
	if len(vkeys) == 1 {
		return verify.Trust{VKey: vkeys[0]}
	}
	// The first is followed to the others by a transcript's own hand-overs; a
	// receipt alone has none, and most are under newer keys.
	if n := len(vkeys); n > maxLogs {
		vkeys = append(vkeys[:1], vkeys[n-maxLogs+1:]...)
	}
	return verify.Trust{Policy: []byte("log " + strings.Join(vkeys, "\nlog ") + "\nquorum none\n")}
}

// originOfReceipt returns the origin that a receipt claims, "" for none.
func originOfReceipt(text string) string {
	receipt, err := audit.ParseReceipt(text)
	if err != nil {
		return ""
	}
	return originOfCheckpoint(receipt.Checkpoint)
}

// originOfCheckpoint returns the origin of a signed checkpoint, "" for none.
func originOfCheckpoint(signed []byte) string {
	checkpoint, err := audit.CheckpointText(signed)
	if err != nil {
		return ""
	}
	return checkpoint.Origin
}

// originOfTranscript returns the origin that a transcript claims, "" for none.
func originOfTranscript(evidence []byte) string {
	t, err := audit.ParseTranscript(evidence)
	if err != nil {
		return ""
	}
	return originOfCheckpoint([]byte(t.Checkpoint))
}
