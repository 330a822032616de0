package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"shuffled/internal/term"
	"shuffled/lab"
)

// labCommand is the command as a process of its own, in an empty directory.
func labCommand(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	path, err := exec.LookPath("shuffled") // TestMain puts it there
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, append([]string{"lab"}, args...)...)
	cmd.Dir = t.TempDir()
	return cmd
}

// left lists what a command left in its directory.
func left(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func exitCode(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	if err != nil {
		return -2
	}
	return 0
}

// TestLabManifest: the manifest describes the file next to it.
func TestLabManifest(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"raw", "--bytes", "100000"},
		{"decks", "--deck", "short-36", "--count", "5000", "--format", "bin"},
		{"draws", "--k", "100000", "--count", "5000", "--format", "jsonl"},
	} {
		cmd := labCommand(t, append(args, "--out", "sample", "--json")...)
		printed, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(filepath.Join(cmd.Dir, "sample"))
		if err != nil {
			t.Fatal(err)
		}
		stored, err := os.ReadFile(filepath.Join(cmd.Dir, "sample.json"))
		if err != nil {
			t.Fatal(err)
		}
		var m, p lab.Manifest
		d := json.NewDecoder(bytes.NewReader(stored))
		d.DisallowUnknownFields()
		if err := errors.Join(d.Decode(&m), json.Unmarshal(printed, &p)); err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(data)
		if m.SHA256 != hex.EncodeToString(sum[:]) || m.Bytes != uint64(len(data)) || p.SHA256 != m.SHA256 ||
			m.Build.Go == "" || m.Started == "" {
			t.Errorf("%v: %d bytes, manifest %s", args, len(data), stored)
		}
		if m.Command != "lab "+args[0] || m.Format.RecordBytes*int(m.Outcomes) != len(data) &&
			m.Format.RecordBytes != 0 {
			t.Errorf("%v: manifest %s", args, stored)
		}
	}
}

// TestLabInterrupted: an interrupt ends the command with 3, whether it works or waits
// for a reader, and leaves no part of a sample or a manifest.
func TestLabInterrupted(t *testing.T) {
	t.Parallel()
	t.Run("file", func(t *testing.T) {
		t.Parallel()
		cmd := labCommand(t, "decks", "--deck", "standard-52", "--count", "1000000000000", "--format", "bin", "--out",
			"sample")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for name := filepath.Join(cmd.Dir, "sample"); ; { // until it writes
			if i, err := os.Stat(name); err == nil && i.Size() > 0 {
				break
			}
		}
		interrupted(t, cmd, &stderr, "interrupted: nothing is kept")
	})
	t.Run("pipe that nobody reads", func(t *testing.T) {
		t.Parallel()
		cmd := labCommand(t, "raw", "--bytes", "1000000000", "--manifest", "manifest")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(out, make([]byte, 1000)); err != nil {
			t.Fatal(err)
		}
		interrupted(t, cmd, &stderr, "interrupted: what was written is not all of the sample")
	})
}

func interrupted(t *testing.T, cmd *exec.Cmd, stderr *bytes.Buffer, want string) {
	t.Helper()
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if code := exitCode(cmd.Wait()); code != term.ExitCannot || !strings.Contains(stderr.String(), want) {
		t.Errorf("exit %d, %s", code, stderr)
	}
	if names := left(t, cmd.Dir); len(names) != 0 {
		t.Errorf("left %v", names)
	}
}

// TestLabClosedPipe: a reader that has enough is no failure, unless a manifest was
// requested.
func TestLabClosedPipe(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args   []string
		code   int
		stderr string
	}{
		"raw":   {[]string{"raw", "--bytes", "1000000000000"}, term.ExitOK, ""},
		"decks": {[]string{"decks", "--deck", "standard-52", "--count", "1000000000"}, term.ExitOK, ""},
		"with manifest": {[]string{"draws", "--k", "6", "--count", "1000000000000", "--manifest", "manifest"},
			term.ExitCannot, "closed the pipe"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := labCommand(t, c.args...)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(out, make([]byte, 1000)); err != nil {
				t.Fatal(err)
			}
			out.Close()
			err = cmd.Wait()
			if code := exitCode(err); code != c.code || !strings.Contains(stderr.String(), c.stderr) ||
				c.stderr == "" && stderr.Len() > 0 {
				t.Errorf("exit %d, %v, %s", code, err, &stderr)
			}
			if names := left(t, cmd.Dir); len(names) != 0 {
				t.Errorf("left %v", names)
			}
		})
	}
}

// TestLabFullDisk: a sample that cannot be written is removed, with an error.
func TestLabFullDisk(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("there is no /dev/full here")
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	cmd := labCommand(t, "raw", "--bytes", "100000", "--manifest", "manifest")
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = full, &stderr
	if code := exitCode(cmd.Run()); code != term.ExitCannot ||
		!strings.Contains(stderr.String(), syscall.ENOSPC.Error()) {
		t.Errorf("exit %d, %s", code, &stderr)
	}
	if names := left(t, cmd.Dir); len(names) != 0 {
		t.Errorf("left %v", names)
	}
}

// TestReadDeck: the last line end may be missing, and lines may end as on Windows.
func TestReadDeck(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"a b\nc\n", "a b\nc", "a b\r\nc\r\n", "a b\r\nc"} {
		name := filepath.Join(t.TempDir(), "cards")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := readDeck(name)
		if err != nil || !slices.Equal(d.Cards(), []string{"a b", "c"}) {
			t.Errorf("%q is read as %q, %v", text, d.Cards(), err)
		}
	}
}
