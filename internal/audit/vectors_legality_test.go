package audit

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

type legalityVectors struct {
	vectorHead
	Entries []hexed          `json:"entries"`
	Cases   []legalityVector `json:"cases"`
}

type legalityVector struct {
	About  string `json:"about"`
	Name   string `json:"name"`
	Prefix []int  `json:"prefix"`
	Next   int    `json:"next"`
	Rule   string `json:"rule"`
}

var legalityHead = newHead("legality",
	"Legality, docs/SPEC.md section 9. entries are encodings, of section 5, that the cases name by their place in the list, from 0.",
	"cases: prefix is a ledger from entry 0, every entry of which is legal. next comes after it: rule is the code of the first rule that it breaks, or ok.",
	"about is the rule that the case is there for. A name that starts with \"two rules\" breaks several.")

func makeLegality() legalityVectors {
	v, place := legalityVectors{vectorHead: legalityHead}, make(map[string]int)
	put := func(e refEntry) int {
		b := e.bytes()
		i, ok := place[string(b)]
		if !ok {
			i = len(v.Entries)
			place[string(b)] = i
			v.Entries = append(v.Entries, b)
		}
		return i
	}
	legalityCases{func(about, name, rule string, s *story, next refEntry) {
		c := legalityVector{About: about, Name: name, Prefix: []int{}, Rule: rule}
		for _, e := range s.entries {
			c.Prefix = append(c.Prefix, put(e))
		}
		c.Next = put(s.dated(next))
		v.Cases = append(v.Cases, c)
	}}.all()
	return v
}

func TestLegalityVectorsAreTheReferences(t *testing.T) {
	v := makeLegality()
	holdVectors(t, "legality", encodeVectors(t, v.vectorHead, "entries", v.Entries, "cases", v.Cases))
}

func loadLegality(t testing.TB) (v legalityVectors) {
	t.Helper()
	loadVectors(t, "legality", &v.vectorHead, &v)
	wantCases(t, "legality", 200, v.Cases, func(c legalityVector) string { return c.About + ": " + c.Name })
	return v
}

// TestLegalityVectors holds the state and the model against the cases, whose rules were written by hand.
func TestLegalityVectors(t *testing.T) {
	t.Parallel()
	v := loadLegality(t)
	var entries []Entry
	for i, b := range v.Entries {
		e, err := ParseEntry(b)
		if err != nil {
			t.Fatalf("entry %d: %v", i, err)
		}
		entries = append(entries, e)
	}
	count := make(map[string]int)
	for _, c := range v.Cases {
		s, m := NewState(), model{}
		for i, p := range c.Prefix {
			e := entries[p]
			if got, by := codeOf(s.Apply(e)), m.rule(e); got != holds || by != holds {
				t.Fatalf("%s: %s: entry %d of the prefix: %s, %s by the model", c.About, c.Name, i, got, by)
			}
			m = append(m, e)
		}
		mark, next := s.Mark(), entries[c.Next]
		got, by := codeOf(s.Apply(next)), m.rule(next)
		if got != c.Rule || by != c.Rule {
			t.Errorf("%s: %s: %s, %s by the model, want %s", c.About, c.Name, got, by, c.Rule)
		}
		if got != holds && s.Mark() != mark {
			t.Errorf("%s: %s: an illegal entry left something to undo", c.About, c.Name)
		}
		s.Rollback(mark)
		holdState(t, s, m)
		count[c.About+"/"+c.Rule]++
		if c.Rule != holds && c.Rule != c.About {
			t.Errorf("%s: %s: breaks %s", c.About, c.Name, c.Rule)
		}
	}
	for _, rule := range rules {
		if count[rule+"/"+holds] == 0 || count[rule+"/"+rule] == 0 {
			t.Errorf("rule %s: %d cases hold, %d break it", rule, count[rule+"/"+holds], count[rule+"/"+rule])
		}
	}
}

// TestRulesAreListed: the codes of section 9, each once.
func TestRulesAreListed(t *testing.T) {
	ours := []string{RuleGenesisFirst, RuleTime, RulePair, RuleOrigin, RuleInstance, RuleLatch, RuleKill, RuleTable,
		RuleSerial, RuleCloseBy, RuleMixModes, RuleBeacon, RuleParent, RuleDisclosureKey, RuleNotOpen, RuleDeadline,
		RuleEarlier, RuleMix, RulePlace, RulePlaces, RuleCheckpoint, RuleOutcome, RuleForm, RuleKey, RuleOwner,
		RuleTwoPersons, RuleAct, RuleAdmins, RuleCredential, RuleTerms, RuleReveal, RuleCoDealer, RuleRound,
		RuleSetAside, RuleEntries}
	slices.Sort(ours)
	want := slices.Sorted(slices.Values(rules))
	if !slices.Equal(ours, want) || len(slices.Compact(want)) != len(rules) {
		t.Errorf("rules %q, want %q", ours, want)
	}
	err := illegal(RuleForm, "%d bytes", 7)
	if fmt.Sprint(err) != "form: 7 bytes" || !strings.HasPrefix(codeOf(err), "form") {
		t.Errorf("an illegal entry says %q", err)
	}
}

// TestPinOfLaterWitness: a co-dealer's policy with a witness key of a later type cannot be judged.
func TestPinOfLaterWitness(t *testing.T) {
	s := newStory(allSources)
	next := s.pin(func(k *refKey) {
		k.Policy = "witness w " + refVKey("witness.example/w", signer("w")) + "\nquorum w\n"
	})
	if err := fold(t, s.values()).Apply(s.dated(next).entry()); !errors.Is(err, ErrUnknown) {
		t.Errorf("%v, want %v", err, ErrUnknown)
	}
}
