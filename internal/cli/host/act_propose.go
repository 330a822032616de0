package host

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/keys"
	"shuffled/internal/ledger"
	"shuffled/internal/term"
)

type actProposeCmd struct {
	tokenFlags
	What       string        `arg:"" enum:"policy,auditor,signing,retirement,latch_clear,kill_clear,add_administrator,remove_administrator,replace_administrator,admin_credential,takeover,two_persons,co_dealer,adopt_head,cancel" help:"policy, auditor, signing, retirement, latch_clear, kill_clear, add_administrator, remove_administrator, replace_administrator, admin_credential, takeover, two_persons, co_dealer, adopt_head or cancel."`
	Sign       string        `name:"sign" required:"" type:"existingfile" placeholder:"FILE" help:"Private key of the administrator who proposes it."`
	Passphrase string        `name:"passphrase-file" placeholder:"FILE" help:"Passphrase of an encrypted key file."`
	Out        string        `required:"" placeholder:"FILE" help:"File for the act."`
	As         string        `default:"operator" placeholder:"IDENTITY" help:"Identity that will submit it: that of the admin's token, for a takeover that of the dealer's token, and operator for an offline command. adopt_head ignores it, because the daemon submits."`
	Life       time.Duration `default:"1h" help:"How long the act is valid, at most 24h. If latch_clear or kill_clear needs two administrators, this time begins after the delay."`
	Because    string        `name:"reason" placeholder:"TEXT" help:"The reason, for latch_clear, kill_clear, takeover and adopt_head. It is written to the ledger for ever."`

	Policy   string        `type:"existingfile" placeholder:"FILE" help:"policy: the C2SP tlog-policy. co_dealer: the policy for the co-dealer's ledger."`
	Public   string        `type:"existingfile" placeholder:"FILE" help:"auditor: the .pub file. signing, add_administrator, replace_administrator: the .vkey file. co_dealer: the .vkey file of the co-dealer's ledger. Without it, the ledger has no co-dealer from then on."`
	Every    bool          `help:"co_dealer: every commit must name it."`
	Retired  string        `enum:",signing,disclosure,auditor" default:"" help:"retirement: signing, disclosure or auditor."`
	KeyID    string        `placeholder:"ID" help:"retirement: the id of the key, in base64."`
	From     string        `placeholder:"TIME" help:"retirement: time from which what was done under the key deserves no trust, such as 2026-03-14T15:09:26Z. The default is now."`
	Table    string        `placeholder:"NAME" help:"kill_clear: the table (default: the switch of the whole ledger)."`
	Admin    string        `placeholder:"NAME" help:"add_, remove_, replace_administrator: the administrator."`
	Identity string        `placeholder:"NAME" default:"admin" help:"admin_credential: the identity of the token."`
	TokenOut string        `name:"new-token-file" placeholder:"FILE" help:"admin_credential: new file for the token, mode 0600."`
	Shuffle  uint64        `placeholder:"ID" help:"takeover: the shuffle."`
	Acts     []string      `placeholder:"ACT" help:"two_persons: the acts that need two administrators."`
	Delay    time.Duration `default:"1h" help:"two_persons: how long an act of one administrator waits."`
	Digest   string        `placeholder:"DIGEST" help:"cancel: the digest of the act, as shuffled act list shows it."`
}

func (actProposeCmd) Help() string {
	return `Examples:

    shuffled act propose policy --policy new.policy --as admin --sign alice.key --out policy.act --url https://shuffle.example.com
    shuffled act propose admin_credential --new-token-file admin.token --sign alice.key --out admin.act
    shuffled act sign admin.act --key bob.key
    shuffled act submit admin.act
    shuffled act propose adopt_head --reason "restored, ticket 4713" --sign alice.key --out head.act   # then serve --adopt-act head.act`
}

func (c actProposeCmd) Run(ctx context.Context, s term.Streams) error {
	if c.Life <= 0 || c.Life > 24*time.Hour {
		return term.Usage("--life must be above 0 and at most 24h: an act that needs longer must be proposed again")
	}
	if err := audit.CheckName(c.As); err != nil {
		return term.Usage("--as %s", err)
	}
	if c.What == "adopt_head" {
		c.As = audit.Daemon.Identity // the daemon adopts it at its start
	}
	p, origin, err := c.persons(ctx, s)
	if err != nil {
		return err
	}
	key, err := readAdministrator(c.Sign, c.Passphrase)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(p.Administrators, func(a audit.Administrator) bool { return a.Name == key.Origin() }) {
		return fmt.Errorf("%s is the key of %s, and %s has no administrator of this name", c.Sign, key.Origin(), origin)
	}
	body, err := c.body(p, origin)
	if err != nil {
		return err
	}
	a, err := c.propose(p, origin, body)
	if err != nil {
		return err
	}
	if err := a.finish(s, key, c.Out); err != nil || body == nil || !slices.Contains(p.TwoPersons, a.entry.Act) {
		return err
	}
	alone := ""
	if a.entry.Act.MayWait() {
		alone = fmt.Sprintf(", or with one signature it takes effect %s after it was submitted",
			time.Duration(p.Delay)*time.Second)
	}
	_, err = fmt.Fprintf(s.Out, "needs       a second signature (shuffled act sign %s --key FILE)%s\n", c.Out, alone)
	return err
}

// propose makes the act that approves body. The act has no signature yet.
func (c *actProposeCmd) propose(p ledger.Persons, origin string, body audit.Body) (*loadedAct, error) {
	entry := &audit.ActEntry{Previous: p.Newest, HeadSize: p.Head.Size, HeadRoot: p.Head.Root,
		Expires: time.Now().Add(c.Life).Truncate(time.Second).UnixMilli()}
	a := &loadedAct{entry: entry, body: body}
	if body == nil {
		digest, err := base64.StdEncoding.DecodeString(c.Digest)
		if err != nil || len(digest) != 32 {
			return nil, term.Usage("--digest must be 32 bytes in base64, as shuffled act list shows them")
		}
		entry.Act, entry.Digest = audit.ActCancel, [32]byte(digest)
	} else {
		act, ok := audit.ActFor(body)
		if !ok {
			return nil, fmt.Errorf("no act approves a %s", body.Type())
		}
		entry.Act, entry.Digest = act, audit.Approved(c.As, body)
		if act.MayWait() && slices.Contains(p.TwoPersons, act) {
			entry.Expires += int64(p.Delay) * 1000
		}
		a.Type, a.Body = uint8(body.Type()), audit.EncodeBody(body)
	}
	a.Format, a.Ledger, a.Identity, a.Genesis = actFormat, origin, c.As, p.Genesis[:]
	a.Act, a.Says, a.Expires = entry.Act.String(), approves(entry, body), listed(entry.Expires)
	return a, nil
}

// body is the body of the entry that the act approves, nil for a cancel.
func (c *actProposeCmd) body(p ledger.Persons, origin string) (audit.Body, error) {
	switch c.What {
	case "cancel":
		return nil, nil
	case "latch_clear":
		return &audit.Event{Kind: audit.EventLatchClear, Reason: c.Because}, c.reasoned()
	case "adopt_head":
		return &audit.Event{Kind: audit.EventHeadAdopted, Size: p.Head.Size, Digest: p.Head.Root, Reason: c.Because},
			c.reasoned()
	case "kill_clear":
		e := &audit.Event{Kind: audit.EventKillClear, Scope: audit.ScopeLedger, Name: c.Table, Reason: c.Because}
		if c.Table != "" {
			e.Scope = audit.ScopeTable
		}
		return e, c.reasoned()
	case "takeover":
		if c.Shuffle == 0 {
			return nil, term.Usage("--shuffle is missing: give the id of the shuffle that is taken over")
		}
		return &audit.Takeover{Shuffle: c.Shuffle, Extent: audit.ExtentPlay, Reason: c.Because}, c.reasoned()
	case "admin_credential":
		return c.adminToken()
	}
	return c.keyBody(origin)
}

func (c *actProposeCmd) reasoned() error {
	if err := audit.CheckReason(c.Because); err != nil {
		return term.Usage("--reason %s", err)
	}
	return nil
}

// adminToken makes the token before the act that creates it is signed. The act has only its digest.
func (c *actProposeCmd) adminToken() (audit.Body, error) {
	if c.TokenOut == "" {
		return nil, term.Usage("--new-token-file is missing: give a new file for the token, which is not valid until the act is submitted")
	}
	if err := audit.CheckName(c.Identity); err != nil {
		return nil, term.Usage("--identity %s", err)
	}
	b := &audit.Credential{Role: audit.RoleAdmin, Identity: c.Identity}
	bearer, _, err := newToken(b)
	if err != nil {
		return nil, err
	}
	if err := keys.WriteSecret(c.TokenOut, bearer); err != nil {
		return nil, fmt.Errorf("writing the token: %w", err)
	}
	return b, nil
}

func (c *actProposeCmd) keyBody(origin string) (audit.Body, error) {
	switch c.What {
	case "policy":
		text, err := term.ReadBounded(c.Policy, audit.MaxPolicy)
		return &audit.Key{Subject: audit.SubjectPolicy, Policy: text}, err
	case "auditor":
		public, err := keys.ReadAuditorPublic(c.Public)
		return &audit.Key{Subject: audit.SubjectAuditor, Public: public}, err
	case "signing":
		public, err := readPublic(c.Public, origin)
		return &audit.Key{Subject: audit.SubjectSigning, Public: public}, err
	case "retirement":
		return c.retirement()
	case "co_dealer":
		return c.coDealer()
	case "two_persons":
		return c.twoPersons()
	}
	k := &audit.Key{Subject: audit.SubjectAdministrator, Name: c.Admin, Admin: audit.ChangeRemove}
	if err := audit.CheckName(c.Admin); err != nil {
		return nil, term.Usage("--admin %s", err)
	}
	if c.What == "remove_administrator" {
		return k, nil
	}
	if k.Admin = audit.ChangeAdd; c.What == "replace_administrator" {
		k.Admin = audit.ChangeReplace
	}
	var err error
	k.Public, err = readPublic(c.Public, c.Admin)
	return k, err
}

func (c *actProposeCmd) retirement() (audit.Body, error) {
	id, err := base64.StdEncoding.DecodeString(c.KeyID)
	if err != nil || len(id) != 32 || c.Retired == "" {
		return nil, term.Usage("--retired and --key-id must name the key, as shuffled key list shows it")
	}
	from := time.Now()
	if c.From != "" {
		if from, err = retiredFrom(c.From); err != nil {
			return nil, err
		}
	}
	return &audit.Key{Subject: audit.SubjectRetirement, Retired: audit.ParseSubject(c.Retired), ID: [32]byte(id),
		From: from.UnixMilli()}, nil
}

func (c *actProposeCmd) twoPersons() (audit.Body, error) {
	k := &audit.Key{Subject: audit.SubjectTwoPersons, Delay: uint32(c.Delay / time.Second)}
	for _, word := range c.Acts {
		act := audit.ParseAct(word)
		if act == 0 {
			return nil, term.Usage("--acts names the unknown act %q", term.Visible(word))
		}
		k.Acts = append(k.Acts, act)
	}
	slices.Sort(k.Acts)
	return k, nil
}

// coDealer is the body that names the next co-dealer, or none.
func (c *actProposeCmd) coDealer() (audit.Body, error) {
	k := &audit.Key{Subject: audit.SubjectCoDealer, Every: c.Every}
	if c.Public == "" {
		if c.Every || c.Policy != "" {
			return nil, term.Usage("--public is missing: give the .vkey file of the co-dealer's ledger")
		}
		return k, nil
	}
	vkey, err := keys.ReadVKey(c.Public)
	if err != nil {
		return nil, err
	}
	k.Origin, _, _ = strings.Cut(vkey, "+")
	if k.Public, err = audit.SigningKey(vkey); err != nil {
		return nil, err
	}
	k.Policy, err = term.ReadBounded(c.Policy, audit.MaxPolicy)
	return k, err
}

// readPublic reads the verifier key of an administrator or of a ledger. The key must have this name.
func readPublic(path, name string) ([]byte, error) {
	if path == "" {
		return nil, term.Usage("--public is missing: give the .vkey file of the key")
	}
	vkey, err := keys.ReadVKey(path)
	if err != nil {
		return nil, err
	}
	if of, _, _ := strings.Cut(vkey, "+"); of != name {
		return nil, term.Usage("%s has a key with the name %s, not %s: give the .vkey file of a key with the name %s", path, of, name,
			name)
	}
	return audit.SigningKey(vkey)
}
