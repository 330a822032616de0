package operate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"shuffled/client"
	"shuffled/internal/audit"
	"shuffled/internal/cli/remote"
	"shuffled/internal/term"
)

// HistoryCmd is shuffled history.
type HistoryCmd struct {
	remote.Flags
	Table string `arg:"" help:"The table."`
	From  uint64 `placeholder:"ID" help:"Begin with this commit (default: the newest one that recall lists)."`
	Limit int    `default:"0" help:"Go back at most this many commits; 0 means all."`
}

func (HistoryCmd) Help() string {
	return `Goes back from a commit of the table to the commit that it names as the previous one, and so on to serial 1.
Only commits that their receipts prove are believed. A step is a gap if it leads to no commit, to another
table, or to a serial that is not one less. If there is a gap, the exit code is 1.

Examples:

    shuffled history table-1 --key main.vkey --token-file shuffled-data/auditor.token
    shuffled history table-1 --from 4711 --limit 100 --key main.vkey`
}

// historyStep is a commit of the walk, proved by its receipt.
type historyStep struct {
	ID        uint64           `json:"id"`
	Serial    uint64           `json:"serial"`
	Committed client.Timestamp `json:"committed_at"`
	Previous  uint64           `json:"previous"` // 0 for none
}

// walk is what `history --json` prints.
type walk struct {
	Table   string        `json:"table"`
	Commits []historyStep `json:"commits"`
	Whole   bool          `json:"whole"` // it reached serial 1
	Gap     string        `json:"gap,omitempty"`
}

func (c *HistoryCmd) Run(ctx context.Context, s term.Streams) error {
	if c.Limit < 0 {
		return term.Usage("--limit must be a number of commits from 0, not %d", c.Limit)
	}
	if err := audit.CheckName(c.Table); err != nil {
		return term.Usage("the table %s", err)
	}
	d, err := c.Connect(ctx, s)
	if err != nil {
		return err
	}
	from := c.From
	if from == 0 {
		if from, err = c.newest(ctx, d); err != nil {
			return c.Fail(s, err)
		}
		if from == 0 {
			return term.WithHint(fmt.Errorf("recall lists no shuffle of table %s", c.Table),
				"give the commit to begin with as --from ID")
		}
	}
	w := walk{Table: c.Table, Commits: []historyStep{}}
	if !c.JSON {
		fmt.Fprintf(s.Out, "%12s  %9s  %-23s  %12s\n", "ID", "SERIAL", "COMMITTED", "PREVIOUS")
	}
	for id := from; w.Gap == "" && !w.Whole && (c.Limit == 0 || len(w.Commits) < c.Limit); {
		step, gap, err := c.step(ctx, d, id, w.Commits)
		if err != nil {
			return c.Fail(s, err)
		}
		if w.Gap = gap; gap != "" {
			break
		}
		w.Commits = append(w.Commits, step)
		id, w.Whole = step.Previous, step.Serial == 1
		if !c.JSON {
			fmt.Fprintf(s.Out, "%12d  %9d  %-23s  %12s\n", step.ID, step.Serial, clock(step.Committed),
				previousOf(step))
		}
	}
	return c.conclude(s, w)
}

func previousOf(s historyStep) string {
	if s.Serial == 1 {
		return "-"
	}
	return fmt.Sprint(s.Previous)
}

// step fetches the receipt of an entry. The entry must be the commit before the last one of the walk. If it is
// not, gap says why.
func (c *HistoryCmd) step(ctx context.Context, d *client.Client, id uint64, walked []historyStep) (_ historyStep,
	gap string, err error) {
	text, err := d.Receipt(ctx, id)
	if no, ok := errors.AsType[*client.Error](err); ok && no.Code == client.CodeNotFound {
		return historyStep{}, fmt.Sprintf("the daemon has no entry %d", id), nil
	}
	if err != nil {
		return historyStep{}, "", err
	}
	_, e, err := audit.ReceiptEntry(text)
	if err != nil {
		return historyStep{}, "", err
	}
	commit, ok := e.Body.(*audit.Commit)
	if !ok {
		return historyStep{}, fmt.Sprintf("entry %d is of type %s, and no commit", id, e.Body.Type()), nil
	}
	step := historyStep{ID: id, Serial: commit.Serial, Committed: client.Timestamp{Time: time.UnixMilli(e.Time)},
		Previous: commit.Previous}
	return step, misplaced(c.Table, commit, step, walked), nil
}

// misplaced says why a commit cannot be the next step of a walk, "" if it can.
func misplaced(table string, c *audit.Commit, step historyStep, walked []historyStep) string {
	switch {
	case c.Context.Table != table:
		return fmt.Sprintf("entry %d is a commit of table %s", step.ID, c.Context.Table)
	case step.Previous >= step.ID:
		return fmt.Sprintf("entry %d names entry %d as the commit before it, and that entry does not come before it", step.ID, step.Previous)
	case len(walked) == 0:
		return ""
	}
	after := walked[len(walked)-1]
	switch {
	case step.Serial != after.Serial-1:
		return fmt.Sprintf("entry %d has serial %d, and serial %d should come before entry %d", step.ID, step.Serial,
			after.Serial-1, after.ID)
	case step.Committed.After(after.Committed.Time):
		return fmt.Sprintf("entry %d is later than entry %d, which follows it", step.ID, after.ID)
	}
	return ""
}

func (c *HistoryCmd) conclude(s term.Streams, w walk) error {
	if c.JSON {
		if err := term.PrintJSON(s.Out, w); err != nil {
			return err
		}
		if w.Gap != "" {
			return term.ErrFails
		}
		return nil
	}
	p := s.Sheet().P
	switch {
	case w.Gap != "":
		fmt.Fprintf(s.Out, "\n%s %s\n", p.Bad("gap:"), term.Visible(w.Gap))
		return term.ErrFails
	case w.Whole:
		fmt.Fprintf(s.Out, "\n%s %s back to serial 1, each proved, and each naming the commit before it\n", p.Good("whole:"),
			term.Plural(uint64(len(w.Commits)), "commit"))
	default:
		fmt.Fprintf(s.Out, "\n%s, each proved, and each naming the commit before it; there are earlier commits\n",
			term.Plural(uint64(len(w.Commits)), "commit"))
	}
	fmt.Fprintf(s.Out, "Only the daemon says that no commit came after entry %d; `shuffled audit` proves it.\n",
		w.Commits[0].ID)
	return nil
}

// newest asks recall for the newest commit of the table, 0 for none. It asks about the last minute first, and
// then about longer and longer times, because recall lists the oldest first.
func (c *HistoryCmd) newest(ctx context.Context, d *client.Client) (uint64, error) {
	size := uint64(recallPage)
	for ago := time.Minute; ; ago *= 4 {
		from := time.Now().Add(-ago)
		if from.Unix() < 0 || ago > 100*365*24*time.Hour {
			from = time.Unix(0, 0)
		}
		id := uint64(0)
		params := client.ListShufflesParams{Table: &c.Table, From: &client.Timestamp{Time: from}, Limit: &size}
		for {
			list, err := d.List(ctx, params)
			if err != nil {
				return 0, err
			}
			if n := len(list.Shuffles); n > 0 {
				id = list.Shuffles[n-1].ID
			}
			if list.Next == nil {
				break
			}
			params.Cursor = list.Next
		}
		if id != 0 || from.Unix() == 0 {
			return id, nil
		}
	}
}
