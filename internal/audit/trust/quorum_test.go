package trust

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/audit/spec"
)

// randomPolicy writes a policy whose quorum is a random tree over n witnesses, each
// with one line or two, and returns it with the groups as sets of witnesses see it.
func randomPolicy(r *rand.Rand, n int) (text string, met func(witnesses uint) bool) {
	type part struct {
		names []string
		met   func(uint) bool
	}
	var b strings.Builder
	var parts []part
	for i := range n {
		p := part{met: func(w uint) bool { return w>>i&1 == 1 }}
		for line := range 1 + r.IntN(2) {
			name := fmt.Sprintf("w%d-%d", i, line)
			fmt.Fprintf(&b, "witness %s %s\n", name, spec.WitnessKey(fmt.Sprint("witness.example/", i), spec.Signer(name)))
			p.names = append(p.names, name)
		}
		parts = append(parts, p)
	}
	for g := 0; len(parts) > 1 || g == 0; g++ {
		r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		size := 1 + r.IntN(len(parts))
		if g > 8 {
			size = len(parts)
		}
		members, need := parts[:size:size], 1+r.IntN(size)
		var names []string
		for _, m := range members {
			names = append(names, m.names[:1+r.IntN(len(m.names))]...)
		}
		name := fmt.Sprint("g", g)
		fmt.Fprintf(&b, "group %s %d %s\n", name, need, strings.Join(names, " "))
		parts = append([]part{{names: []string{name}, met: func(w uint) bool {
			met := 0
			for _, m := range members {
				if m.met(w) {
					met++
				}
			}
			return met >= need
		}}}, parts[size:]...)
	}
	return b.String() + "quorum " + parts[0].names[0] + "\n", parts[0].met
}

// TestOverlap holds d of section 7.3 against every pair of quorums of random
// policies, and the two quorums that share least against the policy.
func TestOverlap(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(14, 7))
	seen := make(map[int]int)
	for range 1500 {
		n := 1 + r.IntN(6)
		text, met := randomPolicy(r, n)
		p, err := ParsePolicy([]byte(text))
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		least := n
		for a := range uint(1) << n {
			for b := range uint(1) << n {
				if met(a) && met(b) {
					least = min(least, bits.OnesCount(a&b))
				}
			}
		}
		if p.Overlap() != least || (p.CheckOverlap() == nil) != (least > 0) {
			t.Fatalf("overlap %d, %v; any two quorums share %d\n%s", p.Overlap(), p.CheckOverlap(), least, text)
		}
		a, b := p.quorum.split()
		if x, y := setOf(a), setOf(b); !met(x) || !met(y) || bits.OnesCount(x&y) != least {
			t.Fatalf("%v and %v share no %d witnesses, or are no quorums\n%s", a, b, least, text)
		}
		seen[least]++
	}
	if seen[0] < 100 || seen[1] < 100 || seen[2] < 50 || seen[3] < 10 {
		t.Errorf("too few of a kind: %v", seen)
	}
}

func setOf(names []string) (set uint) {
	for _, name := range names {
		set |= 1 << (name[1] - '0')
	}
	return set
}

// TestOverlapNested: the depth of a policy costs no time.
func TestOverlapNested(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	last := "w0"
	fmt.Fprintf(&b, "witness w0 %s\n", spec.WitnessKey("witness.example/0", spec.Signer("0")))
	for i := 1; i < maxPolicyLines; i++ {
		name := fmt.Sprint(i)
		fmt.Fprintf(&b, "witness w%s %s\ngroup g%s 2 %s w%s\n", name,
			spec.WitnessKey("witness.example/"+name, spec.Signer(name)), name, last, name)
		last = "g" + name
	}
	p, err := ParsePolicy([]byte(b.String() + "quorum " + last + "\n"))
	if err != nil || p.Overlap() != maxPolicyLines {
		t.Fatalf("%v, overlap %d", err, p.Overlap())
	}
}

func TestCheckOverlap(t *testing.T) {
	t.Parallel()
	for quorum, want := range map[string]string{
		"quorum a":                                   "",
		"group g 2 a b c\nquorum g":                  "",
		"group g any a b c\nquorum g":                "the quorum of a and the quorum of b share no witness",
		"group g 1 a b\nquorum g":                    "the quorum of a and the quorum of b share no witness",
		"quorum none":                                "asks for no witness",
		"group x any b c\ngroup y all a x\nquorum y": "",
		"group x any b c\ngroup y any a x\nquorum y": "the quorum of b and the quorum of a share no witness",
	} {
		err := policyOf(t, threeWitnesses+quorum+"\n").CheckOverlap()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", quorum, err, want)
		}
	}
	var none *Policy
	if none.CheckOverlap() == nil || none.Overlap() != 0 {
		t.Error("no policy has quorums that meet")
	}
}

// TestOneWitness: lines whose keys have one name are one witness, met by any of them, and the ledger is none.
func TestOneWitness(t *testing.T) {
	t.Parallel()
	h := spec.NewHouse()
	two := "witness a W1\nwitness again " + spec.WitnessKey("witness.example/w1", spec.Signer("w1 again")) +
		"\nwitness b W2\n"
	p := policyOf(t, two+"group g 2 a again b\nquorum g\n")
	of := func(names ...string) []byte {
		signed := h.Signed(11)
		for i, name := range names {
			signed += spec.Cosign(h.Text(11), "witness.example/"+name[:2], spec.Signer(name), uint64(100+i))
		}
		return []byte(signed)
	}
	for _, test := range []struct {
		by   []string
		want bool
	}{{[]string{"w1", "w1 again"}, false}, {[]string{"w1", "w2"}, true}, {[]string{"w1 again", "w2"}, true}} {
		if p.Satisfied(of(test.by...)) != test.want {
			t.Errorf("%v: satisfied %t", test.by, !test.want)
		}
	}
	if p.Overlap() != 2 {
		t.Errorf("overlap %d", p.Overlap())
	}
	if !policyOf(t, two+"quorum a\n").Satisfied(of("w1 again")) {
		t.Error("another line of the quorum's witness does not meet it")
	}
	for _, text := range []string{
		two + "group g 3 a again b\nquorum g\n",
		two + "group g any a\ngroup h any again b\nquorum h\n",
		"log LOG\nwitness a " + spec.WitnessKey(spec.SampleOrigin, spec.Signer("w1")) + "\nquorum a\n",
		"witness a " + spec.WitnessKey("witness.example/w1", spec.Signer(spec.HouseKey)) + "\nquorum a\nlog LOG\n",
	} {
		if _, err := ParsePolicy([]byte(spec.PolicyWords.Replace(text))); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}

func TestCompleteAt(t *testing.T) {
	t.Parallel()
	h := spec.NewHouse()
	p := policyOf(t, threeWitnesses+"group g 2 a b c\nquorum g\n")
	if at, ok := p.CompleteAt([]byte(h.CosignedAt(11, map[string]uint64{"w1": 3000, "w2": 1000, "w3": 2000}))); !ok ||
		at != 2000 {
		t.Errorf("%d, %t", at, ok)
	}
	if _, ok := p.CompleteAt([]byte(h.CosignedAt(11, map[string]uint64{"w1": 3000}))); ok {
		t.Error("one of two completes a quorum")
	}
	for late, want := range map[int64]int64{-5: 0, 0: 0, 10_000: 0, 10_001: 11, 11_000: 11, 61_000: 61} {
		if got := SecondsLate(5000, 5_000_000-late); got != want {
			t.Errorf("%d ms late: %d, want %d", late, got, want)
		}
	}
}

// TestNoteForm: one parser holds the signature lines of every checkpoint to one
// form, for every reader (docs/SPEC.md section 7.1).
func TestNoteForm(t *testing.T) {
	t.Parallel()
	h := spec.NewHouse()
	signed := h.CosignedAt(11, map[string]uint64{"w1": 1000, "w2": 2000})
	p := policyOf(t, threeWitnesses+"group g 2 a b c\nquorum g\n")
	if _, err := audit.CheckpointText([]byte(signed)); err != nil || !p.Satisfied([]byte(signed)) {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(signed, "\n")
	stray := func(line string) string {
		end := strings.TrimRight(line, "=\n")
		const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
		other := end[:len(end)-1] + string(digits[strings.IndexByte(digits, end[len(end)-1])^1]) + line[len(end):]
		field := strings.Fields(other)[2]
		if _, err := base64.StdEncoding.DecodeString(field); err != nil || strings.HasSuffix(field, "A") &&
			!strings.Contains(field, "=") {
			t.Fatalf("%q has no stray bits: %v", field, err)
		}
		return other
	}
	own, cosignature := lines[4], lines[5]
	for name, text := range map[string]string{
		"stray bits in a cosignature":     strings.Replace(signed, cosignature, stray(cosignature), 1),
		"stray bits in the own signature": strings.Replace(signed, own, stray(own), 1),
		"the own line twice":              strings.Replace(signed, own, own+own, 1),
		"a cosignature twice":             signed + cosignature,
		"one name and id with another text": signed +
			spec.Cosign("another text\n", "witness.example/w1", spec.Signer("w1"), 7),
		"the ledger's line comes second": strings.Replace(signed, own+cosignature, cosignature+own, 1),
	} {
		if text == signed {
			t.Fatalf("%s: nothing was changed", name)
		}
		if _, err := audit.CheckpointText([]byte(text)); !errors.Is(err, audit.ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
		if strings.HasPrefix(name, "the ledger's") {
			continue // who signs first is no matter to a witness
		}
		if p.Satisfied([]byte(text)) || len(p.Cosignatures([]byte(text))) > 0 {
			t.Errorf("%s: cosignatures count", name)
		}
	}
}
