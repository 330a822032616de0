package audit

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"shuffled/internal/inspect"
	"shuffled/internal/shuffle"
	"shuffled/internal/term"
)

type auditDecksCmd struct {
	Dir        string   `arg:"" help:"The bundle that shuffled audit export wrote."`
	Deck       string   `default:"standard-52" placeholder:"DECK" help:"Write the orders of this published deck that have all its cards."`
	Table      string   `placeholder:"TABLE" help:"Write only those of this table."`
	Key        string   `placeholder:"VKEY" xor:"trust" help:"Trust this verifier key of the ledger, or the key in the file of this name."`
	Policy     string   `placeholder:"FILE" xor:"trust" help:"Trust the keys of this C2SP witness policy, and require its quorum."`
	AuditorKey []string `name:"auditor-key" placeholder:"FILE" help:"Open the tapes that were sealed to this auditor's key."`
	Passphrase string   `name:"passphrase-file" placeholder:"FILE" help:"File with the passphrase of encrypted key files."`
	From       string   `placeholder:"TIME" help:"Write those of shuffles committed at this time or later: a month, a day (UTC) or RFC 3339 (default: all)."`
	To         string   `placeholder:"TIME" help:"End of the period. A month or day given here is part of it."`
	Out        string   `required:"" placeholder:"FILE" help:"New file for the orders. FILE.json says how to read it."`
}

func (auditDecksCmd) Help() string {
	return `Checks the whole bundle first, as shuffled audit verify does. If there is a fault, it writes nothing. Otherwise it writes each order that it recomputed from a tape, in the order of the commits, however the shuffle ended. The order is the committed one, from before any mix. An order is missing if its shuffle is open, if its tape was lost or is sealed to another auditor, or if the shuffle is a child. The command says how many orders it wrote.

Examples:

    shuffled audit decks ./main-bundle --key main.vkey --auditor-key auditor.key --from 2026-11 --to 2026-11 --out november.bin
    shuffled lab battery --from november.bin

Exit codes: 0 written, 1 a fault, 2 usage, 3 could not run or cannot judge.`
}

// decksManifest is what shuffled lab battery --from reads (docs/LAB.md), and says from which ledger the orders are.
type decksManifest struct {
	Command   string      `json:"command"`
	Origin    string      `json:"origin"`
	Size      uint64      `json:"size"` // of the ledger
	Root      string      `json:"root"`
	Bytes     uint64      `json:"bytes"`
	SHA256    string      `json:"sha256"`
	Outcomes  int         `json:"outcomes"`
	Positions int         `json:"positions"`
	Format    decksFormat `json:"format"`
	Deck      decksDeck   `json:"deck"`
}

type decksFormat struct {
	Name        string `json:"name"`
	RecordBytes int    `json:"record_bytes"`
	ValueBytes  int    `json:"value_bytes"`
}

type decksDeck struct {
	Name  string   `json:"name"`
	Names []string `json:"names"`
}

// ordered is one order in the form in which it is written.
type ordered struct {
	id     uint64
	record []byte
}

func (c auditDecksCmd) Run(ctx context.Context, s term.Streams) error {
	deck, ok := shuffle.Named(c.Deck)
	if !ok {
		return term.Usage("--deck must be one of %s, not %s", strings.Join(shuffle.Names(), ", "), term.Visible(c.Deck))
	}
	for _, name := range []string{c.Out, c.Out + ".json"} {
		if _, err := os.Lstat(name); err == nil {
			return term.Usage("--out: %s exists, and no file is overwritten: name a new file", term.Visible(name))
		}
	}
	opts, err := auditVerifyCmd{Key: c.Key, Policy: c.Policy, AuditorKey: c.AuditorKey, Passphrase: c.Passphrase,
		From: c.From, To: c.To}.options()
	if err != nil {
		return err
	}
	width := 1
	if deck.Len() > 1<<8 {
		width = 2
	}
	hash := deck.Hash()
	var found []ordered
	opts.Recomputed = func(of inspect.Recomputed) {
		if of.Context.DeckHash != hash || len(of.Values) != deck.Len() || c.Table != "" && of.Context.Table != c.Table {
			return
		}
		record := make([]byte, 0, width*len(of.Values))
		for _, v := range of.Values {
			if width == 2 {
				record = binary.BigEndian.AppendUint16(record, uint16(v))
			} else {
				record = append(record, byte(v))
			}
		}
		found = append(found, ordered{of.ID, record})
	}
	r, err := inspectBundle(ctx, s, c.Dir, opts)
	if err != nil {
		return err
	}
	if judgement(r.Verdict, r.Unknown) != nil {
		fmt.Fprintln(s.Err, "shuffled: no order was written")
		return concludeAudit(s, c.Dir, r, false)
	}
	if len(found) == 0 {
		return fmt.Errorf("no order was written: no closed shuffle of %s was found with a tape that is public or that --auditor-key opens", c.Deck)
	}
	slices.SortFunc(found, func(a, b ordered) int { return cmp.Compare(a.id, b.id) })
	m := decksManifest{Command: "audit decks", Origin: r.Origin, Size: r.Size, Root: r.Root,
		Outcomes: len(found), Positions: deck.Len(),
		Format: decksFormat{Name: "bin", RecordBytes: width * deck.Len(), ValueBytes: width},
		Deck:   decksDeck{Name: deck.Name(), Names: deck.Cards()}}
	if err := c.write(found, &m); err != nil {
		return fmt.Errorf("writing orders: %w", err)
	}
	_, err = fmt.Fprintf(s.Out, "%s of %s in %s\n", term.Plural(uint64(len(found)), "order"), deck.Name(),
		term.Visible(c.Out))
	return err
}

// write writes the orders and, when they are complete, the manifest.
func (c auditDecksCmd) write(found []ordered, m *decksManifest) error {
	f, err := os.OpenFile(c.Out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	sum := sha256.New()
	w := bufio.NewWriter(io.MultiWriter(f, sum))
	for _, o := range found {
		w.Write(o.record) // Flush returns the error again
		m.Bytes += uint64(len(o.record))
	}
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		return err
	}
	m.SHA256 = hex.EncodeToString(sum.Sum(nil))
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(c.Out+".json", append(text, '\n'), 0o600)
}
