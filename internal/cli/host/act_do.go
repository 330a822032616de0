package host

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"time"

	"shuffled/client"
	"shuffled/internal/audit"
	"shuffled/internal/audit/rules"
	"shuffled/internal/cli/place"
	"shuffled/internal/keys"
	"shuffled/internal/ledger"
	"shuffled/internal/ledger/sequencer"
	"shuffled/internal/term"
)

type actDoCmd struct {
	tokenFlags
	actSubject
	Sign       string        `name:"sign" required:"" type:"existingfile" placeholder:"FILE" help:"Private key of the administrator who signs."`
	Passphrase string        `name:"passphrase-file" placeholder:"FILE" help:"Passphrase of an encrypted key file."`
	Out        string        `placeholder:"FILE" help:"Write the signed act to the new file FILE, for the second administrator or for act submit, and submit nothing."`
	Yes        bool          `help:"Sign without a question."`
	As         string        `placeholder:"IDENTITY" help:"Identity that submits it: that of the admin's token, for a takeover that of the dealer's token. The default is admin with --url, and operator without. adopt_head ignores it, because the daemon adopts."`
	Life       time.Duration `default:"1h" help:"How long the act is valid, at most 24h. If latch_clear or kill_clear needs two administrators, this time begins after the delay."`
}

func (actDoCmd) Help() string {
	return `Shows the act, asks, signs and submits it. If the act needs two administrators, give --out: the other one signs the file with act sign, and act submit submits it. Without --out, latch_clear and kill_clear are submitted with one signature, and then wait.

Examples:

    shuffled act do kill_clear --table poker-7 --reason "camera exchanged" --sign alice.key --url https://shuffle.example.com --token-file admin.token
    shuffled act do policy --policy new.policy --sign alice.key --out policy.act --url https://shuffle.example.com
    shuffled act do admin_credential --new-token-file admin.token --sign alice.key --out admin.act --config shuffled.toml
    shuffled act do adopt_head --reason "restored, ticket 4713" --sign alice.key --out head.act --config shuffled.toml`
}

func (c actDoCmd) Run(ctx context.Context, s term.Streams) error {
	if err := c.settle(); err != nil {
		return err
	}
	st, err := c.standing(ctx, s)
	if err != nil {
		return err
	}
	key, err := readAdministrator(c.Sign, c.Passphrase)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(st.Administrators, func(a audit.Administrator) bool { return a.Name == key.Origin() }) {
		return fmt.Errorf("%s is the key of %s, and %s has no administrator of this name", c.Sign, key.Origin(),
			st.of.Origin)
	}
	body, bearer, err := c.body(st)
	if err != nil {
		return err
	}
	var cancels [32]byte
	if body == nil {
		if cancels, err = audit.ParseHash(c.Digest); err != nil {
			return term.Usage("--digest must be 32 bytes in base64, as shuffled act list shows them")
		}
	}
	a := newAct(st, c.As, c.Life, body, cancels)
	if a.needsTwo(st.Persons) && c.Out == "" && !a.entry.Act.MayWait() {
		return term.Usage("%s needs two administrators: give --out FILE for the file that the other one signs with act sign",
			a.entry.Act)
	}
	if c.Out == "" { // what would be refused is refused before anything is signed
		if err := c.maySubmit(st, a.entry.Act); err != nil {
			return err
		}
	}
	if err := a.signed(s, key, c.Yes, c.follows(st, a)); err != nil {
		return err
	}
	if !bearer.Empty() {
		if err := keys.WriteSecret(c.TokenOut, bearer); err != nil {
			return fmt.Errorf("writing the token: %w", err)
		}
	}
	if c.Out != "" {
		return a.save(c.Out)
	}
	return c.submit(ctx, s, st, a)
}

// settle completes and checks the flags.
func (c *actDoCmd) settle() error {
	switch {
	case c.Life <= 0 || c.Life > 24*time.Hour:
		return term.Usage("--life must be above 0 and at most 24h: an act that needs longer must be made again")
	case c.Out != "" && place.Exists(c.Out): // it may be a key, or an act that another one has signed
		return term.Usage("--out: %s exists, and nothing is overwritten: name a new file", c.Out)
	}
	switch {
	case c.Kind == "adopt_head":
		c.As = audit.Daemon.Identity
	case c.As == "" && c.URL == "":
		c.As = audit.Operator.Identity
	case c.As == "":
		c.As = audit.RoleAdmin.String()
	}
	if err := audit.CheckName(c.As); err != nil {
		return term.Usage("--as %s", err)
	}
	return nil
}

// follows says what becomes of the act after this signature.
func (c *actDoCmd) follows(st standing, a *loadedAct) string {
	then := "it is submitted"
	if c.Out != "" {
		then = "it is written to " + c.Out
	}
	if !a.needsTwo(st.Persons) {
		return then
	}
	if c.Out != "" {
		then += ", and needs a second signature: shuffled act sign " + c.Out + " --sign FILE"
	}
	if a.entry.Act.MayWait() {
		then += fmt.Sprintf("; with one signature it takes effect %s after it was submitted", delayOf(st.Persons))
	}
	return then
}

func delayOf(p ledger.Persons) time.Duration { return time.Duration(p.Delay) * time.Second }

// newAct makes the act that approves body, nil for one that cancels. The act has no signature yet.
func newAct(st standing, as string, life time.Duration, body audit.Body, cancels [32]byte) *loadedAct {
	entry := &audit.ActEntry{Act: audit.ActCancel, Digest: cancels, Previous: st.Newest, HeadSize: st.Head.Size,
		HeadRoot: st.Head.Root, Expires: time.Now().Add(life).Truncate(time.Second).UnixMilli()}
	a := &loadedAct{actFile: actFile{Format: actFormat, Genesis: st.genesis}, of: st.of, entry: entry, body: body}
	if body != nil {
		entry.Act, _ = audit.ActFor(body)
		entry.Digest = audit.Approved(as, body)
		a.Identity, a.Type, a.Body = as, uint8(body.Type()), audit.EncodeBody(body)
	}
	if a.needsTwo(st.Persons) && entry.Act.MayWait() {
		entry.Expires += int64(st.Delay) * 1000
	}
	return a
}

type actSubmitCmd struct {
	tokenFlags
	File string `arg:"" type:"existingfile" help:"The signed act."`
}

func (actSubmitCmd) Help() string {
	return `If an act needs two administrators, both must sign it. Only latch_clear and kill_clear can be submitted with one signature. Such an act waits (shuffled act list): submit it again when the delay is over, and before it expires.

Without --url the command opens the stored ledger itself. It does so while no admin's credential is in force, and to adopt a head.

Example:

    shuffled act submit policy.act --url https://shuffle.example.com --token-file admin.token`
}

func (c actSubmitCmd) Run(ctx context.Context, s term.Streams) error {
	a, err := loadAct(c.File)
	if err != nil {
		return err
	}
	st, err := c.standing(ctx, s)
	if err != nil {
		return err
	}
	if !bytes.Equal(a.Genesis, st.genesis) {
		return fmt.Errorf("%s is an act of the ledger %s, not of the ledger %s", c.File, a.of.Origin, st.of.Origin)
	}
	if err := c.maySubmit(st, a.entry.Act); err != nil {
		return err
	}
	return c.submit(ctx, s, st, a)
}

// maySubmit says why the act cannot be submitted there, nil if it can.
func (t *tokenFlags) maySubmit(st standing, act audit.Act) error {
	switch {
	case act == audit.ActAdoptHead && t.URL != "":
		return term.Usage("--url must be left out for adopt_head: the command adopts the head of the stored ledger, while no daemon serves it")
	case act == audit.ActAdoptHead || t.URL != "":
		return nil
	}
	return overAPI(st.state, time.Now())
}

// submit submits the act. If it has waited, what it approves is submitted.
func (t *tokenFlags) submit(ctx context.Context, s term.Streams, st standing, a *loadedAct) error {
	act, body, said := a.entry, a.body, "It is done: "+term.Visible(a.says())
	at := slices.IndexFunc(st.Waiting, func(w rules.WaitingAct) bool { return w.Digest == act.Digest })
	switch two := a.needsTwo(st.Persons); {
	case time.Now().UnixMilli() >= act.Expires:
		return fmt.Errorf("the act expired at %s and has no effect: make it again", listed(act.Expires))
	case two && !act.Act.MayWait():
		return term.WithHint(fmt.Errorf("the act %s needs two administrators", act.Act),
			"the other one signs the file: shuffled act sign ACT --sign FILE")
	case two && at >= 0:
		w := st.Waiting[at]
		if time.Now().UnixMilli() < w.Due {
			return fmt.Errorf("the act waits as entry %d: give the same command again at %s or later, and before %s", w.Index,
				listed(w.Due+999), listed(w.Expires))
		}
		act = nil
	case two:
		body = nil
		said = fmt.Sprintf("The act waits for %s: then give the same command again, before %s. An administrator cancels it with act do cancel --digest %s",
			delayOf(st.Persons), listed(act.Expires), base64.StdEncoding.EncodeToString(act.Digest[:]))
	}
	if t.URL != "" {
		var req client.ActRequest
		if act != nil {
			req.Act = audit.EncodeBody(act)
		}
		if body != nil {
			req.Type, req.Body = new(int(body.Type())), audit.EncodeBody(body)
		}
		return t.remote().Record(ctx, s, said,
			func(d *client.Client) (*client.Appended, error) { return d.SubmitAct(ctx, req) })
	}
	if err := t.store(ctx, st.Newest, act, body); err != nil {
		return err
	}
	_, err := fmt.Fprintf(s.Out, "%s.\n", said)
	return err
}

// store writes the act and what it approves into the stored ledger, behind the newest act. A head is adopted by opening
// the ledger with the act.
func (t *tokenFlags) store(ctx context.Context, newest uint64, act *audit.ActEntry, body audit.Body) error {
	head, ok := body.(*audit.Event)
	if !ok || head.Kind != audit.EventHeadAdopted {
		return t.WithLedger(ctx, t.Ledger, func(l *sequencer.Ledger) error { return place.Append(ctx, l, act, body) })
	}
	return t.Adopting(ctx, t.Ledger, head.Reason, act, func(l *sequencer.Ledger) error {
		p, err := l.Persons(ctx)
		if err == nil && p.Newest == newest {
			err = fmt.Errorf("the head of ledger %s needs no act, because the high-water mark or the witnesses vouch for it",
				t.Ledger)
		}
		return err
	})
}
