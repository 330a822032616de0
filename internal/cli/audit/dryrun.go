package audit

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/shuffle"
	"shuffled/internal/term"
)

// DryRun is a shuffle as a reader computes it on paper, lane by lane: docs/SPEC.md section 2.
type DryRun struct {
	Why      string      `json:"why,omitempty"` // why there is no dry run
	List     bool        `json:"draw_list"`
	Tape     int         `json:"tape_bytes"`
	Used     int         `json:"used_bytes"` // with those of rejected lanes
	Rejected int         `json:"rejected_lanes"`
	Draws    []paperDraw `json:"draws"`
	Order    []string    `json:"order,omitempty"` // card names by position
	Of       uint32      `json:"of,omitempty"`    // of numbers: n
	Taken    []paperSwap `json:"taken,omitempty"` // of numbers: what each draw takes
}

// paperSwap is one step of docs/SPEC.md section 2.5, over an array that holds 1..n at first.
type paperSwap struct {
	Draw   uint32 `json:"draw"` // after the mix, if there is one
	J      uint32 `json:"j"`
	Number uint32 `json:"number"`  // at J before the step: the draw takes it
	Holds  uint32 `json:"j_holds"` // at J after the step
}

// paperDraw is one draw 1..K. For K = 1, which reads nothing, Limit is 0 and Lane is empty.
type paperDraw struct {
	At       int      `json:"at"` // offset of its first lane in the tape
	Rejected []string `json:"rejected,omitempty"`
	Lane     string   `json:"lane"` // hexadecimal, as are the rejected ones
	K        uint32   `json:"k"`
	Limit    uint64   `json:"limit"`
	Value    uint32   `json:"value"`
	I        int      `json:"i"`
	J        int      `json:"j"`              // of a shuffle: I and J change places
	Card     string   `json:"card,omitempty"` // at position I after the swap
	EndAt    int      `json:"end_at,omitempty"`
}

// NewDryRun runs the tape of a transcript. If the file has none, Why says so.
func NewDryRun(data []byte) *DryRun {
	file, err := onPaper(data)
	if err != nil {
		return &DryRun{Why: err.Error()}
	}
	recipe, names := file.commit.Context.Recipe, file.names
	r := &DryRun{Tape: recipe.TapeLen(), List: recipe.Ranges != nil}
	out, err := recipe.Explain(file.tape, func(s shuffle.Step) {
		w := shuffle.LaneWidth(s.K)
		d := paperDraw{At: s.At, Lane: hex.EncodeToString(s.Lane), K: s.K, Value: s.Value, I: s.I}
		if w > 0 {
			d.Limit = 1 << (8 * w) / uint64(s.K) * uint64(s.K)
		}
		for i := 0; i < len(s.Rejected); i += w {
			d.Rejected = append(d.Rejected, hex.EncodeToString(s.Rejected[i:i+w]))
		}
		j := s.I + int(s.Value) - 1
		switch {
		case s.EndAt:
			d.EndAt = recipe.EndLo + int(s.Value) - 1
		case recipe.Ranges == nil:
			d.J = j
		}
		if names != nil && !s.EndAt { // the same swaps, over names
			names[s.I], names[j] = names[j], names[s.I]
			d.Card = names[s.I]
			r.Order = append(r.Order, d.Card)
		}
		r.Used = s.At + len(s.Rejected) + len(s.Lane)
		r.Rejected += len(d.Rejected)
		r.Draws = append(r.Draws, d)
	})
	if err == nil && file.commit.Context.IsNumbers() {
		err = r.take(file, out.Values)
	}
	if err != nil {
		return &DryRun{Why: err.Error()}
	}
	return r
}

// take computes which numbers the draws take. Of the array 1..n it keeps only what was swapped. Nothing is taken
// if the mix was planned and is not in the file, or if the draws also move by what a co-dealer gives.
func (r *DryRun) take(file paperFile, draws []uint32) error {
	c := file.commit.Context
	r.Of = c.Of
	if _, blind := c.CoDealer(); blind || len(c.Plan) > 0 && file.mix == nil {
		return nil
	}
	order, err := openings.NewOrder(file.leaf, file.commit, file.mix)
	if err == nil {
		draws, err = order.Moved(draws)
	}
	if err != nil {
		return err
	}
	swapped := make(map[uint32]uint32, len(draws))
	holds := func(at uint32) uint32 {
		if number, ok := swapped[at]; ok {
			return number
		}
		return 1 + at
	}
	for p, d := range draws {
		i := uint32(p)
		s := paperSwap{Draw: d, J: i + d - 1}
		s.Number, s.Holds = holds(s.J), holds(i)
		swapped[s.J] = s.Holds
		r.Taken = append(r.Taken, s)
	}
	return nil
}

// paperFile is the part of a transcript that a dry run needs.
type paperFile struct {
	commit *audit.Commit
	leaf   tlog.Hash  // of the commit
	mix    *audit.Mix // nil if there is none
	tape   []byte
	names  []string // of the cards
}

// onPaper reads a transcript with a public tape, and judges nothing. It finds no names for a draw list, for a
// deck of another size, and for a child, whose cards are those of its parent.
func onPaper(data []byte) (f paperFile, err error) {
	t, err := openings.ParseTranscript(data)
	if err != nil {
		return f, errors.New("the file is no transcript")
	}
	for _, text := range t.Receipts {
		r, e, err := audit.ReceiptEntry(text)
		if err != nil {
			return f, err
		}
		switch b := e.Body.(type) {
		case *audit.Commit:
			f.commit, f.leaf, f.names = b, tlog.RecordHash(r.Entry), nil
			if b.Context.Parent == nil && len(t.Deck) == b.Context.Recipe.Cards && b.Context.Recipe.Ranges == nil {
				f.names = t.Deck
			}
		case *audit.Mix:
			f.mix = b
		}
		if d, ok := audit.DisclosedBy(e.Body); ok && d.Form == audit.FormTape {
			f.tape = d.Tape
		}
	}
	switch {
	case f.commit == nil:
		err = errors.New("the file has no commit")
	case f.tape == nil:
		err = errors.New("the transcript has no public tape")
	}
	return f, err
}

// Text is the dry run for people, "" for a nil one.
func (r *DryRun) Text(s Sheet) string {
	if r == nil {
		return ""
	}
	if r.Why != "" {
		return "\n" + term.Hanging("Dry run: ", "none, "+term.Visible(r.Why)+".", s.W)
	}
	used := fmt.Sprintf("a tape of %d bytes. %d are used, by %d draws and %d rejected lanes; the rest is spare.",
		r.Tape, r.Used, len(r.Draws), r.Rejected)
	rows, swaps := r.Rows(), " Then j = i + value - 1, and positions i and j change places."
	if r.List { // a draw list has no swaps
		swaps = ""
		for i := range rows {
			rows[i] = rows[i][:len(rows[i])-2]
		}
	}
	how := "A draw 1..k reads a lane x of w bytes. limit is the largest multiple of k up to 256^w: an x from limit on is " +
		"rejected, and the next lane is read. The value is 1 + x mod k." + swaps
	return "\n" + term.Hanging("Dry run: ", used, s.W) + "\n" + term.Hanging("  ", how, s.W) + "\n" + term.Table(rows) +
		r.taken(s) + r.order(s)
}

// taken lists which number each draw takes.
func (r *DryRun) taken(s Sheet) string {
	if r.Taken == nil {
		return ""
	}
	rows := [][]string{{"i", "draw", "j", "number", "then j holds"}}
	moved := ""
	for i, t := range r.Taken {
		if t.Draw != r.Draws[i].Value {
			moved = " The mix has moved the draws: to 1 + (value - 1 + u - 1) mod k, " +
				"with u drawn 1..k from the mix's keystream."
		}
		rows = append(rows, []string{fmt.Sprint(i), fmt.Sprint(t.Draw), fmt.Sprint(t.J), fmt.Sprint(t.Number),
			fmt.Sprint(t.Holds)})
	}
	return "\n" + term.Hanging("  ", fmt.Sprintf("The numbers 1 to %d lie at 0 to %d. Draw i takes what lies at "+
		"j = i + draw - 1, and what lies at i goes to j.%s", r.Of, r.Of-1, moved), s.W) + "\n" + term.Table(rows)
}

// Rows has a head and a row for each lane, as cells of a table.
func (r *DryRun) Rows() [][]string {
	rows := [][]string{{"i", "k", "limit", "bytes", "x", "value", "j", "then i holds"}}
	for _, d := range r.Draws {
		k, limit, j := fmt.Sprint(d.K), fmt.Sprint(d.Limit), fmt.Sprint(d.J)
		i, then := fmt.Sprint(d.I), term.Fit(term.Visible(d.Card), term.MaxFace)
		if d.EndAt != 0 {
			i, j, then = "", "", fmt.Sprintf("cut card in front of place %d", d.EndAt)
		}
		for _, lane := range d.Rejected {
			rows = append(rows, []string{i, k, limit, lane, number(lane), "rejected", "", ""})
		}
		lane := d.Lane
		if lane == "" { // k = 1
			lane, limit = "-", "-"
		}
		rows = append(rows, []string{i, k, limit, lane, number(d.Lane), fmt.Sprint(d.Value), j, then})
	}
	return rows
}

// number writes a lane, which is hexadecimal, in decimals.
func number(lane string) string {
	x, err := strconv.ParseUint(lane, 16, 32)
	if err != nil {
		return "-"
	}
	return fmt.Sprint(x)
}

// order lists the names by position, as many in a row as fit.
func (r *DryRun) order(s Sheet) string {
	if r.Order == nil {
		return ""
	}
	wide := 0
	names := make([]string, len(r.Order))
	for i, n := range r.Order {
		names[i] = term.Fit(term.Visible(n), term.MaxFace)
		wide = max(wide, term.Cells(names[i]))
	}
	perRow := max(1, (s.W-8)/(wide+1))
	if perRow > 10 {
		perRow = perRow / 10 * 10
	}
	var b strings.Builder
	b.WriteString("\n" + s.P.Bold("The order") + ", with the first position of each row\n")
	for i, n := range names {
		if i%perRow == 0 {
			fmt.Fprintf(&b, "%6d ", i)
		}
		b.WriteString(" " + n)
		if i%perRow == perRow-1 || i == len(names)-1 {
			b.WriteString("\n")
		} else {
			b.WriteString(strings.Repeat(" ", wide-term.Cells(n)))
		}
	}
	return b.String()
}
