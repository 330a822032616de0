package client_test

import (
	"context"
	"log"
	"os"
	"testing"

	"shuffled/client"
)

// sandbox starts a daemon for an example: a real one, with its ledger on disk and
// witnesses, and a client that pins the policy. done stops it.
func sandbox(witnesses int) (c *client.Client, done func()) {
	s := &stage{ctx: context.Background()}
	d := newDaemonWith(s, setting{witnesses: witnesses})
	c = d.client(nil, d.witnessed)
	return c, s.end
}

// stage is what the stack needs of a test, for an example, which has none.
type stage struct {
	testing.TB
	ctx      context.Context
	cleanups []func()
}

func (s *stage) Helper()                   {}
func (s *stage) Context() context.Context  { return s.ctx }
func (s *stage) Cleanup(f func())          { s.cleanups = append(s.cleanups, f) }
func (s *stage) Fatal(args ...any)         { log.Panic(args...) }
func (s *stage) Fatalf(f string, a ...any) { log.Panicf(f, a...) }
func (s *stage) Error(args ...any)         { log.Panic(args...) }
func (s *stage) Errorf(f string, a ...any) { log.Panicf(f, a...) }

func (s *stage) TempDir() string {
	dir, err := os.MkdirTemp("", "example")
	check(err)
	s.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func (s *stage) end() {
	for i := len(s.cleanups) - 1; i >= 0; i-- {
		s.cleanups[i]()
	}
}

// check ends an example. A game back end looks at the error: see docs/CLIENT.md.
func check(err error) {
	if err != nil {
		log.Panic(err)
	}
}

// names returns the names of dealt cards.
func names(d *client.Deal) (names []string) {
	for _, card := range d.Cards {
		names = append(names, *card.Card)
	}
	return names
}
