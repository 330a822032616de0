package verify

import (
	"fmt"
	"strings"
	"testing"
)

// TestPolicies holds the reading of policies against C2SP tlog-policy.
func TestPolicies(t *testing.T) {
	t.Parallel()
	log, other := newKey(t, "example.com/main", "ledger key"), newKey(t, "example.com/other", "other key")
	w1, w2 := newKey(t, "witness.example/1", "w1"), newKey(t, "witness.example/2", "w2")
	v1, _ := w1.witnessKey()
	v2, _ := w2.witnessKey()
	renamed, _ := keyPair{"witness.example/alias", "", w1.private}.witnessKey()
	fill := strings.NewReplacer("LOG", log.vkey, "OTHER", other.vkey, "W1", v1, "W2", v2, "ALIAS", renamed, "PLAIN", w1.vkey,
		"WEAK", "witness.example/1+00000000+BAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
	for text, ok := range map[string]bool{
		"log LOG\nquorum none\n":                                          true,
		"log LOG https://example.com/\n# x\n\n \t# y\nquorum none":        true,
		"log LOG\nlog OTHER\nquorum none\n":                               true,
		"quorum none\n":                                                   true,
		"log LOG\nwitness a W1\nquorum a\n":                               true,
		"log LOG\nwitness\ta\tW1  https://a.example/ \nquorum a\n":        true,
		"log LOG\nwitness a W1\nwitness b W2\ngroup g 1 a b\nquorum g":    true,
		"log LOG\nwitness a PLAIN\nquorum a\n":                            true, // type 0x01, taken as 0x04
		"# Größe\nlog LOG\nquorum none\n":                                 true,
		"":                                                                false,
		"log LOG\n":                                                       false,
		"log LOG\nquorum none\nquorum none\n":                             false,
		"log LOG\nlog LOG\nquorum none\n":                                 false,
		"log LOG x y\nquorum none\n":                                      false,
		"log\nquorum none\n":                                              false,
		"log example.com/main\nquorum none\n":                             false,
		"log LOG\nquorum a\n":                                             false,
		"log LOG\nwitness a W1\nwitness b ALIAS\ngroup g 2 a b\nquorum g": false, // one key, two votes
		"log LOG\nwitness a W1\nwitness b PLAIN\ngroup g 2 a b\nquorum g": false,
		"log LOG\nwitness a W1\nwitness a W2\nquorum a\n":                 false,
		"log LOG\nwitness none W1\nquorum none\n":                         false,
		"log LOG\nwitness a W1 https://a.example/ more\nquorum a\n":       false,
		"log LOG\nwitness a x+y\nquorum a\n":                              false,
		"log LOG\nwitness a\nquorum a\n":                                  false,
		"log LOG\nwitness a W1\ngroup g 0 a\nquorum g\n":                  false, // would ask for nothing
		"log LOG\nwitness a W1\ngroup g all\nquorum g\n":                  false,
		"log LOG\nwitness a W1\ngroup g 2 a\nquorum g\n":                  false,
		"log LOG\nwitness a W1\ngroup g most a\nquorum g\n":               false,
		"log LOG\nwitness a W1\ngroup g 2 a a\nquorum g\n":                false,
		"log LOG\nwitness a W1\ngroup g any a\ngroup h any a\nquorum h":   false,
		"log LOG\nwitness a W1\ngroup g any a g\nquorum g\n":              false,
		"log LOG\nwitness a W1\nquorum a # one\n":                         false,
		"log LOG\r\nquorum none\r\n":                                      false,
		"log LOG\nquorum none\u00a0\n":                                    false,
		"log LOG\nwitness a WEAK\nquorum a\n":                             false, // the neutral point
		"log LOG\nsign here\nquorum none\n":                               false,
		"log LOG\n" + strings.Repeat("#\n", 1<<17) + "quorum none\n":      false,
	} {
		err := Trust{Policy: []byte(fill.Replace(text))}.Check()
		if ok != (err == nil) {
			t.Errorf("%.200q: %v", text, err)
		}
	}

	// As many witnesses as C2SP asks for, and as many more.
	many := func(n int) Trust {
		var b strings.Builder
		names := ""
		for i := range n {
			v, _ := newKey(t, "witness.example/x", fmt.Sprint(i)).witnessKey()
			fmt.Fprintf(&b, "witness w%d %s\n", i, v)
			names += fmt.Sprintf(" w%d", i)
		}
		return Trust{Policy: []byte(b.String() + "group g all" + names + "\nquorum g\n")}
	}
	must(t, many(64).Check())
	if many(65).Check() == nil {
		t.Error("65 witnesses are read")
	}
}

// TestTrust: what cannot be read is the caller's mistake, not the file's.
func TestTrust(t *testing.T) {
	t.Parallel()
	h := open(t)
	file := []byte(h.receipt(0).Text())
	for name, trust := range map[string]Trust{
		"a key and a policy": {VKey: h.key.vkey, Policy: []byte("quorum none\n")},
		"a damaged key":      {VKey: h.key.vkey[1:]},
		"an empty policy":    {Policy: []byte{}},
	} {
		v := File(file, trust)
		if trust.Check() == nil || v.Verdict != CannotJudge || v.Unknown == "" || v.Failed != "" {
			t.Errorf("%s: %v, %+v", name, trust.Check(), v)
		}
	}
	must(t, Trust{}.Check())
}
