package main

import (
	"bytes"
	"log/slog"
	"runtime/debug"
	"strings"
	"testing"

	"shuffled/internal/config"
)

// TestLimitMemory: the limit follows the machine unless it is set, and is told.
func TestLimitMemory(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	for _, c := range []struct {
		name string
		set  config.Size
		env  string
		want string // in the log
	}{
		{"configured", 512 << 20, "", "limit=512MiB from=memory_limit"},
		{"configured, against GOMEMLIMIT", 512 << 20, "1GiB", "limit=512MiB from=memory_limit"},
		{"GOMEMLIMIT", 0, "1GiB", "from=GOMEMLIMIT"},
		{"by itself", 0, "", "MiB from="},
	} {
		t.Setenv("GOMEMLIMIT", c.env)
		debug.SetMemoryLimit(1 << 30) // as the runtime does for GOMEMLIMIT
		var out bytes.Buffer
		limitMemory(&config.Config{MemoryLimit: c.set}, slog.New(slog.NewTextHandler(&out, nil)))
		if !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: logged %q", c.name, out.String())
		}
		now := debug.SetMemoryLimit(-1)
		switch {
		case c.set != 0 && now != int64(c.set), c.env != "" && c.set == 0 && now != 1<<30,
			c.set == 0 && c.env == "" && now == 1<<30:
			t.Errorf("%s: the limit is %d", c.name, now)
		}
	}
}

func TestGCPercent(t *testing.T) {
	t.Parallel()
	for live, want := range map[uint64]int{0: 300, 32 << 20: 300, 64 << 20: 150, 96 << 20: 100, 480 << 20: 20,
		4 << 30: 20} {
		if got := gcPercent(live); got != want {
			t.Errorf("%d bytes: %d %%, not %d", live, got, want)
		}
	}
}
