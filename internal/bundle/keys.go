package bundle

import (
	"encoding/base64"

	"shuffled/internal/audit"
)

// Keys are a ledger's public keys and policies in the order in which its entries
// brought them. They are a view: whoever reads the entries makes the same list.
type Keys struct {
	Format string `json:"format"`
	Origin string `json:"origin"`
	Keys   []Key  `json:"keys"`

	signing    []byte // the newest signing key
	production bool
}

// Key is what the genesis or a key entry says of one key, or of the policy.
type Key struct {
	Index   uint64 `json:"index"`             // of the entry
	Time    string `json:"time"`              // of the entry
	Subject string `json:"subject"`           // signing, disclosure, auditor, policy or retirement
	ID      string `json:"id,omitempty"`      // base64; retirement: of the retired key
	Key     string `json:"key,omitempty"`     // base64 of type byte and public key
	VKey    string `json:"vkey,omitempty"`    // signing: the verifier key to pin
	Policy  string `json:"policy,omitempty"`  // policy: its text
	Retired string `json:"retired,omitempty"` // retirement: subject of the retired key
	From    string `json:"from,omitempty"`    // retirement: when it begins
}

// NewKeys returns the empty list of a ledger.
func NewKeys(origin string) *Keys {
	return &Keys{Format: KeysFormat, Origin: origin, Keys: []Key{}}
}

// ParseKeys reads keys.json, as ParseManifest reads a manifest.
func ParseKeys(b []byte) (*Keys, error) {
	var k Keys
	if err := parse("keys", b, maxKeys, KeysFormat, &k); err != nil {
		return nil, err
	}
	return &k, nil
}

// Apply adds what entry index says of keys, which is nothing but for the genesis
// at index 0 and key entries.
func (k *Keys) Apply(index uint64, e audit.Entry) {
	add := func(key Key) {
		key.Index, key.Time = index, formatTime(e.Time)
		k.Keys = append(k.Keys, key)
	}
	switch b := e.Body.(type) {
	case *audit.Genesis:
		if index != 0 {
			return
		}
		k.production = b.Production
		add(k.public(audit.SubjectSigning, b.SigningKey))
		for _, key := range b.AuditorKeys {
			add(k.public(audit.SubjectAuditor, key))
		}
		if len(b.Policy) > 0 {
			add(Key{Subject: audit.SubjectPolicy.String(), Policy: string(b.Policy)})
		}
	case *audit.Key:
		switch b.Subject {
		case audit.SubjectPolicy:
			add(Key{Subject: b.Subject.String(), Policy: string(b.Policy)})
		case audit.SubjectRetirement:
			add(Key{Subject: b.Subject.String(), ID: base64.StdEncoding.EncodeToString(b.ID[:]),
				Retired: b.Retired.String(), From: formatTime(b.From)})
		default:
			add(k.public(b.Subject, b.Public))
		}
	}
}

func (k *Keys) public(subject audit.Subject, key []byte) Key {
	id := audit.KeyID(key)
	v := Key{Subject: subject.String(), ID: base64.StdEncoding.EncodeToString(id[:]),
		Key: base64.StdEncoding.EncodeToString(key)}
	if subject == audit.SubjectSigning {
		k.signing = key
		// A type of a later version has no text here; it stands under key.
		v.VKey, _ = audit.VKey(k.Origin, key)
	}
	return v
}

// SigningKey returns the signing key in force after the entries that were
// applied: the newest, as type byte and public key; nil before the genesis.
func (k *Keys) SigningKey() []byte { return k.signing }
