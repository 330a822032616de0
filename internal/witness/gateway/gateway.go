// Package gateway is a witness gateway: it gets the cosignatures of a log's witnesses (C2SP tlog-witness). It sends a
// head to all witnesses of a policy at the same time and returns when the quorum has cosigned it. The slower witnesses
// are asked as well. The answer of each is reported, in time or late, and so is the doubt of a witness that has seen
// another history.
package gateway

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
)

// Timeout is how long a witness may take to answer.
const Timeout = 5 * time.Second

// Witness is an outside party that cosigns checkpoints (C2SP tlog-witness). Its errors are
// those of this package, or those of the connection.
type Witness interface {
	// AddCheckpoint asks for cosignatures on a signed checkpoint, with the proof that it extends the checkpoint of size
	// old, and returns note signature lines. It returns a *Conflict if the newest checkpoint of the witness has another
	// size, and an ErrRefused if the witness will never cosign.
	AddCheckpoint(ctx context.Context, old uint64, proof []tlog.Hash, checkpoint []byte) ([]byte, error)

	// Latest returns the newest checkpoint that the witness cosigned for origin, or ErrNone.
	Latest(ctx context.Context, origin string) ([]byte, error)
}

// Head is a checkpoint of the log. It is durable when a witness is asked about it: if it were rolled back after a
// witness saw it, the log would have forked itself.
type Head struct {
	Size       uint64
	Root       tlog.Hash
	Checkpoint []byte // signed note
}

// Log is what the gateway asks of the log whose heads it sends.
type Log struct {
	Origin string
	// Keys are the keys under which a checkpoint is evidence of another history.
	Keys func() []note.Verifier
	// Prove proves that head extends the log's first old entries.
	Prove func(ctx context.Context, old uint64, head Head) ([]tlog.Hash, error)
	// Reach returns the size of the log. If that is known below size here, it first reads what
	// other writers of the log added.
	Reach func(ctx context.Context, size uint64) (uint64, error)
	// Extends reports whether the log extends a checkpoint of at least one entry.
	Extends func(ctx context.Context, c audit.Checkpoint) (bool, error)
}

// Answer is what one witness said of one head.
type Answer struct {
	Witness trust.Witness
	Size    uint64 // of the head
	Err     error  // why it did not cosign: a *Contradiction, a *Moved or another; nil: it did

	line string // the signature line of its key, with its newline character
}

// Gateway asks the witnesses of one log. It is safe for concurrent use. At each of its places
// a witness is asked one question at a time.
type Gateway struct {
	log   Log
	reach func([]trust.Witness) (Witness, error)
	heard func(Answer)

	running context.Context // ends all questions
	group   sync.WaitGroup

	mu      sync.Mutex // guards members, and the fields of each except size
	members map[place]*member
}

// place is a key name and a URL. Lines of policies that have both in common are one witness,
// whose answer has the cosignatures of all its keys.
type place struct{ name, url string }

// New returns a gateway that works until running ends. reach returns a witness, given the lines that policies have for
// it at one place. heard is called with every answer, one for each line, even after Cosign has returned. It is called
// with the answers of one place one after another, and before Cosign counts an answer.
func New(running context.Context, log Log, reach func([]trust.Witness) (Witness, error), heard func(Answer)) *Gateway {
	return &Gateway{log: log, reach: reach, heard: heard, running: running, members: make(map[place]*member)}
}

// Wait waits for the last question, after running has ended.
func (g *Gateway) Wait() {
	g.mu.Lock()
	//lint:ignore SA2001 the group counts what began before running ended; nothing begins after it
	g.mu.Unlock()
	g.group.Wait()
}

// member is a witness at a place. The goroutine of serve owns size.
type member struct {
	lines   []trust.Witness // all that it was asked for
	witness Witness         // has all keys of lines
	err     error           // why reach gave no witness
	size    uint64          // of the newest checkpoint that it cosigned, as far as known
	busy    bool            // serve runs
	queue   []question
}

// question is one head for one member.
type question struct {
	head    Head
	call    *call
	lines   []trust.Witness // each gets an answer
	witness Witness
	err     error
}

// call is one call of Cosign. Its questions go on after it, so that slow witnesses are asked.
type call struct {
	answers chan []Answer // each of one witness; has room for all
	heard   chan struct{} // closed when asks is 0

	// The gateway's mu guards these.
	over bool // nobody waits for answers
	asks int  // questions without an answer
}

// Round is the result of asking for a head.
type Round struct {
	Head Head // with the cosignatures of the quorums' witnesses
	Met  bool // the quorums have cosigned it

	Heard <-chan struct{} // closed when every witness has answered, if only with an error

	// At has, by signer, the size of the newest checkpoint that a witness says it cosigned, if
	// that is not above the log's; of two addresses the larger.
	At      map[string]uint64
	Refused []Answer // of witnesses that answered and did not cosign

	lines []string // one signature line of each witness
}

// Cosign asks the witnesses for a head. It returns when each of the quorums has cosigned the
// head, when every witness has answered, or when ctx ends. Without quorums it waits for all.
func (g *Gateway) Cosign(ctx context.Context, head Head, ask []trust.Witness, quorums ...*trust.Policy) Round {
	c := &call{answers: make(chan []Answer, len(ask)), heard: make(chan struct{})}
	waits := g.send(head, ask, c)
	defer func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		c.over = true
	}()
	r := Round{Head: head, Heard: c.heard, At: make(map[string]uint64)}
	for ; waits > 0 && !r.Met; waits-- {
		select {
		case all := <-c.answers:
			for _, a := range all {
				r.add(a)
			}
			r.sign(head, quorums)
		case <-ctx.Done():
			return r
		case <-g.running.Done():
			return r
		}
	}
	return r
}

// send asks each witness once at each place, for all of its lines. It returns how many answers to wait for. It drops
// earlier questions for heads that are not newer and for which nobody waits any more.
func (g *Gateway) send(head Head, ask []trust.Witness, c *call) (sent int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	lines := make(map[place][]trust.Witness)
	for _, one := range ask {
		p := place{one.Key.Name(), one.URL}
		if !slices.ContainsFunc(lines[p], func(w trust.Witness) bool { return w.VKey == one.VKey }) {
			lines[p] = append(lines[p], one)
		}
	}
	if c.asks = len(lines); c.asks == 0 {
		close(c.heard)
	}
	for p, of := range lines {
		m := g.member(p, of)
		m.queue = slices.DeleteFunc(m.queue, func(q question) bool {
			late := q.call.over && q.head.Size <= head.Size
			if late {
				q.call.answered()
			}
			return late
		})
		m.queue = append(m.queue, question{head, c, of, m.witness, m.err})
		if !m.busy && g.running.Err() == nil {
			m.busy = true
			g.group.Go(func() { g.serve(m) })
		}
	}
	return len(lines)
}

// member returns the witness at a place, with these lines among its lines. The caller holds the gateway's mu.
func (g *Gateway) member(p place, lines []trust.Witness) *member {
	m := g.members[p]
	if m == nil {
		m = new(member)
		g.members[p] = m
	}
	known := len(m.lines)
	for _, one := range lines {
		if !slices.ContainsFunc(m.lines, func(w trust.Witness) bool { return w.VKey == one.VKey }) {
			m.lines = append(m.lines, one)
		}
	}
	if len(m.lines) > known {
		m.witness, m.err = g.reach(m.lines)
	}
	return m
}

// answered counts an answer, or a question that was dropped. The caller holds the gateway's mu.
func (c *call) answered() {
	if c.asks--; c.asks == 0 {
		close(c.heard)
	}
}

// serve asks a member its questions, one after another. If there is none, the member is no longer busy.
func (g *Gateway) serve(m *member) {
	for {
		g.mu.Lock()
		if len(m.queue) == 0 || g.running.Err() != nil {
			m.busy = false
			g.mu.Unlock()
			return
		}
		q := m.queue[0]
		m.queue = m.queue[1:]
		g.mu.Unlock()
		ctx, cancel := context.WithTimeout(g.running, Timeout)
		lines, err := g.ask(ctx, m, q)
		cancel()
		if g.running.Err() != nil {
			continue // the error may come from the end of running
		}
		answers := make([]Answer, 0, len(q.lines))
		for _, one := range q.lines {
			a := Answer{Witness: one, Size: q.head.Size, Err: err}
			i := slices.IndexFunc(lines, func(line string) bool { return SignerOf(line) == Signer(one.Key) })
			if i >= 0 {
				a.line = lines[i]
			} else if err == nil {
				a.Err = fmt.Errorf("the answer has no cosignature of the key %s", Signer(one.Key))
			}
			g.heard(a)
			answers = append(answers, a)
		}
		q.call.answers <- answers
		g.mu.Lock()
		q.call.answered()
		g.mu.Unlock()
	}
}

// Moved: another writer of the log asked the witness first. The witness has cosigned a
// checkpoint of this size, which is not above the log's.
type Moved struct{ Size uint64 }

func (e *Moved) Error() string { return fmt.Sprintf("the witness is at size %d already", e.Size) }

// Contradiction: a witness has seen what is not in the stored log.
type Contradiction struct {
	Name string // of the witness
	Why  string

	// Seen is the checkpoint that the witness shows, under the log's own key. The doubt ends when the stored log
	// extends it. nil: the witness shows none, and its word is believed until it cosigns again.
	Seen *audit.Checkpoint
}

func (c *Contradiction) Error() string { return "a witness has seen another history: " + c.Why }
