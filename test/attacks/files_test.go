package attacks

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// damages are what can be wrong with a file when its reader starts; before is the file as it was some entries ago.
var damages = map[string]func(path string, text, before []byte) error{
	"corrupt": func(path string, text, _ []byte) error {
		text = bytes.Clone(text)
		for i := range text {
			text[i] ^= 0x15
		}
		return os.WriteFile(path, text, 0o600)
	},
	"torn":       func(path string, text, _ []byte) error { return os.Truncate(path, int64(len(text)/2)) },
	"unreadable": func(path string, _, _ []byte) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
	"stale":      func(path string, _, before []byte) error { return os.WriteFile(path, before, 0o600) },
}

// readers say who reads a file at its start: the daemon, the witness, or nobody of them. *.checkpoint is what the
// witness has cosigned.
var readers = map[string]string{"shuffled.toml": "daemon", "main.key": "daemon", "sealing.key": "daemon",
	"main.mark": "daemon", "shuffled.db": "daemon", "shuffled.db-shm": "", "shuffled.db-wal": "", "main.vkey": "",
	"admin.key": "", "admin.vkey": "", "admin.token": "", "w1.key": "witness", "*.checkpoint": "witness", "lock": "",
	"w1.vkey": "", "w1.line": "", "ledger.policy": "", "player.policy": ""}

// starts are how a reader starts, by file and damage. Otherwise it ends, and its message has the name of the file. An
// older file of what never changes is the same one. A torn mark has its other slot. An older mark is raised. An older
// database is not signed on: the mark has seen more. An older state of a witness is whole and its own, so that it
// cannot be told; the daemon shows the witness that its ledger grew from there.
var starts = map[string]string{"shuffled.db": "database", "shuffled.db stale": "frozen",
	"main.mark torn": "ready", "main.mark stale": "ready", "shuffled.toml stale": "ready", "main.key stale": "ready",
	"sealing.key stale": "ready", "w1.key stale": "ready", "*.checkpoint stale": "ready"}

// TestDamagedFiles: neither daemon nor witness starts on a file that is damaged in any of these ways, and each names
// it. Each file of the house is one of readers.
func TestDamagedFiles(t *testing.T) {
	attack(t)
	h := open(t, terms{witnesses: 1})
	address := strings.TrimSuffix(strings.Fields(h.read("w1.line"))[3], "/")[len("http://"):]
	stopped := func(key string) map[string][]byte {
		t.Helper()
		h.ok(h.settled(h.hand(key, key)+"/deal", h.house, holeCards))
		h.daemon.stop()
		h.witnesses[0].stop()
		return h.files()
	}
	before := stopped("k1")
	h.witnesses[0] = h.startWitness("w1", address)
	h.serve()
	after := stopped("k2")
	tried := map[string]bool{}
	for _, path := range slices.Sorted(maps.Keys(after)) {
		name := filepath.Base(path)
		if strings.HasSuffix(name, ".checkpoint") {
			name = "*.checkpoint"
		}
		who, known := readers[name]
		if !known {
			t.Errorf("%s is a new file: say in readers who reads it at the start", name)
		}
		for kind, damage := range damages {
			if who == "" {
				continue
			}
			tried[who] = true
			for file, text := range after {
				h.check(errors.Join(os.RemoveAll(file), os.WriteFile(file, text, 0o600)))
			}
			h.check(damage(path, after[path], before[path]))
			want := cmp.Or(starts[name+" "+kind], starts[name], filepath.Base(path))
			if got := h.starts(who, address); !strings.Contains(got, want) {
				t.Errorf("%s %s: %q is not in how the %s starts: %s", name, kind, want, who, got)
			}
		}
	}
	if len(tried) != 2 {
		t.Errorf("only %v was tried", tried)
	}
}

// files are the files below the house's directory, by path.
func (h *house) files() map[string][]byte {
	h.t.Helper()
	all := map[string][]byte{}
	h.check(filepath.WalkDir(h.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		all[path], err = os.ReadFile(path)
		return err
	}))
	return all
}

// starts starts the daemon, for which a witness runs, or the witness. It returns "ready", what readiness says against
// it, or what the program printed before it ended, and stops it.
func (h *house) starts(who, address string) string {
	h.t.Helper()
	w := []string{"witness", "serve", "--key", h.path("w1.key"), "--state", h.path("w1-state"), "--log", h.vkey,
		"--listen", address}
	p := start(h.t, w...)
	defer p.stop()
	if who == "daemon" {
		p = start(h.t, "serve", "--config", h.path("shuffled.toml"))
		defer p.stop()
	}
	said := ""
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		select {
		case <-p.ended:
			return p.printed()
		default:
		}
		said = h.readiness()
		switch {
		case who == "witness" && listens(address), strings.Contains(said, `"ready":true`):
			return "ready"
		case strings.Contains(said, "frozen"), strings.Contains(said, "signing stopped"):
			return "frozen: " + said
		}
	}
	return "nothing of these: " + said
}
