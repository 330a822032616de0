package inspect

import (
	"fmt"

	"shuffled/internal/audit"
)

// maxRetiredNotes bounds what is said of retired keys: a ledger can have any
// number of disclosure keys.
const maxRetiredNotes = 64

// retiredKeys notes for how long a key was in use after the time from which its
// retirement takes the trust away. It breaks no rule (docs/SPEC.md section 5.7):
// who reads the report decides what it means.
func (f *fold) retiredKeys() {
	came := make(map[[32]byte]KeyEntry) // first entry of each key
	next := make(map[[32]byte]KeyEntry) // what took its place
	newest := make(map[audit.Subject][32]byte)
	said := 0
	put := func(subject audit.Subject, public []byte, e KeyEntry) {
		id := audit.KeyID(public)
		came[id] = e
		if before, ok := newest[subject]; ok {
			next[before] = e
		}
		newest[subject] = id
	}
	for _, e := range f.keys {
		switch b := e.Entry.Body.(type) {
		case *audit.Genesis:
			put(audit.SubjectSigning, b.SigningKey, e)
		case *audit.Key:
			switch b.Subject {
			case audit.SubjectSigning, audit.SubjectDisclosure:
				put(b.Subject, b.Public, e)
			case audit.SubjectRetirement:
				if text := doubted(b, e, came, next); text != "" && said < maxRetiredNotes {
					f.noteOnce(text)
					said++
				}
			}
		}
	}
}

// doubted says for how long the retired key was in use from b.From on, "" for no
// time.
func doubted(b *audit.Key, retirement KeyEntry, came, next map[[32]byte]KeyEntry) string {
	first, known := came[b.ID]
	if !known || b.Retired == audit.SubjectAuditor {
		return ""
	}
	end, replaced := next[b.ID]
	if !replaced || b.Retired == audit.SubjectDisclosure && retirement.Index < end.Index {
		end = retirement // nothing is sealed to it from there on
	}
	from := max(b.From, first.Entry.Time)
	if from >= end.Entry.Time {
		return ""
	}
	what := "checkpoints of entries dated between were first signed with it"
	if b.Retired == audit.SubjectDisclosure {
		what = "tapes closed between are sealed to it"
	}
	return fmt.Sprintf("the %s key of entry %d deserves no trust from %s on, and was in use until entry %d of %s: %s",
		b.Retired, first.Index, audit.Instant(from), end.Index, audit.Instant(end.Entry.Time), what)
}
