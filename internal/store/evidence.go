package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"shuffled/internal/ledger"
)

// Relation is a table of the database that holds evidence. Alone, the word table means one at which cards are dealt.
type Relation struct {
	Name    string
	Columns []string // of the schema, in the order of Raw
	Keys    int      // how many columns, from the second on, are the key of a row in its ledger
}

// The tables of evidence.
var (
	LedgerRows = &Relation{"ledgers", []string{"ledger", "name", "origin"}, 0}
	HeadRows   = &Relation{"heads", []string{"ledger", "size", "root", "checkpoint"}, 0}
	EntryRows  = &Relation{"entries", []string{"ledger", "idx", "time", "serial", "shuffle", "type", "tbl", "key_tag",
		"entry", "kept", "game_ref"}, 1}
	TileRows       = &Relation{"tiles", []string{"ledger", "level", "idx", "data"}, 2}
	CheckpointRows = &Relation{"checkpoints", []string{"ledger", "size", "root", "checkpoint"}, 1}
	CosignedRows   = &Relation{"cosigned", []string{"ledger", "size", "root", "checkpoint"}, 1}
	LateRows       = &Relation{"late", []string{"ledger", "size", "root", "checkpoint"}, 1}
	SlotRows       = &Relation{"slots", []string{"ledger", "idx", "slot"}, 2}
	DeckRows       = &Relation{"decks", []string{"ledger", "hash", "cards"}, 1}
	TermsRows      = &Relation{"terms", []string{"ledger", "hash", "kind", "bytes"}, 1}
	StatementRows  = &Relation{"statements", []string{"ledger", "shuffle", "n", "note"}, 2}
)

// AccessRows is not evidence, but its chain is compared with the heads of it that are in entries. Its key is seq.
var AccessRows = &Relation{"access_records",
	[]string{"ledger", "seq", "prev", "time", "request", "token", "method", "path"}, 1}

// Relations lists all relations of evidence.
func Relations() []*Relation {
	return []*Relation{LedgerRows, HeadRows, EntryRows, TileRows, CheckpointRows, CosignedRows, LateRows, SlotRows,
		DeckRows, TermsRows, StatementRows}
}

// Raw is a row as it is stored. Anybody may have written it: every column may be nil or of any type that the database
// has, and several rows may have the same key.
type Raw struct {
	Relation *Relation
	Values   []any // by Relation.Columns
}

// Value returns the value of a column. It panics for a column that the relation does not have.
func (r Raw) Value(column string) any {
	i := slices.Index(r.Relation.Columns, column)
	if i < 0 {
		panic("store: table " + r.Relation.Name + " has no column " + column)
	}
	return r.Values[i]
}

// Int returns an integer column; ok is false for anything else.
func (r Raw) Int(column string) (n int64, ok bool) {
	switch v := r.Value(column).(type) {
	case int64:
		return v, true
	case int32:
		return int64(v), true
	case int16:
		return int64(v), true
	}
	return 0, false
}

// Bytes returns a column of bytes; ok is false for anything else.
func (r Raw) Bytes(column string) (b []byte, ok bool) {
	b, ok = r.Value(column).([]byte)
	return b, ok && b != nil
}

// Text returns a column of text; ok is false for anything else.
func (r Raw) Text(column string) (s string, ok bool) {
	s, ok = r.Value(column).(string)
	return s, ok
}

// ErrSchema reports a relation or column that is missing, or not of the type that the schema gives it.
var ErrSchema = errors.New("the tables are not those of the schema")

// Evidence reads stored rows that the caller has not checked yet. It only reads, by short statements, and needs no more
// than SELECT on the relations of evidence. It is safe for concurrent use.
type Evidence struct {
	// Query runs one statement, whose parameters are $1, $2 …, and hands over its rows. The receiver may keep the
	// values. Its error matches ErrSchema if the statement does not fit the relations.
	Query func(ctx context.Context, sql string, args []any, each func(values []any) error) error
	Close func() error
}

// read returns the rows of a relation for which the condition holds.
func (e *Evidence) read(ctx context.Context, t *Relation, where string, args ...any) (rows []Raw, err error) {
	err = e.each(ctx, t, where, args, func(r Raw) error {
		rows = append(rows, r)
		return nil
	})
	return rows, err
}

func (e *Evidence) each(ctx context.Context, t *Relation, where string, args []any, do func(Raw) error) error {
	sql := "SELECT " + strings.Join(t.Columns, ", ") + " FROM " + t.Name + " WHERE " + where
	err := e.Query(ctx, sql, args, func(values []any) error { return do(Raw{t, values}) })
	if err != nil {
		return fmt.Errorf("reading %s: %w", t.Name, err)
	}
	return nil
}

// CheckSchema returns an error unless version is that of this program's schema. It accepts a database that has lost the
// number of its schema (0), if the relation entries is still there.
func (e *Evidence) CheckSchema(ctx context.Context, version int) error {
	if version == 0 {
		if err := e.Probe(ctx, EntryRows); !errors.Is(err, ErrSchema) {
			return err
		}
	}
	return CheckSchema(version)
}

// Probe reads no row of a relation. Its error matches ErrSchema if the relation or a column of it is missing.
func (e *Evidence) Probe(ctx context.Context, t *Relation) error {
	_, err := e.read(ctx, t, "1 = 0")
	return err
}

// Ledgers returns all rows of the catalogue.
func (e *Evidence) Ledgers(ctx context.Context) ([]Raw, error) {
	return e.read(ctx, LedgerRows, "true")
}

// Heads returns the heads of a ledger; there should be one.
func (e *Evidence) Heads(ctx context.Context, id ledger.ID) ([]Raw, error) {
	return e.read(ctx, HeadRows, "ledger = CAST($1 AS bigint)", int64(id))
}

const inRange = `ledger = CAST($1 AS bigint) AND %[1]s >= CAST($2 AS bigint) AND %[1]s < CAST($3 AS bigint)
ORDER BY `

// Range returns the rows of entries, checkpoints, cosigned, late, slots or statements whose key, or the first part of
// it, is from ≤ key < to, ordered by key. It returns all rows that have the same key.
func (e *Evidence) Range(ctx context.Context, t *Relation, id ledger.ID, from, to uint64) ([]Raw, error) {
	where := fmt.Sprintf(inRange, t.Columns[1]) + strings.Join(t.Columns[1:1+t.Keys], ", ")
	return e.read(ctx, t, where, int64(id), Number(from), Number(to))
}

// Newest returns the n rows of entries, checkpoints or cosigned with the largest keys below, largest first.
func (e *Evidence) Newest(ctx context.Context, t *Relation, id ledger.ID, below uint64, n int) ([]Raw, error) {
	const where = "ledger = CAST($1 AS bigint) AND %[1]s < CAST($2 AS bigint) ORDER BY %[1]s DESC LIMIT CAST($3 AS bigint)"
	return e.read(ctx, t, fmt.Sprintf(where, t.Columns[1]), int64(id), Number(below), int64(n))
}

// Sizes calls do with the sizes of the checkpoints from ≤ size < to.
func (e *Evidence) Sizes(ctx context.Context, id ledger.ID, from, to uint64, do func(size uint64)) error {
	const where = "ledger = CAST($1 AS bigint) AND size >= CAST($2 AS bigint) AND size < CAST($3 AS bigint)"
	sizes := &Relation{CheckpointRows.Name, []string{"size"}, 0}
	return e.each(ctx, sizes, where, []any{int64(id), Number(from), Number(to)}, func(r Raw) error {
		if n, ok := r.Values[0].(int64); ok {
			do(uint64(n))
		}
		return nil
	})
}

// OfType returns the entries of a ledger whose column says that they are of a type. It reads all, because no index
// helps.
func (e *Evidence) OfType(ctx context.Context, id ledger.ID, kind int) ([]Raw, error) {
	const where = "ledger = CAST($1 AS bigint) AND type = CAST($2 AS bigint) ORDER BY idx"
	return e.read(ctx, EntryRows, where, int64(id), int64(kind))
}

// Tile returns the rows of one tile; there should be one.
func (e *Evidence) Tile(ctx context.Context, id ledger.ID, level int, index uint64) ([]Raw, error) {
	const where = "ledger = CAST($1 AS bigint) AND level = CAST($2 AS bigint) AND idx = CAST($3 AS bigint)"
	return e.read(ctx, TileRows, where, int64(id), int64(level), Number(index))
}

// Named returns the rows of one deck or of one document of terms; there should be one.
func (e *Evidence) Named(ctx context.Context, t *Relation, id ledger.ID, hash [32]byte) ([]Raw, error) {
	return e.read(ctx, t, "ledger = CAST($1 AS bigint) AND hash = $2", int64(id), hash[:])
}

// EachNamed hands over all decks or all documents of terms of a ledger, in no order.
func (e *Evidence) EachNamed(ctx context.Context, t *Relation, id ledger.ID, do func(Raw) error) error {
	return e.each(ctx, t, "ledger = CAST($1 AS bigint)", []any{int64(id)}, do)
}

// Ends returns the entries whose columns say that they close a shuffle or disclose its tape, in order.
func (e *Evidence) Ends(ctx context.Context, id ledger.ID, shuffle uint64) ([]Raw, error) {
	const where = "ledger = CAST($1 AS bigint) AND shuffle = CAST($2 AS bigint) AND type IN (5, 12) ORDER BY idx"
	return e.read(ctx, EntryRows, where, int64(id), Number(shuffle))
}

// EachAccess hands over the chained access records of a ledger by number. It uses one statement and so shows one
// moment, since records are added, and dropped from the beginning.
func (e *Evidence) EachAccess(ctx context.Context, id ledger.ID, do func(Raw) error) error {
	const where = "ledger = CAST($1 AS bigint) ORDER BY seq"
	return e.each(ctx, AccessRows, where, []any{int64(id)}, do)
}

// own returns the condition that a row belongs to a ledger of this size: its key is one that the head covers. In
// ledgers and heads every row belongs, in decks and terms every row with a hash.
func own(t *Relation, id ledger.ID, size uint64) (where string, args []any) {
	where, args = "ledger = CAST($1 AS bigint)", []any{int64(id)}
	switch t {
	case EntryRows, SlotRows:
		where, args = where+" AND idx >= 0 AND idx < CAST($2 AS bigint)", append(args, Number(size))
	case CheckpointRows, CosignedRows, LateRows:
		where, args = where+" AND size > 0 AND size <= CAST($2 AS bigint)", append(args, Number(size))
	case TileRows:
		where += ` AND level >= 0 AND level < 7 AND idx >= 0
AND idx < CAST($2 AS bigint) >> CAST(8 * (level + 1) AS integer)`
		args = append(args, Number(size))
	case StatementRows:
		where += " AND shuffle > 0 AND shuffle < CAST($2 AS bigint) AND n >= 0 AND n < 8"
		args = append(args, Number(size))
	case DeckRows, TermsRows:
		where += " AND hash IS NOT NULL"
	}
	return where, args
}

// Count returns how many rows belong to a ledger of this size.
func (e *Evidence) Count(ctx context.Context, t *Relation, id ledger.ID, size uint64) (n uint64, err error) {
	where, args := own(t, id, size)
	err = e.Query(ctx, "SELECT count(*) FROM "+t.Name+" WHERE "+where, args, func(values []any) error {
		count, _ := values[0].(int64)
		n = uint64(count)
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("counting %s: %w", t.Name, err)
	}
	return n, nil
}

// maxOdd bounds what Odd returns.
const maxOdd = 10_000

// Odd returns the first 10,000 rows that belong to no ledger: their ledger is unknown, or it is this one and they do
// not belong to it at this size.
func (e *Evidence) Odd(ctx context.Context, t *Relation, id ledger.ID, size uint64) ([]Raw, error) {
	own, args := own(t, id, size)
	known := "ledger IN (SELECT ledger FROM ledgers WHERE ledger <> CAST($1 AS bigint))"
	return e.read(ctx, t, fmt.Sprintf("(%s) IS NOT TRUE AND (%s) IS NOT TRUE LIMIT %d", own, known, maxOdd), args...)
}

// Number returns n as a statement takes it. None stored has more than 63 bits: a larger n becomes the largest.
func Number(n uint64) int64 { return int64(min(n, math.MaxInt64)) }
