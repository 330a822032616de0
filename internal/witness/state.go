package witness

import (
	"crypto"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"filippo.io/torchwood"
	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
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

// SecondKey is a key of ML-DSA-44 in addition to that of Ed25519 (keys.MLDSAKey).
type SecondKey interface {
	VKey() string
	Verifier() note.Verifier
	At(unix int64) note.Signer // signs at a time in Unix seconds
}

// cosigner makes the cosignatures of one witness.
type cosigner struct {
	note.Verifier // of the key's cosignatures
	vkey          string
	key           crypto.Signer
	second        SecondKey // nil: none
}

func newCosigner(name string, key crypto.Signer, second SecondKey) (*cosigner, error) {
	if second != nil && second.Verifier().Name() != name {
		return nil, fmt.Errorf("the key of ML-DSA-44 is of %q, that of Ed25519 of %q", second.Verifier().Name(), name)
	}
	public, ok := key.Public().(ed25519.PublicKey)
	if !ok {
		return nil, errors.New("the key is not Ed25519")
	}
	vkey, err := audit.WitnessVKey(name, public)
	if err != nil {
		return nil, err
	}
	verifier, err := audit.ParseWitnessVKey(vkey)
	if err != nil {
		return nil, err
	}
	return &cosigner{verifier, vkey, key, second}, nil
}

// cosignerAt is a note.Signer whose cosignatures say that they were made at a time in Unix seconds.
type cosignerAt struct {
	*cosigner
	unix int64
}

// Sign returns a timestamped_signature of C2SP tlog-cosignature, Ed25519.
func (c cosignerAt) Sign(text []byte) ([]byte, error) {
	message := fmt.Appendf(nil, "cosignature/v1\ntime %d\n%s", c.unix, text)
	sig, err := c.key.Sign(nil, message, crypto.Hash(0))
	if err != nil {
		return nil, err
	}
	return append(binary.BigEndian.AppendUint64(nil, uint64(c.unix)), sig...), nil
}

// cosigned is a checkpoint with the signatures of its log and of this witness.
type cosigned struct {
	torchwood.Checkpoint
	text string // what is signed
	note []byte // with the log's signatures, then the witness's
	line []byte // the witness's signature lines
	time int64  // of the cosignature, Unix seconds
}

// cosign signs a checkpoint that passed all checks. It checks the signature that it made,
// because the signer may be faulty. sigs are the log's.
func (c *cosigner) cosign(cp torchwood.Checkpoint, sigs []note.Signature, unix int64) (*cosigned, error) {
	n := &note.Note{Text: cp.String(), Sigs: sigs}
	signers := []note.Signer{cosignerAt{c, unix}}
	if c.second != nil {
		signers = append(signers, c.second.At(unix))
	}
	signed, err := note.Sign(n, signers...)
	if err != nil {
		return nil, fmt.Errorf("cosigning: %w", err)
	}
	return c.open(signed)
}

// open reads a note that this witness cosigned.
func (c *cosigner) open(signed []byte) (*cosigned, error) {
	n, err := note.Open(signed, note.VerifierList(c.Verifier))
	if err != nil {
		return nil, err
	}
	lines := n.Sigs
	if c.second != nil {
		// A state from before there was a second key has no line of that key.
		both, err := note.Open(signed, note.VerifierList(c.Verifier, c.second.Verifier()))
		if err != nil {
			return nil, err
		}
		lines = both.Sigs
	}
	cp, err := parseCheckpoint(n.Text)
	if err != nil {
		return nil, err
	}
	unix, err := torchwood.CosignatureTimestamp(n.Sigs[0])
	if err != nil {
		return nil, err
	}
	return &cosigned{Checkpoint: cp, text: n.Text, note: signed, line: signatureLines(lines), time: unix}, nil
}

// parseCheckpoint reads the text of a checkpoint, which may have extension lines, because other
// logs use them. A text that is not in its one form is an error.
func parseCheckpoint(text string) (torchwood.Checkpoint, error) {
	cp, err := torchwood.ParseCheckpoint(text)
	if err != nil {
		return cp, err
	}
	if cp.N > audit.MaxInteger || cp.String() != text {
		return cp, errors.New("malformed checkpoint: not in its one form")
	}
	return cp, nil
}

// signatureLines returns signatures as the lines of a note.
func signatureLines(sigs []note.Signature) []byte {
	var b strings.Builder
	for _, s := range sigs {
		fmt.Fprintf(&b, "— %s %s\n", s.Name, s.Base64)
	}
	return []byte(b.String())
}
