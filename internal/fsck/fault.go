package fsck

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"

	"shuffled/internal/inspect"
	"shuffled/internal/store"
)

// Codes of faults of a store, alongside those of package inspect. They are stable.
const (
	CodeColumn       = "column"        // a column is not what the entry, or the checkpoint, says
	CodeRowMissing   = "row_missing"   // a row is not there
	CodeRowTwice     = "row_twice"     // a key stands in more than one row
	CodeRowExtra     = "row_extra"     // a row that belongs to nothing
	CodeSchema       = "schema"        // a table or column is not there, or of another type
	CodeHead         = "head"          // the head is not the newest checkpoint
	CodeRollback     = "rollback"      // the ledger ends before what was seen of it elsewhere
	CodeFork         = "fork"          // the ledger has another root than what was seen of it elsewhere
	CodeMark         = "mark"          // the high-water mark file cannot be read
	CodeSealedTape   = "sealed_tape"   // a tape at rest is not the one committed to
	CodeSignatures   = "signatures"    // a checkpoint has a signature line that no daemon wrote
	CodeAccessChain  = "access_chain"  // the access records are not those whose head is an entry
	CodeEntryBetween = "entry_between" // one of these entries is not what was signed
)

// place returns the place of a fault: relation, column and key of the row, as in
// "entries.serial[idx=5]". column and key may be "".
func place(t *store.Relation, column, key string) string {
	s := t.Name
	if column != "" {
		s += "." + column
	}
	if key != "" {
		s += "[" + key + "]"
	}
	return s
}

// placeOf returns the place of a column of a stored row.
func placeOf(r store.Raw, column string) string { return place(r.Relation, column, keyOf(r)) }

// keyOf returns the key of a row within its ledger. In a relation with one row for each ledger that is the ledger.
func keyOf(r store.Raw) string {
	columns := r.Relation.Columns[1 : 1+r.Relation.Keys]
	if len(columns) == 0 {
		columns = r.Relation.Columns[:1]
	}
	var parts []string
	for _, c := range columns {
		parts = append(parts, c+"="+show(r.Value(c)))
	}
	return strings.Join(parts, ",")
}

func tileKey(level int, index uint64) string { return fmt.Sprintf("level=%d,idx=%d", level, index) }

func entryKey(index uint64) string { return fmt.Sprintf("idx=%d", index) }

func sizeKey(size uint64) string { return fmt.Sprintf("size=%d", size) }

func fault(code, where, format string, args ...any) inspect.Fault {
	return inspect.Fault{Code: code, Where: where, Detail: fmt.Sprintf(format, args...)}
}

// cell is a column of a row and what it should hold: nil, an int64, text or bytes.
type cell struct {
	column string
	want   any
}

// compare names the columns of a row that differ from cells. says is where these come from:
// the entry or the checkpoint.
func compare(r store.Raw, says string, cells ...cell) (faults []inspect.Fault) {
	for _, c := range cells {
		if !same(r, c.column, c.want) {
			faults = append(faults, fault(CodeColumn, placeOf(r, c.column), "it is %s, and the %s says %s",
				show(r.Value(c.column)), says, show(c.want)))
		}
	}
	return faults
}

// same reports whether a column holds want.
func same(r store.Raw, column string, want any) bool {
	switch want := want.(type) {
	case int64:
		n, ok := r.Int(column)
		return ok && n == want
	case string:
		s, ok := r.Text(column)
		return ok && s == want
	case []byte:
		b, ok := r.Bytes(column)
		return ok && bytes.Equal(b, want)
	}
	return r.Value(column) == nil
}

// show prints a stored value, or the beginning of a long one. It must not be used for tapes.
func show(v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case []byte:
		if len(v) > 32 {
			return fmt.Sprintf("%s… (%d bytes)", hex.EncodeToString(v[:32]), len(v))
		}
		return hex.EncodeToString(v)
	case string:
		return fmt.Sprintf("%.80q", v)
	case int64, int32, int16:
		return fmt.Sprint(v)
	}
	return fmt.Sprintf("a value of type %T", v)
}

// kind describes a value that should be of another type or size.
func kind(v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case []byte:
		return fmt.Sprintf("%d bytes", len(v))
	case string:
		return "text"
	case int64, int32, int16:
		return "a number"
	}
	return "a value of another type"
}
