package httpapi

import (
	"errors"
	"io"
	"sync/atomic"
)

// smallBody is the size in bytes up to which a body that says how long it is does
// not count against a budget: of requests that may be read at a time there are
// few enough.
const smallBody = 8 << 10

// errNoRoom: what is in memory of all bodies together is as much as it may be.
var errNoRoom = errors.New("too much is being received")

// budget is how many bytes of bodies may be in memory at a time. They count as
// they arrive: a body that is only announced takes nothing from others.
type budget struct{ left atomic.Int64 }

func newBudget(bytes int64) *budget {
	b := new(budget)
	b.left.Store(bytes)
	return b
}

// metered is a body that counts. It belongs to the request's goroutine.
type metered struct {
	io.ReadCloser
	budget *budget
	took   int64
}

// Read reads, and fails with errNoRoom when the budget is spent.
func (m *metered) Read(p []byte) (n int, err error) {
	n, err = m.ReadCloser.Read(p)
	m.took += int64(n)
	if m.budget.left.Add(-int64(n)) < 0 {
		return n, errNoRoom
	}
	return n, err
}

// release gives back what was taken, at the end of the request.
func (m *metered) release() { m.budget.left.Add(m.took) }
