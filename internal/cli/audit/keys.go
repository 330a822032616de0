package audit

import (
	"fmt"
	"strings"

	"shuffled/internal/audit"
	"shuffled/internal/inspect"
)

// auditKeys lists the keys that entries brought, and the policy that they put in force:
// the operator's word, to hold against what the reader knows from elsewhere.
func (s Sheet) auditKeys(r *inspect.Report) string {
	if len(r.Keys) == 0 {
		return ""
	}
	var lines []string
	for _, k := range r.Keys {
		lines = append(lines, fmt.Sprintf("entry %d of %s: %s", k.Entry, k.Time, keyOf(k)))
	}
	out := s.listed("Keys and policies, as the ledger's entries name them:", lines, uint64(len(lines)))
	if r.Policy == "" {
		return out + "  no policy: no witness is asked for\n"
	}
	lines = nil
	for line := range strings.SplitSeq(r.Policy, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return out + s.listed("The ledger's policy for its next checkpoint:", lines, uint64(len(lines)))
}

func keyOf(k inspect.KeyLine) string {
	switch {
	case k.Subject == audit.SubjectPolicy.String():
		return "a policy"
	case k.Subject == audit.SubjectRetirement.String():
		return fmt.Sprintf("the %s key with the id %s deserves no trust from %s on", k.Retired, k.ID, k.From)
	case k.VKey != "":
		return fmt.Sprintf("the %s key %s", k.Subject, k.VKey)
	}
	return fmt.Sprintf("the %s key with the id %s", k.Subject, k.ID)
}
