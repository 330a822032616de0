package fsck

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/inspect"
	"shuffled/internal/ledger"
	"shuffled/internal/seal"
	"shuffled/internal/store"
)

// Chunk implements inspect.Source.
func (s *source) Chunk(ctx context.Context, n uint64, width int) (inspect.Chunk, error) {
	first := n * inspect.Width
	c := &chunk{source: s, first: first, rows: make([]*store.Raw, width), batches: make(map[uint64]bool),
		tally: new(tally)}
	s.mu.Lock()
	s.tallies[n] = c.tally
	s.mu.Unlock()
	rows, err := s.rows.Range(ctx, store.EntryRows, s.id, first-min(first, 1), first+uint64(width))
	if err != nil {
		return inspect.Chunk{}, err
	}
	if err := s.rows.Sizes(ctx, s.id, first, first+uint64(width),
		func(size uint64) { c.batches[size] = true }); err != nil {
		return inspect.Chunk{}, err
	}
	if err := c.readSlots(ctx, width); err != nil {
		return inspect.Chunk{}, err
	}
	out := inspect.Chunk{Where: place(store.EntryRows, "entry", ""), Entries: make([][]byte, width),
		Parsed: c.parsed}
	for i := range rows {
		out.Faults = append(out.Faults, c.take(&rows[i], out.Entries)...)
	}
	out.Faults = append(out.Faults, c.missing()...)
	return out, nil
}

// chunk is what is read with the entries of a chunk. Its rows are those whose
// index is one of the chunk.
type chunk struct {
	*source
	first   uint64
	rows    []*store.Raw
	batches map[uint64]bool        // sizes of checkpoints
	slots   map[uint64][]store.Raw // by the index of their commit
	tally   *tally

	before audit.Entry // the entry at index last, if known
	last   uint64
	known  bool
}

// take sorts a row in.
func (c *chunk) take(r *store.Raw, entries [][]byte) []inspect.Fault {
	index, ok := r.Int("idx")
	switch {
	case !ok:
		return []inspect.Fault{fault(CodeColumn, placeOf(*r, "idx"), "it is %s, not an integer", kind(r.Value("idx")))}
	case uint64(index) < c.first:
		c.follow(r, uint64(index))
		return nil
	}
	i := uint64(index) - c.first
	if c.rows[i] != nil {
		return []inspect.Fault{fault(CodeRowTwice, placeOf(*r, ""), "the entry stands in more than one row")}
	}
	c.rows[i] = r
	c.tally.entries++
	b, ok := r.Bytes("entry")
	if !ok {
		return []inspect.Fault{column(*r, "entry", uint64(index), "it is %s, not bytes", kind(r.Value("entry")))}
	}
	entries[i] = b
	return nil
}

// follow takes note of the entry before the chunk, if its row agrees with itself.
func (c *chunk) follow(r *store.Raw, index uint64) {
	b, _ := r.Bytes("entry")
	e, err := audit.ParseEntry(b)
	if at, ok := r.Int("time"); err == nil && ok && at == e.Time {
		c.before, c.last, c.known = e, index, true
	}
}

// missing names the rows that are not there, those side by side together.
func (c *chunk) missing() (faults []inspect.Fault) {
	for i := 0; i < len(c.rows); i++ {
		if c.rows[i] != nil {
			continue
		}
		from := i
		for i < len(c.rows) && c.rows[i] == nil {
			i++
		}
		key, what := fmt.Sprintf("idx=%d", c.first+uint64(from)), "the entry is"
		if i > from+1 {
			key, what = fmt.Sprintf("%s..%d", key, c.first+uint64(i)-1), fmt.Sprintf("%d entries are", i-from)
		}
		f := fault(CodeRowMissing, place(store.EntryRows, "", key), "%s not there", what)
		index := c.first + uint64(from)
		f.Entry = &index
		faults = append(faults, f)
	}
	return faults
}

// parsed holds the columns of a row against its entry.
func (c *chunk) parsed(index uint64, e audit.Entry) (faults []inspect.Fault) {
	r := c.rows[index-c.first]
	if r == nil {
		return nil
	}
	var want ledger.Row
	want.Columns(e)
	_, commit := e.Body.(*audit.Commit)
	number := func(n uint64) any {
		if n == 0 {
			return nil
		}
		return int64(n)
	}
	columns := []struct {
		name string
		want any
	}{
		{"time", want.Time}, {"serial", number(want.Serial)}, {"shuffle", number(want.Shuffle)},
		{"type", int64(want.Type)}, {"tbl", any(nil)}, {"key_tag", any(nil)}, {"game_ref", any(nil)},
	}
	if want.GameRef != "" {
		columns[6].want = want.GameRef
	}
	if commit {
		columns[4].want, columns[5].want = want.Table, want.KeyTag[:]
	}
	for _, x := range columns {
		if !same(*r, x.name, x.want) {
			faults = append(faults, column(*r, x.name, index, "it is %s, and the entry says %s", show(r.Value(x.name)),
				show(x.want)))
		}
	}
	if b, ok := e.Body.(*audit.Commit); ok {
		faults = append(faults, c.tape(*r, index, b)...)
	} else if r.Value("sealed") != nil {
		faults = append(faults, column(*r, "sealed", index, "only a commit has a sealed tape"))
	}
	faults = append(faults, c.holdSlots(index, want.Slots)...)
	if b, ok := e.Body.(*audit.Event); ok && b.Kind == audit.EventAccessHead {
		c.mu.Lock()
		c.accessHeads[index] = ledger.AccessHead{Count: b.Records, Hash: b.Digest}
		c.mu.Unlock()
	}
	return append(faults, c.batch(index, e)...)
}

// same compares a column with what it should be: nil, an int64, text or bytes.
func same(r store.Raw, name string, want any) bool {
	switch want := want.(type) {
	case int64:
		n, ok := r.Int(name)
		return ok && n == want
	case string:
		s, ok := r.Text(name)
		return ok && s == want
	case []byte:
		b, ok := r.Bytes(name)
		return ok && bytes.Equal(b, want)
	}
	return r.Value(name) == nil
}

func column(r store.Raw, name string, index uint64, format string, args ...any) inspect.Fault {
	f := fault(CodeColumn, placeOf(r, name), format, args...)
	f.Entry = &index
	return f
}

// batch names a checkpoint that is not there. The sequencer takes the time once
// for a batch, so where it changes a batch ended, and was signed.
func (c *chunk) batch(index uint64, e audit.Entry) (faults []inspect.Fault) {
	if c.known && c.last+1 == index && c.before.Time != e.Time && !c.batches[index] {
		faults = append(faults, fault(CodeRowMissing, place(store.CheckpointRows, "", fmt.Sprintf("size=%d", index)),
			"the entries %d and %d are of two batches, and the checkpoint between them is not there", index-1, index))
	}
	c.before, c.last, c.known = e, index, true
	return faults
}

// tape holds a sealed tape against its commitment and deck root, as far as a key
// is at hand.
func (c *chunk) tape(r store.Raw, index uint64, commit *audit.Commit) []inspect.Fault {
	bad := func(format string, args ...any) []inspect.Fault {
		f := fault(CodeSealedTape, placeOf(r, "sealed"), format, args...)
		f.Entry, f.Shuffle = &index, &index
		return []inspect.Fault{f}
	}
	sealed, ok := r.Bytes("sealed")
	if !ok {
		return bad("the sealed tape of a commit is %s", kind(r.Value("sealed")))
	}
	c.tally.tapes++
	recipe, inputs := commit.Context.Recipe, 0
	if commit.Context.Parent != nil {
		inputs = recipe.Cards
	}
	if want := recipe.TapeLen() + 2*inputs + seal.Overhead; len(sealed) != want {
		return bad("it has %d bytes, not %d", len(sealed), want)
	}
	if c.opts.Keys == nil {
		return nil
	}
	opened, err := c.opts.Keys.Open(c.origin, commit.Commitment, sealed)
	if errors.Is(err, seal.ErrUnknownKey) {
		return nil
	}
	c.tally.opened++
	if err != nil {
		return bad("%v: it was altered, or is of another commit", err)
	}
	tape, cards, err := seal.Split(opened, recipe.TapeLen(), inputs)
	if err != nil {
		return bad("%v", err)
	}
	if audit.Commitment(commit.Context.Encode(), tape) != commit.Commitment {
		return bad("the tape does not open the commitment")
	}
	out, err := recipe.Run(tape)
	if err != nil {
		return bad("%v", err)
	}
	if commit.Context.Parent != nil {
		// Inputs that are not the parent's lead to another root: inspect holds the
		// root against the parent at the close.
		for i, x := range out.Values {
			out.Values[i] = cards[x]
		}
	}
	if audit.DeckRoot(commit.Commitment, tape, out.Values) != tlog.Hash(commit.DeckRoot) {
		return bad("the tape does not lead to the deck root")
	}
	return nil
}
