package shuffle

// lanes reads lanes from a buffer: the whole of a tape, or the current stretch of an endless keystream.
type lanes struct {
	buf  []byte
	pos  int           // bytes of buf that were read
	more func() []byte // next stretch of a keystream; nil for a tape
	dry  bool          // a tape ran out: what later draws return means nothing
}

// draw returns a value of 1..k, for 1 ≤ k ≤ MaxRange (docs/SPEC.md section 2.1).
func (l *lanes) draw(k uint32) uint32 {
	w := LaneWidth(k)
	if w == 0 {
		return 1
	}
	limit := 1 << (8 * w) / uint64(k) * uint64(k)
	for {
		if len(l.buf)-l.pos < w && !l.refill(w) {
			return 1
		}
		var x uint32
		for _, b := range l.buf[l.pos : l.pos+w] {
			x = x<<8 | uint32(b)
		}
		l.pos += w
		// Lanes from limit on have no full set of k values and are rejected.
		if uint64(x) < limit {
			return 1 + x%k
		}
	}
}

// refill puts at least w unread bytes in the buffer, or reports that the tape ran out.
func (l *lanes) refill(w int) bool {
	if l.more == nil {
		l.dry = true
		return false
	}
	l.buf, l.pos = l.buf[l.pos:], 0
	for len(l.buf) < w {
		l.buf = append(l.buf, l.more()...)
	}
	return true
}

// fisherYates returns the first m cards of n in the order that the draws make: card i changes places with a card at or
// after it, i counting up (docs/SPEC.md section 2.2). show, when not nil, sees every draw.
func (l *lanes) fisherYates(n, m int, show func(Step)) []uint32 {
	a := make([]uint32, n)
	for i := range a {
		a[i] = uint32(i)
	}
	for i := range m {
		j := i + int(l.explained(uint32(n-i), i, show)) - 1
		a[i], a[j] = a[j], a[i]
	}
	clear(a[m:])
	return a[:m:m]
}

// drawList returns one value per range, in order.
func (l *lanes) drawList(ranges []uint32, show func(Step)) []uint32 {
	values := make([]uint32, len(ranges))
	for i, k := range ranges {
		values[i] = l.explained(k, i, show)
	}
	return values
}

// endAt is the position that explained gets for the draw of the cut-card place.
const endAt = -1

// explained draws 1..k from a tape for position i and, when show is not nil, shows the draw.
func (l *lanes) explained(k uint32, i int, show func(Step)) uint32 {
	at := l.pos
	v := l.draw(k)
	if show == nil || l.dry {
		return v
	}
	read := l.buf[at:l.pos:l.pos]
	lane := len(read) - LaneWidth(k)
	show(Step{At: at, Rejected: read[:lane:lane], Lane: read[lane:], K: k, Value: v, I: max(i, 0), EndAt: i == endAt})
	return v
}
