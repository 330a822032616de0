package shuffle

// lanes reads lanes from a buffer: the whole of a tape, or the current stretch
// of an endless keystream.
type lanes struct {
	buf  []byte
	pos  int           // bytes of buf that were read
	more func() []byte // next stretch of a keystream; nil for a tape
	dry  bool          // a tape ran out: what later draws return means nothing
}

// maxByteLane is the largest k of a one-byte lane.
const maxByteLane = 1 << 6

// byteLane holds, for k = 2..64, what a one-byte lane needs: the limit
// ⌊256/k⌋·k and the reciprocal ⌈2^16/k⌉, with which x·reciprocal >> 16 is
// exactly ⌊x/k⌋ for every x < 256 (TestDrawByteIsModulo tries them all). A
// division costs as much as the rest of the draw. It is as long as a byte has
// values, so that an index of one byte needs no check.
var byteLane = func() (lane [256]struct{ limit, reciprocal uint32 }) {
	for k := uint32(2); k <= maxByteLane; k++ {
		lane[k].limit = 256 / k * k
		lane[k].reciprocal = (1<<16 + k - 1) / k
	}
	return lane
}()

// draw returns a value of 1..k, for 1 ≤ k ≤ MaxRange (docs/SPEC.md section 2.1).
func (l *lanes) draw(k uint32) uint32 {
	switch LaneWidth(k) {
	case 0:
		return 1
	case 1:
		return l.drawByte(k)
	case 2:
		return l.drawWide(k, 2, 1<<16/k*k)
	default:
		return l.drawWide(k, 4, uint32(1<<32/uint64(k)*uint64(k)-1)+1)
	}
}

// drawByte is draw for one-byte lanes, which most card draws are.
func (l *lanes) drawByte(k uint32) uint32 {
	lane := byteLane[uint8(k)]
	for {
		if l.pos >= len(l.buf) && !l.refill(1) {
			return 1
		}
		x := uint32(l.buf[l.pos])
		l.pos++
		if x < lane.limit {
			return 1 + x - x*lane.reciprocal>>16*k
		}
	}
}

// drawWide is draw for lanes of w = 2 or 4 bytes. Lanes from limit on have no
// full set of k beside them and are rejected. The limit 2^32, where k divides
// it, is written as 0: no lane is rejected.
func (l *lanes) drawWide(k uint32, w int, limit uint32) uint32 {
	for {
		if len(l.buf)-l.pos < w && !l.refill(w) {
			return 1
		}
		var x uint32
		for _, b := range l.buf[l.pos : l.pos+w] {
			x = x<<8 | uint32(b)
		}
		l.pos += w
		if x < limit || limit == 0 {
			return 1 + x%k
		}
	}
}

// refill puts at least w unread bytes in the buffer, or reports that the tape
// ran out.
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

// fisherYates returns the first m cards of n in the order that the draws make:
// card i changes places with a card at or after it, i counting up
// (docs/SPEC.md section 2.2). show, when not nil, sees every draw.
func (l *lanes) fisherYates(n, m int, show func(Step)) []uint32 {
	a := make([]uint32, n)
	for i := range a {
		a[i] = uint32(i)
	}
	for i := 0; i < m; i++ {
		if show == nil && n-i <= maxByteLane {
			if i = l.swapByBytes(a, i, m); i == m {
				break
			}
		}
		var j int
		if show == nil {
			j = i + int(l.draw(uint32(n-i))) - 1
		} else {
			j = i + int(l.explained(uint32(n-i), show, Step{I: i})) - 1
		}
		a[i], a[j] = a[j], a[i]
	}
	return a[:m:m]
}

// swapByBytes is fisherYates from card i on, where lanes have one byte, for as
// long as the buffer lasts: a pass over bytes, each of which is rejected or moves
// a card. It returns the first card that it did not come to, at most m; the last
// of all takes no lane and is left out, too.
func (l *lanes) swapByBytes(a []uint32, i, m int) int {
	end := min(m, len(a)-1)
	buf, read := l.buf[l.pos:], 0
	for ; i < end && read < len(buf); read++ {
		x, k := uint32(buf[read]), uint32(len(a)-i)
		if lane := byteLane[uint8(k)]; x < lane.limit {
			j := i + int(x-x*lane.reciprocal>>16*k)
			a[i], a[j] = a[j], a[i]
			i++
		}
	}
	l.pos += read
	return i
}

// drawList returns one value per range, in order.
func (l *lanes) drawList(ranges []uint32, show func(Step)) []uint32 {
	values := make([]uint32, len(ranges))
	for i, k := range ranges {
		values[i] = l.explained(k, show, Step{I: i})
	}
	return values
}

// explained draws 1..k from a tape and, when show is not nil, completes the
// step and shows it.
func (l *lanes) explained(k uint32, show func(Step), s Step) uint32 {
	at := l.pos
	v := l.draw(k)
	if show == nil || l.dry {
		return v
	}
	read := l.buf[at:l.pos]
	w := LaneWidth(k)
	s.At, s.K, s.Value = at, k, v
	s.Rejected, s.Lane = read[:len(read)-w:len(read)-w], read[len(read)-w:len(read):len(read)]
	show(s)
	return v
}
