// Package witness is a witness of transparency logs and a client of witnesses: C2SP tlog-witness over HTTP.
//
// A witness cosigns a checkpoint of a log after it has checked that the log only grew since
// the checkpoint that it cosigned last. For each log it remembers that newest checkpoint, and
// it must never forget it. So the state is on the disk before a cosignature leaves, one
// process has the state at a time, and a state that cannot be verified stops the start.
//
// x/mod's sumdb/note and sumdb/tlog and torchwood check checkpoints and consistency proofs; transparency-dev's formats
// check cosignatures. The only signature made here is the cosignature with Ed25519, because no library takes the time
// of a cosignature from its caller.
package witness

import (
	"crypto"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"filippo.io/torchwood"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/process"
)

// maxStepBack is how far the clock may be behind the newest cosignature. Then the next cosignature has the time of the
// newest. If the clock is further behind, the witness does not know the time that it would attest, and refuses.
const maxStepBack = 5 * time.Second

// Config is what a witness is made of.
type Config struct {
	Name   string          // of the key, like a URL without a scheme
	Key    crypto.Signer   // Ed25519
	Second SecondKey       // ML-DSA-44, of the same name; nil: none
	Dir    string          // of the state; made if it does not exist
	Logs   []note.Verifier // keys of the logs (audit.ParseVKey); one key of each algorithm of a log has to sign
	Now    func() time.Time
	Log    *slog.Logger
}

// Witness cosigns checkpoints of the logs that it knows. It is safe for
// concurrent use; submissions for one log take turns.
type Witness struct {
	cosigner *cosigner
	logs     map[string]*witnessed // by originHash; the map is fixed
	lock     *os.File
	now      func() time.Time
	log      *slog.Logger
	slots    chan struct{} // requests under way
	registry *prometheus.Registry
	requests *prometheus.CounterVec // by route and status
}

// witnessed is one log and what the witness remembers of it.
type witnessed struct {
	origin string
	keys   []note.Verifier

	mu     sync.Mutex // held from the check of a size to the end of the write
	latest stored     // as on the disk
	doubt  error      // of a write: which of two states the disk has. Then nothing is cosigned until a restart
}

// emptyRoot is the root of a tree without entries: the state of a log that was never cosigned.
var emptyRoot, _ = tlog.TreeHash(0, nil)

// Open takes the lock of the state directory and verifies the state in it. A log without a state file is new to the
// witness, which cosigns the first checkpoint that it is sent. The caller must Close the witness.
func Open(cfg Config) (*Witness, error) {
	c, err := newCosigner(cfg.Name, cfg.Key, cfg.Second)
	if err != nil {
		return nil, fmt.Errorf("opening a witness: %w", err)
	}
	if len(cfg.Logs) == 0 {
		return nil, errors.New("opening a witness: no log is named")
	}
	w := &Witness{
		cosigner: c, logs: make(map[string]*witnessed), now: cfg.Now, log: cfg.Log,
		slots: make(chan struct{}, maxRequests),
	}
	if w.lock, err = lockDir(cfg.Dir); err != nil {
		return nil, err
	}
	state, err := readState(cfg.Dir, c)
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	byOrigin := make(map[string][]note.Verifier)
	for _, key := range cfg.Logs {
		same := func(k note.Verifier) bool { return k.KeyHash() == key.KeyHash() }
		if slices.ContainsFunc(byOrigin[key.Name()], same) {
			return nil, errors.Join(fmt.Errorf("opening a witness: a key of %q is given twice", key.Name()), w.Close())
		}
		byOrigin[key.Name()] = append(byOrigin[key.Name()], key)
	}
	for _, origin := range slices.Sorted(maps.Keys(byOrigin)) {
		if err := w.add(cfg.Dir, origin, byOrigin[origin], state[origin]); err != nil {
			return nil, errors.Join(err, w.Close())
		}
		delete(state, origin)
	}
	for origin := range state {
		w.log.Warn("a log with state is not configured", "origin", origin)
	}
	w.measure()
	return w, nil
}

// add adds a log while the witness is opened.
func (w *Witness) add(dir, origin string, keys []note.Verifier, latest stored) (err error) {
	if latest.cosigned == nil {
		latest.cosigned = &cosigned{Checkpoint: torchwood.Checkpoint{Origin: origin, Tree: tlog.Tree{Hash: emptyRoot}}}
		latest.file, _, err = process.OpenSlots(filepath.Join(dir, originHash(origin)+stateSuffix))
		w.log.Warn("a log has no state: its next checkpoint is accepted without a proof", "origin", origin)
	} else {
		w.log.Info("a log", "origin", origin, "size", latest.N, "root", latest.Hash)
	}
	w.logs[originHash(origin)] = &witnessed{origin: origin, keys: keys, latest: latest}
	return err
}

// Close releases the state directory. No request may be under way.
func (w *Witness) Close() error { return w.lock.Close() }

// VKey returns the verifier key of the cosignatures.
func (w *Witness) VKey() string { return w.cosigner.vkey }

// PolicyLine returns the line that names this witness in a C2SP tlog-policy; with two keys, the
// two lines. url is the address of add-checkpoint without that last part.
func (w *Witness) PolicyLine(url string) string {
	line := fmt.Sprintf("witness %s %s %s", w.cosigner.Name(), w.cosigner.vkey, url)
	if s := w.cosigner.second; s != nil {
		line += fmt.Sprintf("\nwitness %s-ml-dsa %s %s", w.cosigner.Name(), s.VKey(), url)
	}
	return line
}

// refusal is an answer other than a cosignature.
type refusal struct {
	status int
	reason string
	size   int64 // for a conflict of sizes, else -1
}

func (r *refusal) Error() string { return r.reason }

func refuse(status int, format string, args ...any) error {
	return &refusal{status, fmt.Sprintf(format, args...), -1}
}

// submission is a request, as far as it was read, and its result.
type submission struct {
	origin     string // of a known log, otherwise ""
	checkpoint []byte // nil unless the log signed it
	old, size  int64
	line       []byte // the cosignatures
}

// submit answers one add-checkpoint. An error is a *refusal or internal. The order of the
// checks is that of C2SP tlog-witness.
func (w *Witness) submit(body []byte) (s submission, err error) {
	r, err := ParseRequest(body)
	if err != nil {
		return s, refuse(http.StatusBadRequest, "%s", err)
	}
	s.old = r.Old
	origin, _, _ := strings.Cut(string(r.Checkpoint), "\n")
	l := w.logs[originHash(origin)]
	if l == nil {
		return s, refuse(http.StatusNotFound, "unknown log")
	}
	s.origin = origin
	n, err := note.Open(r.Checkpoint, note.VerifierList(l.keys...))
	if errors.As(err, new(*note.UnverifiedNoteError)) || errors.As(err, new(*note.InvalidSignatureError)) {
		return s, refuse(http.StatusForbidden, "no valid signature of the log")
	}
	if err != nil {
		return s, refuse(http.StatusBadRequest, "malformed note")
	}
	// Otherwise the thief of a key of one algorithm could lead the witness away from the log.
	signed := make(map[string]bool) // by algorithm
	for _, key := range l.keys {
		of := map[bool]string{false: "Ed25519", true: "ML-DSA-44"}[audit.IsMLDSA(key)]
		by := func(s note.Signature) bool { return s.Hash == key.KeyHash() }
		signed[of] = signed[of] || slices.ContainsFunc(n.Sigs, by)
	}
	for of, one := range signed {
		if !one {
			return s, refuse(http.StatusForbidden, "the checkpoint has no signature by a key of %s that this witness has "+
				"for the log: the log must sign with that key, or the operator of the witness must remove the key", of)
		}
	}
	cp, err := parseCheckpoint(n.Text)
	if err != nil {
		return s, refuse(http.StatusBadRequest, "malformed checkpoint")
	}
	s.checkpoint, s.size = r.Checkpoint, cp.N
	if r.Old > cp.N {
		return s, refuse(http.StatusBadRequest, "the old size is above the checkpoint's")
	}
	s.line, err = w.advance(l, r, cp, n.Sigs)
	return s, err
}

// advance cosigns cp if the log grew from its latest checkpoint to cp. It returns the
// cosignatures when the new state is on the disk.
func (w *Witness) advance(l *witnessed, r Request, cp torchwood.Checkpoint, sigs []note.Signature) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.doubt != nil {
		return nil, l.doubt
	}
	if err := grows(l.latest.Tree, r, cp.Tree); err != nil {
		return nil, err
	}
	now := w.now()
	if last := time.Unix(l.latest.time, 0); now.Before(last) {
		if last.Sub(now) > maxStepBack {
			return nil, fmt.Errorf("the clock is %s behind the newest cosignature", last.Sub(now))
		}
		now = last
	}
	next, err := w.cosigner.cosign(cp, sigs, now.Unix())
	if err != nil {
		return nil, err
	}
	if next.text == l.latest.text && next.time == l.latest.time && len(next.line) == len(l.latest.line) {
		return l.latest.line, nil // the same statement: a replay costs no disk
	}
	if err := l.latest.file.Write(next.note); err != nil {
		l.doubt = fmt.Errorf("writing the state: %w", err)
		return nil, l.doubt
	}
	l.latest.cosigned = next
	return next.line, nil
}

// grows returns a *refusal unless the request proves that the log grew from known to next.
func grows(known tlog.Tree, r Request, next tlog.Tree) error {
	switch {
	case r.Old != known.N:
		return &refusal{http.StatusConflict, "the old size is not the size that was cosigned last", known.N}
	case r.Old == next.N && next.Hash != known.Hash:
		return refuse(http.StatusConflict, "another root at a size that was cosigned: the log has forked")
	case r.Old == next.N || r.Old == 0:
		if len(r.Proof) != 0 {
			return refuse(http.StatusUnprocessableEntity, "nothing is to be proved, and the proof is not empty")
		}
		return nil
	}
	if err := tlog.CheckTree(r.Proof, next.N, next.Hash, known.N, known.Hash); err != nil {
		return refuse(http.StatusUnprocessableEntity, "the consistency proof is not valid")
	}
	return nil
}

func (l *witnessed) newest() *cosigned {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.latest.cosigned
}
