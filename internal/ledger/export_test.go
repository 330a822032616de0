package ledger

// BreakMark makes every further write of the high-water mark fail.
func (l *Ledger) BreakMark() { l.mark.file.Close() }

// MostTries is how often a request is prepared.
const MostTries = mostTries
