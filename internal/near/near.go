// Package near finds the name that a mistyped name was meant to be.
package near

import "strings"

// Hint returns a sentence with the name that is nearest to sent, with a space in front, or "" if
// none is near. One byte in three, and one in any case, may be wrong, missing, added, or exchanged
// with the next. Names longer than 64 bytes get no hint.
func Hint(sent string, names []string) (hint string) {
	if len(sent) > 64 {
		return ""
	}
	best := max(1, len(sent)/3) + 1
	for _, name := range names {
		d := distance(strings.ToLower(sent), strings.ToLower(name))
		if d < best && d < len(name) && name != sent {
			best, hint = d, ` The nearest is "`+name+`".`
		}
	}
	return hint
}

// distance returns by how many bytes a and b differ (optimal string alignment).
func distance(a, b string) int {
	var before []int // the row for two bytes of a less
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			changed := row[j]
			if a[i] != b[j] {
				changed++
			}
			next[j+1] = min(changed, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}
