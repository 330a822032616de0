package client

import (
	"fmt"
	"sync"

	"shuffled/internal/audit"
)

// tables remembers the newest commit of each table, for at most maxTables of them, to check that serials have no gaps
// and that each commit names the one before.
type tables struct {
	mu     sync.Mutex
	newest map[string]numbered
}

type numbered struct{ serial, id uint64 }

const maxTables = 4096

// add takes in a commit, or says how it contradicts the newest commit of its table.
func (t *tables) add(id uint64, c *audit.Commit) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	table := c.Context.Table
	known := t.newest[table]
	switch {
	case c.Previous >= id:
		return "it names a commit before it that is none"
	case known.serial == 0 || c.Serial > known.serial+1 && id > known.id:
	case c.Serial == known.serial && id == known.id, c.Serial < known.serial && id < known.id:
		return ""
	case c.Serial == known.serial+1 && c.Previous == known.id:
	default:
		return fmt.Sprintf("it is serial %d after entry %d, and serial %d of the table is entry %d", c.Serial,
			c.Previous, known.serial, known.id)
	}
	if t.newest == nil || len(t.newest) >= maxTables {
		t.newest = make(map[string]numbered)
	}
	t.newest[table] = numbered{c.Serial, id}
	return ""
}
