package ledger

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
)

// round is one head on its way to a quorum. Goroutine run of witnessing owns it.
type round struct {
	head  Head
	waits map[*member]bool // that did not answer yet
	lines []cosignature    // so far, one of each witness

	// The size that a witness said it is at, by its signer, where it is not above
	// the stored head; of two addresses the larger.
	at map[string]uint64
}

// cosignature is a signature line of a note, with its newline.
type cosignature struct {
	by   string // signer
	line string
}

// signer names a key as a note does: by name and four bytes of its hash.
func signer(v note.Verifier) string { return fmt.Sprintf("%s+%08x", v.Name(), v.KeyHash()) }

// signerOf returns the signer of a signature line, "" for no such line.
func signerOf(line string) string {
	fields := strings.Fields(line)
	if len(fields) != 3 {
		return ""
	}
	sig, err := base64.StdEncoding.DecodeString(fields[2])
	if err != nil || len(sig) < 4 {
		return ""
	}
	return fmt.Sprintf("%s+%x", fields[1], sig[:4])
}

func newRound(head Head) *round {
	return &round{head: head, waits: make(map[*member]bool), at: make(map[string]uint64)}
}

// open begins a round, and with it one of a policy that is tried. A member that is
// busy with an earlier head finds this one when it is done.
func (w *witnessing) open(head Head) {
	w.round = newRound(head)
	begins := w.trial.due()
	if begins {
		w.trial.round = newRound(head)
	}
	for _, m := range w.members {
		busy := w.trial.waits(m) // with the trial's head, which another would displace
		if begins && w.trial.names(m) {
			w.trial.round.waits[m] = true
		}
		if !m.tried {
			w.round.waits[m] = true
		}
		if !busy && (w.round.waits[m] || w.trial.waits(m)) {
			m.send(head)
		}
	}
	if len(w.round.waits) == 0 {
		w.round = nil
	}
}

// add takes a member's answer into the round.
func (r *round) add(a reply) {
	delete(r.waits, a.member)
	var moved *movedError
	switch {
	case a.err == nil:
		r.at[a.member.signer] = max(r.at[a.member.signer], a.head.Size)
	case errors.As(a.err, &moved):
		r.at[a.member.signer] = max(r.at[a.member.signer], moved.size)
	}
	for _, line := range a.lines {
		by := signerOf(line)
		if by != "" && !slices.ContainsFunc(r.lines, func(c cosignature) bool { return c.by == by }) {
			r.lines = append(r.lines, cosignature{by, line})
		}
	}
}

// signed returns the checkpoint with the cosignatures of the policies' witnesses.
// Two lines of a note are for the ledger's own signatures, of old and new key.
func (r *round) signed(policies ...*audit.Policy) []byte {
	b, n := slices.Clone(r.head.Checkpoint), 0
	for _, c := range r.lines {
		named := slices.ContainsFunc(policies, func(p *audit.Policy) bool {
			return p != nil && slices.ContainsFunc(p.Witnesses,
				func(w audit.Witness) bool { return signer(w.Key) == c.by })
		})
		if named && n < audit.MaxSignatures-2 {
			b = append(b, c.line...)
			n++
		}
	}
	return b
}

// count adds a reply to the round, which ends when the quorum is reached or
// everybody has answered. failed: it ended without.
//
// A checkpoint that lets a waiting policy take over needs both quorums here,
// though the old one's is enough for docs/SPEC.md section 7.3: the new one is shown
// to be met before it governs. It is stored only if this daemon has read all
// cosigned checkpoints that are stored: with several policies that wait, another
// daemon may have let another of them take over.
func (w *witnessing) count(a reply) (failed bool) {
	r := w.round
	r.add(a)
	governing, next := w.policies.Governing(r.head.Size), w.policies.Next(r.head.Size)
	reached := false
	if signed := r.signed(governing, next); a.err == nil && governing.Asks() && governing.Satisfied(signed) {
		w.l.confirmed.Store(true)
		if next.Satisfied(signed) {
			reached = true
			failed = !w.l.keepCosigned(Head{Size: r.head.Size, Root: r.head.Root, Checkpoint: signed},
				w.unseen(r.head.Size))
		}
	}
	if len(r.waits) > 0 && !reached {
		return false
	}
	w.round = nil
	if !reached && governing.Asks() {
		failed = !w.l.followCosigned()
		w.confirm(r)
	}
	w.missing(failed && !reached)
	if w.follow() {
		w.recruit()
	}
	// A doubt calls for rounds while the head stands still: not for one upon another.
	return failed || len(w.doubts) > 0
}

// missing counts rounds without a quorum, one after another, and has the alarm
// written when there were missedRounds of them.
func (w *witnessing) missing(missed bool) {
	if !missed {
		w.missed = 0
		return
	}
	if w.missed++; w.missed != missedRounds {
		return
	}
	reason := fmt.Sprintf("%d rounds without a quorum of the witnesses, since the cosigned checkpoint of size %d",
		missedRounds, w.l.cosignedSize())
	if w.l.ask(w.l.running, func() { w.l.alarm(audit.AlarmWitnesses, reason) }) != nil {
		w.missed-- // the ledger is closing
	}
}

// confirm takes the witnesses' word for the stored ledger where another daemon is
// always with them first, so that they never cosign a head of this one: a quorum
// cosigned the newest cosigned checkpoint, and each of it said in this round that
// it has seen no more.
func (w *witnessing) confirm(r *round) {
	h, ok := w.l.Cosigned()
	if !ok || w.l.confirmed.Load() {
		return
	}
	signatures := bytes.LastIndex(h.Checkpoint, []byte("\n\n")) + 2
	said := slices.Clone(h.Checkpoint[:signatures])
	for line := range strings.Lines(string(h.Checkpoint[signatures:])) {
		if size, ok := r.at[signerOf(line)]; ok && size <= h.Size {
			said = append(said, line...)
		}
	}
	if p := w.tenures.Load().at(h.Size); p.Asks() && p.Satisfied(said) {
		w.l.confirmed.Store(true)
	}
}
