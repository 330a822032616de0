// Package bundle reads and writes bundles: directories with a whole ledger from entry 0, for auditors (docs/SPEC.md
// section 13). A web server that serves such a directory is a mirror of the log in the form of C2SP tlog-tiles.
//
// A bundle is written from a store that is not trusted, and read by people who do not trust its writer. It holds the
// kinds of files that this package lists, and nothing else of a ledger's database.
package bundle

import (
	"slices"
	"strings"

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
	switch path {
	case fileCheckpoint, fileManifest:
		return true
	}
	dir, rest, _ := strings.Cut(path, "/")
	switch dir {
	case dirTiles:
		t, err := tlog.ParseTilePath("tile/8/" + strings.Replace(rest, "entries/", "data/", 1))
		return err == nil && t.L < maxLevels && TilePath(t.L, uint64(t.N), t.W) == path
	case dirCosigned, dirSigned:
		_, err := tlog.ParseTilePath("tile/8/0/" + rest)
		return err == nil
	}
	return slices.ContainsFunc(namedFiles, func(n *named) bool {
		_, ok := n.parse(rest)
		return ok && n.dir == dir
	})
}
