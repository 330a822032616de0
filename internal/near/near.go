// Package near finds the name that a mistyped name was meant to be.
package near

import (
	"strings"
	"unicode/utf8"

	"github.com/hbollon/go-edlib"
)

// Hint returns a sentence with the name that is nearest to sent, with a space in front, or "" if
// none is near. One character in three, and one in any case, may be wrong, missing, added, or exchanged
// with the next. Names longer than 64 bytes get no hint.
func Hint(sent string, names []string) (hint string) {
	if len(sent) > 64 {
		return ""
	}
	best := max(1, len(sent)/3) + 1
	for _, name := range names {
		d := edlib.OSADamerauLevenshteinDistance(strings.ToLower(sent), strings.ToLower(name))
		if d < best && d < utf8.RuneCountInString(name) && name != sent {
			best, hint = d, ` The nearest is "`+name+`".`
		}
	}
	return hint
}
