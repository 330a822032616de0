package trust

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/audit/spec"
)

func policyOf(t testing.TB, text string) *Policy {
	t.Helper()
	p, err := ParsePolicy([]byte(spec.PolicyWords.Replace(text)))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestParsePolicy holds the reading of policies against C2SP tlog-policy.
func TestParsePolicy(t *testing.T) {
	t.Parallel()
	const read, refused, unknown = "read", "refused", "unknown"
	for text, want := range map[string]string{
		"log LOG\nquorum none\n":                                       read,
		"log LOG https://example.com/\n# x\n\n \t# y\nquorum none":     read,
		"log LOG\nlog OTHER\nquorum none\n":                            read,
		"quorum none\n":                                                read,
		"log LOG\nwitness a W1\nquorum a\n":                            read,
		"log LOG\nwitness\ta\tW1  https://a.example/ \nquorum a\n":     read,
		"log LOG\nwitness a W1\nwitness b W2\ngroup g 1 a b\nquorum g": read,
		"quorum none\nwitness a W1\n":                                  read, // known, and not asked
		"# Größe\nlog LOG\nquorum none\n":                              read,
		"":                                                             refused,
		"log LOG\n":                                                    refused,
		"log LOG\nquorum none\nquorum none\n":                          refused,
		"log LOG\nlog LOG\nquorum none\n":                              refused,
		"log LOG x y\nquorum none\n":                                   refused,
		"log\nquorum none\n":                                           refused,
		"log example.com/main\nquorum none\n":                          refused,
		"log LOG\nquorum a\n":                                          refused,
		"log LOG\nwitness a W1\nwitness b ALIAS\ngroup g 2 a b\nquorum g":   refused, // one key, two votes
		"log LOG\nwitness a W1\nwitness a W2\nquorum a\n":                   refused,
		"log LOG\nwitness none W1\nquorum none\n":                           refused,
		"log LOG\nwitness all W1\nquorum none\n":                            refused,
		"log LOG\nwitness a W1\ngroup a 1 a\nquorum none\n":                 refused,
		"log LOG\nwitness a W1 https://a.example/ more\nquorum a\n":         refused,
		"log LOG\nwitness a x+y\nquorum a\n":                                refused,
		"log LOG\nwitness a\nquorum a\n":                                    refused,
		"log LOG\nwitness a WRONGID\nquorum a\n":                            refused,
		"log LOG\nwitness a CAPITAL\nquorum a\n":                            refused, // one encoding
		"log LOG\nwitness a WEAK\nquorum a\n":                               refused, // the neutral point
		"log LOG\nwitness a PLAIN\nquorum a\n":                              unknown, // signs notes, not cosignatures
		"log LOG\nwitness a MLDSA\nquorum a\n":                              read,
		"log LOG\nwitness a MLWRONG\nquorum a\n":                            refused,
		"log LOG\nwitness a SHORT\nquorum a\n":                              read,
		"log LOG\nwitness a LONG\nquorum a\n":                               refused, // what is signed has no room
		"log MLDSA\nquorum none\n":                                          read,
		"log MLWRONG\nquorum none\n":                                        refused,
		"log MLDSA\nwitness a MLDSA\nquorum a\n":                            refused, // its own witness
		"log LOG\nwitness a LATER\nquorum a\n":                              unknown,
		"log LOG\nwitness a EMPTY\nquorum a\n":                              refused,
		"log LOG\nwitness a LATER\nquorum none\n":                           read,
		"log LOG\nwitness a W1\nwitness b LATER\nquorum b\n":                read, // one witness
		"log LOG\nwitness a W2\nwitness b LATER\ngroup g any a b\nquorum g": read,
		"log LOG\nwitness a W2\nwitness b LATER\ngroup g all a b\nquorum g": unknown,
		"log LOG\nwitness a W1\ngroup g 0 a\nquorum g\n":                    refused, // would ask for nothing
		"log LOG\nwitness a W1\ngroup g 01 a\nquorum g\n":                   refused,
		"log LOG\nwitness a W1\ngroup g +1 a\nquorum g\n":                   refused,
		"log LOG\nwitness a W1\ngroup g all\nquorum g\n":                    refused,
		"log LOG\nwitness a W1\ngroup g 2 a\nquorum g\n":                    refused,
		"log LOG\nwitness a W1\ngroup g most a\nquorum g\n":                 refused,
		"log LOG\nwitness a W1\ngroup g 2 a a\nquorum g\n":                  refused,
		"log LOG\nwitness a W1\ngroup g any a\ngroup h any a\nquorum h":     refused,
		"log LOG\nwitness a W1\ngroup g any a g\nquorum g\n":                refused,
		"log LOG\ngroup g any a\nwitness a W1\nquorum g\n":                  refused, // a member stands above its group
		"log LOG\nwitness a W1\nquorum a # one\n":                           refused,
		"log LOG\nwitness a W1\ngroup g all a #b\nquorum g\n":               refused,
		"log LOG\nwitness a W1\nquorum a#\n":                                refused,
		"log LOG\r\nquorum none\r\n":                                        refused,
		"# x\r\nquorum none\n":                                              refused,
		"# \xff\nquorum none\n":                                             refused,
		"log LOG\nquorum none\u00a0\n":                                      refused,
		"log LOG\nsign here\nquorum none\n":                                 refused,
		"#" + strings.Repeat("x", 8191) + "\nquorum none\n":                 read,
		"#" + strings.Repeat("x", 8192) + "\nquorum none\n":                 refused,
		strings.Repeat("#\n", 1<<16-6) + "quorum none":                      read,
		strings.Repeat("#\n", 1<<16-6) + "quorum none\n\n":                  refused,
	} {
		_, err := ParsePolicy([]byte(spec.PolicyWords.Replace(text)))
		got := read
		if errors.Is(err, audit.ErrUnknown) {
			got = unknown
		} else if err != nil {
			got = refused
		}
		if got != want {
			t.Errorf("%.200q: %v, want %s", text, err, want)
		}
	}

	// As many witnesses as there may be, and one more.
	many := func(n int) error {
		var b strings.Builder
		names := ""
		for i := range n {
			fmt.Fprintf(&b, "witness w%d %s\n", i, spec.WitnessKey("witness.example/x",
				spec.Signer(fmt.Sprint("x", i))))
			names += fmt.Sprintf(" w%d", i)
		}
		_, err := ParsePolicy([]byte(b.String() + "group g all" + names + "\nquorum g\n"))
		return err
	}
	if err := many(64); err != nil {
		t.Error(err)
	}
	if many(65) == nil {
		t.Error("65 witnesses are read")
	}
	// As many logs and groups as C2SP tlog-policy recommends.
	text, last := "witness w W1\n", "w"
	for i := range 32 {
		key := spec.VKey("casino.example/x", spec.Signer(fmt.Sprint("log", i)))
		text += fmt.Sprintf("log %s\ngroup g%d all %s\n", key, i, last)
		last = fmt.Sprint("g", i)
	}
	if p := policyOf(t, text+"quorum "+last+"\n"); len(p.Logs) != 32 {
		t.Errorf("%d logs are read", len(p.Logs))
	}
}

func TestPolicyFields(t *testing.T) {
	t.Parallel()
	p := policyOf(t, "log LOG\nwitness a W1 https://a.example/x\nwitness b W2\nquorum b\n")
	if len(p.Logs) != 1 || p.Logs[0].Name() != spec.SampleOrigin || len(p.Witnesses) != 2 {
		t.Fatalf("%+v", p)
	}
	a, b := p.Witnesses[0], p.Witnesses[1]
	if a.Name != "a" || a.VKey != spec.PolicyWords.Replace("W1") || a.URL != "https://a.example/x" ||
		a.Key.Name() != "witness.example/w1" || b.Name != "b" || b.URL != "" {
		t.Errorf("%+v %+v", a, b)
	}
	if !p.Asks() || policyOf(t, "quorum none\n").Asks() || (*Policy)(nil).Asks() {
		t.Error("Asks is wrong")
	}
}

const threeWitnesses = "witness a W1\nwitness b W2\nwitness c W3\n"

func TestSatisfied(t *testing.T) {
	t.Parallel()
	h := spec.NewHouse()
	w12 := h.CosignedAt(11, map[string]uint64{"w1": 1000, "w2": 2000})
	tests := []struct {
		name, quorum, signed string
		before               int64
		want                 bool
	}{
		{"one of one", "quorum a", w12, 5000, true},
		{"not that one", "quorum c", w12, 5000, false},
		{"two of three", "group g 2 a b c\nquorum g", w12, 5000, true},
		{"all of three", "group g all a b c\nquorum g", w12, 5000, false},
		{"groups of groups", "group x any b c\ngroup y all a x\nquorum y", w12, 5000, true},
		{"nobody", "quorum none", h.Signed(11), 5000, true},
		{"both before", "group g 2 a b c\nquorum g", w12, 2001, true},
		{"one at that second", "group g 2 a b c\nquorum g", w12, 2000, false},
		{"the other is early enough", "group g 1 a b c\nquorum g", w12, 2000, true},
		{"of another size", "quorum a", strings.Replace(w12, "\n11\n", "\n12\n", 1), 5000, false},
		{"no time", "quorum a", h.CosignedAt(11, map[string]uint64{"w1": 0}), 5000, false},
		{"the last second", "quorum a", h.CosignedAt(11, map[string]uint64{"w1": maxSeconds}), 1 << 60, true},
		{"beyond the year 9999", "quorum a", h.CosignedAt(11, map[string]uint64{"w1": maxSeconds + 1}), 1 << 60, false},
		{"a time of 64 bits, which is no time before", "quorum a", h.CosignedAt(11, map[string]uint64{"w1": 1 << 63}),
			5000, false},
		{"the first line of a key counts", "quorum a",
			h.Signed(11) + spec.Cosign("another text\n", "witness.example/w1", spec.Signer("w1"), 1) +
				spec.Cosign(h.Text(11), "witness.example/w1", spec.Signer("w1"), 1), 5000, false},
		{"as many lines as a note may have", "quorum a", padded(h.CosignedAt(11, map[string]uint64{"w1": 1}), 64), 5000,
			true},
		{"a line more", "quorum a", padded(h.CosignedAt(11, map[string]uint64{"w1": 1}), 65), 5000, false},
		{"no note", "quorum a", "no note", 5000, false},
	}
	for _, test := range tests {
		p := policyOf(t, threeWitnesses+test.quorum+"\n")
		at, complete := p.CompleteAt([]byte(test.signed))
		if got := p.Satisfied([]byte(test.signed)) && (!p.Asks() || at < test.before); got != test.want || complete &&
			!p.Satisfied([]byte(test.signed)) {
			t.Errorf("%s: %t", test.name, got)
		}
	}
	if p := policyOf(t, threeWitnesses+"group g 2 a b c\nquorum g\n"); !p.Satisfied([]byte(w12)) {
		t.Error("two of three do not satisfy without a limit")
	}
}

// padded adds signature lines of nobody until there are n.
func padded(signed string, n int) string {
	for i := strings.Count(signed, "— "); i < n; i++ {
		signed += "— nobody.example " + spec.Base64([]byte{byte(i), 1, 2, 3, 4, 5}) + "\n"
	}
	return signed
}

func TestCosignatures(t *testing.T) {
	t.Parallel()
	h := spec.NewHouse()
	p := policyOf(t, "witness c W3\nwitness b W2\nwitness a W1\nquorum none\n")
	signed := h.CosignedAt(11, map[string]uint64{"w1": 1000, "w3": 3000}) +
		spec.Cosign("x\n", "witness.example/w2", spec.Signer("w2"), 2000)
	var got []string
	for _, c := range p.Cosignatures([]byte(signed)) {
		got = append(got, fmt.Sprint(c.Witness, c.Time))
	}
	if want := []string{"c3000", "a1000"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestPolicies follows a ledger's policies over its cosigned checkpoints.
func TestPolicies(t *testing.T) {
	t.Parallel()
	h := spec.NewHouse()
	by := func(n int, names ...string) []byte {
		times := make(map[string]uint64)
		for _, w := range names {
			times[w] = 1000
		}
		return []byte(h.CosignedAt(n, times))
	}
	type step struct {
		change  string // the policy of an entry
		size    int    // its index, or the size of a checkpoint
		by      []string
		accept  bool
		current string // witness of the policy in force then
	}
	one := func(w string) string { return "witness " + w + " " + strings.ToUpper(w) + "\nquorum " + w + "\n" }
	for name, test := range map[string]struct {
		genesis string
		steps   []step
	}{
		"no policy": {"", []step{{size: 1, by: []string{"w1"}}}},
		"the genesis's": {one("w1"), []step{
			{size: 1, accept: true, by: []string{"w1"}, current: "w1"},
			{size: 2, by: []string{"w2"}, current: "w1"},
		}},
		"a first one, which nobody precedes": {"", []step{
			{change: "w1", size: 3, current: "w1"},
			{size: 3, by: []string{"w1"}, current: "w1"}, // does not cover the entry
			{size: 4, by: []string{"w2"}, current: "w1"},
			{size: 5, by: []string{"w1"}, accept: true, current: "w1"},
		}},
		"after one that asks for nobody": {"quorum none\n", []step{
			{size: 2, accept: true},
			{change: "w1", size: 3, current: "w1"},
			{size: 3, accept: true, current: "w1"},
			{size: 4, current: "w1"},
			{size: 4, by: []string{"w1"}, accept: true, current: "w1"},
		}},
		"from the old to the new": {one("w1"), []step{
			{change: "w2", size: 3, current: "w1"},
			{size: 3, by: []string{"w1"}, accept: true, current: "w1"}, // does not cover the entry
			{size: 4, by: []string{"w2"}, current: "w1"},               // the old ones must see it first
			{size: 5, by: []string{"w1"}, accept: true, current: "w2"},
			{size: 6, by: []string{"w1"}, current: "w2"},
			{size: 7, by: []string{"w2"}, accept: true, current: "w2"},
		}},
		"the newest of two that wait": {one("w1"), []step{
			{change: "w2", size: 3, current: "w1"},
			{change: "w3", size: 4, current: "w1"},
			{size: 5, by: []string{"w1"}, accept: true, current: "w3"},
			{size: 6, by: []string{"w3"}, accept: true, current: "w3"},
		}},
		"only what the checkpoint covers": {one("w1"), []step{
			{change: "w2", size: 3, current: "w1"},
			{change: "w3", size: 4, current: "w1"},
			{size: 4, by: []string{"w1"}, accept: true, current: "w2"},
			{size: 5, by: []string{"w1", "w3"}, current: "w2"},
			{size: 6, by: []string{"w2"}, accept: true, current: "w3"},
		}},
	} {
		p, err := NewPolicies([]byte(spec.PolicyWords.Replace(test.genesis)))
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range test.steps {
			if s.change != "" {
				if err := p.Change(uint64(s.size), []byte(spec.PolicyWords.Replace(one(s.change)))); err != nil {
					t.Fatal(err)
				}
			} else if got := p.Accept(uint64(s.size), by(s.size, s.by...)); got != s.accept {
				t.Errorf("%s, step %d: accepted %t", name, i, got)
			}
			current := ""
			if c := p.Current(); c != nil && len(c.Witnesses) > 0 {
				current = c.Witnesses[0].Name
			}
			if current != s.current {
				t.Errorf("%s, step %d: %q governs, want %q", name, i, current, s.current)
			}
		}
	}
	p, err := NewPolicies([]byte(spec.PolicyWords.Replace(one("w1"))))
	if err != nil || p.Change(3, []byte(spec.PolicyWords.Replace(one("w2")))) != nil || !p.Accept(6, by(6, "w1")) ||
		p.Change(8, []byte(spec.PolicyWords.Replace(one("w3")))) != nil || !p.Ask() {
		t.Fatal(err)
	}
	for size, want := range map[uint64]string{1: "w1", 6: "w1", 7: "w2", 20: "w2"} {
		if got := p.At(size).Witnesses[0].Name; got != want {
			t.Errorf("size %d: %s governs, want %s", size, got, want)
		}
	}
	p, err = NewPolicies(nil)
	if p.Ask() || p.At(1) != nil || p.InForce() != nil {
		t.Error("no policy asks")
	}
	if err != nil || p.Change(2, []byte("x")) == nil || p.Change(3, []byte("quorum none\n")) != nil ||
		p.Change(3, []byte("quorum none\n")) == nil {
		t.Error("an unreadable policy, or two at one index, are taken")
	}
	if _, err := NewPolicies([]byte("x")); err == nil {
		t.Error("an unreadable first policy is taken")
	}
}

// TestMLDSACosignature: a line counts if it is what C2SP tlog-cosignature says, and nothing else does.
func TestMLDSACosignature(t *testing.T) {
	t.Parallel()
	p := policyOf(t, "log LOG\nwitness a MLDSA\nquorum a\n")
	good := spec.WitnessLine("w1", 7)
	if at, ok := p.CompleteAt(spec.MLDSANote(good)); at != 7 || !ok {
		t.Errorf("complete at %d, %t", at, ok)
	}
	name := "witness.example/w1"
	for what, line := range map[string]string{
		"time 0": spec.WitnessLine("w1", 0),
		"another name": spec.MLDSALine("witness.example/w2", "w1", 7, spec.SampleOrigin, spec.MLDSASize,
			spec.MLDSARoot),
		"another key":    spec.MLDSALine(name, "w2", 7, spec.SampleOrigin, spec.MLDSASize, spec.MLDSARoot),
		"another origin": spec.MLDSALine(name, "w1", 7, "example.com/other", spec.MLDSASize, spec.MLDSARoot),
		"another size":   spec.MLDSALine(name, "w1", 7, spec.SampleOrigin, spec.MLDSASize+1, spec.MLDSARoot),
		"another root": spec.MLDSALine(name, "w1", 7, spec.SampleOrigin, spec.MLDSASize,
			slices.Repeat([]byte{1}, 32)), "another time": spec.Flipped(good, len("— "+name+" ")+14),
		"a bit of a signature": spec.Flipped(good, 2000),
		"cut short":            good[:len(good)-9] + "\n",
	} {
		if p.Satisfied(spec.MLDSANote(line)) {
			t.Errorf("%s: counts", what)
		}
	}
}

// TestMLDSAOneWitness: the keys of one witness are one witness.
func TestMLDSAOneWitness(t *testing.T) {
	t.Parallel()
	p := policyOf(t, "log LOG\nwitness a W1\nwitness am MLDSA\nwitness b W2\ngroup g 2 a am b\nquorum g\n")
	if p.Overlap() != 2 {
		t.Errorf("overlap %d", p.Overlap())
	}
	text := spec.Checkpoint(spec.SampleOrigin, spec.MLDSASize, spec.MLDSARoot)
	both := spec.Cosign(text, "witness.example/w1", spec.Signer("w1"), 5) + spec.WitnessLine("w1", 4)
	if p.Satisfied(spec.MLDSANote(both)) {
		t.Error("two keys of one witness are two votes")
	}
	if at, ok := p.CompleteAt(spec.MLDSANote(both, spec.Cosign(text, "witness.example/w2", spec.Signer("w2"),
		6))); at != 6 || !ok {
		t.Errorf("complete at %d, %t", at, ok)
	}
	if n := len(p.Cosignatures(spec.MLDSANote(both))); n != 2 {
		t.Errorf("%d cosignatures", n)
	}
}

// TestUndecided: lines of unknown types matter if the quorum is not met without them and could be with them.
func TestUndecided(t *testing.T) {
	t.Parallel()
	p := policyOf(t, "log LOG\nwitness a W1\nwitness b W2\n"+
		"witness c witness.example/w3+01020304+BwgJ\ngroup g 2 a b c\nquorum g\n")
	if p.Overlap() != 1 {
		t.Errorf("overlap %d: a key of an unknown type can sign", p.Overlap())
	}
	text := spec.Checkpoint(spec.SampleOrigin, spec.MLDSASize, spec.MLDSARoot)
	a := spec.Cosign(text, "witness.example/w1", spec.Signer("w1"), 5)
	b := spec.Cosign(text, "witness.example/w2", spec.Signer("w2"), 5)
	unknown := "— witness.example/w3 " + spec.Base64([]byte{1, 2, 3, 4, 5}) + "\n"
	other := "— witness.example/w3 " + spec.Base64([]byte{1, 2, 3, 5, 5}) + "\n"
	for _, c := range []struct {
		lines     []string
		met       bool
		undecided bool // or met
	}{
		{[]string{a, b}, true, true},
		{[]string{a, b, unknown}, true, true},
		{[]string{a, unknown}, false, true},
		{[]string{a, other}, false, false},
		{[]string{unknown}, false, false},
		{[]string{a}, false, false},
	} {
		signed := spec.MLDSANote(c.lines...)
		if p.Satisfied(signed) != c.met || p.Undecided(signed) != c.undecided {
			t.Errorf("%q: met %t, undecided %t", c.lines, p.Satisfied(signed), p.Undecided(signed))
		}
	}
}
