package witness

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"shuffled/internal/process"
)

// A state directory has one file for each log: the newest checkpoint that the witness cosigned,
// as a note with the signatures of the log and of the witness. The name of the file is the
// SHA-256 of the origin. By lockFile one process has the directory at a time.
const (
	lockFile    = "lock"
	stateSuffix = ".checkpoint"
	tempSuffix  = ".new"
	maxState    = MaxRequest + 8<<10 // bytes: what a request can bring, and two cosignatures
)

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

// readState verifies every state file of a directory and returns the states, by origin. It removes files of interrupted
// writes. A file that does not verify is an error: a witness that began anew for its log would let that log fork.
func readState(dir string, c *cosigner) (map[string]*cosigned, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("reading the state: %w", err)
	}
	state := make(map[string]*cosigned)
	for _, f := range files {
		path := filepath.Join(dir, f.Name())
		if strings.HasSuffix(f.Name(), stateSuffix+tempSuffix) {
			if err := os.Remove(path); err != nil {
				return nil, fmt.Errorf("clearing the state: %w", err)
			}
		}
		if !strings.HasSuffix(f.Name(), stateSuffix) {
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

func readStateFile(path string, c *cosigner) (*cosigned, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxState {
		return nil, fmt.Errorf("no regular file of at most %d bytes", maxState)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s, err := c.open(b)
	if err != nil {
		return nil, fmt.Errorf("not cosigned by this witness: %w", err)
	}
	if filepath.Base(path) != originHash(s.Origin)+stateSuffix {
		return nil, fmt.Errorf("the state is of another log: %q", s.Origin)
	}
	return s, nil
}

// errDoubt: it is not known which of two states the disk has.
var errDoubt = errors.New("the state on the disk is in doubt")

// writeState replaces a log's state file. If it returns nil, the new state survives a power cut. After errDoubt either
// state may survive; after any other error the old state does. sync is (*os.File).Sync.
func writeState(path string, content []byte, sync func(*os.File) error) error {
	temp := path + tempSuffix
	if err := writeTemp(temp, content, sync); err != nil {
		return fmt.Errorf("writing the state: %w", errors.Join(err, os.RemoveAll(temp)))
	}
	if err := os.Rename(temp, path); err != nil {
		return fmt.Errorf("writing the state: %w: %w", errDoubt, err)
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("writing the state: %w: %w", errDoubt, err)
	}
	defer dir.Close()
	if err := sync(dir); err != nil {
		return fmt.Errorf("writing the state: %w: %w", errDoubt, err)
	}
	return nil
}

func writeTemp(path string, content []byte, sync func(*os.File) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.Write(content); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := sync(f); err != nil {
		return errors.Join(err, f.Close())
	}
	return f.Close()
}
