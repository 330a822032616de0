package inspecttest

import (
	"crypto/ed25519"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/bundle"
	"shuffled/internal/shuffle"
)

// Finish writes everything but the full tiles and entry bundles, which are there: after it the bundle is whole. The
// newest checkpoint is signed by these keys, see Signed.
func (l *Ledger) Finish(keys ...ed25519.PrivateKey) {
	l.flush()
	if n := len(l.cosigned); n > 0 {
		if c, err := audit.CheckpointText(l.cosigned[n-1]); err == nil && c.Size == l.Size && c.Root == l.Root() {
			l.Describe(l.cosigned[n-1])
			return
		}
	}
	l.Describe(l.Signed(keys...))
}

// Replay writes a bundle of entries and cosigned checkpoints, of which the last one covers all entries, with decks.
func Replay(dir string, entries, cosigned [][]byte, decks ...shuffle.Deck) {
	l := &Ledger{Dir: dir, decks: make(map[[32]byte]bool), cosigned: cosigned}
	for _, d := range decks {
		l.Deck(d)
	}
	for _, b := range entries {
		l.AppendBytes(b)
		if e, err := audit.ParseEntry(b); err == nil {
			l.Now = e.Time
		}
	}
	l.flush()
	l.Describe(cosigned[len(cosigned)-1])
}

// flush writes what is not in files yet.
func (l *Ledger) flush() {
	if len(l.entries) > 0 {
		l.write(path(-1, l.Size/bundle.Width, int(l.Size%bundle.Width)), l.entries)
	}
	for level, hashes := range l.tiles {
		if len(hashes) > 0 {
			l.write(path(level, l.Size>>(8*level)/bundle.Width, len(hashes)/tlog.HashSize), hashes)
		}
	}
	l.framed("cosigned", l.cosigned)
	l.framed("signed", l.signed)
}

// framed writes checkpoints into files of bundle.Width.
func (l *Ledger) framed(dir string, notes [][]byte) {
	for i := 0; i < len(notes); i += bundle.Width {
		var b []byte
		part := notes[i:min(i+bundle.Width, len(notes))]
		for _, n := range part {
			b = append(binary.BigEndian.AppendUint16(b, uint16(len(n))), n...)
		}
		l.write(dir+strings.TrimPrefix(path(-1, uint64(i/bundle.Width), len(part)), "tile/entries"), b)
	}
}

// Describe writes the checkpoint and the manifest.
func (l *Ledger) Describe(checkpoint []byte) {
	l.write("checkpoint", checkpoint)
	l.Manifest(&bundle.Manifest{Format: bundle.ManifestFormat,
		ExportedAt: time.UnixMilli(l.Now).UTC().Format("2006-01-02T15:04:05.000Z")})
}

// Manifest writes a manifest.
func (l *Ledger) Manifest(m *bundle.Manifest) {
	b, err := m.Marshal()
	must(err)
	l.write("manifest.json", b)
}

func (l *Ledger) write(name string, b []byte) {
	name = filepath.Join(l.Dir, filepath.FromSlash(name))
	err := os.WriteFile(name, b, 0o644)
	if os.IsNotExist(err) {
		must(os.MkdirAll(filepath.Dir(name), 0o755))
		err = os.WriteFile(name, b, 0o644)
	}
	must(err)
}
