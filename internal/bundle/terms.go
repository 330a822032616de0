package bundle

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"shuffled/internal/audit"
)

// A document of terms is a file named after its hash. An empty file is one that a commit
// names and that the store did not have.

// maxTerms bounds a document in bytes (docs/SPEC.md section 16.1).
const maxTerms = 65_536

// isTerms reports whether a document has the hash, as a wheel or as a pay table.
func isTerms(hash [32]byte, document []byte) bool {
	return len(document) > 0 && len(document) <= maxTerms &&
		(audit.TermsHash(audit.TermsWheel, document) == hash || audit.TermsHash(audit.TermsPayTable, document) == hash)
}

func readTerms(fsys fs.FS, hash [32]byte) ([]byte, error) {
	name := termsPath(hash)
	b, err := readFile(fsys, name, maxTerms)
	switch {
	case err != nil:
		return nil, err
	case len(b) == 0:
		return nil, fmt.Errorf("reading %s: %w: it is empty, the store did not have these terms", name,
			audit.ErrMalformed)
	case !isTerms(hash, b):
		return nil, fmt.Errorf("reading %s: %w: other terms", name, audit.ErrMalformed)
	}
	return b, nil
}

// terms puts the document that a commit names into the bundle.
func (x *export) terms(ctx context.Context, t *audit.Terms) error {
	if t == nil || t.Kind == audit.TermsTicketList || x.termsSeen[t.Hash] {
		return nil
	}
	if len(x.termsSeen) >= maxSeen {
		clear(x.termsSeen)
	}
	x.termsSeen[t.Hash] = true
	if _, err := readTerms(x.fsys, t.Hash); err == nil {
		return x.dir.makeDir(dirTerms)
	} else if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, audit.ErrMalformed) {
		return err
	}
	return x.writeTerms(ctx, t.Hash)
}

// writeTerms puts a document into the bundle, as an empty file if the store does not have
// it. Bytes of another hash are not that document.
func (x *export) writeTerms(ctx context.Context, hash [32]byte) error {
	document, err := x.src.Terms(ctx, hash)
	if err != nil && !errors.Is(err, ErrNoDeck) {
		return fmt.Errorf("reading the terms %x: %w", hash, err)
	}
	if !isTerms(hash, document) {
		document = nil
	}
	return x.dir.put(termsPath(hash), document)
}
