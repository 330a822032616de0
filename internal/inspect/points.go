package inspect

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
)

// rotation is the entry of a new signing key until its checkpoint comes: that of the next
// size, signed by the keys before the entry and by those after it.
type rotation struct {
	index uint64
	old   []note.Verifier
	bare  []point // checkpoints of this size that the keys in force did not sign
}

// divergence is consecutive checkpoints whose roots are not those of the entries. They are
// one fault: one damaged entry changes the roots of all checkpoints above it.
type divergence struct {
	First Checkpoint
	Size  uint64 // of the first
	Last  uint64 // size of the last
	More  uint64 // checkpoints after the first
}

// judge judges the checkpoints whose size is that of the state, and returns the rest.
func (f *fold) judge(points []point) []point {
	for len(points) > 0 && points[0].head.Size == f.state.Size() {
		f.point(&points[0])
		points = points[1:]
	}
	f.rotate()
	return points
}

// point judges a checkpoint whose size is that of the state.
func (f *fold) point(p *point) {
	if by := f.signers.Load(); p.by != by {
		p.check(by, f.run)
	}
	if p.kind == kindSince {
		f.since(p)
		return
	}
	size := p.head.Size
	if p.kind == KindCosigned {
		f.report.Witnesses.Cosigned++
		f.report.Witnesses.Newest = size
	}
	holds := f.signature(p) && f.compareRoot(p)
	switch p.kind {
	case KindCosigned:
		if f.cosigned.named = !holds; holds {
			if s := &f.cosigned; len(s.recent) == 2*sizesKept {
				s.recent, s.dropped = append(s.recent[:0], s.recent[sizesKept:]...), true
			}
			f.cosigned.recent = append(f.cosigned.recent, size)
			f.quorum(p)
		} else {
			f.cosigned.spoilt++ // its size may be damaged, so that it is not one of recent, too
		}
		if size == f.size && !f.cosigned.named {
			f.copied = p.Signed
		}
	case kindNewest:
		if holds && f.copied != nil && !linesOf(p.Signed, f.copied) {
			f.faults.add(fault(CodeCheckpoint, p.Where,
				"it has a signature line that the cosigned checkpoint of its size does not have"))
		}
	}
}

// linesOf reports whether every line of a note is one of another note.
func linesOf(part, whole []byte) bool {
	of := strings.Split(string(whole), "\n")
	for line := range strings.SplitSeq(string(part), "\n") {
		if !slices.Contains(of, line) {
			return false
		}
	}
	return true
}

// signature judges who signed the checkpoint.
func (f *fold) signature(p *point) bool {
	if r := f.rotated; r != nil && r.index+1 == p.head.Size {
		switch {
		case !p.signed: // one fault, named by rotate, if no checkpoint of this size is signed by both
			r.bare = append(r.bare, *p)
		case signedBy(p.Signed, r.old):
			f.rotated = nil
			f.trustIn(p, r.old...)
			for i := range r.bare {
				f.notSigned(&r.bare[i])
			}
		}
		return p.signed
	}
	switch {
	case !p.signed:
		f.notSigned(p)
	case p.kind == kindNewest:
		f.trustIn(p)
	}
	return p.signed
}

// notSigned names a checkpoint without the signatures of the keys in force.
func (f *fold) notSigned(p *point) {
	if f.unchecked() {
		return
	}
	f.faults.add(fault(CodeSignature, p.Where, "the checkpoint of size %d is not signed by the keys in force",
		p.head.Size))
	f.unsigned = f.unsigned || p.kind == kindNewest
}

// unchecked reports, and notes, that an entry below is lost: it may have been that of a signing key.
func (f *fold) unchecked() bool {
	if len(f.lost) > 0 {
		f.noteOnce("signatures above a lost entry are not checked: it may have changed the signing key")
	}
	return len(f.lost) > 0
}

// trustIn removes the keys of an algorithm from those that are due if one of them was in force and signed p: the newest
// checkpoint, or one at a rotation, from which a chain of rotations leads to the newest.
func (f *fold) trustIn(p *point, before ...note.Verifier) {
	for _, key := range f.due {
		_, err := audit.OpenCheckpoint(p.Signed, key)
		is := func(k note.Verifier) bool { return k.KeyHash() == key.KeyHash() } // keys of one id have one line
		if err == nil && slices.ContainsFunc(slices.Concat(before, f.signers.Load().keys), is) {
			f.due = slices.DeleteFunc(slices.Clone(f.due), func(k note.Verifier) bool {
				return k.Name() != key.Name() || audit.IsMLDSA(k) == audit.IsMLDSA(key)
			})
		}
	}
}

// beyond judges a checkpoint that covers more than the newest. A bundle that was copied
// while it grew, or whose export was cut, has such checkpoints, signed by the house.
func (f *fold) beyond(p *point) {
	switch {
	case signedBy(p.Signed, f.signers.Load().keys):
		f.noteOnce(fmt.Sprintf("%s covers %d entries, the newest checkpoint %d: the copy is older than that, and nothing above was looked at",
			p.Where, p.head.Size, f.size))
	case len(f.lost) == 0:
		f.faults.add(fault(CodeSize, p.Where,
			"it covers %d entries, the newest only %d, and the keys in force did not sign it", p.head.Size, f.size))
	}
}

// rotate names the entry of a signing key if all checkpoints of its size were seen and none is signed by both keys.
func (f *fold) rotate() {
	if r := f.rotated; r != nil && f.state.Size() > r.index {
		f.rotated = nil
		switch {
		case f.unchecked():
		case f.unsure:
			f.noteOnce("whether both keys signed at a rotation is not checked: not all checkpoints could be read")
		default:
			f.faults.add(fault(CodeRotation, "",
				"no checkpoint of size %d carries the signatures of the old and the new key", r.index+1).at(r.index))
		}
	}
}

// compareRoot compares the checkpoint's root with that of the entries.
func (f *fold) compareRoot(p *point) bool {
	root, ok := f.edge.root(p.head.Size)
	switch {
	case !ok:
		f.noteOnce("roots above lost entries are not checked")
		return false
	case root == p.head.Root:
		f.converge()
		return true
	case f.diverged == nil:
		f.diverged = &divergence{First: p.Checkpoint, Size: p.head.Size, Last: p.head.Size}
	default:
		f.diverged.Last = p.head.Size
		f.diverged.More++
	}
	return false
}

// converge ends a divergence, if there is one, and names it.
func (f *fold) converge() {
	d := f.diverged
	if d == nil {
		return
	}
	f.diverged = nil
	more := ""
	if d.More > 0 {
		more = fmt.Sprintf(", nor are those of the %d checkpoints after it, to size %d", d.More, d.Last)
	}
	x := fault(CodeRoot, d.First.Where, "the root signed for size %d is not that of the entries%s", d.Size, more)
	x.Size = d.Size
	f.faults.add(x)
}

// since judges the older checkpoint that the caller brought.
func (f *fold) since(p *point) {
	root, ok := f.edge.root(p.head.Size)
	switch {
	case !p.signed && !f.unchecked():
		f.faults.add(fault(CodeSince, p.Where, "the older checkpoint of size %d is not signed by the keys in force then",
			p.head.Size))
	case !ok:
		f.noteOnce("roots above lost entries are not checked")
	case root != p.head.Root:
		f.faults.add(fault(CodeSince, p.Where,
			"the ledger does not extend the older checkpoint of size %d: one of the two is a fork", p.head.Size))
	}
}

// cosignedSizes are the sizes of the newest cosigned checkpoints.
type cosignedSizes struct {
	recent     []uint64 // of those that hold: ascending, at most twice sizesKept
	dropped    bool     // there were more
	broken     bool     // they could not be read to the end
	named      bool     // the newest so far was named as a fault
	spoilt     int      // how many are of unknown size: each may be one that is missing
	excused    []uint64 // sizes that are missing and may be those, ascending
	pinned     uint64   // newest with the trusted quorum so far
	everPinned uint64   // newest of all with it
	undecided  uint64   // newest whose quorum depends on lines of an unknown type
}

const sizesKept = 1 << 16

// missing names a cosigned checkpoint that an entry relies on, unless it is there, or may be among those that were not
// read. One that is too old to be remembered is looked up in the source.
func (s *cosignedSizes) missing(f *fold, size, index, id uint64) {
	if _, found := slices.BinarySearch(s.recent, size); found || s.broken {
		return
	}
	if s.dropped && (len(s.recent) == 0 || size < s.recent[0]) {
		for c, err := range f.src.Checkpoints(f.ctx, KindCosigned, size) {
			head, parseErr := audit.CheckpointText(c.Signed)
			if err == nil && parseErr == nil && head.Size == size {
				return
			}
			break
		}
	}
	at, found := slices.BinarySearch(s.excused, size)
	if found {
		return
	}
	if len(s.excused) < s.spoilt {
		s.excused = slices.Insert(s.excused, at, size)
		return
	}
	x := fault(CodeCosigned, "", "the entry relies on a cosigned checkpoint of size %d, which is not there", size)
	x.Size = size
	f.faults.add(x.at(index).of(id))
}

func (f *fold) noteOnce(text string) {
	if !slices.Contains(f.report.Notes, text) {
		f.report.Notes = append(f.report.Notes, text)
	}
}
