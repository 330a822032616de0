package httpapi

import (
	"encoding/json"
	"fmt"
	"strings"

	"shuffled/internal/audit"
	"shuffled/internal/verify"
)

// Verify answers with the verdict on a transcript or a receipt. It needs neither the
// sequencer nor the store, and answers while they do not.
func (s *Server) Verify(c *call) error {
	want := "application/json"
	if mediaType(c.r) == "text/plain" {
		want = "text/plain"
	}
	if err := checkMedia(c.r, want); err != nil {
		return err
	}
	// Evidence is large, and to judge it is work. Each has a limit of its own, so that slow
	// uploads do not keep verifications from starting, nor one address all others.
	from := remote(c.r)
	if !s.uploads.try(from, 1) {
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
	verdict := verify.File(evidence, s.trust(evidence))
	// The standard library leaves empty members out, as `shuffled verify --json` does: one verdict, one form.
	body, err := json.Marshal(verdict)
	if err != nil {
		return fmt.Errorf("writing the verdict: %w", err)
	}
	return c.write("application/json", noStore, body, newline)
}

// trust is trust in the signing keys of our ledger that the evidence is of, except those that were retired. Evidence of
// any other ledger is judged without a key, and the verdict says so.
func (s *Server) trust(evidence []byte) verify.Trust {
	origin, smallest := claimed(evidence)
	ledgers, _, _ := s.ledgers.all()
	for _, l := range ledgers {
		if l.Log.Info().Origin == origin {
			return trustIn(smallest, l.Log.KeyHistory())
		}
	}
	return verify.Trust{}
}

// maxLogs is how many keys a policy names at most (docs/SPEC.md section 7.3).
const maxLogs = 64

// trustIn returns trust in the signing keys of a history that were not retired; if they are more than maxLogs, in the
// first and the newest. A trusted key of ML-DSA-44 must have signed every checkpoint (docs/SPEC.md section 10.1.1), so
// it is left out if the smallest checkpoint is from before its entry.
func trustIn(smallest uint64, keys *audit.History) verify.Trust {
	var vkeys []string
	for _, k := range keys.Signing {
		if k.Retired || k.Key == nil || audit.IsMLDSA(k.Key) && k.Index >= smallest {
			continue
		}
		vkey, _ := audit.VKey(keys.Origin, k.Public) // k.Key was made of it
		vkeys = append(vkeys, vkey)
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

// claimed returns the origin that a transcript or a receipt claims, "" for none, and the
// size of its smallest checkpoint.
func claimed(evidence []byte) (origin string, smallest uint64) {
	var signed []string
	// The first byte decides what the file is (docs/SPEC.md section 10), and not the media type.
	if strings.HasPrefix(string(evidence), "{") {
		t, err := audit.ParseTranscript(evidence)
		if err != nil {
			return "", 0
		}
		if signed = append(signed, t.Checkpoint); t.Witnessed != nil {
			signed = append(signed, t.Witnessed.Checkpoint)
		}
	} else if r, err := audit.ParseReceipt(string(evidence)); err == nil {
		signed = append(signed, string(r.Checkpoint))
	}
	for i, one := range signed {
		c, err := audit.CheckpointText([]byte(one))
		if err != nil {
			return "", 0
		}
		if i == 0 {
			origin, smallest = c.Origin, c.Size
		}
		smallest = min(smallest, c.Size)
	}
	return origin, smallest
}
