package host

import (
	"context"
	"fmt"
	"strings"

	"shuffled/client"
	"shuffled/internal/audit"
	"shuffled/internal/cli/remote"
	"shuffled/internal/keys"
	"shuffled/internal/term"
)

type ledgerAuditorCmd struct {
	Add    auditorAddCmd    `cmd:"" help:"Add an auditor, who can open tapes from the next disclosure key on."`
	Retire auditorRetireCmd `cmd:"" help:"Retire an auditor, for whom no more disclosure keys are wrapped. Earlier ones stay open to that auditor."`
	List   auditorListCmd   `cmd:"" help:"List the auditors of a ledger."`
}

type auditorAddCmd struct {
	remote.Flags
	File   string `arg:"" help:"The auditor's .pub file."`
	DryRun bool   `help:"Say what would be written, and write nothing."`
}

func (auditorAddCmd) Help() string {
	return "Example:\n  shuffled ledger auditor add lab.pub --token-file admin.token"
}

func (c *auditorAddCmd) Run(ctx context.Context, s term.Streams) error {
	public, err := keys.ReadAuditorPublic(c.File)
	if err != nil {
		return err
	}
	id := client.Hash(audit.KeyID(public))
	if c.DryRun {
		_, err := fmt.Fprintf(s.Out, "Would add the auditor %s. Nothing was written.\n", id)
		return err
	}
	return addKey(ctx, &c.Flags, s, client.KeyRequest{Subject: client.KeyRequestSubjectAuditor, Public: public},
		fmt.Sprintf("The auditor %s opens what is closed under the next disclosure key and later ones", id))
}

type auditorRetireCmd struct {
	remote.Flags
	Which string `arg:"" name:"key" help:"The auditor's .pub file, or the id in base64."`
	From  string `placeholder:"TIME" help:"Time from which what is wrapped to the key deserves no trust. The default is now."`
}

func (auditorRetireCmd) Help() string {
	return "Example:\n  shuffled ledger auditor retire lab.pub --token-file admin.token"
}

func (c *auditorRetireCmd) Run(ctx context.Context, s term.Streams) error {
	retire := keyRetireCmd{Flags: c.Flags, Subject: "auditor", Which: c.Which, From: c.From}
	return retire.Run(ctx, s)
}

type auditorListCmd struct{ remote.Flags }

func (auditorListCmd) Help() string { return "Example:\n  shuffled ledger auditor list" }

func (c *auditorListCmd) Run(ctx context.Context, s term.Streams) error {
	return remote.Ask(ctx, &c.Flags, s, func(d *client.Client) ([]client.Key, error) {
		answer, err := d.Keys(ctx)
		if err != nil {
			return nil, err
		}
		auditors := []client.Key{}
		for _, k := range answer.Keys {
			if k.Subject == client.KeySubjectAuditor || k.Retired != nil && *k.Retired == client.KeyRetiredAuditor {
				auditors = append(auditors, k)
			}
		}
		return auditors, nil
	}, func(auditors []client.Key) error {
		if len(auditors) == 0 {
			_, err := fmt.Fprintln(s.Out, "the ledger has no auditors")
			return err
		}
		return printKeys(s, auditors)
	})
}

type ledgerPolicyCmd struct {
	Set  policySetCmd  `cmd:"" help:"Change the witness policy. The new witnesses must cosign the newest checkpoint first."`
	Show policyShowCmd `cmd:"" help:"Print the newest witness policy of a ledger."`
}

type policySetCmd struct {
	remote.Flags
	File   string `arg:"" help:"The new policy (C2SP tlog-policy)."`
	DryRun bool   `help:"Read the policy, list its witnesses, and write nothing."`
}

func (policySetCmd) Help() string {
	return `The old policy governs until its quorum has cosigned a checkpoint that covers the change. From then on the
new policy governs. Keep the witnesses of both policies running until then.

Example:
  shuffled ledger policy set witnesses-2.policy --token-file admin.token`
}

func (c *policySetCmd) Run(ctx context.Context, s term.Streams) error {
	text, err := term.ReadBounded(c.File, audit.MaxPolicy)
	if err != nil {
		return fmt.Errorf("reading the policy: %w", err)
	}
	policy, weak, err := parsePolicy(text)
	if err != nil {
		return term.Usage("%s: %s", c.File, term.Visible(err.Error()))
	}
	var names []string
	for _, w := range policy.Witnesses {
		names = append(names, w.Name)
	}
	if c.DryRun {
		if weak != nil {
			fmt.Fprintf(s.Out, "A production ledger does not take this policy: %s.\n", term.Visible(weak.Error()))
		}
		_, err := fmt.Fprintf(s.Out, "Would ask these witnesses to cosign, and then change the policy: %s\nNothing was written.\n",
			term.Visible(strings.Join(names, ", ")))
		return err
	}
	return addKey(ctx, &c.Flags, s,
		client.KeyRequest{Subject: client.KeyRequestSubjectPolicy, Policy: new(string(text))},
		"The policy is written; it takes over with the next checkpoint that both quorums cosign")
}

type policyShowCmd struct{ remote.Flags }

func (policyShowCmd) Help() string { return "Example:\n  shuffled ledger policy show" }

func (c *policyShowCmd) Run(ctx context.Context, s term.Streams) error {
	return remote.Ask(ctx, &c.Flags, s, func(d *client.Client) (newest *client.Key, err error) {
		answer, err := d.Keys(ctx)
		if err != nil {
			return nil, err
		}
		for _, k := range answer.Keys {
			if k.Policy != nil {
				newest = &k
			}
		}
		return newest, nil
	}, func(newest *client.Key) (err error) {
		if newest == nil {
			_, err = fmt.Fprintln(s.Out, "the ledger has no witness policy")
			return err
		}
		for line := range strings.Lines(*newest.Policy) {
			if _, err = fmt.Fprintln(s.Out, term.Visible(strings.TrimSuffix(line, "\n"))); err != nil {
				return err
			}
		}
		return nil
	})
}
