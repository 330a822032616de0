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
	"shuffled/internal/ledger/sequencer"
	"shuffled/internal/term"
)

type actSubmitCmd struct {
	tokenFlags
	File string `arg:"" type:"existingfile" help:"The signed act."`
}

// Help shows an example, and says which acts wait.
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
