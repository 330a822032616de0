package audit

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// forcedChains: one fault of a chain is one fault, and the chain ends as its writer meant it.
func forcedChains() map[string]forced {
	ended := func() (s *story, root, kid uint64) {
		s, root, kid, last := threeDeep()
		s.then(s.close(last, 1))
		return s, root, kid
	}
	return map[string]forced{
		"an entry in front of the disclosures": {"pair", 3, func() *story {
			s, root, kid := ended()
			s.then(s.start())
			s.then(s.disclose(root))
			s.then(s.disclose(kid))
			s.then(s.commit("t"))
			return s
		}},
		"an entry between the disclosures": {"pair", 2, func() *story {
			s, root, kid := ended()
			s.then(s.disclose(root))
			s.then(s.start())
			s.then(s.disclose(kid))
			s.then(s.commit("t"))
			return s
		}},
		"disclosures out of turn": {"pair", 2, func() *story {
			s, root, kid := ended()
			s.then(s.disclose(kid))
			s.then(s.disclose(root))
			s.then(s.start())
			return s
		}},
		"a disclosure by another": {"pair", 2, func() *story {
			s, root, kid := ended()
			s.then(of("daemon", s.disclose(root)))
			s.then(s.disclose(kid))
			s.then(s.start())
			return s
		}},
		"a disclosure of a byte less": {"form", 2, func() *story {
			s, root, kid := ended()
			s.then(s.disclose(root, func(d *refDisclose) { d.Tape = d.Tape[1:] }))
			s.then(s.disclose(kid))
			s.then(s.start())
			return s
		}},
		"a disclosure twice": {"not_open", 1, func() *story {
			s, root, kid := ended()
			s.then(s.disclose(root))
			s.then(s.disclose(kid))
			s.then(s.disclose(kid))
			s.then(s.start())
			return s
		}},
		"a disclosure of what is played": {"not_open", 4, func() *story {
			s, root, kid, last := threeDeep()
			s.then(s.disclose(root))
			s.then(s.deal(last, 0, 2))
			s.then(s.close(last, 1))
			s.then(s.disclose(root))
			s.then(s.disclose(kid))
			return s
		}},
		"a deal of what was continued": {"not_open", 4, func() *story {
			s, root, kid, last := threeDeep()
			s.then(s.deal(root, 5, 1))
			s.then(s.reveal(root, []uint64{1}))
			s.then(s.close(last, 1))
			s.then(s.disclose(root))
			s.then(s.disclose(kid))
			return s
		}},
		"a close of what was continued": {"not_open", 3, func() *story {
			s, root, kid, last := threeDeep()
			s.then(s.close(root, 1))
			s.then(s.close(last, 1))
			s.then(s.disclose(root))
			s.then(s.disclose(kid))
			return s
		}},
		"a takeover of what was continued": {"not_open", 3, func() *story {
			s, root, kid, last := threeDeep()
			s.then(s.takeover(root, "dealer-2", 2))
			s.then(s.close(last, 1))
			s.then(s.disclose(root))
			s.then(s.disclose(kid))
			return s
		}},
		"a close of the last by another, who discloses": {"owner", 3, func() *story {
			s, root, kid, last := threeDeep()
			s.then(of("dealer-2", s.close(last, 1)))
			s.then(of("dealer-2", s.disclose(root)))
			s.then(of("dealer-2", s.disclose(kid)))
			s.then(s.start())
			return s
		}},
		"a child whose parent is closed in another way": {"pair", 3, func() *story {
			s, root := handDealt()
			kid := s.then(s.commit("t", child(root, 0, 1)))
			s.then(s.close(root, 1))
			s.then(s.deal(kid, 0, 2))
			s.then(s.close(kid, 1))
			s.then(s.start())
			return s
		}},
		"a child whose parent plays on": {"pair", 4, func() *story {
			s, root := handDealt()
			kid := s.then(s.commit("t", child(root, 0, 1)))
			s.then(s.start())
			s.then(s.deal(root, 5, 1))
			s.then(s.close(root, 1))
			s.then(s.close(kid, 1))
			s.then(s.start())
			return s
		}},
		"a close as continued without a child": {"outcome", 1, func() *story {
			s, root := handDealt()
			s.then(s.close(root, 3))
			s.then(s.start())
			return s
		}},
		"a child closed as continued without a child of its own": {"outcome", 2, func() *story {
			s, root := handDealt()
			kid := s.continued(root, 0, 1)
			s.then(s.close(kid, 3))
			s.then(s.start())
			s.then(s.disclose(root))
			return s
		}},
		"a child of a shuffle that was continued": {"parent", 4, func() *story {
			s, root := handDealt()
			kid := s.continued(root, 0, 1)
			second := s.then(s.commit("t", child(root, 2, 3)))
			s.then(s.close(second, 1))
			s.then(s.close(kid, 1))
			s.then(s.disclose(root))
			s.then(s.start())
			return s
		}},
		"the ninth of a chain": {"parent", 12, func() *story {
			s, root := handDealt()
			ids := []uint64{root}
			for range 8 {
				ids = append(ids, s.continued(ids[len(ids)-1], 0, 1))
			}
			s.then(s.deal(ids[8], 0, 2))
			s.then(s.close(ids[8], 1))
			for _, id := range ids[:8] {
				s.then(s.disclose(id))
			}
			s.then(s.start())
			return s
		}},
	}
}

// TestForceChildOfItself: a commit that names itself as its parent makes no chain, which an
// audit would follow for ever.
func TestForceChildOfItself(t *testing.T) {
	t.Parallel()
	s := newStory()
	id := uint64(len(s.entries))
	s.then(s.commit("t", child(id, 0, 1)))
	s.then(s.close(id, 3))
	s.then(s.start())
	want := map[int]string{int(id): RuleParent, int(id) + 1: RuleOutcome}
	if diff := cmp.Diff(want, audited(NewState(), s.values())); diff != "" {
		t.Error(diff)
	}
}
