package witness

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"shuffled/internal/process"
)

// A state directory has one file for each log, with two slots (process.Slots): the newest checkpoint that the witness
// cosigned, as a note with the signatures of the log and of the witness. The name of the file is the SHA-256 of the
// origin. By lockFile one process has the directory at a time.
const (
	lockFile    = "lock"
	stateSuffix = ".checkpoint"
	maxState    = MaxRequest + 8<<10 // bytes: what a request can bring, and two cosignatures
)

// stored is a state file and what it has.
type stored struct {
	*cosigned
	file *process.Slots
}

// originHash names a log in file names and addresses.
func originHash(origin string) string {
	h := sha256.Sum256([]byte(origin))
	return hex.EncodeToString(h[:])
}

// lockDir makes the directory if it does not exist, and takes its lock. The lock ends when the
// file is closed or the process ends.
func lockDir(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the state directory: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("locking the state: %w", err)
	}
	if err := process.LockFile(f); err != nil { // else two processes could each cosign one branch of a fork
		f.Close()
		return nil, fmt.Errorf("locking the state in %s: another witness has it: %w", dir, err)
	}
	return f, nil
}

// readState verifies every state file of a directory and returns the states, by origin. A file that does not verify is
// an error: a witness that began anew for its log would let that log fork.
func readState(dir string, c *cosigner) (map[string]stored, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("reading the state: %w", err)
	}
	state := make(map[string]stored)
	for _, f := range files {
		path := filepath.Join(dir, f.Name())
		if filepath.Ext(path) != stateSuffix {
			continue
		}
		s, err := readStateFile(path, c)
		if err != nil {
			return nil, fmt.Errorf("reading the state file %s: %w", path, err)
		}
		state[s.Origin] = s
	}
	return state, nil
}

func readStateFile(path string, c *cosigner) (s stored, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return s, err
	}
	if !info.Mode().IsRegular() || info.Size() > 8*maxState { // two slots of twice the length
		return s, fmt.Errorf("no regular file of at most %d bytes", 8*maxState)
	}
	file, b, err := process.OpenSlots(path)
	if err != nil {
		return s, err
	}
	s = stored{file: file}
	if s.cosigned, err = c.open(b[:min(len(b), maxState)]); err != nil { // what is longer is no whole note
		return s, fmt.Errorf("not cosigned by this witness: %w", err)
	}
	if filepath.Base(path) != originHash(s.Origin)+stateSuffix {
		return s, fmt.Errorf("the state is of another log: %q", s.Origin)
	}
	return s, nil
}
