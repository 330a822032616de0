package store

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"shuffled/internal/bundle"
	"shuffled/internal/ledger"
)

// An export may hold only these columns of a database: entries.entry, checkpoints.checkpoint, cosigned.checkpoint,
// late.checkpoint, decks.cards, terms.bytes, ledgers.name and ledgers.origin. It reads no other column, apart from
// keys: no sealed tape, no access record, and nothing that is computed from these.
const (
	sqlExportEntries    = `SELECT idx, entry FROM entries WHERE ledger = $1 AND idx >= $2 AND idx < $3 ORDER BY idx`
	sqlExportNewest     = `SELECT checkpoint FROM checkpoints WHERE ledger = $1 ORDER BY size DESC LIMIT 1`
	sqlExportCheckpoint = `SELECT checkpoint FROM checkpoints WHERE ledger = $1 AND size > $2 ORDER BY size LIMIT 1`
	sqlExportCosigned   = `SELECT c.size, c.checkpoint, l.checkpoint FROM cosigned c LEFT JOIN late l ON l.ledger = c.ledger AND l.size = c.size WHERE c.ledger = $1 AND c.size >= $2 ORDER BY c.size LIMIT 256`
	sqlExportTerms      = `SELECT bytes FROM terms WHERE ledger = $1 AND hash = $2`
)

// errOdd reports a row that is missing, or a value that its column cannot have.
var errOdd = fmt.Errorf("%w: a row is missing or has a wrong value", bundle.ErrContradiction)

// Export is a [bundle.Source]: it reads what an export of one ledger may hold. It takes no lock and changes nothing, so
// it works on a standby and with SELECT alone.
type Export struct {
	*Evidence
	ID ledger.ID
}

// query runs a statement. If it does not fit the relations, the error also matches bundle.ErrContradiction.
func (x Export) query(ctx context.Context, sql string, args []any, each func(values []any) error) error {
	err := x.Query(ctx, sql, args, each)
	if errors.Is(err, ErrSchema) {
		return fmt.Errorf("%w: %w", bundle.ErrContradiction, err)
	}
	return err
}

// Names lists the ledgers of the database by name.
func (e *Evidence) Names(ctx context.Context) (list []ledger.Info, err error) {
	err = e.Query(ctx, SQLLedgers, nil, func(values []any) error {
		name, ok1 := values[0].(string)
		origin, ok2 := values[1].(string)
		if !ok1 || !ok2 {
			return fmt.Errorf("%w: a ledger without name or origin", errOdd)
		}
		list = append(list, ledger.Info{Name: name, Origin: origin})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("listing ledgers: %w", err)
	}
	return list, nil
}

// Head returns the checkpoint of the largest size that can be seen. It does not wait for a replica, since an export
// does not acknowledge entries.
func (x Export) Head(ctx context.Context) ([]byte, error) {
	return x.one(ctx, sqlExportNewest, int64(x.ID))
}

// CheckpointAfter returns the first checkpoint whose size is above index.
func (x Export) CheckpointAfter(ctx context.Context, index uint64) ([]byte, error) {
	return x.one(ctx, sqlExportCheckpoint, int64(x.ID), Number(index))
}

// Deck returns the cards of a deck, or bundle.ErrNoDeck if there is none or if it cannot be read.
func (x Export) Deck(ctx context.Context, hash [32]byte) ([]string, error) {
	list, err := x.one(ctx, SQLDeck, int64(x.ID), hash[:])
	if errors.Is(err, ledger.ErrNotFound) || errors.Is(err, errOdd) {
		return nil, bundle.ErrNoDeck
	}
	if err != nil {
		return nil, err
	}
	cards, err := DecodeDeck(list)
	if err != nil {
		return nil, bundle.ErrNoDeck
	}
	return cards, nil
}

// Terms returns a document of terms, or bundle.ErrNoDeck if there is none.
func (x Export) Terms(ctx context.Context, hash [32]byte) ([]byte, error) {
	document, err := x.one(ctx, sqlExportTerms, int64(x.ID), hash[:])
	if errors.Is(err, ledger.ErrNotFound) {
		err = bundle.ErrNoDeck
	}
	return document, err
}

// one returns the bytes of the only column of the first row. No row is a contradiction that matches ledger.ErrNotFound.
func (x Export) one(ctx context.Context, sql string, args ...any) (b []byte, err error) {
	found, ok := false, true
	err = x.query(ctx, sql, args, func(values []any) error {
		if !found {
			b, ok = values[0].([]byte)
		}
		found = true
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case !found:
		return nil, fmt.Errorf("%w: %w", bundle.ErrContradiction, ledger.ErrNotFound)
	case !ok:
		return nil, fmt.Errorf("%w: a value that is not bytes", errOdd)
	}
	return b, nil
}

// Entries reads the entries from ≤ index < to in order, in parts, each by one short statement.
func (x Export) Entries(ctx context.Context, from, to uint64) iter.Seq2[[]byte, error] {
	return parts(from, func(at uint64) (part [][]byte, next uint64, err error) {
		if at >= to {
			return nil, at, nil
		}
		end := min(to, at+chunk)
		part, next = make([][]byte, 0, end-at), at
		err = x.query(ctx, sqlExportEntries, []any{int64(x.ID), Number(at), Number(end)}, func(values []any) error {
			index, ok1 := values[0].(int64)
			entry, ok2 := values[1].([]byte)
			if !ok1 || !ok2 || index != Number(next) {
				return fmt.Errorf("%w: entry %d is missing, or its value is not bytes", errOdd, next)
			}
			part, next = append(part, entry), next+1
			return nil
		})
		if err == nil && next < end {
			err = fmt.Errorf("%w: entry %d is missing", errOdd, next)
		}
		return part, next, err
	})
}

// Cosigned reads the cosigned checkpoints of at least size in ascending order, each with the signature lines of the
// late checkpoint of its size.
func (x Export) Cosigned(ctx context.Context, size uint64) iter.Seq2[[]byte, error] {
	return parts(size, func(at uint64) (part [][]byte, next uint64, err error) {
		next = at
		err = x.query(ctx, sqlExportCosigned, []any{int64(x.ID), Number(at)}, func(values []any) error {
			found, ok1 := values[0].(int64)
			checkpoint, ok2 := values[1].([]byte)
			late, ok3 := values[2].([]byte)
			if !ok1 || !ok2 || !ok3 && values[2] != nil || found < Number(next) {
				return fmt.Errorf("%w: a row of a cosigned checkpoint has a wrong value", errOdd)
			}
			if late != nil {
				var err error
				if checkpoint, err = bundle.Joined(checkpoint, late); err != nil {
					return fmt.Errorf("%w: the late checkpoint of size %d: %w", errOdd, found, err)
				}
			}
			part, next = append(part, checkpoint), uint64(found)+1
			return nil
		})
		return part, next, err
	})
}
