package beacon

import (
	"errors"
	"fmt"

	"shuffled/internal/audit"
)

// Steered names what a house could choose of a shuffle with a mix plan, although it did not know
// the value of a beacon or slot when it committed; nil means nothing. A shuffle of which it could
// choose something has the level mixed for nobody (docs/SPEC.md section 10.5).
func Steered(c *audit.Context) error {
	switch {
	case c.Find(audit.SourceCut) >= 0:
		return errors.New("the cut could be chosen when all else was known")
	case c.Parent != nil:
		return errors.New("which cards went into a child was chosen by someone who knew the parent's order")
	case !c.IsDraw() && c.Recipe.Take < c.Recipe.Cards:
		return fmt.Errorf("which %d of the %d cards there are hangs on the tape alone, and the mix only moves them",
			c.Recipe.Take, c.Recipe.Cards)
	}
	return nil
}
