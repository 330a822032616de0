package sequencer_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"shuffled/internal/ledger"
	"shuffled/internal/ledger/sequencer"
)

// onError calls a function for each line at level error, on the goroutine that logs.
type onError struct{ call func() }

func (onError) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelError }
func (o onError) Handle(context.Context, slog.Record) error      { o.call(); return nil }
func (o onError) WithAttrs([]slog.Attr) slog.Handler             { return o }
func (o onError) WithGroup(string) slog.Handler                  { return o }

// TestMarkBeforeAnswers: the high-water mark is written before anybody is told of the batch. Here it cannot be written,
// which is noticed before the answer; what is durable is still answered, and nothing more is signed.
func TestMarkBeforeAnswers(t *testing.T) {
	onBoth(t, func(t *testing.T, h *house) {
		f := &faultyStore{Store: h.store}
		h.store = f
		c := h.config("mark")
		c.Probe = time.Hour
		noticed := make(chan bool, 1) // whether there was an answer by then
		var answered func() bool
		c.Log = slog.New(onError{func() {
			select {
			case noticed <- answered():
			default: // by an error after that
			}
		}})
		l := h.open(c)
		l.BreakMark()
		release := make(chan struct{})
		f.failAppend(func(real func() error) error {
			<-release
			return real()
		})
		var wait func() error
		answered, wait = l.Send(on(l).of(propose(commit("t", 1))))
		close(release)
		if <-noticed { // nobody has taken the answer, if there is one
			t.Error("the answer was given before the mark was written")
		}
		if err := wait(); err != nil {
			t.Errorf("what is durable is answered: %v", err)
		}
		if err := l.Ready(); !errors.Is(err, ledger.ErrFrozen) {
			t.Errorf("ready without a mark: %v", err)
		}
		if _, err := on(l).Append(t.Context(), propose(commit("t", 2))); !errors.Is(err, ledger.ErrFrozen) {
			t.Errorf("appending without a mark: %v", err)
		}
	})
}

// TestNoMarkNoEntry: a daemon whose mark cannot be written looks again and again, and writes nothing before it can.
func TestNoMarkNoEntry(t *testing.T) {
	onBoth(t, func(t *testing.T, h *house) {
		s := &headCount{Store: h.store}
		c := h.config("mark")
		c.Store = s
		l := h.open(c)
		l.BreakMark()
		h.must(l, propose(commit("t", 1))) // which is durable when the mark fails
		if err := l.Ready(); !errors.Is(err, ledger.ErrFrozen) {
			t.Errorf("ready without a mark: %v", err)
		}
		size := h.size()
		seen := s.heads()
		waitFor(t, func() bool { return s.heads() > seen+10 })
		if n := h.size(); n != size {
			t.Errorf("%d entries were written without a mark", n-size)
		}
	})
}

// TestFollowedMark: a daemon raises its own mark to what another one wrote, as soon as it has folded that.
func TestFollowedMark(t *testing.T) {
	onBoth(t, func(t *testing.T, h *house) {
		a, b, _ := h.apart(nil)
		h.must(a, propose(commits("t", 2, 5)...))
		must(t, b.Refresh(t.Context()))
		if size, err := sequencer.MarkSize(h.mark("mark2"), h.key); err != nil || size != a.Head().Size {
			t.Errorf("the mark has size %d, the ledger %d: %v", size, a.Head().Size, err)
		}
	})
}

// TestOpenSyncsTheMark: an open ledger syncs its mark every interval.
func TestOpenSyncsTheMark(t *testing.T) {
	onBoth(t, func(t *testing.T, h *house) {
		c := h.config("mark")
		c.MarkSync = time.Millisecond
		l := h.open(c)
		for n := range uint64(2) {
			h.must(l, propose(commit("t", n+1)))
			for deadline := time.Now().Add(20 * time.Second); !l.MarkIsSynced(); time.Sleep(time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("the mark is not synced")
				}
			}
		}
	})
}

// TestFirstMarkAfterAStart: the first write goes to the older slot, so that one which is torn leaves the newest mark.
func TestFirstMarkAfterAStart(t *testing.T) {
	onBoth(t, func(t *testing.T, h *house) {
		for n := range uint64(2) { // the newest is in each slot once
			l := h.open(h.config("mark"))
			h.must(l, propose(commit("t", n)))
			size := l.Head().Size
			l.Close()
			before, _ := os.ReadFile(h.mark("mark"))
			h.open(h.config("mark")).Close() // which writes one entry
			after, _ := os.ReadFile(h.mark("mark"))
			newest := bytes.Index(before, fmt.Appendf(nil, "\n%d\n", size)) / (len(before) / 2) * (len(before) / 2)
			if kept := before[newest : newest+len(before)/2]; !bytes.Contains(after, kept) {
				t.Errorf("the mark of %d entries is gone after one more:\n%s", size, after)
			}
		}
	})
}
