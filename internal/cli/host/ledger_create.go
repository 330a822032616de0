package host

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/cli/place"
	"shuffled/internal/keys"
	"shuffled/internal/ledger"
	"shuffled/internal/ledger/sequencer"
	"shuffled/internal/term"
)

// The life of a shuffle whose commit does not say, and the longest life, in seconds.
const (
	defaultCloseBy = 24 * 60 * 60
	maxCloseBy     = 31 * 24 * 60 * 60
)

type ledgerCreateCmd struct {
	place.Flags
	Name       string        `required:"" help:"Name in addresses: /v1/NAME/…"`
	Origin     string        `required:"" help:"Name of the ledger and of its keys, for ever: cards.example.com/ledger-1."`
	Production bool          `help:"Create a production ledger. Without it, the ledger is a sandbox, and every commit says so."`
	Deals      string        `enum:"signed,cosigned,default" default:"default" help:"Which checkpoint must cover a commit before its first card: signed (the ledger's own) or cosigned (by witnesses)."`
	House      string        `enum:",poker,casino,lottery" default:"" help:"The kind of house, which sets --disclosure: poker (auditor: cards that nobody showed stay hidden), casino or lottery (public). One of --house and --disclosure is needed."`
	Disclosure string        `enum:",public,auditor" default:"" help:"Who gets the tape at the close, if the commit does not say: public or auditor. Default: as --house says."`
	Auditor    []string      `placeholder:"FILE.pub" sep:"none" help:"Public key of an auditor, who gets the tapes under the disclosure auditor. Repeat it for each auditor."`
	Mix        []string      `placeholder:"SOURCE" enum:"slots,beacon,cut,co_dealer" help:"What commits may plan for the mix: slots, beacon, cut, co_dealer, or several with commas between them. Default: nothing."`
	Access     string        `enum:"public,token" default:"public" help:"Who may read the log: public (everybody) or token (only with a token)."`
	CloseBy    time.Duration `default:"24h" help:"Time from the commit to the close-by, if the commit does not say."`
	MaxCloseBy time.Duration `default:"744h" help:"Longest time from the commit to the close-by."`
	Admins     []string      `name:"administrator" placeholder:"NAME=FILE.vkey" sep:"none" help:"An administrator and the verifier key of that administrator, as shuffled key generate administrator makes it. Production needs two, and acts that two of them sign. Repeat it for each administrator. Without it, a sandbox has the administrator admin, whose key is made in DATA/admin.key."`
	Delay      time.Duration `default:"1h" help:"How long an act waits if it needs two administrators and only one signed: clearing a latch or switch."`
	Key        string        `placeholder:"FILE" help:"Signing key file. It is made if it does not exist (default: the file of the configuration, or DATA/NAME.key)."`
	Policy     string        `placeholder:"FILE" help:"C2SP tlog-policy with the witnesses, their addresses and the quorum. The first entry holds it."`
	Succeeds   string        `placeholder:"FILE" help:"Newest checkpoint of the ledger that this one continues, as its witnesses have it. The first entry holds it."`
	SucceedsBy string        `name:"succeeds-key" placeholder:"VKEY" help:"Verifier key of that ledger, the one in force at that checkpoint."`
	JSON       bool          `name:"json" help:"Print JSON."`
}

func (c *ledgerCreateCmd) Run(ctx context.Context, s term.Streams) error {
	if err := c.settleDisclosure(); err != nil {
		return err
	}
	chosen, err := c.chosen()
	if err != nil {
		return err
	}
	predecessor, err := c.predecessor()
	if err != nil {
		return err
	}
	cfg, err := c.LoadOf(c.Name)
	if err != nil {
		return err
	}
	store, err := place.OpenStore(ctx, cfg, true)
	if err != nil {
		return err
	}
	defer store.Close()
	// It is asked before a key is made.
	info := ledger.Info{Name: c.Name, Origin: c.Origin}
	if err := place.Taken(ctx, store, info); err != nil {
		return term.WithHint(fmt.Errorf("creating ledger %s: %w", c.Name, err),
			"choose another --name and another --origin; no key was made")
	}
	if err := place.MakeData(cfg.Data); err != nil {
		return err
	}
	of := place.LedgerOf(cfg, c.Name)
	passphrase, err := keys.ReadPassphrase(cfg.PassphraseFile)
	if err != nil {
		return err
	}
	key, err := signingKey(cmp.Or(c.Key, of.SigningKey), c.Origin, passphrase)
	if err != nil {
		return err
	}
	policy, err := c.policy(key.VKey())
	if err != nil {
		return err
	}
	if len(chosen.Administrators) == 0 { // a sandbox
		if chosen.Administrators, err = sandboxAdmin(cfg, passphrase); err != nil {
			return err
		}
	}
	chosen.SigningKey, chosen.Policy, chosen.Predecessor = key.Public(), policy, predecessor
	if err := sequencer.Create(ctx, store, info, chosen, key.Signer(), of.Mark, time.Now()); err != nil {
		return err
	}
	administrator := ""
	if len(c.Admins) == 0 {
		administrator = fmt.Sprintf("administrator %s: %s, which is there only because this is a sandbox\n",
			chosen.Administrators[0].Name, SandboxAdminKey(cfg))
	}
	return s.Answer(c.JSON, map[string]string{"name": c.Name, "origin": c.Origin, "vkey": key.VKey()},
		"created ledger %s\n%s\n%s", c.Name, key.VKey(), administrator)
}

// chosen is the first entry without key, policy and predecessor, which the command line does not say.
func (c *ledgerCreateCmd) chosen() (*audit.Genesis, error) {
	deals, err := c.deals()
	if err != nil {
		return nil, err
	}
	auditors, err := c.auditors()
	if err != nil {
		return nil, err
	}
	administrators, err := c.administrators()
	if err != nil {
		return nil, err
	}
	if err := audit.CheckOrigin(c.Origin); err != nil {
		return nil, term.Usage("--origin %s", err)
	}
	if err := audit.CheckName(c.Name); err != nil {
		return nil, term.Usage("--name %s", err)
	}
	if c.CloseBy < time.Second || c.CloseBy > c.MaxCloseBy || c.MaxCloseBy > 10*366*24*time.Hour {
		return nil, term.Usage("--close-by must be from a second to --max-close-by, and --max-close-by at most ten years")
	}
	delay, err := secondsOf(c.Delay)
	return &audit.Genesis{
		Revision: audit.Revision, Administrators: administrators, TwoPersons: TwoPersons(administrators),
		Delay: delay, Origin: c.Origin, Production: c.Production, AuditorKeys: auditors,
		Deals: deals, MixModes: c.mixModes(), Disclosure: audit.ParseDisclosure(c.Disclosure),
		DefaultCloseBy: uint32(c.CloseBy / time.Second), MaxCloseBy: uint32(c.MaxCloseBy / time.Second),
		Access: audit.ParseAccess(c.Access),
	}, err
}

// houses are the kinds of house, and who gets their tapes.
var houses = map[string]string{"poker": "auditor", "casino": "public", "lottery": "public"}

// settleDisclosure sets who gets the tapes, by the kind of house. It has no default: the choice is for ever,
// and a poker ledger that shows mucked cards to everybody must not come from an oversight.
func (c *ledgerCreateCmd) settleDisclosure() error {
	if c.Disclosure = cmp.Or(c.Disclosure, houses[c.House]); c.Disclosure == "" {
		return term.Usage("--house is missing: poker (tapes go to auditors, and cards that nobody showed stay hidden), casino or lottery (tapes are public)")
	}
	return nil
}

// deals returns which checkpoint a deal waits for. In production that is one with cosignatures, unless the
// operator chooses otherwise.
func (c ledgerCreateCmd) deals() (audit.Deals, error) {
	switch {
	case c.Deals == "signed", c.Deals == "default" && !c.Production && c.Policy == "":
		return audit.DealsSigned, nil
	case c.Policy == "" && c.Deals == "default":
		return 0, term.Usage("the deals of a production ledger wait for witnesses: name the witnesses with --policy, or give --deals signed")
	case c.Policy == "":
		return 0, term.Usage("--deals cosigned needs witnesses: name the witnesses with --policy")
	}
	return audit.DealsCosigned, nil
}

// mixSources are the words for the sources of a mix.
var mixSources = map[string]audit.Source{"slots": audit.SourceSlot, "beacon": audit.SourceBeacon,
	"cut": audit.SourceCut, "co_dealer": audit.SourceCoDealer}

func (c ledgerCreateCmd) mixModes() (modes uint8) {
	for _, word := range c.Mix {
		modes |= 1 << (mixSources[word] - 1)
	}
	return modes
}

// auditors reads the public keys of the auditors. Without an auditor nobody could open a tape that is disclosed
// to auditors.
func (c ledgerCreateCmd) auditors() ([][]byte, error) {
	switch {
	case c.Disclosure == "auditor" && len(c.Auditor) == 0:
		return nil, term.Usage("--auditor is missing: with --house poker or --disclosure auditor, tapes are disclosed to auditors: give a FILE.pub of shuffled key generate auditor")
	case len(c.Auditor) > audit.MaxFirstAuditors:
		return nil, term.Usage("--auditor can be given at most %d times: add the other auditors with shuffled act do auditor",
			audit.MaxFirstAuditors)
	}
	var publics [][]byte
	from := make(map[[32]byte]string)
	for _, path := range c.Auditor {
		public, err := keys.ReadAuditorPublic(path)
		if err != nil {
			return nil, term.Usage("--auditor: %s", err)
		}
		if c.Production && public[0] != audit.KeyHybrid {
			return nil, term.Usage("--auditor: %s holds a key of P-256 alone, and a production ledger needs a hybrid key: the auditor makes a new key with shuffled key generate auditor",
				path)
		}
		id := audit.KeyID(public)
		if other, again := from[id]; again {
			return nil, term.Usage("--auditor: %s and %s hold the same key", other, path)
		}
		from[id] = path
		publics = append(publics, public)
	}
	return publics, nil
}

// predecessor reads the newest checkpoint of the ledger that this one continues, nil for none.
func (c ledgerCreateCmd) predecessor() ([]byte, error) {
	if (c.Succeeds == "") != (c.SucceedsBy == "") {
		return nil, term.Usage("--succeeds and --succeeds-key must be given together")
	}
	if c.Succeeds == "" {
		return nil, nil
	}
	key, err := audit.ParseVKey(c.SucceedsBy)
	if err != nil {
		return nil, term.Usage("--succeeds-key: %s", err)
	}
	if key.Name() == c.Origin {
		return nil, term.Usage("--origin must not be the name of the predecessor: a successor has a name and a key of its own")
	}
	signed, err := term.ReadBounded(c.Succeeds, audit.MaxCheckpoint)
	if err != nil {
		return nil, err
	}
	if _, err := audit.OpenCheckpoint(signed, key); err != nil {
		return nil, term.WithHint(fmt.Errorf("reading %s: %w", c.Succeeds, err),
			"--succeeds-key is the key that was in force then: after a rotation, the .vkey of the newer key")
	}
	return signed, nil
}

// signingKey reads the signing key of this origin, or makes it if the file does not exist. The verifier key is written
// next to it.
func signingKey(path, origin string, passphrase keys.Secret) (*keys.SigningKey, error) {
	if !place.Exists(path) {
		k, err := keys.GenerateSigning(origin)
		if err != nil {
			return nil, fmt.Errorf("making a signing key: %w", err)
		}
		return k, writeBoth(k, path, passphrase)
	}
	key, err := keys.ReadSigning(path, passphrase)
	if err != nil {
		return nil, err
	}
	if key.Origin() != origin {
		return nil, fmt.Errorf("%s is a key of %s, not of %s", path, key.Origin(), origin)
	}
	return key, nil
}

// administrators reads the keys of those who approve acts. The key in a file must have the name of its administrator.
func (c ledgerCreateCmd) administrators() (all []audit.Administrator, err error) {
	for _, given := range c.Admins {
		name, path, ok := strings.Cut(given, "=")
		if !ok || audit.CheckName(name) != nil {
			return nil, term.Usage("--administrator must be NAME=FILE.vkey: a name of letters, digits, '.', '_' and '-', and a verifier key file")
		}
		key, err := readPublic(path, name)
		if err != nil {
			return nil, term.Usage("--administrator %s: %s", name, err)
		}
		all = append(all, audit.Administrator{Name: name, Key: key})
	}
	slices.SortFunc(all, func(a, b audit.Administrator) int { return cmp.Compare(a.Name, b.Name) })
	if c.Production && len(all) < 2 {
		return nil, term.Usage("a production ledger must name at least two administrators: --administrator alice=alice.vkey --administrator bob=bob.vkey. shuffled key generate administrator --name alice --out alice.key makes such a key")
	}
	return all, nil
}

// TwoPersons are the acts that need two administrators: all that may, if there are two administrators.
func TwoPersons(administrators []audit.Administrator) (acts []audit.Act) {
	if len(administrators) < 2 {
		return nil
	}
	for a := audit.ActPolicy; a <= audit.ActCoDealer; a++ {
		if a != audit.ActCancel { // one administrator may always do it
			acts = append(acts, a)
		}
	}
	return acts
}
