package fsck_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/fsck"
	"shuffled/internal/inspect"
	"shuffled/internal/ledger"
	"shuffled/internal/store"
)

// tampered is a database that its owner has taken every constraint and trigger from, for one case at a time.
type tampered interface {
	// columns returns the names of a table's columns, of the database.
	columns(t *testing.T, table string) []string
	// tables returns the names of all tables, of the database.
	tables(t *testing.T) []string
	// rows returns the rows of a table.
	rows(t *testing.T, table *store.Relation) []store.Raw
	// with makes changes, hands over the evidence after them and takes them back.
	with(t *testing.T, changes []change, do func(*store.Evidence))
	// step is how many of the values are passed over for each that is tried.
	step() int
	// mistyped returns values that are of no type that a column should have.
	mistyped() []any
}

// change is one statement, its parameters $1, $2 …
type change struct {
	sql  string
	args []any
}

// victim is a row that is tampered with.
type victim struct {
	store.Raw
	what  string
	whole bool // all values are tried, not every fourth
}

// tamperCase is one case: what is done, and what of it must be seen.
type tamperCase struct {
	name    string
	changes []change
	want    []want
}

// want is a fault that must be named, by the place it has. One is enough.
type want struct {
	table, column string // column "": any, or none
	key           string // as in keyText
	code          string // "": any
}

// TestMatrix changes every column of every table of evidence in every way that somebody could who owns the database,
// and sees each change named with its table, column and row. Columns come from the database: one that is new fails
// until a check of it exists.
func TestMatrix(t *testing.T) {
	t.Parallel()
	m := made(t)
	for name, open := range map[string]func(*testing.T, *material) tampered{"sqlite": strippedSQLite,
		"postgres": strippedPostgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := open(t, m)
			db.with(t, nil, func(e *store.Evidence) { wantHonest(t, m, e) })
			cases := columnCases(t, m, db)
			cases = append(cases, rowCases(t, m, db)...)
			if len(cases) < 400 {
				t.Fatalf("%d cases", len(cases))
			}
			codes := make(map[string]int)
			for i, c := range cases {
				if i%sparse() != 0 {
					continue
				}
				t.Run(c.name, func(t *testing.T) {
					db.with(t, c.changes, func(e *store.Evidence) {
						r := check(t, e, m.options())
						if !slices.ContainsFunc(c.want,
							func(w want) bool { return slices.ContainsFunc(r.Faults, w.is) }) {
							b, _ := json.MarshalIndent(r.Faults, "", " ")
							t.Errorf("verdict %s, want a fault at one of %v\n%.3000s", r.Verdict, c.want, b)
						}
						for _, f := range r.Faults {
							codes[f.Code]++
						}
					})
				})
			}
			t.Logf("%d cases; codes %v", len(cases), codes)
		})
	}
}

var placePattern = regexp.MustCompile(`^([a-z]+)(?:\.([a-z_]+))?(?:\[(.*)\])?$`)

// is reports whether a fault has the place that is wanted.
func (w want) is(f inspect.Fault) bool {
	p := placePattern.FindStringSubmatch(f.Where)
	if p == nil || p[1] != w.table || w.column != "" && p[2] != w.column || w.code != "" && w.code != f.Code {
		return false
	}
	return w.key == "" || p[3] == w.key || within(p[3], w.key)
}

// within reports whether a key is one of a range: "idx=3..7" has "idx=5".
func within(span, key string) bool {
	name, value, ok := strings.Cut(key, "=")
	n, err := strconv.ParseUint(value, 10, 64)
	if !ok || err != nil {
		return false
	}
	var from, to uint64
	if _, err := fmt.Sscanf(span, name+"=%d..%d", &from, &to); err != nil {
		return false
	}
	return from <= n && n <= to
}

// keyText is a row's key as a place has it.
func keyText(r store.Raw) string {
	columns := r.Relation.Columns[1 : 1+r.Relation.Keys]
	if len(columns) == 0 {
		columns = r.Relation.Columns[:1]
	}
	var parts []string
	for _, c := range columns {
		if b, ok := r.Bytes(c); ok {
			parts = append(parts, fmt.Sprintf("%s=%x", c, b))
		} else {
			parts = append(parts, fmt.Sprintf("%s=%v", c, r.Value(c)))
		}
	}
	return strings.Join(parts, ",")
}

// where is the condition that selects a row.
func where(r store.Raw, from int) (sql string, args []any) {
	columns := r.Relation.Columns[:1+r.Relation.Keys]
	var parts []string
	for _, c := range columns {
		args = append(args, r.Value(c))
		parts = append(parts, fmt.Sprintf("%s = $%d", c, from+len(args)-1))
	}
	return strings.Join(parts, " AND "), args
}

func update(r store.Raw, column string, value any) change {
	cond, args := where(r, 2)
	return change{fmt.Sprintf("UPDATE %s SET %s = $1 WHERE %s", r.Relation.Name, column, cond),
		append([]any{value}, args...)}
}

func remove(r store.Raw) change {
	cond, args := where(r, 1)
	return change{fmt.Sprintf("DELETE FROM %s WHERE %s", r.Relation.Name, cond), args}
}

func insert(r store.Raw, values []any) change {
	var marks []string
	for i := range values {
		marks = append(marks, fmt.Sprintf("$%d", i+1))
	}
	columns := strings.Join(r.Relation.Columns, ", ")
	return change{fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", r.Relation.Name, columns, strings.Join(marks, ", ")),
		values}
}

// victims are rows of every kind that a table has.
func victims(t *testing.T, m *material, table *store.Relation, rows []store.Raw) (list []victim) {
	t.Helper()
	add := func(what string, is func(store.Raw) bool) {
		for _, r := range rows {
			if is(r) {
				list = append(list, victim{r, what, table != store.EntryRows ||
					strings.HasPrefix(what, "a commit") || strings.HasPrefix(what, "a deal")})
				return
			}
		}
		t.Fatalf("%s has no row that is %s", table.Name, what)
	}
	number := func(r store.Raw, column string) int64 { n, _ := r.Int(column); return n }
	last := number(rows[len(rows)-1], table.Columns[min(1, table.Keys)])
	switch table {
	case store.EntryRows:
		entry := func(r store.Raw) audit.Body { return m.parsed[number(r, "idx")].Body }
		add("the genesis", func(r store.Raw) bool { return number(r, "idx") == 0 })
		add("a commit", func(r store.Raw) bool { c, ok := entry(r).(*audit.Commit); return ok && !c.Context.IsDraw() })
		add("a child", func(r store.Raw) bool {
			c, ok := entry(r).(*audit.Commit)
			return ok && c.Context.Parent != nil
		})
		add("a commit in the tail", func(r store.Raw) bool {
			_, ok := entry(r).(*audit.Commit)
			return ok && number(r, "idx") >= 256
		})
		add("a mix", func(r store.Raw) bool { _, ok := entry(r).(*audit.Mix); return ok })
		add("a deal", func(r store.Raw) bool { _, ok := entry(r).(*audit.Deal); return ok })
		add("a deal by two", func(r store.Raw) bool { d, ok := entry(r).(*audit.Deal); return ok && d.Blind != nil })
		add("a deal in the tail", func(r store.Raw) bool {
			_, ok := entry(r).(*audit.Deal)
			return ok && number(r, "idx") >= 256
		})
		add("a public close", func(r store.Raw) bool {
			c, ok := entry(r).(*audit.Close)
			return ok && c.Form == audit.FormTape
		})
		add("a sealed close", func(r store.Raw) bool {
			c, ok := entry(r).(*audit.Close)
			return ok && c.Form == audit.FormSealed
		})
		add("a key", func(r store.Raw) bool { _, ok := entry(r).(*audit.Key); return ok && number(r, "idx") > 9 })
		add("an event", func(r store.Raw) bool { _, ok := entry(r).(*audit.Event); return ok && number(r, "idx") > 9 })
		add("the newest", func(r store.Raw) bool { return number(r, "idx") == last })
	case store.CheckpointRows:
		add("the first", func(r store.Raw) bool { return true })
		add("in the middle", func(r store.Raw) bool { return number(r, "size") > 30 })
		add("of a rotation", func(r store.Raw) bool {
			b, _ := r.Bytes("checkpoint")
			return bytes.Count(b, []byte("\n— ")) == 2
		})
		add("the newest", func(r store.Raw) bool { return number(r, "size") == last })
	case store.CosignedRows, store.LateRows:
		add("one that a deal relies on", func(r store.Raw) bool { return number(r, "size") > 30 })
		add("the newest", func(r store.Raw) bool { return number(r, "size") == last })
	case store.DeckRows, store.TermsRows:
		for _, r := range rows {
			list = append(list, victim{r, keyText(r)[:12], true})
		}
	default:
		add("one", func(store.Raw) bool { return true })
	}
	return list
}

// values are what a column may be made to hold instead, by what that is.
func values(v any, others []any, mistyped []any) map[string]any {
	out := map[string]any{"NULL": nil}
	flip := func(b []byte, i int) []byte { b = slices.Clone(b); b[i] ^= 1; return b }
	switch v := v.(type) {
	case nil:
		out = map[string]any{"a value": nil}
	case int64, int32, int16:
		n, _ := strconv.ParseInt(fmt.Sprint(v), 10, 64)
		out["one more"], out["one less"], out["zero"], out["negative"] = n+1, n-1, int64(0), -n-1
		if _, wide := v.(int64); wide {
			out["the largest"] = int64(math.MaxInt64)
		}
	case string:
		out["another beginning"], out["another end"] = "x"+v[1:], v[:len(v)-1]+"x"
		out["another middle"], out["longer"], out["empty"] = v[:len(v)/2]+"x"+v[len(v)/2+1:], v+" ", ""
	case []byte:
		out["the first byte"], out["a middle byte"], out["the last byte"] = flip(v, 0), flip(v, len(v)/2), flip(v,
			len(v)-1)
		out["shorter"], out["longer"], out["empty"] = slices.Clone(v[:len(v)-1]), append(slices.Clone(v), 0), []byte{}
		out["zeros"] = make([]byte, len(v))
	}
	for i, o := range others {
		out[fmt.Sprint("that of another row ", i)] = o
	}
	for _, x := range mistyped {
		out[fmt.Sprintf("a %T", x)] = x
	}
	for name, x := range out { // no change is no case
		if equal(x, v) {
			delete(out, name)
		}
	}
	return out
}

func equal(a, b any) bool {
	x, ok := a.([]byte)
	y, ok2 := b.([]byte)
	if ok || ok2 {
		return ok && ok2 && bytes.Equal(x, y)
	}
	return fmt.Sprintf("%T%v", a, a) == fmt.Sprintf("%T%v", b, b) || a != nil && b != nil && isNumber(a) &&
		isNumber(b) && fmt.Sprint(a) == fmt.Sprint(b)
}

func isNumber(v any) bool {
	switch v.(type) {
	case int64, int32, int16:
		return true
	}
	return false
}

// notEvidence are the tables that fsck leaves alone.
var notEvidence = []string{"access_records"}

func columnCases(t *testing.T, m *material, db tampered) (cases []tamperCase) {
	t.Helper()
	for _, name := range db.tables(t) {
		if slices.Contains(notEvidence, name) {
			continue
		}
		i := slices.IndexFunc(store.Relations(), func(x *store.Relation) bool { return x.Name == name })
		if i < 0 {
			t.Errorf("the database has a table %s that is not checked", name)
			continue
		}
		table := store.Relations()[i]
		rows := db.rows(t, table)
		for _, column := range db.columns(t, name) {
			if !slices.Contains(table.Columns, column) {
				t.Errorf("the database has a column %s.%s that is not checked", name, column)
				continue
			}
			for _, v := range victims(t, m, table, rows) {
				cases = append(cases, casesOf(m, db, v, column, rows)...)
			}
		}
	}
	return cases
}

func casesOf(m *material, db tampered, v victim, column string, rows []store.Raw) (cases []tamperCase) {
	old := v.Value(column)
	var others []any
	var swapped []change
	for _, r := range rows { // what another row has there
		if x := r.Value(column); x != nil && !equal(x, old) {
			others = append(others, x)
			swapped = []change{update(r, column, old), update(v.Raw, column, x)}
			if others = others[:min(len(others), 2)]; len(others) == 2 {
				break
			}
		}
	}
	wants := wantOf(v, column)
	all := values(old, others, db.mistyped())
	for n, what := range slices.Sorted(maps.Keys(all)) {
		if step := db.step(); !v.whole && n%4 != 0 || v.whole && n%step != 0 {
			continue
		}
		x := all[what]
		if x == nil && old == nil {
			continue
		}
		cases = append(cases, tamperCase{fmt.Sprintf("%s.%s of %s: %s", v.Relation.Name, column, v.what, what),
			[]change{update(v.Raw, column, x)}, wants})
	}
	if swapped != nil && !slices.Contains(v.Relation.Columns[:1+v.Relation.Keys], column) {
		cases = append(cases, tamperCase{fmt.Sprintf("%s.%s of %s: swapped with another row", v.Relation.Name, column,
			v.what), swapped, wants})
	}
	return cases
}

// wantOf says how a change of a column is named.
func wantOf(v victim, column string) []want {
	table, key := v.Relation.Name, keyText(v.Raw)
	wants := []want{{table: table, column: column, key: key}}
	switch {
	case v.Relation == store.StatementRows && column == "shuffle":
		// A statement says of which shuffle it is, and the next one that it is not the first.
		wants = []want{{table: table, column: column}, {table: table, key: key, code: fsck.CodeRowMissing}}
	case v.Relation == store.StatementRows && column == "note":
		wants = []want{{table: table, column: column}, {table: table, column: "shuffle", key: key}}
	case v.Relation == store.LateRows && column != "checkpoint":
		wants = []want{{table: table, column: column}, {table: table, code: fsck.CodeRowExtra},
			{table: table, code: fsck.CodeRowTwice}}
	case v.Relation == store.LedgerRows && column == "ledger":
		wants = []want{{table: table, column: "ledger"}, {table: table, key: key, code: fsck.CodeRowMissing}}
	case slices.Contains(v.Relation.Columns[:1+v.Relation.Keys], column):
		// A row with another key is one that is missing.
		wants = []want{{table: table, key: key, code: missingCode(v.Relation)}}
	}
	return wants
}

// missingCode is the code of a row that is not there: of a cosigned checkpoint the entry says so that relies on it.
func missingCode(t *store.Relation) string {
	if t == store.CosignedRows {
		return inspect.CodeCosigned
	}
	return fsck.CodeRowMissing
}

// rowCases remove, repeat and add rows, and set tables back.
func rowCases(t *testing.T, m *material, db tampered) (cases []tamperCase) {
	t.Helper()
	for _, table := range store.Relations() {
		rows := db.rows(t, table)
		for _, v := range victims(t, m, table, rows) {
			key := keyText(v.Raw)
			name := func(what string) string { return fmt.Sprintf("%s, %s: %s", table.Name, v.what, what) }
			if table != store.LateRows { // nothing says that there is one
				cases = append(cases, tamperCase{name("deleted"), []change{remove(v.Raw)},
					[]want{{table: table.Name, key: key, code: missingCode(table)}}})
			}
			cases = append(cases,
				tamperCase{name("twice"), []change{insert(v.Raw, v.Values)},
					[]want{{table: table.Name, key: key, code: fsck.CodeRowTwice}}})
			again := slices.Clone(v.Values)
			again[len(again)-1] = rows[0].Values[len(again)-1]
			cases = append(cases, tamperCase{name("twice, with another value"), []change{insert(v.Raw, again)},
				[]want{{table: table.Name, key: key, code: fsck.CodeRowTwice}}})
			foreign := slices.Clone(v.Values)
			foreign[0] = int64(12345)
			stray := []want{{table: table.Name, column: "ledger", code: fsck.CodeRowExtra}}
			if table == store.LedgerRows {
				stray = []want{{table: table.Name, code: fsck.CodeRowTwice}, {table: table.Name, column: "ledger"}}
			}
			cases = append(cases, tamperCase{name("of an unknown ledger"), []change{insert(v.Raw, foreign)}, stray})
			none := slices.Clone(v.Values)
			none[0] = nil
			if table == store.LedgerRows {
				stray = []want{{table: table.Name, column: "ledger", code: fsck.CodeColumn}}
			}
			cases = append(cases, tamperCase{name("of no ledger"), []change{insert(v.Raw, none)}, stray})
			cases = append(cases, strayCases(v, name)...)
		}
		if table == store.StatementRows || table == store.LateRows {
			continue // no entry says that there are any
		}
		cases = append(cases, tamperCase{table.Name + ": emptied", []change{{"DELETE FROM " + table.Name, nil}},
			[]want{{table: table.Name, code: missingCode(table)}}})
	}
	stray := bytes.Repeat([]byte{7}, 32)
	cases = append(cases, tamperCase{"decks: one that no commit names, under another hash",
		[]change{{"INSERT INTO decks (ledger, hash, cards) SELECT ledger, $1, cards FROM decks LIMIT 1", []any{stray}}},
		[]want{{table: "decks", column: "cards", key: fmt.Sprintf("hash=%x", stray), code: inspect.CodeDeck}}})
	cases = append(cases, tailCases(m)...)
	cases = append(cases, statementCases(t, m, db)...)
	cases = append(cases, lineCases(t, m, db)...)
	cases = append(cases, tamperCase{"ledgers: one that is not there",
		[]change{{"INSERT INTO ledgers (ledger, name, origin) VALUES ($1, 'ghost', 'example.org/ghost')",
			[]any{int64(ledger.IDOf("example.org/ghost"))}}},
		[]want{{table: "ledgers", code: fsck.CodeRowExtra}}})
	return cases
}

// strayCases add rows with a key that no row of the ledger has.
func strayCases(v victim, name func(string) string) (cases []tamperCase) {
	if v.Relation.Keys == 0 || v.Relation == store.DeckRows || v.Relation == store.TermsRows {
		return nil
	}
	at := v.Relation.Keys // the last column of the key
	if v.Relation == store.SlotRows {
		at = 1 // its number
	}
	beyond := int64(1 << 40)
	if v.Relation == store.StatementRows {
		beyond = 8 // the column is a small one
	}
	for what, n := range map[string]any{"far beyond the head": beyond, "below zero": int64(-1),
		"without a key": nil} {
		stray := slices.Clone(v.Values)
		stray[at] = n
		wants := []want{{table: v.Relation.Name, code: fsck.CodeRowExtra,
			key: strings.Replace(keyText(v.Raw), fmt.Sprint("=", v.Values[at]), fmt.Sprint("=", n), 1)}}
		if n == nil {
			wants = []want{{table: v.Relation.Name, code: fsck.CodeColumn, column: v.Relation.Columns[at]}}
		}
		if v.Relation == store.TileRows {
			wants[0].key = ""
		}
		cases = append(cases, tamperCase{name(what), []change{insert(v.Raw, stray)}, wants})
	}
	return cases
}

// lineCases add a signature line that no key of the ledger or of its witnesses made, which a signature does not cover.
func lineCases(t *testing.T, m *material, db tampered) (cases []tamperCase) {
	t.Helper()
	own := m.heads[3].Checkpoint[bytes.LastIndex(m.heads[3].Checkpoint, []byte("\n\n"))+2:]
	for _, table := range []*store.Relation{store.HeadRows, store.CheckpointRows, store.CosignedRows, store.LateRows} {
		for _, v := range victims(t, m, table, db.rows(t, table)) {
			signed, _ := v.Bytes("checkpoint")
			wants := []want{{table: table.Name, key: keyText(v.Raw)}}
			for what, line := range map[string]string{
				"of nobody":         "— example.org/nobody AAAAAQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyAhIiMkJSYnKCkqKywtLi8wMTIzNDU2Nzg5Ojs8PT4/QA==\n",
				"of another size":   string(own),
				"that stands there": string(signed[bytes.LastIndex(signed, []byte("— ")):]),
			} {
				longer := append(slices.Clone(signed), line...)
				cases = append(cases, tamperCase{fmt.Sprintf("%s.checkpoint of %s: a line more %s", table.Name, v.what,
					what), []change{update(v.Raw, "checkpoint", longer)}, wants})
			}
		}
	}
	return cases
}

// statementCases put signed statements in place of one that are about something else.
func statementCases(t *testing.T, m *material, db tampered) (cases []tamperCase) {
	t.Helper()
	row := db.rows(t, store.StatementRows)[0]
	b, _ := row.Bytes("note")
	honest, err := openings.ParseStatement(b)
	must(t, err)
	for name, edit := range map[string]func(*openings.Statement) auditor{
		"another ledger": func(s *openings.Statement) auditor { s.Origin = "example.org/other"; return "a.example" },
		"another shuffle, with the hashes of this one": func(s *openings.Statement) auditor { s.ID++; return "a.example" },
		"another commit": func(s *openings.Statement) auditor { s.Commit[0] ^= 1; return "a.example" },
		"another close":  func(s *openings.Statement) auditor { s.Disclosed[0] ^= 1; return "a.example" },
		"the shuffle, by who signed the next one": func(*openings.Statement) auditor { return "regulator.example" },
	} {
		s := honest.Statement
		by := edit(&s)
		signed, err := s.Sign(by)
		must(t, err)
		cases = append(cases, tamperCase{"statements: one about " + name, []change{update(row, "note", signed)},
			[]want{{table: "statements", key: keyText(row), code: fsck.CodeColumn},
				{table: "statements", column: "note", code: fsck.CodeColumn}}})
	}
	return cases
}

// tailCases cut off the newest rows, in one table after the other.
func tailCases(m *material) []tamperCase {
	size := int64(len(m.entries))
	head, before := m.heads[len(m.heads)-1], m.heads[len(m.heads)-5]
	setHead := change{"UPDATE heads SET size = $1, root = $2, checkpoint = $3",
		[]any{int64(before.Size), before.Root[:], before.Checkpoint}}
	cutEntries := change{"DELETE FROM entries WHERE idx >= $1", []any{int64(before.Size)}}
	cutCheckpoints := change{"DELETE FROM checkpoints WHERE size > $1", []any{int64(before.Size)}}
	missing := []want{{table: "entries", key: fmt.Sprintf("idx=%d", size-1), code: fsck.CodeRowMissing}}
	return []tamperCase{
		{"the newest entries cut off", []change{cutEntries}, missing},
		{"the newest half of the entries cut off", []change{{"DELETE FROM entries WHERE idx >= 100", nil}}, missing},
		{"the newest checkpoints cut off", []change{cutCheckpoints},
			[]want{{table: "checkpoints", key: fmt.Sprintf("size=%d", head.Size), code: fsck.CodeRowMissing}}},
		{"an older head", []change{setHead}, []want{{table: "heads", column: "size", code: fsck.CodeHead}}},
		{"an older head and no later checkpoints", []change{setHead, cutCheckpoints},
			[]want{{table: "entries", code: fsck.CodeRowExtra, key: fmt.Sprintf("idx=%d", before.Size)}}},
		{"older entries and checkpoints", []change{cutEntries, cutCheckpoints},
			append(missing, want{table: "checkpoints", key: fmt.Sprintf("size=%d", head.Size)})},
		{"older cosigned checkpoints", []change{{"DELETE FROM cosigned WHERE size > 30", nil}},
			[]want{{table: "cosigned", code: missingCode(store.CosignedRows)}}},
	}
}
