package audit

import "fmt"

// Genesis is entry 0: what the ledger is and will stay (docs/SPEC.md section 5.1).
type Genesis struct {
	Revision       uint16          // of the rules of docs/SPEC.md section 9
	Origin         string          //
	Production     bool            // false: a sandbox, in every commit's context
	SigningKey     []byte          // type byte and Ed25519 public key, as in a note's verifier key
	Policy         []byte          // C2SP tlog-policy; empty: no witnesses yet
	AuditorKeys    [][]byte        // type byte and P-256 point, at most MaxAuditors
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

// Revision is that of the rules that this version judges by.
const Revision = 1

// Type returns TypeGenesis.
func (*Genesis) Type() Type { return TypeGenesis }

func (g *Genesis) encode(w *writer) {
	w.u16(g.Revision)
	w.str(g.Origin)
	w.flag(g.Production)
	w.blob(g.SigningKey)
	w.blob(g.Policy)
	w.n8(len(g.AuditorKeys))
	for _, k := range g.AuditorKeys {
		w.blob(k)
	}
	w.u8(uint8(g.Deals))
	w.u8(g.MixModes)
	w.u8(uint8(g.Disclosure))
	w.u32(g.DefaultCloseBy)
	w.u32(g.MaxCloseBy)
	w.u8(uint8(g.Access))
	w.blob(g.Predecessor)
	w.n8(len(g.Administrators))
	for _, a := range g.Administrators {
		w.str(a.Name)
		w.blob(a.Key)
	}
	w.acts(g.TwoPersons, g.Delay)
	w.extensions(g.Extensions)
}

func (g *Genesis) parse(r *reader) {
	switch g.Revision = r.u16("revision"); {
	case g.Revision == 0:
		r.fail("revision", "counts from 1")
	case g.Revision > Revision:
		r.unknown("revision", uint64(g.Revision))
	}
	g.Origin = r.checked("origin", CheckOrigin)
	g.Production = r.flag("production")
	g.SigningKey = r.publicKey("signing key", signingKeySize)
	g.Policy = r.policy()
	n := int(r.u8("auditor keys"))
	if n > MaxAuditors {
		r.fail("auditor keys", fmt.Sprintf("at most %d", MaxAuditors))
	}
	seen := make(map[string]bool)
	for range n {
		k := r.publicKey("auditor key", pointKeySize)
		if seen[string(k)] {
			r.fail("auditor keys", "the same key twice")
		}
		seen[string(k)] = true
		g.AuditorKeys = append(g.AuditorKeys, k)
	}
	if g.Deals = Deals(r.code("deals", &codesOfDeals)); g.Deals == DealsCosigned && len(g.Policy) == 0 {
		r.fail("deals", "cosigned needs a witness policy")
	}
	if g.MixModes = r.u8("mix modes"); g.MixModes>>uint8(sourceLast) != 0 {
		r.unknown("mix modes", uint64(g.MixModes))
	}
	g.Disclosure = Disclosure(r.code("disclosure", &codesOfDisclosure))
	g.DefaultCloseBy = r.u32("default close-by")
	if g.MaxCloseBy = r.u32("cap on close-by"); g.DefaultCloseBy < 1 || g.DefaultCloseBy > g.MaxCloseBy {
		r.fail("default close-by", "between 1 second and the cap")
	}
	g.Access = Access(r.code("access", &codesOfAccess))
	if g.Predecessor = r.blob("predecessor"); len(g.Predecessor) > MaxCheckpoint {
		r.fail("predecessor", fmt.Sprintf("at most %d bytes", MaxCheckpoint))
	}
	g.Administrators = r.administrators()
	g.TwoPersons, g.Delay = r.acts()
	g.Extensions = r.extensions(&codesOfGenesisExtension)
}

// policy reads a witness policy: ASCII text of at most MaxPolicy bytes.
func (r *reader) policy() []byte {
	p := r.blob("witness policy")
	if len(p) > MaxPolicy {
		r.fail("witness policy", fmt.Sprintf("at most %d bytes", MaxPolicy))
	}
	for _, c := range p {
		if c != '\n' && (c < 0x20 || c > 0x7e) {
			r.fail("witness policy", "printable ASCII and newlines")
		}
	}
	return p
}
