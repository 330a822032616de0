package httpapi

import "sync"

// permits gives out places to keys. A key takes one only while it holds fewer than are
// free, so that k keys, whatever they do, leave a part in k+1 to the next one: no number
// of fixed shares does that, and no semaphore of x/sync. The caller locks it.
type permits[K comparable] struct {
	free int
	held map[K]int // above 0
}

func newPermits[K comparable](places int) permits[K] {
	return permits[K]{free: places, held: make(map[K]int)}
}

// take takes a place for key, if there is one for it.
func (s *permits[K]) take(key K) bool { return s.takeN(key, 1) }

// takeN takes n places for key, if it could take them one by one.
func (s *permits[K]) takeN(key K, n int) bool {
	if s.held[key]+n > s.free-n+1 {
		return false
	}
	s.free -= n
	s.held[key] += n
	return true
}

// give gives a place of key back.
func (s *permits[K]) give(key K) { s.giveN(key, 1) }

func (s *permits[K]) giveN(key K, n int) {
	s.free += n
	if s.held[key] -= n; s.held[key] == 0 {
		delete(s.held, key)
	}
}

// fairSemaphore lets a number of requests in at a time, of each key its share, and refuses
// the next at once. Safe for concurrent use.
type fairSemaphore[K comparable] struct {
	mu     sync.Mutex
	places permits[K]
}

func newFairSemaphore[K comparable](places int) *fairSemaphore[K] {
	return &fairSemaphore[K]{places: newPermits[K](places)}
}

// inside returns how many of so many places are taken.
func (c *fairSemaphore[K]) inside(places int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return places - c.places.free
}

func (c *fairSemaphore[K]) enter(key K) bool { return c.enterN(key, 1) }

func (c *fairSemaphore[K]) leave(key K) { c.leaveN(key, 1) }

// enterN lets in what takes n places.
func (c *fairSemaphore[K]) enterN(key K, n int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.places.takeN(key, n)
}

func (c *fairSemaphore[K]) leaveN(key K, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.places.giveN(key, n)
}
