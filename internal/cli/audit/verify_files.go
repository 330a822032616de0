package audit

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/cli/place"
	"shuffled/internal/inspect"
	"shuffled/internal/shuffle"
	"shuffled/internal/term"
)

// outcomes are the disclosed outcomes of a ledger for shuffled lab battery --from, by the names of their files.
type outcomes struct {
	kinds map[string]*kind
	err   error
}

// kind is what one file has.
type kind struct {
	says  map[string]any // members of the manifest (docs/LAB.md)
	deck  shuffle.Deck   // zero of draws, and of a deck that is only in the bundle
	hash  [32]byte       // of the latter
	width int            // bytes of a value
	found map[uint64][]byte
}

// take adds a shuffle as committed, and if it was mixed also as its places showed it.
func (x *outcomes) take(of inspect.Recomputed) {
	x.add(".bin", of, &audit.Context{Recipe: of.Context.Recipe, Of: of.Context.Of}, nil)
	if _, blind := of.Context.CoDealer(); !blind && of.Mix != nil {
		x.add(".mixed.bin", of, of.Context, of.Mix)
	}
}

// add adds what the places of a shuffle show under a mix, if it is played as the context says.
func (x *outcomes) add(suffix string, of inspect.Recomputed, as *audit.Context, mix *audit.Mix) {
	order, err := openings.NewOrder(of.Commit, &audit.Commit{Context: as}, mix)
	var values []uint32
	if err == nil {
		values, err = order.Shows(of.Values)
	}
	x.err = cmp.Or(x.err, err)
	name, k := kindOf(of.Context)
	if name += suffix; x.kinds[name] == nil {
		x.kinds[name] = k
	}
	record := make([]byte, 0, k.width*len(values)+3) // what the last value has more is cut off
	for place := range values {
		v := values[order.Position(place)]
		record = binary.BigEndian.AppendUint32(record, v<<(32-8*k.width))[:len(record)+k.width] // its lowest bytes
	}
	x.kinds[name].found[of.ID] = record
}

// kindOf returns the kind of a shuffle, and a name that no other kind has.
func kindOf(c *audit.Context) (name string, k *kind) {
	m, largest := c.Recipe.Positions(), uint32(max(c.Recipe.Cards-1, 0))
	published, ok := shuffle.Published(c.DeckHash)
	k = &kind{width: 1, says: map[string]any{"command": "audit verify", "positions": m}, found: make(map[uint64][]byte)}
	switch {
	case c.IsNumbers():
		name, largest = fmt.Sprintf("numbers-%d-of-%d", m, c.Of), c.Of
		k.says["parameters"] = map[string]any{"k": c.Of, "distinct": true}
	case c.IsDraw():
		largest = slices.Max(c.Recipe.Ranges)
		name, k.says["parameters"] = fmt.Sprintf("draws-%d-of-%d", m, largest), map[string]any{"k": largest}
		if largest != slices.Min(c.Recipe.Ranges) {
			name = fmt.Sprintf("draws-%x", sha256.Sum256(fmt.Append(nil, c.Recipe.Ranges)))
			k.says["parameters"] = map[string]any{"ranges": c.Recipe.Ranges}
		}
	case c.Parent != nil:
		name, k.deck = fmt.Sprintf("children-%d", c.Recipe.Cards), shuffle.Positions(c.Recipe.Cards)
	case c.ForLedger != "":
		name, k.deck = fmt.Sprintf("orders-%d", c.Recipe.Cards), shuffle.Positions(c.Recipe.Cards)
	case ok:
		name, k.deck = published.Name(), published
	default:
		name, k.hash = fmt.Sprintf("deck-%x", c.DeckHash), c.DeckHash
	}
	if m < c.Recipe.Cards {
		name += fmt.Sprintf("-first-%d", m)
	}
	if largest > math.MaxUint16 {
		k.width = 4
	} else if largest > math.MaxUint8 {
		k.width = 2
	}
	k.says["format"] = map[string]any{"name": "bin", "record_bytes": m * k.width, "value_bytes": k.width}
	return name, k
}

// write writes a file for each kind, and then its manifest, which says from which ledger it is.
func (x *outcomes) write(ctx context.Context, dir, out string, r *inspect.Report) error {
	b, err := openBundle(dir)
	if err != nil {
		return err
	}
	defer b.Close()
	if err := cmp.Or(x.err, os.Mkdir(out, 0o700)); err != nil {
		return err
	}
	for name, k := range x.kinds {
		if k.hash != [32]byte{} {
			if k.deck, err = b.Deck(ctx, k.hash); err != nil {
				return err
			}
		}
		if k.deck.Len() > 0 {
			k.says["deck"] = map[string]any{"name": k.deck.Name(), "names": k.deck.Cards()}
		}
		var data []byte
		for _, id := range slices.Sorted(maps.Keys(k.found)) { // the order of the commits
			data = append(data, k.found[id]...)
		}
		sum := sha256.Sum256(data)
		maps.Copy(k.says, map[string]any{"origin": r.Origin, "size": r.Size, "root": r.Root, "bytes": len(data),
			"sha256": hex.EncodeToString(sum[:]), "outcomes": len(k.found)})
		text, err := json.MarshalIndent(k.says, "", "  ")
		if err != nil {
			return err
		}
		name = filepath.Join(out, name)
		if err := errors.Join(os.WriteFile(name, data, 0o600), os.WriteFile(name+".json", text, 0o600)); err != nil {
			return err
		}
	}
	return nil
}

// print lists the files.
func (x *outcomes) print(w io.Writer, out string) {
	rows := [][]string{{"file", "outcomes"}}
	for _, name := range slices.Sorted(maps.Keys(x.kinds)) {
		rows = append(rows, figures(name, uint64(len(x.kinds[name].found))))
	}
	fmt.Fprintf(w, "\n%s with outcomes in %s\n%s", term.Plural(uint64(len(x.kinds)), "file"), term.Visible(out),
		term.Aligned("    ", rows))
}

// shuffleFilter says which shuffles of the period --shuffles lists.
type shuffleFilter struct {
	Table   string `placeholder:"NAME" help:"With --shuffles or --outcomes: only those of this table."`
	Outcome string `placeholder:"OUTCOME" enum:",completed,ended_early,continued,void,expired" default:"" help:"With --shuffles: only those that ended so."`
	Reason  string `placeholder:"REASON" help:"With --shuffles: only those that are void for this reason."`
	Owner   string `placeholder:"NAME" help:"With --shuffles: only those that this identity committed."`
	Deck    string `placeholder:"NAME" help:"With --shuffles: only those of this deck."`
	GameRef string `placeholder:"NAME" help:"With --shuffles: only those with this game reference."`
}

// check refuses what would be overwritten, and a filter of nothing.
func (f shuffleFilter) check(shuffles, outcomes, page string) error {
	if shuffles == "" && (f != shuffleFilter{Table: f.Table} || f.Table != "" && outcomes == "") {
		return term.Usage("--table, --outcome, --reason, --owner, --deck and --game-ref choose what --shuffles FILE lists, and --table what --outcomes DIR has: give that, too")
	}
	for _, out := range [][2]string{{"--shuffles", shuffles}, {"--outcomes", outcomes}, {"--html", page}} {
		if place.Exists(out[1]) {
			return term.Usage("%s: %s exists, and nothing is overwritten: name a new one", out[0], term.Visible(out[1]))
		}
	}
	return nil
}

// among returns a function that keeps the lines of the filter, and counts them by owner.
func (f shuffleFilter) among(by map[string]uint64) func(*inspect.ShuffleLine) bool {
	fits := func(want, got string) bool { return want == "" || want == got }
	return func(l *inspect.ShuffleLine) bool {
		keep := fits(f.Table, l.Table) && fits(f.Outcome, l.Outcome) && fits(f.Reason, l.Reason) &&
			fits(f.Owner, l.Owner) && fits(f.GameRef, l.GameRef) &&
			(f.Deck == "" || strings.HasSuffix(l.Shuffled, " of "+f.Deck))
		if keep {
			by[l.Owner]++
		}
		return keep
	}
}

// printOwners says how many shuffles a file lists, and who committed them.
func printOwners(w io.Writer, name string, by map[string]uint64) {
	parts, all := []string{}, uint64(0)
	for _, owner := range slices.Sorted(maps.Keys(by)) {
		parts, all = append(parts, fmt.Sprintf("%d of %s", by[owner], owner)), all+by[owner]
	}
	said := fmt.Sprintf("%s lists %s: %s", term.Visible(name), term.Plural(all, "shuffle"), strings.Join(parts, ", "))
	fmt.Fprintf(w, "\n%s\n", strings.TrimSuffix(said, ": "))
}
