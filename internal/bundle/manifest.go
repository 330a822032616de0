package bundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"shuffled/internal/audit"
)

// The formats of this version.
const (
	ManifestFormat = "shuffled/v1/bundle"
	KeysFormat     = "shuffled/v1/keys"
)

// Manifest says what a bundle holds and what it was asked for (docs/SPEC.md
// section 13.4). It proves nothing: what matters of it is computed from the
// entries and checkpoints.
type Manifest struct {
	Format     string  `json:"format"`
	Origin     string  `json:"origin"`
	Name       string  `json:"name"` // in the operator's addresses
	Production bool    `json:"production"`
	Size       uint64  `json:"size"`
	Root       string  `json:"root"`     // base64
	VKey       string  `json:"vkey"`     // signing key in force at this size
	Cosigned   uint64  `json:"cosigned"` // checkpoints under cosigned/
	Signed     uint64  `json:"signed"`   // checkpoints under signed/
	Deckless   uint64  `json:"deckless"` // commits whose deck list the store did not have
	Digests    Digests `json:"digests"`
	Period     Period  `json:"period"`
	ExportedAt string  `json:"exported_at"` // time of writing, like all times in UTC milliseconds
}

// Digests are base64 SHA-256 hashes of the small files.
type Digests struct {
	Checkpoint string `json:"checkpoint"`
	Keys       string `json:"keys.json"`
	Policy     string `json:"policy"`
}

// Period is the time a report is about. It bounds the report, never the proof.
type Period struct {
	From     string `json:"from,omitempty"` // first instant in it; absent: the ledger's beginning
	To       string `json:"to,omitempty"`   // first instant after it; absent: none
	First    uint64 `json:"first"`          // index of its first entry
	Entries  uint64 `json:"entries"`
	Activity string `json:"activity,omitempty"` // NoActivity when it has no entries
}

// NoActivity is said of a period without entries.
const NoActivity = "none"

// Marshal returns the one form of m.
func (m *Manifest) Marshal() ([]byte, error) { return marshal("manifest", m) }

// Marshal returns the one form of k.
func (k *Keys) Marshal() ([]byte, error) { return marshal("keys", k) }

func marshal(what string, v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("writing %s: %w", what, err)
	}
	return b, nil
}

// ParseManifest reads a manifest in its one form. It returns an ErrUnknown for a
// later format, an ErrMalformed for anything else that Marshal would not have
// written or that has a value out of its bounds.
func ParseManifest(b []byte) (*Manifest, error) {
	var m Manifest
	if err := parse("manifest", b, maxManifest, ManifestFormat, &m); err != nil {
		return nil, err
	}
	return &m, m.check()
}

func (m *Manifest) check() error {
	bad := func(field string, err error) error {
		return fmt.Errorf("%w manifest: %s: %w", audit.ErrMalformed, field, err)
	}
	if err := audit.CheckOrigin(m.Origin); err != nil {
		return bad("origin", err)
	}
	if err := audit.CheckName(m.Name); err != nil {
		return bad("name", err)
	}
	for field, n := range map[string]uint64{"size": m.Size, "cosigned": m.Cosigned, "signed": m.Signed,
		"deckless": m.Deckless, "first": m.Period.First, "entries": m.Period.Entries} {
		if n > m.Size || n > audit.MaxInteger {
			return bad(field, errors.New("above the size"))
		}
	}
	for field, hash := range map[string]string{"root": m.Root, "checkpoint": m.Digests.Checkpoint,
		"keys.json": m.Digests.Keys, "policy": m.Digests.Policy} {
		if b, err := base64.StdEncoding.Strict().DecodeString(hash); err != nil || len(b) != sha256.Size || len(hash) != 44 {
			return bad(field, errors.New("not 32 bytes of padded base64"))
		}
	}
	return m.checkPeriod(bad)
}

func (m *Manifest) checkPeriod(bad func(string, error) error) error {
	p := m.Period
	for field, at := range map[string]string{"exported_at": m.ExportedAt, "from": p.From, "to": p.To} {
		if _, err := parseTime(at); err != nil && (at != "" || field == "exported_at") {
			return bad(field, err)
		}
	}
	if (p.Activity == NoActivity) != (p.Entries == 0) || p.Activity != NoActivity && p.Activity != "" {
		return bad("activity", errors.New("\"none\" for no entries and only then"))
	}
	if p.First+p.Entries > m.Size {
		return bad("entries", errors.New("above the size"))
	}
	return nil
}

// parse reads b, one of two kinds of JSON files, into v, which is in its one
// form when writing it again gives b.
func parse(what string, b []byte, limit int, format string, v any) error {
	if len(b) > limit {
		return fmt.Errorf("%w %s: %d bytes, at most %d", audit.ErrMalformed, what, len(b), limit)
	}
	// The format comes first: a later one may have other members.
	var head struct {
		Format *string `json:"format"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return fmt.Errorf("%w %s: %s", audit.ErrMalformed, what, quoted(err.Error()))
	}
	switch {
	case head.Format == nil:
		return fmt.Errorf("%w %s: no format", audit.ErrMalformed, what)
	case laterFormat(*head.Format, format):
		return fmt.Errorf("%s format %s: %w", what, quoted(*head.Format), audit.ErrUnknown)
	case *head.Format != format:
		return fmt.Errorf("%w %s: format %s, not %s", audit.ErrMalformed, what, quoted(*head.Format), format)
	}
	if err := json.Unmarshal(b, v, json.RejectUnknownMembers(true)); err != nil {
		return fmt.Errorf("%w %s: %s", audit.ErrMalformed, what, quoted(err.Error()))
	}
	if again, err := json.Marshal(v); err != nil || !bytes.Equal(b, again) {
		return fmt.Errorf("%w %s: not in its one form (compact, members in order)", audit.ErrMalformed, what)
	}
	return nil
}

// versioned is a format with the number of its version.
var versioned = regexp.MustCompile(`^shuffled/v([1-9][0-9]{0,9})(/.*)$`)

// laterFormat reports whether got is a format of another version than want's
// (docs/SPEC.md section 1.4).
func laterFormat(got, want string) bool {
	g, w := versioned.FindStringSubmatch(got), versioned.FindStringSubmatch(want)
	return g != nil && g[2] == w[2] && g[1] != w[1]
}

// quoted keeps text from outside out of terminals and logs.
func quoted(s string) string { return strconv.QuoteToASCII(s[:min(len(s), 200)]) }

// timeForm is RFC 3339 in UTC with milliseconds.
const timeForm = "2006-01-02T15:04:05.000Z"

func formatTime(ms int64) string { return time.UnixMilli(ms).UTC().Format(timeForm) }

func parseTime(s string) (time.Time, error) {
	t, err := time.Parse(timeForm, s)
	if err != nil || t.Format(timeForm) != s {
		return t, errors.New("not RFC 3339 in UTC with milliseconds")
	}
	return t, nil
}

func digest(b []byte) string {
	h := sha256.Sum256(b)
	return base64.StdEncoding.EncodeToString(h[:])
}
