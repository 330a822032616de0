package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
)

// member asks one witness at one address: a policy that waits or is tried may have
// another for it, and that one is no reason to leave the address in force. Its
// goroutine, serve, owns size; run of witnessing starts and stops it.
type member struct {
	name    string // in its policy
	at      address
	signer  string // of its cosignatures
	witness Witness
	targets chan Head     // capacity 1: the newest head to ask for
	stop    chan struct{} // closed when it is asked no more
	tried   bool          // only a policy that is tried has it; of run
	size    uint64        // that the witness has cosigned, as far as known
}

// address is where a witness is asked. It names a member for good.
type address struct{ vkey, url string }

func addressOf(one audit.Witness) address { return address{one.VKey, one.URL} }

func (a address) compare(b address) int {
	return cmp.Or(strings.Compare(a.vkey, b.vkey), strings.Compare(a.url, b.url))
}

// reply is what came of asking a member for a head.
type reply struct {
	member *member
	head   Head
	lines  []string // signature lines, each with its newline
	err    error
}

// contradiction: what a witness has seen is not in the stored ledger.
type contradiction struct {
	witness string // its name
	why     string

	// seen is what it shows for it, under the ledger's own key: the doubt ends
	// when the stored ledger holds that. nil: it shows nothing and is believed,
	// until it cosigns again.
	seen *audit.Checkpoint
}

func (c *contradiction) Error() string { return "a witness has seen another history: " + c.why }

// movedError: another daemon is with the witness, which was at this size when it
// was asked, and not above the stored head.
type movedError struct{ size uint64 }

func (e *movedError) Error() string { return fmt.Sprintf("the witness is at size %d already", e.size) }

// send makes head the next that the member is asked for. It belongs to run.
func (m *member) send(head Head) {
	select {
	case <-m.targets: // an older one that was not begun
	default:
	}
	m.targets <- head
}

func (m *member) serve(l *Ledger, results chan<- reply) {
	for {
		select {
		case <-l.stop:
			return
		case <-m.stop:
			return
		case head := <-m.targets:
			ctx, cancel := context.WithTimeout(l.running, witnessTimeout)
			lines, err := m.ask(ctx, l, head)
			cancel()
			if l.running.Err() != nil {
				return // the answer may be of the closing's making
			}
			select {
			case results <- reply{m, head, lines, err}:
			case <-m.stop:
				return
			case <-l.stop:
				return
			}
		}
	}
}

// ask gets the witness's cosignatures on head. The first answer of a witness
// that this daemon does not know, or that another daemon was with meanwhile, is
// the size to prove from.
func (m *member) ask(ctx context.Context, l *Ledger, head Head) ([]string, error) {
	for range 3 {
		old := min(m.size, head.Size)
		proof, err := l.consistency(ctx, old, head)
		if err != nil {
			return nil, err
		}
		text, err := m.witness.AddCheckpoint(ctx, old, proof, head.Checkpoint)
		var conflict *audit.WitnessConflict
		switch {
		case err == nil:
			m.size = head.Size
			return slices.Collect(strings.Lines(string(text))), nil
		case errors.As(err, &conflict) && conflict.Size <= head.Size && conflict.Size != old:
			m.size = conflict.Size
		case errors.As(err, &conflict) && conflict.Size > head.Size:
			return nil, m.ahead(ctx, l, conflict.Size)
		case errors.Is(err, audit.ErrWitnessContradicts):
			return nil, m.beside(ctx, l, old, head)
		default:
			return nil, err
		}
	}
	return nil, &movedError{m.size} // it moves on with every question
}

// ahead decides what it means that a witness has cosigned more than the head it
// was asked for: another daemon of this ledger was there first, or the stored
// ledger lost its end. A checkpoint under our own key settles it; where a
// witness does not show one, its word is doubt enough to stop.
func (m *member) ahead(ctx context.Context, l *Ledger, size uint64) error {
	if err := l.reach(ctx, size); err != nil {
		return err
	}
	if l.Head().Size >= size {
		return &movedError{size}
	}
	signed, err := m.witness.Latest(ctx, l.cfg.Info.Origin)
	if errors.Is(err, audit.ErrWitnessNone) {
		return &contradiction{witness: m.name,
			why: fmt.Sprintf("it says size %d, the stored ledger has %d entries", size, l.Head().Size)}
	}
	if err != nil {
		return fmt.Errorf("it says size %d, and does not show it: %w", size, err)
	}
	c, err := audit.OpenCheckpoint(signed, l.witnessedKeys()...)
	if err != nil || c.Size < size {
		return fmt.Errorf("it says size %d and shows no checkpoint of it under this ledger's key", size)
	}
	if doubt := m.weigh(l, c); doubt != nil {
		return doubt
	}
	return &movedError{c.Size} // it went on since it said its size, and so did we
}

// beside decides what it means that a witness at size old refuses head: it has
// seen another history, unless it shows a checkpoint that the ledger does extend.
func (m *member) beside(ctx context.Context, l *Ledger, old uint64, head Head) error {
	signed, err := m.witness.Latest(ctx, l.cfg.Info.Origin)
	if err == nil {
		c, err := audit.OpenCheckpoint(signed, l.witnessedKeys()...)
		if err != nil {
			return fmt.Errorf("it refuses the head of size %d, and shows nothing under this ledger's key: %w",
				head.Size, err)
		}
		if doubt := m.weigh(l, c); doubt != nil {
			return doubt
		}
		return fmt.Errorf("it refuses the head of size %d, and shows one of size %d that it extends", head.Size, c.Size)
	}
	if !errors.Is(err, audit.ErrWitnessNone) {
		return fmt.Errorf("it refuses the head of size %d, and does not show why: %w", head.Size, err)
	}
	return &contradiction{witness: m.name,
		why: fmt.Sprintf("it refuses the head of size %d after one of size %d", head.Size, old)}
}

// reach folds what other daemons wrote if the newest head is below size. A
// frozen ledger does that by itself.
func (l *Ledger) reach(ctx context.Context, size uint64) error {
	if l.Head().Size >= size {
		return nil
	}
	if err := l.Refresh(ctx); err != nil && !errors.Is(err, ErrFrozen) {
		return err
	}
	return nil
}

// weigh holds the stored ledger against what a witness shows in place of a
// cosignature; nil when the ledger extends it. It takes its own time, for the
// witness may have used up that of the question.
func (m *member) weigh(l *Ledger, c audit.Checkpoint) *contradiction {
	ctx, cancel := context.WithTimeout(l.running, storeTimeout)
	defer cancel()
	held, err := false, l.reach(ctx, c.Size)
	head := l.Head()
	if err == nil {
		held, err = l.extends(ctx, head, c)
	}
	why := fmt.Sprintf("it holds a checkpoint of size %d under this ledger's key, and the stored ledger ", c.Size)
	switch {
	case held:
		return nil
	case err != nil:
		why += "cannot be held against it: " + err.Error()
	case c.Size > head.Size:
		why += fmt.Sprintf("has %d entries", head.Size)
	default:
		why += "has another root there"
	}
	return &contradiction{m.name, why, &c}
}

// extends reports whether head extends a checkpoint of at least one entry.
func (l *Ledger) extends(ctx context.Context, head Head, c audit.Checkpoint) (bool, error) {
	if c.Size > head.Size {
		return false, nil
	}
	root, err := l.rootAt(ctx, head, c.Size)
	return err == nil && root == c.Root, err
}

// consistency proves that head extends the ledger's first old entries.
func (l *Ledger) consistency(ctx context.Context, old uint64, head Head) ([]tlog.Hash, error) {
	if old == 0 || old == head.Size {
		return nil, nil
	}
	reader := tlog.TileHashReader(tlog.Tree{N: int64(head.Size), Hash: head.Root}, l.ownTiles(ctx))
	proof, err := tlog.ProveTree(int64(head.Size), int64(old), reader)
	if err != nil {
		return nil, fmt.Errorf("proving that size %d extends size %d: %w", head.Size, old, err)
	}
	return proof, nil
}
