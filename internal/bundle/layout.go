// Package bundle reads and writes bundles: directories with a whole ledger from entry 0, for auditors (docs/SPEC.md
// section 13). A web server that serves such a directory is a mirror of the log in the form of C2SP tlog-tiles.
//
// A bundle is written from a store that is not trusted, and read by people who do not trust its writer. It holds the
// kinds of files that this package lists, and nothing else of a ledger's database.
package bundle

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
)

// Width is how many entries, hashes or checkpoints a full file holds.
const Width = 1 << tileHeight

const tileHeight = 8

// LevelEntries is the level under which tlog keeps the entries themselves.
const LevelEntries = -1

// The files and directories of a bundle.
const (
	fileCheckpoint = "checkpoint"
	fileManifest   = "manifest.json"

	dirTiles    = "tile"
	dirCosigned = "cosigned"
	dirSigned   = "signed"
	dirDecks    = "decks"
	dirTerms    = "terms"
	dirNew      = ".new" // files that are being written; no part of the bundle
)

// Limits in bytes, checked before a file is read.
const (
	maxEntries     = Width * (2 + 65_535)
	maxCheckpoints = Width * (2 + audit.MaxCheckpoint)
	maxManifest    = 64 << 10
)

// TilePath returns the path of the tile with width hashes at this level, or with width entries at LevelEntries. It has
// the form of C2SP tlog-tiles, which is tlog's form without the height.
func TilePath(level int, index uint64, width int) string {
	p := tlog.Tile{H: tileHeight, L: level, N: int64(index), W: width}.Path()
	p = strings.TrimPrefix(p, "tile/8/")
	if level == LevelEntries {
		p = "entries" + strings.TrimPrefix(p, "data")
	}
	return dirTiles + "/" + p
}

// framedPath returns the path of a file of cosigned or signed checkpoints: the path of
// an entry bundle, with another directory.
func framedPath(dir string, index uint64, width int) string {
	return dir + strings.TrimPrefix(TilePath(LevelEntries, index, width), dirTiles+"/entries")
}

// Known reports whether path is that of a file that a bundle may hold. It is relative to
// the directory, with slashes. It is the allow-list of an export.
func Known(path string) bool {
	dir, rest, _ := strings.Cut(path, "/")
	switch {
	case path == fileCheckpoint, path == fileManifest:
		return true
	case dir == dirTiles:
		t, err := tlog.ParseTilePath("tile/8/" + strings.Replace(rest, "entries/", "data/", 1))
		return err == nil && t.L < maxLevels && TilePath(t.L, uint64(t.N), t.W) == path
	case dir == dirCosigned, dir == dirSigned:
		_, err := tlog.ParseTilePath("tile/8/0/" + rest)
		return err == nil
	}
	return slices.ContainsFunc(namedFiles, func(n *named) bool {
		_, ok := n.parse(rest)
		return ok && n.dir == dir
	})
}

// ManifestFormat is the format of this version.
const ManifestFormat = "shuffled/v1/bundle"

// Manifest says when a bundle was written and for what period (docs/SPEC.md
// section 13.3). It repeats nothing that the entries and checkpoints say.
type Manifest struct {
	Format     string `json:"format"`
	Period     Period `json:"period"`
	ExportedAt string `json:"exported_at"` // time of writing, UTC, to the millisecond
}

// Period is the time that a report was asked for. It bounds the report, never the proof.
type Period struct {
	From string `json:"from,omitempty"` // first instant in it; absent: the ledger's beginning
	To   string `json:"to,omitempty"`   // first instant after it; absent: none
}

// Times returns the times of a manifest that was read, in UTC milliseconds, 0 for no bound.
func (m *Manifest) Times() (from, to, exportedAt int64) {
	from, _ = parseTime(m.Period.From) // what is absent is 0
	to, _ = parseTime(m.Period.To)
	exportedAt, _ = parseTime(m.ExportedAt)
	return from, to, exportedAt
}

// Marshal returns the one form of m.
func (m *Manifest) Marshal() ([]byte, error) {
	b, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("writing the manifest: %w", err)
	}
	return b, nil
}

// ParseManifest reads a manifest in its one form. It returns an audit.ErrUnknown for a later format. It returns an
// audit.ErrMalformed for anything else that Marshal does not write, and for a value out of its bounds.
func ParseManifest(b []byte) (*Manifest, error) {
	if len(b) > maxManifest {
		return nil, malformed("it has %d bytes, and at most %d are allowed", len(b), maxManifest)
	}
	// The format comes first: a later one may have other members.
	var head struct {
		Format *string `json:"format"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return nil, malformed("it is no JSON object of this form: %s", quoted(err.Error()))
	}
	switch {
	case head.Format == nil:
		return nil, malformed("the member format is missing")
	case laterFormat.MatchString(*head.Format):
		return nil, fmt.Errorf("manifest: format %s: %w", quoted(*head.Format), audit.ErrUnknown)
	case *head.Format != ManifestFormat:
		return nil, malformed("format is %s, and must be %s", quoted(*head.Format), ManifestFormat)
	}
	var m Manifest
	if err := json.Unmarshal(b, &m, json.RejectUnknownMembers(true)); err != nil {
		return nil, malformed("it is no JSON object of this form: %s", quoted(err.Error()))
	}
	if again, err := m.Marshal(); err != nil || !bytes.Equal(b, again) {
		return nil, malformed("it is not in its one form (compact, members in order)")
	}
	return &m, m.check()
}

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w manifest: %s", audit.ErrMalformed, fmt.Sprintf(format, args...))
}

func (m *Manifest) check() error {
	for _, at := range []struct{ field, text string }{
		{"exported_at", m.ExportedAt}, {"period.from", m.Period.From}, {"period.to", m.Period.To},
	} {
		if _, err := parseTime(at.text); err != nil && (at.text != "" || at.field == "exported_at") {
			return malformed("%s is %s, and must be %v", at.field, quoted(at.text), err)
		}
	}
	// Texts of this form sort as their times do.
	if p := m.Period; p.From != "" && p.To != "" && p.From >= p.To {
		return malformed("period.from is %s, and must be before period.to, %s", p.From, p.To)
	}
	return nil
}

// laterFormat matches the format of a manifest of another version (docs/SPEC.md section 1.4).
var laterFormat = regexp.MustCompile(`^shuffled/v([2-9]|[1-9][0-9]{1,9})/bundle$`)

// quoted makes text from outside safe to print: ASCII, and at most 200 bytes of it.
func quoted(s string) string { return strconv.QuoteToASCII(s[:min(len(s), 200)]) }

// timeForm is RFC 3339 in UTC with milliseconds.
const timeForm = "2006-01-02T15:04:05.000Z"

// FormatTime returns UTC milliseconds as a text.
func FormatTime(ms int64) string { return time.UnixMilli(ms).UTC().Format(timeForm) }

// OptionalTime is FormatTime, and returns "" for 0.
func OptionalTime(ms int64) string {
	if ms == 0 {
		return ""
	}
	return FormatTime(ms)
}

func parseTime(s string) (ms int64, err error) {
	t, err := time.Parse(timeForm, s)
	if err != nil || t.Format(timeForm) != s {
		return 0, errors.New("a time of RFC 3339 in UTC with milliseconds")
	}
	return t.UnixMilli(), nil
}
