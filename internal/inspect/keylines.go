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
		origin := f.newest.Origin
		if g, ok := k.Entry.Body.(*audit.Genesis); ok {
			origin = g.Origin
		}
		for _, r := range audit.KeyRecords(k.Index, k.Entry) {
			line := KeyLine{Entry: r.Index, Time: bundle.FormatTime(r.Time), Subject: r.Subject.String()}
			switch id := base64.StdEncoding.EncodeToString(r.ID[:]); r.Subject {
			case audit.SubjectPolicy:
				line.Policy = string(r.Policy)
			case audit.SubjectRetirement:
				line.ID, line.Retired, line.From = id, r.Retired.String(), bundle.FormatTime(r.From)
			default:
				line.ID, line.Key = id, base64.StdEncoding.EncodeToString(r.Public)
			}
			if r.Subject == audit.SubjectSigning {
				line.VKey, _ = audit.VKey(origin, r.Public) // a type of a later version has no text
			}
			all = append(all, line)
		}
	}
	return all[:min(len(all), MaxListed)]
}
