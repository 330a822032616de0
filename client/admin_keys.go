package client

import (
	"bytes"
	"context"

	"shuffled/internal/audit"
)

// AddKey brings a key or a witness policy into force, or retires a key, and returns the proved entry. A key that the
// ledger cannot take is refused with CodeKey, a policy whose witnesses do not cosign now with CodePolicy. A new signing
// key signs all later answers: this one is the last that is proved under the old key.
func (c *Client) AddKey(ctx context.Context, req KeyRequest) (*Appended, error) {
	is := func(k *audit.Key) bool { return isAsked(k, &req) }
	return appended(ctx, c, c.addKey, req, "the key entry is not the one that was asked for", is)
}

// isAsked reports whether the entry says what the request asked for.
func isAsked(k *audit.Key, req *KeyRequest) bool {
	if k.Subject.String() != string(req.Subject) {
		return false
	}
	switch k.Subject {
	case audit.SubjectSigning:
		public, err := audit.SigningKey(deref(req.Vkey))
		return err == nil && bytes.Equal(k.Public, public)
	case audit.SubjectAuditor:
		return bytes.Equal(k.Public, req.Public)
	case audit.SubjectPolicy:
		return string(k.Policy) == deref(req.Policy)
	case audit.SubjectRetirement:
		return req.Retired != nil && k.Retired.String() == string(*req.Retired) && req.ID != nil &&
			Hash(k.ID) == *req.ID &&
			(req.From == nil || k.From == req.From.UnixMilli())
	}
	return false
}
