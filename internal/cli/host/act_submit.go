package host

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"time"

	"shuffled/client"
	"shuffled/internal/audit"
	"shuffled/internal/cli/place"
	"shuffled/internal/ledger"
	"shuffled/internal/term"
)

type actSubmitCmd struct {
	tokenFlags
	File string `arg:"" type:"existingfile" help:"The signed act."`
}

// Help shows an example, and says which acts wait.
func (actSubmitCmd) Help() string {
	return `If an act needs two administrators, both must sign it. Only latch_clear and kill_clear can be submitted with one signature. Such an act waits (shuffled act list): submit it again when the delay is over, and before it expires.

Example:

    shuffled act submit policy.act --url https://shuffle.example.com --token-file admin.token`
}

func (c actSubmitCmd) Run(ctx context.Context, s term.Streams) error {
	a, err := loadAct(c.File)
	if err != nil {
		return err
	}
	p, origin, err := c.persons(ctx, s)
	if err != nil {
		return err
	}
	switch {
	case [32]byte(a.Genesis) != p.Genesis:
		return fmt.Errorf("%s is an act of the ledger %s, not of the ledger %s", c.File, term.Visible(a.Ledger),
			term.Visible(origin))
	case time.Now().UnixMilli() >= a.entry.Expires:
		return fmt.Errorf("%s expired at %s and has no effect: propose it again", c.File, a.Expires)
	case a.entry.Act == audit.ActAdoptHead && len(a.entry.Signatures) < 2 &&
		slices.Contains(p.TwoPersons, audit.ActAdoptHead):
		return term.Usage("%s: adopt_head needs two administrators and cannot wait: shuffled act sign %s --key FILE, then shuffled serve --adopt-act %s", c.File, c.File, c.File)
	case a.entry.Act == audit.ActAdoptHead:
		return term.Usage("%s: a daemon adopts a head only when it starts: shuffled serve --adopt-act %s", c.File, c.File)
	}
	at := slices.IndexFunc(p.Waiting,
		func(w audit.WaitingAct) bool { return a.body != nil && w.Digest == a.entry.Digest })
	switch {
	case at >= 0 && len(a.entry.Signatures) < 2:
		if w := p.Waiting[at]; time.Now().UnixMilli() < w.Due {
			return fmt.Errorf("the act waits as entry %d: submit it again at %s or later, and before %s", w.Index,
				listed(w.Due+999), listed(w.Expires))
		}
		return c.submit(ctx, s, nil, a.body, "It is done: "+term.Visible(a.Says))
	case a.body != nil && len(a.entry.Signatures) < 2 && slices.Contains(p.TwoPersons, a.entry.Act):
		said := fmt.Sprintf("The act waits for %s: then submit it again, before %s. An administrator cancels it with act propose cancel --digest %s",
			time.Duration(p.Delay)*time.Second, a.Expires, base64.StdEncoding.EncodeToString(a.entry.Digest[:]))
		return c.submit(ctx, s, a.entry, nil, said)
	}
	return c.submit(ctx, s, a.entry, a.body, "It is done: "+term.Visible(a.Says))
}

// submit writes the act and the entry that it approves. One of them may be nil.
func (c *actSubmitCmd) submit(ctx context.Context, s term.Streams, act *audit.ActEntry, body audit.Body,
	said string) error {
	if c.URL == "" {
		err := c.WithLedger(ctx, c.Ledger, func(l *ledger.Ledger) error {
			if body == nil {
				return place.Append(ctx, l, act, nil)
			}
			return place.Append(ctx, l, body, act)
		})
		if err == nil {
			_, err = fmt.Fprintf(s.Out, "%s.\n", said)
		}
		return err
	}
	return c.remote().Record(ctx, s, said,
		func(d *client.Client) (*client.Appended, error) { return c.ask(ctx, d, act, body) })
}

// ask asks the daemon to write them. If act is nil, an act approved body earlier and has waited, so body is
// asked for as if it needed no act.
func (c *actSubmitCmd) ask(ctx context.Context, d *client.Client, act *audit.ActEntry,
	body audit.Body) (*client.Appended, error) {
	if e, ok := body.(*audit.Event); ok && act == nil {
		if e.Kind == audit.EventLatchClear {
			return d.ClearLatch(ctx, e.Reason)
		}
		req := client.SwitchRequest{Action: client.SwitchRequestActionClear, Scope: client.SwitchRequestScopeLedger,
			Reason: e.Reason}
		if e.Scope == audit.ScopeTable {
			req.Scope, req.Table = client.SwitchRequestScopeTable, &e.Name
		}
		return d.SetSwitch(ctx, req)
	}
	req := client.ActRequest{Act: audit.EncodeBody(act)}
	if body != nil {
		req.Type, req.Body = new(int(body.Type())), audit.EncodeBody(body)
	}
	return d.SubmitAct(ctx, req)
}
