package inspect

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"reflect"
	"strconv"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
)

type lostVectors struct {
	Runs []struct {
		Name         string
		Hashes, Tile []string
		Above        string
		Lost         []int
		Faults       []string
	}
	Excuses []struct {
		Name, Rule, Entry string
		Index, Undealt    uint64
		Lost              []uint64
		Below             int
		Excused           bool
	}
}

func unhex(t *testing.T, s string) []byte {
	b, err := hex.DecodeString(s)
	must(t, err)
	return b
}

// TestLostVectors runs testdata/lost.json (docs/SPEC.md section 14.4): which entries are lost, and what that excuses.
func TestLostVectors(t *testing.T) {
	t.Parallel()
	var v lostVectors
	data, err := os.ReadFile("testdata/lost.json")
	must(t, err)
	must(t, json.Unmarshal(data, &v))
	if len(v.Runs) < 10 || len(v.Excuses) < 100 {
		t.Fatalf("%d runs, %d excuses", len(v.Runs), len(v.Excuses))
	}
	hasher := newTreeHasher()
	for _, run := range v.Runs {
		c := &chunk{width: len(run.Tile), entries: make([]parsed, len(run.Tile))}
		leaves := make([]tlog.Hash, c.width)
		for i := range leaves {
			c.other = append(c.other, tlog.Hash(unhex(t, run.Tile[i])))
			if leaves[i] = c.other[i]; run.Hashes[i] == "" {
				c.entries[i].lost = true
			} else {
				leaves[i] = tlog.Hash(unhex(t, run.Hashes[i]))
			}
		}
		c.tree = newSubtree(hasher, leaves)
		c.reconcile(hasher, func(s *subtree) bool {
			root, ok := (&edge{now: s}).root(uint64(c.width))
			return ok && root == tlog.Hash(unhex(t, run.Above))
		})
		lost, faults := []int{}, []string{}
		for i, p := range c.entries {
			if p.lost {
				lost = append(lost, i)
			}
		}
		for _, f := range c.faults {
			if f.Entry != nil {
				faults = append(faults, f.Code+" "+strconv.FormatUint(*f.Entry, 10))
				continue
			}
			faults = append(faults, f.Code)
		}
		if !reflect.DeepEqual(lost, run.Lost) || !reflect.DeepEqual(faults, run.Faults) {
			t.Errorf("%s: lost %v, faults %q, want %v and %q", run.Name, lost, faults, run.Lost, run.Faults)
		}
	}
	for _, c := range v.Excuses {
		e, err := audit.ParseEntry(unhex(t, c.Entry))
		must(t, err)
		f := &fold{play: play{live: map[uint64]*live{audit.ShuffleOf(e.Body): {Table: "t"}}}}
		if c.Undealt != 0 {
			f.live[c.Undealt] = &live{Table: "t"}
		}
		for _, index := range c.Lost {
			f.lost.add(index)
		}
		if got := f.explain(&audit.Illegal{Code: c.Rule}, e, c.Index, c.Below); got != c.Excused {
			t.Errorf("%s: excused %t", c.Name, got)
		}
	}
}
