package verify

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var update = flag.Bool("update", false, "write testdata/vectors")

// vector is one file of testdata/vectors, for this and other implementations.
// A verifier without BLS does not check the step beacon and gives nothing by it:
// where that makes a difference, want.without_bls is what it finds.
type vector struct {
	Name       string      `json:"name"`
	About      string      `json:"about"`
	Trust      vectorTrust `json:"trust"`                 // at most one of vkey and policy
	File       string      `json:"file,omitempty"`        // what is judged
	FileBase64 []byte      `json:"file_base64,omitempty"` // the same, where it is no UTF-8
	Want       want        `json:"want"`
}

type vectorTrust struct {
	VKey   string `json:"vkey,omitempty"`
	Policy string `json:"policy,omitempty"`

	Slots [][]byte `json:"slots,omitempty"` // 32 bytes each

	Auditors []string `json:"auditors,omitempty"` // verifier keys

	CoDealer string `json:"co_dealer,omitempty"` // a policy
	History  string `json:"history,omitempty"`   // of the game
	Deck     string `json:"deck,omitempty"`      // that must have been shuffled
}

type want struct {
	Verdict    string     `json:"verdict"`
	Level      Level      `json:"level,omitempty"`
	Failed     string     `json:"failed,omitempty"`
	Witnesses  []Cosigned `json:"witnesses,omitempty"`
	Late       []Cosigned `json:"late,omitempty"`
	Overlap    int        `json:"overlap,omitempty"`
	KeyInForce string     `json:"key_in_force,omitempty"`
	Mixed      []Mixed    `json:"mixed,omitempty"`
	Shuffled   *Shuffled  `json:"shuffled,omitempty"`
	Terms      *Terms     `json:"terms,omitempty"`
	Labels     []string   `json:"labels,omitempty"` // of the cards, in their order
	Shows      []uint32   `json:"shows,omitempty"`  // of the cards of a list of tickets: the numbers
	Statements []Stated   `json:"statements,omitempty"`
	Blind      *Blind     `json:"blind,omitempty"`
	NotBlind   string     `json:"not_blind,omitempty"`
	DealtOn    string     `json:"dealt_on,omitempty"`
	NotDealtOn int        `json:"not_dealt_on,omitempty"`
	WithoutBLS *want      `json:"without_bls,omitempty"`
}

// found is what a verdict says of it.
func found(v *Verdict) want {
	w := want{Verdict: v.Verdict, Level: v.Level, Failed: v.Failed, Witnesses: v.Witnesses, Late: v.Late,
		Overlap: v.Overlap, Mixed: v.Mixed, Statements: v.Statements, Blind: v.Blind, NotBlind: v.NotBlind,
		KeyInForce: v.KeyInForce, DealtOn: v.DealtOn, NotDealtOn: v.NotDealtOn}
	if v.Verdict == Proved || v.Verdict == Consistent {
		w.Terms = v.Terms
	}
	for _, c := range v.Cards {
		if c.Label != "" {
			w.Labels = append(w.Labels, c.Label)
		}
		if w.Terms != nil && w.Terms.Kind == "ticket_list" {
			w.Shows = append(w.Shows, c.Shows)
		}
	}
	return w
}

func (v vector) trust() Trust {
	t := Trust{VKey: v.Trust.VKey, Auditors: v.Trust.Auditors, Deck: v.Trust.Deck}
	if v.Trust.Policy != "" {
		t.Policy = []byte(v.Trust.Policy)
	}
	if v.Trust.CoDealer != "" {
		t.CoDealer = []byte(v.Trust.CoDealer)
	}
	if v.Trust.History != "" {
		t.History = []byte(v.Trust.History)
	}
	for _, s := range v.Trust.Slots {
		t.Slots = append(t.Slots, [32]byte(s))
	}
	return t
}

func (v vector) bytes() []byte {
	if v.FileBase64 != nil {
		return v.FileBase64
	}
	return []byte(v.File)
}

// load reads the vectors of one directory.
func load(t testing.TB, dir string) []vector {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", "vectors", dir, "*.json"))
	must(t, err)
	var all []vector
	for _, p := range paths {
		b, err := os.ReadFile(p)
		must(t, err)
		d := json.NewDecoder(bytes.NewReader(b))
		d.DisallowUnknownFields()
		var v vector
		must(t, d.Decode(&v))
		if v.Name+".json" != filepath.Base(p) || (v.File == "") == (v.FileBase64 == nil) && v.Name != "empty" {
			t.Fatalf("%s: the name differs, or there is not one file", p)
		}
		all = append(all, v)
	}
	return all
}

// golden are files that version 1 wrote, which lie with their ledgers. That they are there is what test/golden holds.
const golden = "../../../../testdata/v1/files"

// TestVectors judges every vector, and refuses to pass on few of them.
func TestVectors(t *testing.T) {
	t.Parallel()
	for dir, least := range map[string]int{"good": 145, "bad": 525, golden: 0} {
		vectors := load(t, dir)
		if len(vectors) < least {
			t.Errorf("%d vectors in %s, at least %d are wanted", len(vectors), dir, least)
		}
		for _, v := range vectors {
			t.Run(filepath.Base(dir)+"/"+v.Name, func(t *testing.T) {
				t.Parallel()
				got := File(v.bytes(), v.trust())
				wants := v.Want
				wants.WithoutBLS = nil
				has := found(got)
				if wants.Shuffled != nil { // not every vector says it
					has.Shuffled = got.Shuffled
				}
				if diff := cmp.Diff(wants, has, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("%s (-want +got):\n%s\nsteps: %+v", v.About, diff, got.Steps)
				}
				checkShape(t, got)
			})
		}
	}
}

// checkShape holds what is true of every verdict.
func checkShape(t *testing.T, v *Verdict) {
	t.Helper()
	held := v.Verdict == Proved || v.Verdict == Consistent
	if held != (v.Level != "") || (v.Verdict == Failed) != (v.Failed != "") ||
		(v.Verdict == CannotJudge) != (v.Unknown != "") {
		t.Errorf("verdict %q has level %q, failed %q, unknown %q", v.Verdict, v.Level, v.Failed, v.Unknown)
	}
	if (v.Level == LevelMixed) != (len(v.Mixed) > 0) || v.Level == LevelMixed &&
		(v.Kind != KindTranscript || len(v.Witnesses) == 0) {
		t.Errorf("level %q, mixed for %v, witnessed by %v", v.Level, v.Mixed, v.Witnesses)
	}
	if !held && v.Cards != nil {
		t.Errorf("%s, and shows cards", v.Verdict)
	}
	stopped := false
	for _, s := range v.Steps {
		if stopped && s.Result != StepNotChecked {
			t.Errorf("step %s ran after the run had ended", s.Name)
		}
		if (s.Result == StepFailed) != (s.Cause != "") || (s.Result == StepFailed) != (s.Name == v.Failed) {
			t.Errorf("step %s %s, cause %q, in a verdict that failed at %q", s.Name, s.Result, s.Cause, v.Failed)
		}
		stopped = stopped || s.Result == StepFailed
	}
}

// TestVectorsAreCurrent makes every case again from its recipe and compares it
// with the stored one, so that neither changes without the other.
func TestVectorsAreCurrent(t *testing.T) {
	t.Parallel()
	for dir, cases := range map[string][]vector{"good": goodCases(t), "bad": badCases(t)} {
		for i := range cases {
			if c := &cases[i]; !utf8.ValidString(c.File) {
				c.File, c.FileBase64 = "", []byte(c.File)
			}
		}
		slices.SortFunc(cases, func(a, b vector) int { return bytes.Compare([]byte(a.Name), []byte(b.Name)) })
		for i := 1; i < len(cases); i++ {
			if cases[i].Name == cases[i-1].Name {
				t.Fatalf("two cases are called %s", cases[i].Name)
			}
		}
		if *update {
			write(t, dir, cases)
		}
		stored := load(t, dir)
		slices.SortFunc(stored, func(a, b vector) int { return bytes.Compare([]byte(a.Name), []byte(b.Name)) })
		if diff := cmp.Diff(cases, stored); diff != "" {
			t.Errorf("%s: -made +stored (go test -update writes them):\n%.4000s", dir, diff)
		}
	}
}

func write(t *testing.T, dir string, cases []vector) {
	t.Helper()
	path := filepath.Join("testdata", "vectors", dir)
	must(t, os.RemoveAll(path))
	must(t, os.MkdirAll(path, 0o755))
	for _, c := range cases {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		e.SetIndent("", " ")
		must(t, e.Encode(c))
		must(t, os.WriteFile(filepath.Join(path, c.Name+".json"), b.Bytes(), 0o644))
	}
}

// spareBits returns padded base64 of b with a stray bit in the last character,
// which a lenient decoder does not see. len(b) is no multiple of 3.
func spareBits(b []byte) string {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	s := []byte(base64.StdEncoding.EncodeToString(b))
	i := bytes.IndexByte(s, '=') - 1
	s[i] = digits[bytes.IndexByte([]byte(digits), s[i])^1]
	return string(s)
}
