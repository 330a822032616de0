package audit

import (
	"testing"

	"golang.org/x/mod/sumdb/note"
)

const mldsaSize = 11

var mldsaRoot = make([]byte, 32)

// mldsaNote is a signed checkpoint of the house with lines that follow its own.
func mldsaNote(lines ...string) []byte {
	text := refCheckpoint(sampleOrigin, mldsaSize, mldsaRoot)
	own := refSign(text, sampleOrigin, signer(houseKey))
	return []byte(refNote(text, append([]string{own}, lines...)...))
}

func witnessLine(owner string, time uint64) string {
	return refMLDSALine("witness.example/"+owner, owner, time, sampleOrigin, mldsaSize, mldsaRoot)
}

// flipped has another character of base64 at i.
func flipped(line string, i int) string {
	c := "A"
	if line[i] == 'A' {
		c = "B"
	}
	return line[:i] + c + line[i+1:]
}

// house is a ledger with its key: the entries of a story, signed by the reference.
type house struct {
	entries [][]byte
	leaves  [][]byte
}

const houseKey = "1" // its signing key, as in newStory

// newHouse is a ledger of two shuffles, eleven entries.
func newHouse() *house {
	s := newStory()
	id := s.then(s.commit("t"))
	s.then(s.deal(id, 0, 2))
	next := s.then(s.commit("t"))
	s.then(s.deal(id, 2, 2, final))
	s.then(s.close(id, 1))
	s.then(s.deal(next, 0, 1))
	s.then(s.deal(next, 1, 3))
	s.then(s.close(next, 2))
	s.then(operator(refEvent{Kind: 3, Table: "t"}))
	h := new(house)
	for _, e := range s.entries {
		h.entries = append(h.entries, e.bytes())
		h.leaves = append(h.leaves, refEntryLeaf(e.bytes()))
	}
	return h
}

// text is the checkpoint over the first n entries.
func (h *house) text(n int) string {
	return refCheckpoint(sampleOrigin, uint64(n), refRoot(h.leaves[:n]))
}

func (h *house) signed(n int) string {
	return refNote(h.text(n), refSign(h.text(n), sampleOrigin, signer(houseKey)))
}

func (h *house) cosigned(n int) string {
	return h.signed(n) + refCosign(h.text(n), "witness.example/w1", signer("w1"), 1_790_000_000) +
		refCosign(h.text(n), "witness.example/w2", signer("w2"), 1_790_000_001)
}

// receipt is the receipt of entry i under a signed checkpoint of size n.
func (h *house) receipt(i, n int, signed string) string {
	return refReceipt(h.entries[i], uint64(i), refPath(i, h.leaves[:n]), signed)
}

func houseVerifier(t testing.TB, vkey string) note.Verifier {
	t.Helper()
	v, err := note.NewVerifier(vkey)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// longCheckpoint is a signed checkpoint of n bytes: of the house, and one more signature line that nobody knows.
func longCheckpoint(n int) string {
	signed := newHouse().signed(11)
	for _, name := range []string{"w", "ww", "www", "wwww"} {
		line := "— " + name + " "
		if left := n - len(signed) - len(line) - 1; left%4 == 0 {
			return signed + line + refBase64(make([]byte, left/4*3)) + "\n"
		}
	}
	panic("no such length")
}

// cosignedAt is the checkpoint over n entries with a cosignature of each witness at its time.
func (h *house) cosignedAt(n int, times map[string]uint64) string {
	signed := h.signed(n)
	for _, w := range []string{"w1", "w2", "w3"} {
		if at, ok := times[w]; ok {
			signed += refCosign(h.text(n), "witness.example/"+w, signer(w), at)
		}
	}
	return signed
}
