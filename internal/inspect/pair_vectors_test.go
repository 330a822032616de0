package inspect

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/inspect/inspecttest"
	"shuffled/internal/shuffle"
)

// pairVectors is testdata/pair.json (docs/SPEC-BLIND.md section 9).
type pairVectors struct {
	Format      string       `json:"format"`
	Status      string       `json:"status"`
	About       []string     `json:"about"`
	Policies    [2]string    `json:"policies"`
	Limit       int64        `json:"limit"`
	Entries     []string     `json:"entries"`
	Checkpoints []string     `json:"checkpoints"`
	Cases       []pairVector `json:"cases"`
}

// pairVector is one pair; entries and checkpoints are places in the lists of all.
type pairVector struct {
	Name        string      `json:"name"`
	Entries     [2][]int    `json:"entries"`
	Checkpoints [2][]int    `json:"checkpoints"`
	Verdict     string      `json:"verdict"`
	Faults      []pairFault `json:"faults"`
	Alone       [2][]string `json:"alone"`
	Totals      PairCounts  `json:"totals"`
}

type pairFault struct {
	Code   string `json:"code"`
	Ledger int    `json:"ledger"`
	Entry  uint64 `json:"entry"`
}

var aboutPairs = []string{
	"Pairs of ledgers, docs/SPEC-BLIND.md section 9. Of each list of two the first is of the house, the second of its co-dealer.",
	"policies: what the verifier trusts, as tlog-policies. limit: the reader's, in seconds. entries and checkpoints: what the cases name by place, from 0: encodings in hex, and cosigned signed notes.",
	"cases: all entries and cosigned checkpoints of both ledgers, the last of which is the newest; the decks are standard-52 and positions-52. verdict. faults of the pair, by ledger (0 or 1) and entry. alone: codes of the faults that each ledger has alone. totals: the figures of all tables.",
}

// place returns where x stands in a list, to which it is added if it is not there.
func place(list *[]string, x string) int {
	if i := slices.Index(*list, x); i >= 0 {
		return i
	}
	*list = append(*list, x)
	return len(*list) - 1
}

// describe takes the two bundles of a pair into a case.
func (v *pairVectors) describe(t *testing.T, name string, dirs ...string) {
	x := pairVector{Name: name}
	for side, dir := range dirs {
		b, err := OpenBundle(dir)
		must(t, err)
		defer b.Close()
		for c, err := range b.Checkpoints(t.Context(), KindCosigned, 1) {
			must(t, err)
			x.Checkpoints[side] = append(x.Checkpoints[side], place(&v.Checkpoints, string(c.Signed)))
		}
		newest, err := b.Newest(t.Context())
		must(t, err)
		head, err := audit.CheckpointText(newest.Signed)
		must(t, err)
		chunk, err := b.Chunk(t.Context(), 0, int(head.Size))
		must(t, err)
		for _, e := range chunk.Entries {
			x.Entries[side] = append(x.Entries[side], place(&v.Entries, hex.EncodeToString(e)))
		}
	}
	v.Cases = append(v.Cases, x)
}

// judge fills in what is found of a case.
func (v *pairVectors) judge(t *testing.T, x *pairVector) {
	dirs := [2]string{t.TempDir(), t.TempDir()}
	for side := range dirs {
		var entries, cosigned [][]byte
		for _, i := range x.Entries[side] {
			entries = append(entries, unhex(t, v.Entries[i]))
		}
		for _, i := range x.Checkpoints[side] {
			cosigned = append(cosigned, []byte(v.Checkpoints[i]))
		}
		standard, _ := shuffle.Named("standard-52")
		inspecttest.Replay(dirs[side], entries, cosigned, []shuffle.Deck{standard, shuffle.Positions(52)}[side])
	}
	r, err := inspectPair(t, dirs[0], dirs[1], func(o *PairOptions) {
		o.House.Policy, o.CoDealer.Policy = []byte(v.Policies[0]), []byte(v.Policies[1])
		o.Limit = time.Duration(v.Limit) * time.Second
	})
	must(t, err)
	x.Verdict, x.Totals, x.Faults = r.Verdict, r.Totals, []pairFault{}
	for _, f := range r.Faults {
		x.Faults = append(x.Faults, pairFault{f.Code, slices.Index([]string{inspecttest.Origin, inspecttest.CoDealer},
			f.Where), *f.Entry})
	}
	for side, report := range []*Report{r.House, r.CoDealer} {
		x.Alone[side] = append([]string{}, slices.Sorted(maps.Keys(report.FaultCodes))...)
	}
}

// lines is v as it stands in its file: one line for each entry, checkpoint and case.
func (v *pairVectors) lines(t *testing.T) []byte {
	short := *v
	short.Entries, short.Checkpoints, short.Cases = nil, nil, nil
	var b bytes.Buffer
	add := func(x any) string {
		text, err := json.Marshal(x)
		must(t, err)
		return string(text)
	}
	list := func(name string, items []string) string {
		return fmt.Sprintf("%q: [\n%s\n]", name, strings.Join(items, ",\n"))
	}
	var entries, checkpoints, cases []string
	for _, e := range v.Entries {
		entries = append(entries, add(e))
	}
	for _, c := range v.Checkpoints {
		checkpoints = append(checkpoints, add(c))
	}
	for _, x := range v.Cases {
		cases = append(cases, add(x))
	}
	fmt.Fprintf(&b, "{\n\"format\": %s,\n\"status\": %s,\n\"about\": %s,\n\"policies\": %s,\n\"limit\": %d,\n%s,\n%s,\n%s\n}\n",
		add(v.Format), add(v.Status), add(v.About), add(v.Policies), v.Limit, list("entries", entries),
		list("checkpoints", checkpoints), list("cases", cases))
	return b.Bytes()
}

// TestPairVectors: testdata/pair.json is what the tellers of TestPairFaults write, and its cases come to what it says.
// With SHUFFLED_WRITE_TESTDATA set it is written.
func TestPairVectors(t *testing.T) {
	v := &pairVectors{Format: "shuffled/v1/vectors/pair", Status: "frozen-with-the-first-release", About: aboutPairs,
		Limit: 3600, Policies: [2]string{string(inspecttest.PolicyOf(inspecttest.Origin, 2, "w1", "w2", "w3")),
			string(inspecttest.PolicyOf(inspecttest.CoDealer, 2, "w1", "w2", "w3"))}}
	tell := func(name string, f func(*inspecttest.Pair)) {
		p := inspecttest.NewPair(t.TempDir(), t.TempDir())
		f(p)
		p.Wait(60)
		p.House.Start()
		p.Lab.Start()
		p.See()
		p.Finish()
		v.describe(t, name, p.House.Dir, p.Lab.Dir)
	}
	tell("an honest hand", func(p *inspecttest.Pair) { p.Play("t1", inspecttest.Mixed(1, 0, true)) })
	for _, name := range slices.Sorted(maps.Keys(pairFaults)) {
		tell(name, pairFaults[name].tell)
	}
	for i := range v.Cases {
		v.judge(t, &v.Cases[i])
	}
	const file = "testdata/pair.json"
	if os.Getenv("SHUFFLED_WRITE_TESTDATA") != "" {
		must(t, os.WriteFile(file, v.lines(t), 0o644))
	}
	kept, err := os.ReadFile(file)
	must(t, err)
	if !bytes.Equal(kept, v.lines(t)) {
		t.Error("the pairs are not those of the file, or come to something else")
	}
}
