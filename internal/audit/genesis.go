package audit

import (
	"bytes"
	"fmt"
)

// Administrator is a person, or a role of the house, that approves acts.
type Administrator struct {
	Name string
	Key  []byte // type byte and Ed25519 public key
}

// Genesis is entry 0: what the ledger is and will stay (docs/SPEC.md section 5.1).
type Genesis struct {
	Revision       uint16          // of the rules of docs/SPEC.md section 9
	Origin         string          //
	Production     bool            // false: a sandbox, in every commit's context
	SigningKey     []byte          // type byte and Ed25519 public key, as in a note's verifier key
	Policy         []byte          // C2SP tlog-policy; empty: no witnesses yet
	AuditorKeys    [][]byte        // at most MaxFirstAuditors; more come by key entries
	Deals          Deals           //
	MixModes       uint8           // bit SourceX−1 set: source X may stand in a plan
	Disclosure     Disclosure      // for commits that do not choose
	DefaultCloseBy uint32          // seconds from commit to close-by when none is asked, 1..MaxCloseBy
	MaxCloseBy     uint32          // cap on it, seconds
	Access         Access          //
	Predecessor    []byte          // last cosigned checkpoint of the ledger this one continues, or empty
	Administrators []Administrator // by name
	TwoPersons     []Act           // that need two administrators, ascending
	Delay          uint32          // seconds until an act of one administrator takes effect
	Extensions     []Extension
}

// maxPredecessor is the longest predecessor in bytes: an entry has no room for the longest checkpoint.
const maxPredecessor = 16_384

// Revision is that of the rules that this version judges by.
const Revision = 1

// Type returns TypeGenesis.
func (*Genesis) Type() Type { return TypeGenesis }

func (g *Genesis) fields(k *coder) {
	switch k.u16("revision", &g.Revision); {
	case g.Revision == 0:
		k.fail("revision", "counts from 1")
	case g.Revision > Revision:
		k.unknown("revision", uint64(g.Revision))
	}
	k.text("origin", &g.Origin, CheckOrigin)
	k.flag("production", &g.Production)
	k.signingKey("signing key", &g.SigningKey)
	k.policy(&g.Policy)
	n := k.count8("auditor keys", len(g.AuditorKeys))
	k.within("auditor keys", n, 0, MaxFirstAuditors, "at most %d in a genesis")
	seen := make(map[string]bool)
	list(k, n, &g.AuditorKeys, func(key, _ *[]byte) {
		k.sealingKey("auditor key", key)
		if seen[string(*key)] {
			k.fail("auditor keys", "the same key twice")
		}
		seen[string(*key)] = true
	})
	if code(k, "deals", &g.Deals, &codesOfDeals); g.Deals == DealsCosigned && len(g.Policy) == 0 {
		k.fail("deals", "cosigned needs a witness policy")
	}
	if k.u8("mix modes", &g.MixModes); g.MixModes>>uint8(sourceLast) != 0 {
		k.unknown("mix modes", uint64(g.MixModes))
	}
	code(k, "disclosure", &g.Disclosure, &codesOfDisclosure)
	k.u32("default close-by", &g.DefaultCloseBy)
	if k.u32("cap on close-by", &g.MaxCloseBy); g.DefaultCloseBy < 1 || g.DefaultCloseBy > g.MaxCloseBy {
		k.fail("default close-by", "between 1 second and the cap")
	}
	code(k, "access", &g.Access, &codesOfAccess)
	if k.blob("predecessor", &g.Predecessor); len(g.Predecessor) > maxPredecessor {
		k.fail("predecessor", fmt.Sprintf("at most %d bytes", maxPredecessor))
	}
	k.administrators(&g.Administrators)
	k.acts(&g.TwoPersons, &g.Delay)
	k.extended(&g.Extensions, &codesOfGenesisExtension)
}

// policy is a witness policy: ASCII text of at most MaxPolicy bytes.
func (k *coder) policy(v *[]byte) {
	if k.blob("witness policy", v); len(*v) > MaxPolicy {
		k.fail("witness policy", fmt.Sprintf("it has %d bytes and must have at most %d", len(*v), MaxPolicy))
	}
	if bytes.ContainsFunc(*v, func(r rune) bool { return r != '\n' && (r < 0x20 || r > 0x7e) }) {
		k.fail("witness policy", "printable ASCII and newlines")
	}
}

func (k *coder) administrators(v *[]Administrator) {
	n := k.count8("administrators", len(*v))
	k.within("administrators", n, 0, MaxAdmins, "at most %d")
	keys := make(map[string]bool)
	list(k, n, v, func(a, before *Administrator) {
		k.name("administrator", &a.Name)
		if before != nil && before.Name >= a.Name {
			k.fail("administrators", "in ascending order of names, each once")
		}
		k.signingKey("administrator's key", &a.Key)
		if keys[string(a.Key)] {
			k.fail("administrators", "the same key twice")
		}
		keys[string(a.Key)] = true
	})
}

func (k *coder) acts(acts *[]Act, delay *uint32) {
	list(k, k.count8("acts", len(*acts)), acts, func(a, before *Act) {
		code(k, "act", a, &codesOfAct)
		if before != nil && *before >= *a {
			k.fail("acts", "in ascending order, each once")
		}
	})
	k.u32("delay", delay)
}
