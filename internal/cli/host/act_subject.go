package host

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
	"shuffled/internal/cli/place"
	"shuffled/internal/keys"
	"shuffled/internal/shuffle"
	"shuffled/internal/term"
)

// actSubject says what an act approves.
type actSubject struct {
	Kind    string `arg:"" enum:"policy,auditor,signing,retirement,latch_clear,kill_clear,add_administrator,remove_administrator,replace_administrator,admin_credential,takeover,two_persons,co_dealer,adopt_head,cancel" help:"policy, auditor, signing, retirement, latch_clear, kill_clear, add_administrator, remove_administrator, replace_administrator, admin_credential, takeover, two_persons, co_dealer, adopt_head or cancel."`
	Because string `name:"reason" placeholder:"TEXT" help:"latch_clear, kill_clear, takeover, adopt_head: the reason. It is written to the ledger for ever."`

	Policy   string        `type:"existingfile" placeholder:"FILE" help:"policy: the C2SP tlog-policy. co_dealer: the policy for the co-dealer's ledger."`
	Public   string        `type:"existingfile" placeholder:"FILE" help:"auditor: the .pub file. signing, add_administrator, replace_administrator: the .vkey file. co_dealer: the .vkey file of the co-dealer's ledger. Without it, the ledger has no co-dealer from then on."`
	Every    bool          `help:"co_dealer: every commit must name it."`
	Retired  string        `enum:",signing,disclosure,auditor" default:"" help:"retirement: signing, disclosure or auditor."`
	KeyID    string        `placeholder:"KEY" help:"retirement: the key: its id in base64, its verifier key, or its .vkey or .pub file."`
	From     string        `placeholder:"TIME" help:"retirement: time from which what was done under the key deserves no trust, such as 2026-03-14T15:09:26Z. It may be in the past. The default is now."`
	Table    string        `xor:"scope" placeholder:"NAME" help:"kill_clear: the switch of this table (default: that of the whole ledger)."`
	Deck     string        `xor:"scope" placeholder:"NAME" help:"kill_clear: the switch of this published deck, such as standard-52."`
	DeckHash string        `xor:"scope" placeholder:"HASH" help:"kill_clear: the switch of the deck with this hash, in base64."`
	Admin    string        `placeholder:"NAME" help:"add_, remove_, replace_administrator: the administrator."`
	Identity string        `placeholder:"NAME" default:"admin" help:"admin_credential: the identity of the token or certificate."`
	TokenOut string        `name:"new-token-file" placeholder:"FILE" help:"admin_credential: new file for the token, mode 0600."`
	Cert     string        `name:"certificate" type:"existingfile" placeholder:"FILE" help:"admin_credential: make no token: the client certificate in FILE (PEM) stands for one."`
	Expires  time.Duration `placeholder:"DURATION" help:"admin_credential: how long it is valid, such as 720h (default: until it is revoked)."`
	Shuffle  uint64        `placeholder:"ID" help:"takeover: the shuffle."`
	Acts     []string      `placeholder:"ACT" help:"two_persons: the acts that need two administrators."`
	Delay    time.Duration `default:"1h" help:"two_persons: how long an act of one administrator waits."`
	Digest   string        `placeholder:"DIGEST" help:"cancel: the digest of the act, as shuffled act list shows it."`
}

// body is the body of the entry that the act approves, nil for a cancel. bearer is a new token, which is valid when the
// act is submitted.
func (c *actSubject) body(st standing) (body audit.Body, bearer keys.Secret, err error) {
	switch c.Kind {
	case "cancel":
	case "latch_clear":
		body, err = &audit.Event{Kind: audit.EventLatchClear, Reason: c.Because}, c.reasoned()
	case "adopt_head":
		body, err = &audit.Event{Kind: audit.EventHeadAdopted, Size: st.Head.Size, Digest: st.Head.Root,
			Reason: c.Because}, c.reasoned()
	case "kill_clear":
		body, err = c.killClear()
	case "takeover":
		if c.Shuffle == 0 {
			return nil, bearer, term.Usage("--shuffle is missing: give the id of the shuffle that is taken over")
		}
		body, err = &audit.Takeover{Shuffle: c.Shuffle, Extent: audit.ExtentPlay, Reason: c.Because}, c.reasoned()
	case "admin_credential":
		return c.adminCredential()
	default:
		body, err = c.keyBody(st.of.Origin)
	}
	return body, bearer, err
}

func (c *actSubject) reasoned() error {
	if err := audit.CheckReason(c.Because); err != nil {
		return term.Usage("--reason %s", err)
	}
	return nil
}

func (c *actSubject) killClear() (audit.Body, error) {
	e := &audit.Event{Kind: audit.EventKillClear, Scope: audit.ScopeLedger, Name: c.Table, Reason: c.Because}
	switch {
	case c.Table != "":
		e.Scope = audit.ScopeTable
		if err := audit.CheckName(c.Table); err != nil {
			return nil, term.Usage("--table %s", err)
		}
	case c.Deck != "":
		deck, ok := shuffle.Named(c.Deck)
		if !ok {
			return nil, term.Usage("--deck: %q is no published deck: shuffled decks lists them, and --deck-hash names any other",
				term.Visible(c.Deck))
		}
		e.Scope, e.Deck = audit.ScopeDeck, deck.Hash()
	case c.DeckHash != "":
		hash, err := audit.ParseHash(c.DeckHash)
		if err != nil {
			return nil, term.Usage("--deck-hash must be 32 bytes in base64, as shuffled kill list shows them")
		}
		e.Scope, e.Deck = audit.ScopeDeck, hash
	}
	return e, c.reasoned()
}

// adminCredential makes the token before the act that creates it is signed. The act has only its digest.
func (c *actSubject) adminCredential() (audit.Body, keys.Secret, error) {
	if (c.TokenOut == "") == (c.Cert == "") {
		return nil, keys.Secret{}, term.Usage("--new-token-file must name a new file for the token, or --certificate that of a client certificate, and not both")
	}
	if c.TokenOut != "" && place.Exists(c.TokenOut) {
		return nil, keys.Secret{}, term.Usage("--new-token-file: %s exists, and nothing is overwritten: name a new file", c.TokenOut)
	}
	made := credentialFlags{Identity: c.Identity, Expires: c.Expires, Certificate: c.Cert}
	body, bearer, _, err := made.credential(audit.RoleAdmin, nil, time.Now())
	return body, bearer, err
}

func (c *actSubject) keyBody(origin string) (audit.Body, error) {
	if c.Policy == "" && (c.Kind == "policy" || c.Kind == "co_dealer" && c.Public != "") {
		return nil, term.Usage("--policy is missing: give the file of the policy")
	}
	switch c.Kind {
	case "policy":
		text, err := term.ReadBounded(c.Policy, audit.MaxPolicy)
		if err != nil {
			return nil, err
		}
		if _, err := trust.ParsePolicy(text); err != nil {
			return nil, term.Usage("--policy %s: %s", c.Policy, term.Visible(err.Error()))
		}
		return &audit.Key{Subject: audit.SubjectPolicy, Policy: text}, nil
	case "auditor":
		if c.Public == "" {
			return nil, term.Usage("--public is missing: give the .pub file of the auditor")
		}
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
	if c.Kind == "remove_administrator" {
		return k, nil
	}
	if k.Admin = audit.ChangeAdd; c.Kind == "replace_administrator" {
		k.Admin = audit.ChangeReplace
	}
	var err error
	k.Public, err = readPublic(c.Public, c.Admin)
	return k, err
}

func (c *actSubject) retirement() (audit.Body, error) {
	if c.Retired == "" || c.KeyID == "" {
		return nil, term.Usage("--retired and --key-id must name the key, as shuffled key list shows it")
	}
	id, err := keyID(c.KeyID)
	if err != nil {
		return nil, err
	}
	from := time.Now()
	if c.From != "" {
		if from, err = time.Parse(time.RFC3339, c.From); err != nil || from.Before(time.Unix(0, 0)) {
			return nil, term.Usage("--from must be a time such as 2026-03-14T15:09:26Z, not %q", term.Visible(c.From))
		}
	}
	return &audit.Key{Subject: audit.SubjectRetirement, Retired: audit.ParseSubject(c.Retired), ID: id,
		From: from.UnixMilli()}, nil
}

// keyID returns the id of a key that is named by its id, its verifier key or a public file.
func keyID(arg string) (id [32]byte, err error) {
	if vkey, err := keys.ReadVKey(arg); err == nil {
		arg = vkey
	} else if public, err := keys.ReadAuditorPublic(arg); err == nil {
		return audit.KeyID(public), nil
	}
	if _, err := audit.ParseVKey(arg); err == nil {
		public, err := audit.SigningKey(arg)
		return audit.KeyID(public), err
	}
	if id, err = audit.ParseHash(arg); err != nil {
		err = term.Usage("%q is no key: give a key id, a verifier key, or a .vkey or .pub file", term.Visible(arg))
	}
	return id, err
}

func (c *actSubject) twoPersons() (audit.Body, error) {
	delay, err := secondsOf(c.Delay)
	k := &audit.Key{Subject: audit.SubjectTwoPersons, Delay: delay}
	for _, word := range c.Acts {
		act := audit.ParseAct(word)
		if act == 0 {
			return nil, term.Usage("--acts names the unknown act %q", term.Visible(word))
		}
		k.Acts = append(k.Acts, act)
	}
	slices.Sort(k.Acts)
	return k, err
}

// secondsOf is a --delay in the form of an entry.
func secondsOf(d time.Duration) (uint32, error) {
	if d < 0 || d%time.Second != 0 || d > 10*366*24*time.Hour {
		return 0, term.Usage("--delay must be whole seconds, and ten years at most, and is %s", d)
	}
	return uint32(d / time.Second), nil
}

// coDealer is the body that names the next co-dealer, or none.
func (c *actSubject) coDealer() (audit.Body, error) {
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

// switchWords names the kill switch of an event.
func switchWords(e *audit.Event) string {
	switch e.Scope {
	case audit.ScopeTable:
		return "table " + e.Name
	case audit.ScopeDeck:
		hash := base64.StdEncoding.EncodeToString(e.Deck[:])
		if d, ok := shuffle.Published(e.Deck); ok {
			return fmt.Sprintf("deck %s, hash %s", d.Name(), hash)
		}
		return "deck with the hash " + hash
	}
	return "whole ledger"
}
