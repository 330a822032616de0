package audit

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"shuffled/internal/cli/place"
	"shuffled/internal/inspect"
	"shuffled/internal/term"
)

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
func (f shuffleFilter) check(shuffles, outcomes string) error {
	if shuffles == "" && (f != shuffleFilter{Table: f.Table} || f.Table != "" && outcomes == "") {
		return term.Usage("--table, --outcome, --reason, --owner, --deck and --game-ref choose what --shuffles FILE lists, and --table what --outcomes DIR has: give that, too")
	}
	for _, out := range [][2]string{{"--shuffles", shuffles}, {"--outcomes", outcomes}} {
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
