package inspect

import (
	"encoding/base64"

	"shuffled/internal/audit"
	"shuffled/internal/bundle"
)

// KeyLine is what the genesis or a key entry says of one key, or of the policy. It is
// the operator's word: whom to trust the reader knows from elsewhere.
type KeyLine struct {
	Entry   uint64 `json:"entry"` // index
	Time    string `json:"time"`
	Subject string `json:"subject"`           // signing, disclosure, auditor, policy or retirement
	ID      string `json:"id,omitempty"`      // base64; retirement: of the retired key
	Key     string `json:"key,omitempty"`     // base64 of type byte and public key
	VKey    string `json:"vkey,omitempty"`    // signing: the verifier key, if its type has one
	Policy  string `json:"policy,omitempty"`  // policy: its text
	Retired string `json:"retired,omitempty"` // retirement: subject of the retired key
	From    string `json:"from,omitempty"`    // retirement: when it begins
}

// keyLines lists the keys and policies that entries brought: of the genesis first the
// signing key, then the auditor keys, then the policy.
func (f *fold) keyLines() []KeyLine {
	all := []KeyLine{}
	for _, k := range f.keys {
		of := KeyLine{Entry: k.Index, Time: bundle.FormatTime(k.Entry.Time)}
		switch b := k.Entry.Body.(type) {
		case *audit.Genesis:
			all = append(all, of.public(audit.SubjectSigning, b.SigningKey, b.Origin))
			for _, key := range b.AuditorKeys {
				all = append(all, of.public(audit.SubjectAuditor, key, ""))
			}
			if len(b.Policy) > 0 {
				of.Subject, of.Policy = audit.SubjectPolicy.String(), string(b.Policy)
				all = append(all, of)
			}
		case *audit.Key:
			switch of.Subject = b.Subject.String(); b.Subject {
			case audit.SubjectPolicy:
				of.Policy = string(b.Policy)
			case audit.SubjectRetirement:
				of.ID, of.Retired, of.From = base64.StdEncoding.EncodeToString(b.ID[:]), b.Retired.String(),
					bundle.FormatTime(b.From)
			default:
				of = of.public(b.Subject, b.Public, f.newest.Origin)
			}
			all = append(all, of)
		}
	}
	return all[:min(len(all), MaxListed)]
}

// public returns the line of a public key.
func (l KeyLine) public(subject audit.Subject, key []byte, origin string) KeyLine {
	id := audit.KeyID(key)
	l.Subject, l.ID, l.Key = subject.String(), base64.StdEncoding.EncodeToString(id[:]),
		base64.StdEncoding.EncodeToString(key)
	if subject == audit.SubjectSigning {
		l.VKey, _ = audit.VKey(origin, key) // a type of a later version has no text
	}
	return l
}
