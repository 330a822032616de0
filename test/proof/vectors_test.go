package proof

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"shuffled/internal/shuffle"
)

// vectors are the cases of internal/shuffle/testdata/shuffle.json.
type vectors struct {
	Format string   `json:"format"`
	About  []string `json:"about"`
	Runs   []struct {
		Name   string   `json:"name"`
		Cards  int      `json:"cards"`
		Take   int      `json:"take"`
		EndLo  int      `json:"end_lo"`
		EndHi  int      `json:"end_hi"`
		Ranges []uint32 `json:"ranges"`
		Length int      `json:"tape_len"`
		Tape   string   `json:"tape"`
		Error  string   `json:"error"`
		Draws  []uint32 `json:"draws"`
		Values []uint32 `json:"values"`
		EndAt  int      `json:"end_at"`
	} `json:"runs"`
	Mixes []struct {
		Seed      string   `json:"seed"`
		Positions int      `json:"positions"`
		P         []uint32 `json:"p"`
		Cut       int      `json:"cut"`
		PCut      []uint32 `json:"p_cut"`
	} `json:"mixes"`
	Shifts []struct {
		Seed    string   `json:"seed"`
		Ranges  []uint32 `json:"ranges"`
		Values  []uint32 `json:"values"`
		Shifted []uint32 `json:"shifted"`
	} `json:"shifts"`
	Numbers []struct {
		Name    string   `json:"name"`
		Of      int      `json:"of"`
		Draws   []uint32 `json:"draws"`
		Numbers []uint32 `json:"numbers"`
	} `json:"numbers"`
}

func loadVectors(t *testing.T) (v vectors) {
	t.Helper()
	f, err := os.Open("../../internal/shuffle/testdata/shuffle.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d := json.NewDecoder(f)
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	if len(v.Runs) < 40 || len(v.Mixes) < 10 || len(v.Shifts) < 5 || len(v.Numbers) < 11 {
		t.Fatalf("only %d runs, %d mixes, %d shifts, %d numbers", len(v.Runs), len(v.Mixes), len(v.Shifts),
			len(v.Numbers))
	}
	return v
}

// TestRuns: the extracted recipe gives the length, the draws and the values of every published
// tape, and no values if the tape runs out.
func TestRuns(t *testing.T) {
	var questions []question
	ends := map[string]int{}
	for _, c := range loadVectors(t).Runs {
		ends[c.Error]++
		ranges := rangesOf(shuffle.Recipe{Cards: c.Cards, Take: c.Take, Ranges: c.Ranges, EndLo: c.EndLo,
			EndHi: c.EndHi})
		length := question{c.Name, "length " + join(ranges, ","), fmt.Sprint(c.Length)}
		questions = append(questions, length)
		if wrong := len(c.Tape)/2 != c.Length; wrong != (c.Error == "tape_length") {
			t.Errorf("%s: a tape of %d bytes ends with %q", c.Name, len(c.Tape)/2, c.Error)
		} else if wrong {
			continue
		}
		questions = append(questions, question{c.Name, "draws " + join(ranges, ",") + " " + c.Tape, taken(c.Draws)})
		if c.Cards != 0 && (c.Error == "" || c.EndHi == 0) {
			line := fmt.Sprintf("cards %d %d %s", c.Cards, c.Take, c.Tape)
			questions = append(questions, question{c.Name, line, taken(c.Values)})
		}
		if c.EndHi != 0 && c.Error == "" && c.EndAt != c.EndLo+int(c.Draws[len(c.Draws)-1])-1 {
			t.Errorf("%s: the last draw is %d, end_at %d", c.Name, c.Draws[len(c.Draws)-1], c.EndAt)
		}
	}
	if ends[""] < 30 || ends["tape_length"] < 3 || ends["tape_exhausted"] < 3 {
		t.Errorf("the runs end with %v", ends)
	}
	ask(t, questions)
}

// TestMixes: with the keystream of a seed as its tape, the extracted recipe gives the published permutation, also after
// a cut. TestMixesOfSeeds compares it with internal/shuffle.
func TestMixes(t *testing.T) {
	var questions []question
	for _, c := range loadVectors(t).Mixes {
		name, tape := fmt.Sprintf("mix of %d positions", c.Positions), keystream(t, unhex(t, c.Seed), 4096)
		questions = append(questions,
			question{name, fmt.Sprintf("cards %d %[1]d %s", c.Positions, tape), taken(c.P)},
			question{name, fmt.Sprintf("cut %d %s", c.Cut, join(c.P, ",")), taken(c.PCut)})
	}
	ask(t, questions)
}

// TestShifts: the extracted recipe draws the values of a published shift from the keystream.
func TestShifts(t *testing.T) {
	var questions []question
	for i, c := range loadVectors(t).Shifts {
		name, us := fmt.Sprintf("shift %d", i), make([]uint32, len(c.Values))
		for j, k := range c.Ranges {
			us[j] = 1 + (c.Shifted[j]+k-c.Values[j])%k
			line := fmt.Sprintf("shift %d %d %d", k, c.Values[j], us[j])
			questions = append(questions, question{name, line, fmt.Sprint(c.Shifted[j])})
		}
		line := "draws " + join(c.Ranges, ",") + " " + keystream(t, unhex(t, c.Seed), 4096)
		questions = append(questions, question{name, line, taken(us)})
	}
	ask(t, questions)
}

// TestNumbers: the extracted sparse shuffle gives the published numbers.
func TestNumbers(t *testing.T) {
	var questions []question
	for _, c := range loadVectors(t).Numbers {
		questions = append(questions, question{c.Name, "numbers " + join(c.Draws, ","), taken(c.Numbers)})
	}
	ask(t, questions)
}

func unhex(t *testing.T, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// keystream returns so many bytes of the AES-256-CTR keystream of a seed, more than the case reads.
func keystream(t *testing.T, seed []byte, length int) string {
	t.Helper()
	block, err := aes.NewCipher(seed)
	if err != nil {
		t.Fatal(err)
	}
	stream := make([]byte, length)
	cipher.NewCTR(block, make([]byte, aes.BlockSize)).XORKeyStream(stream, stream)
	return hex.EncodeToString(stream)
}

// rangesOf returns the ranges of all draws of a recipe, in the order of docs/SPEC.md
// section 2.2.
func rangesOf(r shuffle.Recipe) (ranges []uint32) {
	ranges = append(ranges, r.Ranges...)
	for i := range r.Take {
		ranges = append(ranges, uint32(r.Cards-i))
	}
	if r.EndHi != 0 {
		ranges = append(ranges, uint32(r.EndHi-r.EndLo+1))
	}
	return ranges
}
