package dealer

import (
	"context"
	"testing"
)

// TestRoundPanics: a panic of one operation reaches the caller of the batch, when the others have ended.
func TestRoundPanics(t *testing.T) {
	t.Parallel()
	ended := make([]bool, 3)
	defer func() {
		if got := recover(); got != "operation 1" || !ended[0] || !ended[2] {
			t.Errorf("panicked with %v; ended: %v", got, ended)
		}
	}()
	r := &round{ctx: t.Context(), together: true}
	r.run(len(ended), func(_ context.Context, at int) error {
		if at == 1 {
			panic("operation 1")
		}
		ended[at] = true
		return nil
	})
	t.Error("no panic")
}
