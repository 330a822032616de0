package rules

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"shuffled/internal/audit"
	"shuffled/internal/audit/spec"
)

// forcedChains: one fault of a chain is one fault, and the chain ends as its writer meant it.
func forcedChains() map[string]forced {
	ended := func() (s *spec.Story, root, kid uint64) {
		s, root, kid, last := threeDeep()
		s.Then(s.Close(last, 1))
		return s, root, kid
	}
	return map[string]forced{
		"an entry in front of the disclosures": {"pair", 3, func() *spec.Story {
			s, root, kid := ended()
			s.Then(s.Start())
			s.Then(s.Disclose(root))
			s.Then(s.Disclose(kid))
			s.Then(s.Commit("t"))
			return s
		}},
		"an entry between the disclosures": {"pair", 2, func() *spec.Story {
			s, root, kid := ended()
			s.Then(s.Disclose(root))
			s.Then(s.Start())
			s.Then(s.Disclose(kid))
			s.Then(s.Commit("t"))
			return s
		}},
		"disclosures out of turn": {"pair", 2, func() *spec.Story {
			s, root, kid := ended()
			s.Then(s.Disclose(kid))
			s.Then(s.Disclose(root))
			s.Then(s.Start())
			return s
		}},
		"a disclosure by another": {"pair", 2, func() *spec.Story {
			s, root, kid := ended()
			s.Then(spec.Of("daemon", s.Disclose(root)))
			s.Then(s.Disclose(kid))
			s.Then(s.Start())
			return s
		}},
		"a disclosure of a byte less": {"form", 2, func() *spec.Story {
			s, root, kid := ended()
			s.Then(s.Disclose(root, func(d *spec.Disclose) { d.Tape = d.Tape[1:] }))
			s.Then(s.Disclose(kid))
			s.Then(s.Start())
			return s
		}},
		"a disclosure twice": {"not_open", 1, func() *spec.Story {
			s, root, kid := ended()
			s.Then(s.Disclose(root))
			s.Then(s.Disclose(kid))
			s.Then(s.Disclose(kid))
			s.Then(s.Start())
			return s
		}},
		"a disclosure of what is played": {"not_open", 4, func() *spec.Story {
			s, root, kid, last := threeDeep()
			s.Then(s.Disclose(root))
			s.Then(s.Deal(last, 0, 2))
			s.Then(s.Close(last, 1))
			s.Then(s.Disclose(root))
			s.Then(s.Disclose(kid))
			return s
		}},
		"a deal of what was continued": {"not_open", 4, func() *spec.Story {
			s, root, kid, last := threeDeep()
			s.Then(s.Deal(root, 5, 1))
			s.Then(s.Reveal(root, []uint64{1}))
			s.Then(s.Close(last, 1))
			s.Then(s.Disclose(root))
			s.Then(s.Disclose(kid))
			return s
		}},
		"a close of what was continued": {"not_open", 3, func() *spec.Story {
			s, root, kid, last := threeDeep()
			s.Then(s.Close(root, 1))
			s.Then(s.Close(last, 1))
			s.Then(s.Disclose(root))
			s.Then(s.Disclose(kid))
			return s
		}},
		"a takeover of what was continued": {"not_open", 3, func() *spec.Story {
			s, root, kid, last := threeDeep()
			s.Then(s.Takeover(root, "dealer-2", 2))
			s.Then(s.Close(last, 1))
			s.Then(s.Disclose(root))
			s.Then(s.Disclose(kid))
			return s
		}},
		"a close of the last by another, who discloses": {"owner", 3, func() *spec.Story {
			s, root, kid, last := threeDeep()
			s.Then(spec.Of("dealer-2", s.Close(last, 1)))
			s.Then(spec.Of("dealer-2", s.Disclose(root)))
			s.Then(spec.Of("dealer-2", s.Disclose(kid)))
			s.Then(s.Start())
			return s
		}},
		"a child whose parent is closed in another way": {"pair", 3, func() *spec.Story {
			s, root := handDealt()
			kid := s.Then(s.Commit("t", spec.ChildOf(root, 0, 1)))
			s.Then(s.Close(root, 1))
			s.Then(s.Deal(kid, 0, 2))
			s.Then(s.Close(kid, 1))
			s.Then(s.Start())
			return s
		}},
		"a child whose parent plays on": {"pair", 4, func() *spec.Story {
			s, root := handDealt()
			kid := s.Then(s.Commit("t", spec.ChildOf(root, 0, 1)))
			s.Then(s.Start())
			s.Then(s.Deal(root, 5, 1))
			s.Then(s.Close(root, 1))
			s.Then(s.Close(kid, 1))
			s.Then(s.Start())
			return s
		}},
		"a close as continued without a child": {"outcome", 1, func() *spec.Story {
			s, root := handDealt()
			s.Then(s.Close(root, 3))
			s.Then(s.Start())
			return s
		}},
		"a child closed as continued without a child of its own": {"outcome", 2, func() *spec.Story {
			s, root := handDealt()
			kid := s.Continued(root, 0, 1)
			s.Then(s.Close(kid, 3))
			s.Then(s.Start())
			s.Then(s.Disclose(root))
			return s
		}},
		"a child of a shuffle that was continued": {"parent", 4, func() *spec.Story {
			s, root := handDealt()
			kid := s.Continued(root, 0, 1)
			second := s.Then(s.Commit("t", spec.ChildOf(root, 2, 3)))
			s.Then(s.Close(second, 1))
			s.Then(s.Close(kid, 1))
			s.Then(s.Disclose(root))
			s.Then(s.Start())
			return s
		}},
		"the ninth of a chain": {"parent", 12, func() *spec.Story {
			s, root := handDealt()
			ids := []uint64{root}
			for range 8 {
				ids = append(ids, s.Continued(ids[len(ids)-1], 0, 1))
			}
			s.Then(s.Deal(ids[8], 0, 2))
			s.Then(s.Close(ids[8], 1))
			for _, id := range ids[:8] {
				s.Then(s.Disclose(id))
			}
			s.Then(s.Start())
			return s
		}},
	}
}

// TestForceChildOfItself: a commit that names itself as its parent makes no chain, which an
// audit would follow for ever.
func TestForceChildOfItself(t *testing.T) {
	t.Parallel()
	s := spec.NewStory()
	id := uint64(len(s.Entries))
	s.Then(s.Commit("t", spec.ChildOf(id, 0, 1)))
	s.Then(s.Close(id, 3))
	s.Then(s.Start())
	want := map[int]string{int(id): audit.RuleParent, int(id) + 1: audit.RuleOutcome}
	if diff := cmp.Diff(want, audited(NewState(), s.Values())); diff != "" {
		t.Error(diff)
	}
}
