package verify

import (
	"errors"

	"shuffled/internal/audit"
	"shuffled/internal/shuffle"
)

// ErrNoTape reports a transcript without a tape that everybody may read.
var ErrNoTape = errors.New("the transcript has no public tape")

// Explain runs the disclosed tape of a transcript as one would on paper and
// shows every draw in order: its lanes, the rejected ones, k, the value, and for
// a shuffle the swap of positions s.I and s.I + s.Value − 1. card is the name
// that position s.I holds from then on; it is empty for a draw list, for a drawn
// end_at, and for a child, whose input is in its parent's file.
//
// It judges nothing but the file's form: Transcript does that. The error is
// ErrNoTape, or one of packages audit and shuffle.
func Explain(data []byte, show func(s shuffle.Step, card string)) error {
	t := &transcript{evidence: newEvidence(KindTranscript, new(trusted)), data: data}
	for _, step := range []func() (string, error){t.format, t.entries} {
		if _, err := step(); err != nil {
			return err
		}
	}
	if t.closed == nil || t.closed.Form != audit.FormTape {
		return ErrNoTape
	}
	ctx := t.commit.Context
	// The same swaps, over names. A deck of another size names nothing.
	var names []string
	if ctx.Parent == nil && len(t.file.Deck) == ctx.Recipe.Cards {
		names = append(names, t.file.Deck...)
	}
	_, err := ctx.Recipe.Explain(t.closed.Tape, func(s shuffle.Step) {
		card := ""
		if names != nil && !s.EndAt {
			j := s.I + int(s.Value) - 1
			names[s.I], names[j] = names[j], names[s.I]
			card = names[s.I]
		}
		show(s, card)
	})
	return err
}
