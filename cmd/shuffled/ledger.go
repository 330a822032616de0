package main

import (
	"context"
	"fmt"
	"os"
	"text/tabwriter"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/config"
	"shuffled/internal/keys"
	"shuffled/internal/ledger"
)

// The life of a shuffle when nothing is said, and at most, in seconds.
const (
	defaultCloseBy = 24 * 60 * 60
	maxCloseBy     = 31 * 24 * 60 * 60
)

type ledgerCmd struct {
	Create ledgerCreateCmd `cmd:"" help:"Create a ledger: its keys, its first entry and its high-water mark."`
	List   ledgerListCmd   `cmd:"" help:"List the ledgers of a database."`
}

type ledgerCreateCmd struct {
	placeFlags
	Name       string        `required:"" help:"Name in addresses: /v1/NAME/…"`
	Origin     string        `required:"" help:"The ledger's name for ever, also its key's: cards.example.com/ledger-1."`
	Production bool          `help:"A production ledger. Without it, a sandbox, which every commit says."`
	Deals      string        `enum:"signed,cosigned,default" default:"default" help:"Which checkpoint must cover a commit before its first card: signed (the ledger's own) or cosigned (by witnesses)."`
	Disclosure string        `enum:"public,auditor" default:"public" help:"Who gets the tape at the close, for commits that do not choose."`
	Access     string        `enum:"public,token" default:"public" help:"Who may read the log."`
	CloseBy    time.Duration `default:"24h" help:"Life of a shuffle that does not say."`
	MaxCloseBy time.Duration `default:"744h" help:"Longest life of a shuffle."`
	Key        string        `placeholder:"FILE" help:"Signing key file; made when it does not exist (default DATA/NAME.key)."`
}

// Help shows an example.
func (ledgerCreateCmd) Help() string {
	return "Example:\n  shuffled ledger create --name main --origin cards.example.com/ledger-1 --production --deals signed"
}

func (c ledgerCreateCmd) Run(ctx context.Context, s streams) error {
	deals, err := c.deals()
	if err != nil {
		return err
	}
	if c.Disclosure == "auditor" {
		return withHint(fmt.Errorf("%w: disclosure to auditors", errNotServed), "use --disclosure public")
	}
	if err := audit.CheckOrigin(c.Origin); err != nil {
		return usage("--origin %s", err)
	}
	if err := audit.CheckName(c.Name); err != nil {
		return usage("--name %s", err)
	}
	if c.CloseBy < time.Second || c.CloseBy > c.MaxCloseBy || c.MaxCloseBy > 10*366*24*time.Hour {
		return usage("--close-by is from a second to --max-close-by, which is at most ten years")
	}
	cfg, err := c.load()
	if err != nil {
		return err
	}
	if err := makeData(cfg.Data); err != nil {
		return err
	}
	store, err := openStore(ctx, cfg, true)
	if err != nil {
		return err
	}
	defer store.Close()
	f := filesOf(cfg.Data, c.Name)
	if c.Key != "" {
		f.key, f.vkey = c.Key, vkeyPath(c.Key)
	}
	passphrase, err := readPassphrase(cfg.PassphraseFile)
	if err != nil {
		return err
	}
	key, err := c.signingKey(f, passphrase)
	if err != nil {
		return err
	}
	err = ledger.Create(ctx, store, ledger.Info{Name: c.Name, Origin: c.Origin}, &audit.Genesis{
		Origin: c.Origin, Production: c.Production, SigningKey: key.Public(), Deals: deals,
		Disclosure:     audit.ParseDisclosure(c.Disclosure),
		DefaultCloseBy: uint32(c.CloseBy / time.Second), MaxCloseBy: uint32(c.MaxCloseBy / time.Second),
		Access: audit.ParseAccess(c.Access),
	}, key.Signer(), f.mark, time.Now())
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "created ledger %s\n%s\n", c.Name, key.VKey())
	return nil
}

// deals: production asks for witnesses by default, and until they are served an
// operator must say that the ledger does without.
func (c ledgerCreateCmd) deals() (audit.Deals, error) {
	switch {
	case c.Deals == "signed", c.Deals == "default" && !c.Production:
		return audit.DealsSigned, nil
	case c.Deals == "cosigned":
		return 0, withHint(fmt.Errorf("%w: deals that wait for witnesses", errNotServed), "use --deals signed")
	}
	return 0, usage("a production ledger's deals wait for witnesses by default, which are not served yet: say --deals signed")
}

var errNotServed = fmt.Errorf("not served yet")

func (c ledgerCreateCmd) signingKey(f files, passphrase keys.Secret) (*keys.SigningKey, error) {
	if _, err := os.Stat(f.key); err != nil {
		return writeSigning(f.key, f.vkey, c.Origin, passphrase)
	}
	key, err := keys.ReadSigning(f.key, passphrase)
	if err != nil {
		return nil, err
	}
	if key.Origin() != c.Origin {
		return nil, fmt.Errorf("%s is a key of %s, not of %s", f.key, key.Origin(), c.Origin)
	}
	return key, nil
}

type ledgerListCmd struct {
	placeFlags
	JSON bool `name:"json" help:"Print JSON."`
}

// Help shows an example.
func (ledgerListCmd) Help() string { return "Example:\n  shuffled ledger list --data ./shuffled-data" }

// listedLedger is a line of `ledger list`.
type listedLedger struct {
	Name       string `json:"name"`
	Origin     string `json:"origin"`
	Production bool   `json:"production"`
	Size       uint64 `json:"size"`
}

func (c ledgerListCmd) Run(ctx context.Context, s streams) error {
	return c.withLedgers(ctx, func(cfg *config.Config, store backend, infos []ledger.Info) error {
		return c.print(ctx, s, cfg, store, infos)
	})
}

func (c ledgerListCmd) print(ctx context.Context, s streams, cfg *config.Config, store backend, infos []ledger.Info) error {
	list := make([]listedLedger, 0, len(infos))
	for _, info := range infos {
		one, err := listLedger(ctx, store, info)
		if err != nil {
			return err
		}
		list = append(list, one)
	}
	if c.JSON {
		return printJSON(s.out, list)
	}
	if len(list) == 0 {
		fmt.Fprintf(s.out, "no ledgers in %s\n", database(cfg))
		return nil
	}
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tKIND\tENTRIES\tORIGIN")
	for _, l := range list {
		kind := "sandbox"
		if l.Production {
			kind = "production"
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\n", l.Name, kind, l.Size, l.Origin)
	}
	return w.Flush()
}

func listLedger(ctx context.Context, store ledger.Store, info ledger.Info) (listedLedger, error) {
	id := ledger.IDOf(info.Origin)
	head, err := store.Head(ctx, id)
	if err != nil {
		return listedLedger{}, fmt.Errorf("reading the head of %s: %w", info.Name, err)
	}
	one := listedLedger{Name: info.Name, Origin: info.Origin, Size: head.Size}
	for row, err := range store.Rows(ctx, id, 0, 1) {
		if err != nil {
			return one, fmt.Errorf("reading the genesis of %s: %w", info.Name, err)
		}
		e, err := audit.ParseEntry(row.Entry)
		if err != nil {
			return one, fmt.Errorf("reading the genesis of %s: %w", info.Name, err)
		}
		if g, ok := e.Body.(*audit.Genesis); ok {
			one.Production = g.Production
		}
	}
	return one, nil
}
