package fsck

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/inspect"
	"shuffled/internal/ledger"
	"shuffled/internal/seal"
	"shuffled/internal/store"
)

// entries is the place of an entry in the faults of inspect. locate adds the index.
var entries = place(store.EntryRows, "entry", "")

// chunk is a chunk of entries, with the rows about them.
type chunk struct {
	*source
	first   uint64
	rows    []*store.Raw           // of entries, by index; nil: it is missing
	batches map[uint64]bool        // sizes of checkpoints
	slots   map[uint64][]store.Raw // by the index of their commit
	found   []inspect.Fault        // not yet handed over
	times   map[uint64]int64       // of entries, by index
}

// Chunk implements inspect.Source.
func (s *source) Chunk(ctx context.Context, n uint64, width int) (inspect.Chunk, error) {
	first, end := n*inspect.Width, n*inspect.Width+uint64(width)
	c := &chunk{source: s, first: first, rows: make([]*store.Raw, width), batches: make(map[uint64]bool),
		slots: make(map[uint64][]store.Raw), times: make(map[uint64]int64, width+1)}
	rows, err := s.rows.Range(ctx, store.EntryRows, s.id, first-min(first, 1), end)
	if err != nil {
		return inspect.Chunk{}, err
	}
	if err := s.rows.Sizes(ctx, s.id, first, end, func(size uint64) { c.batches[size] = true }); err != nil {
		return inspect.Chunk{}, err
	}
	slots, err := s.rows.Range(ctx, store.SlotRows, s.id, first, end)
	if err != nil {
		return inspect.Chunk{}, err
	}
	for _, r := range slots {
		if index, ok := r.Int("idx"); ok { // otherwise odd names the row
			c.slots[uint64(index)] = append(c.slots[uint64(index)], r)
		}
	}
	statements, err := s.rows.Range(ctx, store.StatementRows, s.id, first, end)
	if err != nil {
		return inspect.Chunk{}, err
	}
	out := inspect.Chunk{Where: entries, Entries: make([][]byte, width), Parsed: c.parsed}
	for i := range rows {
		c.take(&rows[i], out.Entries)
	}
	c.missing()
	out.Faults, c.found = c.found, nil
	return out, c.statements(ctx, statements, out.Entries)
}

// name adds a fault of an entry to those of the chunk.
func (c *chunk) name(index uint64, code, where, format string, args ...any) {
	f := fault(code, where, format, args...)
	f.Entry = &index
	c.found = append(c.found, f)
}

// take adds the row of an entry.
func (c *chunk) take(r *store.Raw, entries [][]byte) {
	n, ok := r.Int("idx")
	index := uint64(n)
	b, isBytes := r.Bytes("entry")
	switch {
	case !ok:
		c.found = append(c.found, fault(CodeColumn, placeOf(*r, "idx"), "it is %s, not an integer",
			kind(r.Value("idx"))))
	case index < c.first: // the entry before the chunk, used if its row has its time
		if e, err := audit.ParseEntry(b); err == nil && same(*r, "time", e.Time) {
			c.times[index] = e.Time
		}
	case c.rows[index-c.first] != nil:
		c.found = append(c.found, fault(CodeRowTwice, placeOf(*r, ""), "the entry is in more than one row"))
	default:
		c.rows[index-c.first], entries[index-c.first] = r, b
		if !isBytes {
			c.name(index, CodeColumn, placeOf(*r, "entry"), "it is %s, not bytes", kind(r.Value("entry")))
		}
	}
}

// missing names the rows that are not there: consecutive ones as one fault.
func (c *chunk) missing() {
	for i := 0; i < len(c.rows); i++ {
		from := i
		for i < len(c.rows) && c.rows[i] == nil {
			i++
		}
		first := c.first + uint64(from)
		switch where := entryKey(first); i - from {
		case 0:
		case 1:
			c.name(first, CodeRowMissing, place(store.EntryRows, "", where), "the entry is missing")
		default:
			where = fmt.Sprintf("%s..%d", where, c.first+uint64(i)-1)
			c.name(first, CodeRowMissing, place(store.EntryRows, "", where), "%d entries are missing", i-from)
		}
	}
}

// parsed compares the columns of a row with its entry.
func (c *chunk) parsed(index uint64, e audit.Entry) []inspect.Fault {
	r := c.rows[index-c.first]
	if r == nil {
		return nil
	}
	var row ledger.Row
	row.Columns(e)
	for _, f := range compare(*r, "entry", cells(&row)...) {
		f.Entry = &index
		c.found = append(c.found, f)
	}
	if row.Type != audit.TypeCommit {
		c.openings(*r, index, e)
	}
	c.compareSlots(index, row.Slots)
	switch b := e.Body.(type) {
	case *audit.Commit:
		if err := c.checkTape(*r, b); err != nil {
			c.name(index, CodeSealedTape, placeOf(*r, "kept"), "%v", err)
			c.found[len(c.found)-1].Shuffle = &index
		}
	case *audit.Event:
		if b.Kind == audit.EventAccessHead {
			c.mu.Lock()
			c.accessHeads[index] = ledger.AccessHead{Count: b.Records, Hash: b.Digest}
			c.mu.Unlock()
		}
	}
	// A batch has one time: between two entries of different times a batch ended and was signed.
	if before, known := c.times[index-1]; known && before != e.Time && !c.batches[index] {
		c.found = append(c.found, fault(CodeRowMissing, place(store.CheckpointRows, "", sizeKey(index)),
			"the entries %d and %d are of two batches, and the checkpoint between them is missing", index-1, index))
	}
	c.times[index] = e.Time
	found := c.found
	c.found = nil
	return found
}

// cells returns the columns that follow from an entry.
func cells(row *ledger.Row) []cell {
	orNull := func(is bool, v any) any {
		if !is {
			return nil
		}
		return v
	}
	commit := row.Type == audit.TypeCommit
	return []cell{{"time", row.Time}, {"serial", orNull(row.Serial != 0, int64(row.Serial))},
		{"shuffle", orNull(row.Shuffle != 0, int64(row.Shuffle))}, {"type", int64(row.Type)},
		{"tbl", orNull(commit, row.Table)}, {"key_tag", orNull(commit, row.KeyTag[:])},
		{"game_ref", orNull(row.GameRef != "", row.GameRef)}}
}

// compareSlots compares the slots that are kept of an entry with those in it. A slot that
// is not kept could be used by another commit.
func (c *chunk) compareSlots(index uint64, want [][32]byte) {
	rows := make(map[string]int, len(want)) // by key
	key := func(slot [32]byte) string { return entryKey(index) + ",slot=" + hex.EncodeToString(slot[:]) }
	for _, slot := range want {
		rows[key(slot)] = 0
	}
	for _, r := range c.slots[index] {
		n, known := rows[keyOf(r)]
		if !known {
			c.name(index, CodeRowExtra, placeOf(r, ""), "the entry has no such slot")
			continue
		}
		if n > 0 {
			c.name(index, CodeRowTwice, placeOf(r, ""), "the slot is in more than one row")
		}
		rows[keyOf(r)]++
	}
	for _, slot := range want {
		if rows[key(slot)] == 0 {
			c.name(index, CodeRowMissing, place(store.SlotRows, "", key(slot)), "the slot of the entry is not kept")
		}
	}
}

// openings checks what is kept with an entry that is no commit. Each opening, and what a co-dealer or a house gave, is
// compared with the ledger when it is read.
func (c *chunk) openings(r store.Raw, index uint64, e audit.Entry) {
	var end struct{ Cards []openings.Card }
	text, kept := r.Bytes("kept")
	var err error
	if r.Value("kept") != nil {
		err = errors.New("nothing is kept with such an entry")
	}
	d, ends := audit.DisclosedBy(e.Body)
	switch b := e.Body.(type) {
	case *audit.Deal:
		if b.Asked != nil {
			_, _, err = audit.ReceiptEntry(string(text))
		} else if b.Blind != nil {
			err = json.Unmarshal(text, &end)
		}
	case *audit.Close, *audit.DisclosureEntry:
		closed, _ := b.(*audit.Close)
		if kept && ends && d.Form == audit.FormSealed ||
			closed != nil && (closed.Unplayed() != nil || closed.Follows != nil) {
			err = json.Unmarshal(text, &end)
		}
	}
	for i := 0; err == nil && i < len(end.Cards); i++ {
		_, err = end.Cards[i].Opening()
	}
	if err != nil {
		c.name(index, CodeColumn, placeOf(r, "kept"), "it is %s, and not what is kept with the entry: %v",
			kind(r.Value("kept")), err)
	}
}

// checkTape compares a sealed tape with its commitment and deck root, if its key is there. If
// not, it checks the length alone.
func (c *chunk) checkTape(r store.Raw, commit *audit.Commit) error {
	sealed, ok := r.Bytes("kept")
	if !ok {
		return fmt.Errorf("the sealed tape of a commit is %s", kind(r.Value("kept")))
	}
	c.count(&c.counts.Tapes)
	recipe, inputs := commit.Context.Recipe, 0
	if commit.Context.Parent != nil {
		inputs = recipe.Cards
	}
	want := recipe.TapeLen() + 2*inputs + seal.Overhead
	if _, blind := commit.Context.CoDealer(); blind && len(sealed) > want {
		if _, err := audit.ParseReceipt(string(sealed[want:])); err != nil {
			return fmt.Errorf("behind the sealed tape: the co-dealer's commit: %w", err)
		}
		sealed = sealed[:want]
	}
	if len(sealed) != want {
		return fmt.Errorf("it has %d bytes, not %d", len(sealed), want)
	}
	if c.opts.Keys == nil {
		return nil
	}
	opened, err := c.opts.Keys.Open(c.origin, commit.Commitment, sealed)
	if errors.Is(err, seal.ErrUnknownKey) {
		return nil
	}
	c.count(&c.counts.TapesOpened)
	if err != nil {
		return fmt.Errorf("%w: it was altered, or is of another commit", err)
	}
	tape, cards, err := seal.Split(opened, recipe.TapeLen(), inputs)
	if err != nil {
		return err
	}
	context := commit.Context.Encode()
	if openings.Commitment(context, tape) != commit.Commitment {
		return errors.New("the tape does not open the commitment")
	}
	out, err := recipe.Run(tape)
	if err != nil {
		return err
	}
	if commit.Context.Parent != nil {
		// Inputs that are not the parent's lead to another root. At the close, inspect
		// compares the root with the parent.
		for i, x := range out.Values {
			out.Values[i] = cards[x]
		}
	}
	if openings.DeckRoot(commit.Commitment, context, tape, out.Values) != tlog.Hash(commit.DeckRoot) {
		return errors.New("the tape does not lead to the deck root")
	}
	return nil
}
