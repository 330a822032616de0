package load

import "github.com/go-json-experiment/json"

// claim is an acknowledged request with its answer.
type claim struct {
	kind    Kind
	group   uint64   // the commit that it belongs to
	shuffle uint64   // its id; not set for a commit
	first   int      // of a deal: the place
	count   int      // of a deal: cards
	key     string   // of a commit
	keys    []string // of a batch: of its commits
	table   string
	answer  []byte
}

// kept are the answers that a worker keeps for verification: those about every stride-th commit, as many as
// its budget allows. A commit stays with its deals and closes, which are verified against it.
type kept struct {
	budget  int64
	judge   bool // the mix has use for last
	claims  []claim
	bytes   int64
	stride  uint64
	commits uint64 // so far, which is also the group of the newest
	seen    uint64
	last    []byte // the newest answer

	unproved [][]byte // verdicts of the daemon that do not prove its own receipts
}

// claimSize is about the memory of a claim without its answer.
const claimSize = 168

// add keeps a copy. A commit begins a group, which other claims name. When the budget is spent, every
// second group is dropped, and from then on half as many are kept. One group stays at any size.
func (k *kept) add(c claim) {
	k.seen++
	if k.stride == 0 {
		k.stride = 1
	}
	if c.kind == Commit || c.kind == Hand { // only in a batch is a hand one claim
		k.commits++
		c.group = k.commits
	}
	if k.judge {
		k.last = append(k.last[:0], c.answer...)
	}
	if c.group%k.stride != 0 {
		return
	}
	c.answer = append([]byte(nil), c.answer...)
	k.claims = append(k.claims, c)
	k.bytes += int64(len(c.answer)) + claimSize
	for k.bytes > k.budget && k.commits >= 2*k.stride {
		k.thin()
	}
}

// thin drops every second group, those that a doubled stride leaves out.
func (k *kept) thin() {
	k.stride *= 2
	keep := k.claims[:0]
	k.bytes = 0
	for _, c := range k.claims {
		if c.group%k.stride == 0 {
			keep = append(keep, c)
			k.bytes += int64(len(c.answer)) + claimSize
		}
	}
	clear(k.claims[len(keep):])
	k.claims = keep
}

// judged records the daemon's verdict on a receipt of its own.
func (k *kept) judged(verdict []byte) {
	var v struct {
		Verdict string `json:"verdict"`
	}
	if json.Unmarshal(verdict, &v) != nil || v.Verdict != "proved" {
		k.unproved = append(k.unproved, append([]byte(nil), verdict...))
	}
}
