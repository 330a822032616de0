package audit

import (
	"os"
	"strings"
	"testing"
)

// registry is every list of codes by name.
var registry = func() map[string]*codeList {
	all := make(map[string]*codeList)
	for _, l := range []*codeList{
		&codesOfEntry, &codesOfSource, &codesOfPurpose, &codesOfOutcome, &codesOfReason, &codesOfForm,
		&codesOfDisclosure, &codesOfDeals, &codesOfAccess, &codesOfSubject, &codesOfEvent, &codesOfVdso,
		&codesOfScope, &codesOfLatch, &codesOfAlarm, &codesOfExtent, &codesOfCredentialKind,
		&codesOfCredentialForm, &codesOfRole, &codesOfAct, &codesOfChange, &codesOfTerms,
		&codesOfGenesisExtension, &codesOfContextExtension, &codesOfCommitExtension, &codesOfDealExtension,
		&codesOfCloseExtension, &codesOfRevealExtension, &codesOfDisclosureExtension,
	} {
		all[l.name] = l
	}
	return all
}()

// TestWords: every code has one word, and words of another spelling have none.
func TestWords(t *testing.T) {
	words := func(list string, word func(uint8) string, parse func(string) uint8) {
		seen := make(map[string]bool)
		for code, w := range registry[list].names {
			code := uint8(code)
			if code == 0 || w == "" {
				continue
			}
			if got := word(code); got != w || w == "" || seen[w] || strings.ToLower(w) != w {
				t.Errorf("%s %d is %q, want %q", list, code, got, w)
			}
			seen[w] = true
			if parse != nil && (parse(w) != code || parse(strings.ToUpper(w)) != 0 || parse(w+" ") != 0) {
				t.Errorf("%s %q parses to %d", list, w, parse(w))
			}
		}
		if len(seen) < 2 {
			t.Errorf("%s: %d words", list, len(seen))
		}
		if parse != nil && (parse("") != 0 || parse("unknown(0)") != 0) {
			t.Errorf("%s: no word parses to %d", list, parse(""))
		}
		if w := word(127); w != "unknown(127)" {
			t.Errorf("%s 127 is %q", list, w)
		}
	}
	words("entry", func(c uint8) string { return Type(c).String() }, nil)
	words("deals", func(c uint8) string { return Deals(c).String() }, codesOfDeals.parse)
	words("access", func(c uint8) string { return Access(c).String() },
		func(s string) uint8 { return uint8(ParseAccess(s)) })
	words("disclosure", func(c uint8) string { return Disclosure(c).String() },
		func(s string) uint8 { return uint8(ParseDisclosure(s)) })
	words("source", func(c uint8) string { return Source(c).String() }, codesOfSource.parse)
	words("purpose", func(c uint8) string { return Purpose(c).String() },
		func(s string) uint8 { return uint8(ParsePurpose(s)) })
	words("outcome", func(c uint8) string { return Outcome(c).String() },
		func(s string) uint8 { return uint8(ParseOutcome(s)) })
	words("reason", func(c uint8) string { return Reason(c).String() },
		func(s string) uint8 { return uint8(ParseReason(s)) })
	words("subject", func(c uint8) string { return Subject(c).String() }, nil)
	words("event", func(c uint8) string { return EventKind(c).String() }, nil)
	words("scope", func(c uint8) string { return Scope(c).String() },
		func(s string) uint8 { return uint8(ParseScope(s)) })
	words("latch", func(c uint8) string { return Latch(c).String() }, nil)
	words("alarm", func(c uint8) string { return Alarm(c).String() }, nil)
	words("extent", func(c uint8) string { return Extent(c).String() },
		func(s string) uint8 { return uint8(ParseExtent(s)) })
	words("credential_kind", func(c uint8) string { return CredentialKind(c).String() }, nil)
	words("credential_form", func(c uint8) string { return CredentialForm(c).String() }, nil)
	words("role", func(c uint8) string { return Role(c).String() }, func(s string) uint8 { return uint8(ParseRole(s)) })
	words("act", func(c uint8) string { return Act(c).String() }, func(s string) uint8 { return uint8(ParseAct(s)) })
	words("change", func(c uint8) string { return Change(c).String() }, nil)
	words("terms", func(c uint8) string { return TermsKind(c).String() },
		func(s string) uint8 { return uint8(ParseTermsKind(s)) })
	if ReasonNone.String() != "" {
		t.Errorf("no reason is %q", ReasonNone)
	}
}

// TestRegistry holds the lists against what docs/SPEC.md section 1.4 says of any list.
func TestRegistry(t *testing.T) {
	for _, list := range []string{"entry", "purpose", "reason", "event", "latch", "alarm", "genesis_extension",
		"context_extension", "commit_extension", "deal_extension", "close_extension", "reveal_extension",
		"disclosure_extension"} {
		if !registry[list].open {
			t.Errorf("%s is closed", list)
		}
	}
	if len(registry) != strings.Count(string(mustRead(t, "codes.txt")), "\nlist ") {
		t.Errorf("%d lists", len(registry))
	}
	for name, list := range registry {
		for code, word := range list.names {
			if word == "" {
				continue
			}
			if code >= 240 || code >= firstPassable && !list.open || code == 0 && name != "form" && name != "vdso" {
				t.Errorf("%s has the code %d", name, code)
			}
		}
	}
	if got := (Code{"entry", 200}).String(); got != "entry 200" {
		t.Errorf("a code is %q", got)
	}
}

func mustRead(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
