package bundle

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"shuffled/internal/audit"
	"shuffled/internal/shuffle"
)

// named is a kind of files that commits name by a hash, and that are named after it. A file
// is empty if the store did not have it.
type named struct {
	what        string
	dir, suffix string
	limit       int64                                    // in bytes
	check       func(hash [32]byte, content []byte) bool // whether the content has the hash
	of          func(context.Context, Source, [32]byte) ([]byte, error)
}

var (
	// The file of a deck is its card names, each with a line end. No card name contains one.
	deckFiles = &named{"deck", dirDecks, ".txt", shuffle.MaxCards * (shuffle.MaxCardName + 1), isDeck,
		func(ctx context.Context, src Source, hash [32]byte) ([]byte, error) {
			cards, err := src.Deck(ctx, hash)
			return []byte(strings.Join(cards, "\n") + "\n"), err
		}}
	// The file of a document of terms is the document (docs/SPEC.md section 16.1).
	termsFiles = &named{"terms", dirTerms, "", 65_536, isTerms,
		func(ctx context.Context, src Source, hash [32]byte) ([]byte, error) { return src.Terms(ctx, hash) }}

	namedFiles = []*named{deckFiles, termsFiles}
)

func isDeck(hash [32]byte, content []byte) bool {
	deck, err := deckIn(content)
	return err == nil && deck.Hash() == hash
}

// deckIn reads the file of a deck.
func deckIn(content []byte) (shuffle.Deck, error) {
	text, ended := strings.CutSuffix(string(content), "\n")
	if !ended {
		return shuffle.Deck{}, errors.New("the last card has no line end")
	}
	return shuffle.NewDeck(strings.Split(text, "\n"))
}

// isTerms reports whether a document has the hash, as a wheel or as a pay table.
func isTerms(hash [32]byte, document []byte) bool {
	return audit.TermsHash(audit.TermsWheel, document) == hash || audit.TermsHash(audit.TermsPayTable, document) == hash
}

func (n *named) path(hash [32]byte) string { return fmt.Sprintf("%s/%x%s", n.dir, hash, n.suffix) }

// parse returns the hash in the name of a file.
func (n *named) parse(name string) (hash [32]byte, ok bool) {
	b, err := hex.DecodeString(strings.TrimSuffix(name, n.suffix))
	if err != nil || len(b) != len(hash) {
		return hash, false
	}
	hash = [32]byte(b)
	return hash, n.path(hash) == n.dir+"/"+name
}

// read reads the file of a hash, and checks that it has the hash.
func (n *named) read(fsys fs.FS, hash [32]byte) ([]byte, error) {
	name := n.path(hash)
	b, err := readFile(fsys, name, n.limit)
	switch {
	case err != nil:
		return nil, err
	case len(b) == 0:
		return nil, fmt.Errorf("reading %s: %w: the file is empty, because the store did not have it", name, audit.ErrMalformed)
	case !n.check(hash, b):
		return nil, fmt.Errorf("reading %s: %w: the file has another hash", name, audit.ErrMalformed)
	}
	return b, nil
}

// maxSeen bounds the hashes that are remembered. A file that was forgotten is looked up again.
const maxSeen = 1 << 16

// need puts a file that a commit names into the bundle, if it is not there.
func (x *export) need(ctx context.Context, n *named, hash [32]byte) error {
	if x.seen[hash] {
		return nil
	}
	if len(x.seen) >= maxSeen {
		clear(x.seen)
	}
	x.seen[hash] = true
	_, err := n.read(x.fsys, hash)
	switch {
	case err == nil:
		return x.dir.makeDir(n.dir)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, audit.ErrMalformed):
		return x.bring(ctx, n, hash)
	}
	return err
}

// bring writes a file from the store. The file is empty if the store does not have it, or has bytes of another hash.
func (x *export) bring(ctx context.Context, n *named, hash [32]byte) error {
	content, err := n.of(ctx, x.src, hash)
	if err != nil && !errors.Is(err, ErrNoDeck) {
		return fmt.Errorf("reading the %s %x: %w", n.what, hash, err)
	}
	if err != nil || int64(len(content)) > n.limit || !n.check(hash, content) {
		content = nil
	}
	return x.dir.put(n.path(hash), content)
}

// missing counts the files that are empty, and calls each for them.
func (x *export) missing(each func(*named, [32]byte) error) (count uint64, err error) {
	for _, n := range namedFiles {
		files, err := fs.ReadDir(x.fsys, n.dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, fmt.Errorf("reading %s: %w", n.dir, err)
		}
		for _, f := range files {
			info, err := f.Info()
			if err != nil {
				return 0, fmt.Errorf("reading %s: %w", n.dir, err)
			}
			hash, ok := n.parse(f.Name())
			if !ok || info.Size() > 0 {
				continue
			}
			count++
			if err := each(n, hash); err != nil {
				return 0, err
			}
		}
	}
	return count, nil
}
