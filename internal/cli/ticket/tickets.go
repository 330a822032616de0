// Package ticket has the commands for lists of tickets: the root that a draw is committed with, the proof for
// an entrant, and its check. They ask no daemon.
package ticket

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/cli/player"
	"shuffled/internal/keys"
	"shuffled/internal/term"
	"shuffled/internal/terms"
	"shuffled/internal/verify"
)

// Cmd is shuffled tickets.
type Cmd struct {
	Root  rootCmd  `cmd:"" help:"Hash a list of tickets, and print the count and root for the commit of a draw."`
	Prove proveCmd `cmd:"" help:"Write the proof of a ticket, for its entrant."`
	Check checkCmd `cmd:"" help:"Check the proof of a ticket, offline."`
}

// List is a file of tickets, and the file with the secret of its salts.
type List struct {
	File   string `arg:"" help:"The list; - reads standard input. Each line is a ticket number or reference, and lines ascend by bytes (LC_ALL=C sort -u)."`
	Secret string `name:"secret-file" required:"" placeholder:"FILE" help:"File with the secret of this list. Each list has its own secret."`
}

type rootCmd struct {
	List
	JSON bool `name:"json" help:"Print JSON."`
}

func (rootCmd) Help() string {
	return `Reads the list once, in a fixed amount of memory. If the file of the secret does not exist, the secret is drawn and written. Keep it as long as proofs may be needed. With the secret, anybody can find out whether a line is in the list.

Example:

    shuffled tickets root tickets.txt --secret-file tickets.secret
    shuffled draw --table raffle-1 --numbers 3/1000000 --beacon --terms ticket_list:ROOT:1000000`
}

func (c *rootCmd) Run(s term.Streams) error {
	if _, err := os.Stat(c.Secret); errors.Is(err, fs.ErrNotExist) {
		secret := keys.NewTicketSecret()
		text := keys.NewSecret([]byte(base64.StdEncoding.EncodeToString(secret.Bytes())))
		if err := keys.WriteSecret(c.Secret, text); err != nil {
			return fmt.Errorf("writing the secret: %w", err)
		}
		fmt.Fprintf(s.Err, "Wrote the secret of this list to %s.\n", c.Secret)
	}
	found, _, err := c.Walk(s, terms.Wanted{})
	if err != nil {
		return err
	}
	root := base64.StdEncoding.EncodeToString(found.Root[:])
	return s.Answer(c.JSON, struct {
		Count uint64 `json:"count"`
		Root  string `json:"root"`
	}{found.Count, root}, "count %d\nroot %s\n", found.Count, root)
}

// Walk hashes the list, and shows its progress.
func (l *List) Walk(s term.Streams, wanted terms.Wanted) (terms.List, []*terms.Ticket, error) {
	text, err := keys.ReadSecret(l.Secret)
	if err != nil {
		return terms.List{}, nil, fmt.Errorf("reading the secret: %w", err)
	}
	secret, err := base64.StdEncoding.Strict().DecodeString(string(text.Bytes()))
	if err != nil || len(secret) != terms.SecretLen {
		return terms.List{}, nil, fmt.Errorf("%s is no secret of a list: such a file holds 32 bytes in base64", l.Secret)
	}
	defer clear(secret)
	in := s.In
	if l.File != "-" {
		f, err := os.Open(l.File)
		if err != nil {
			return terms.List{}, nil, fmt.Errorf("reading the list: %w", err)
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return terms.List{}, nil, fmt.Errorf("reading the list: %w", err)
		}
		progress := term.NewProgress(s.Err, "bytes of the list")
		defer progress.End()
		in = &counted{f: f, at: func(n uint64) { progress.At(n, uint64(info.Size())) }}
	}
	found, tickets, err := terms.Walk(in, secret, wanted)
	if err != nil {
		return found, nil, fmt.Errorf("%s: %w", l.File, err)
	}
	return found, tickets, nil
}

// counted is a file that tells how much of it was read.
type counted struct {
	f    *os.File
	read uint64
	at   func(read uint64)
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.f.Read(b)
	c.read += uint64(n)
	c.at(c.read)
	return n, err
}

type proveCmd struct {
	List
	Line   string `xor:"which" placeholder:"LINE" help:"The ticket, as its line is in the list."`
	Number uint64 `xor:"which" placeholder:"N" help:"The number of the ticket in the list, from 1."`
}

func (proveCmd) Help() string {
	return `Prints a proof of at most 2,048 bytes, which shuffled tickets check and the page for players read. It shows this line, and nothing of any other line.

Example:

    shuffled tickets prove tickets.txt --secret-file tickets.secret --line T-000042 > T-000042.proof`
}

func (c *proveCmd) Run(s term.Streams) error {
	var wanted terms.Wanted
	switch {
	case c.Line != "":
		wanted.Lines = []string{c.Line}
	case c.Number != 0:
		wanted.Numbers = []uint64{c.Number}
	default:
		return term.Usage("--line or --number must say which ticket is proved")
	}
	_, tickets, err := c.Walk(s, wanted)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(s.Out, tickets[0].Text())
	return err
}

type checkCmd struct {
	File       string `arg:"" help:"The proof; - reads standard input."`
	Transcript string `required:"" placeholder:"FILE" help:"The transcript of the draw. It is verified, and shows whether the ticket was drawn."`
	Key        string `placeholder:"VKEY" xor:"trust" help:"Trust this verifier key of the ledger, or the key in the file of this name."`
	Policy     string `placeholder:"FILE" xor:"trust" help:"Trust the keys of this C2SP witness policy, and require its quorum."`
}

func (checkCmd) Help() string {
	return `Says which number the ticket has in the list of the draw, and whether it was drawn. Take the key from where you trust it.

Example:

    shuffled tickets check T-000042.proof --transcript raffle.json --key main.vkey

Exit codes: 0 the ticket is in the list of this draw, 1 proof or transcript fails, 2 usage, 3 could not run or cannot judge. Without --key and --policy a transcript that agrees with itself proves nothing.`
}

func (c *checkCmd) Run(s term.Streams) error {
	v, err := c.verdict(s)
	if err != nil {
		return err
	}
	bound, err := listOf(v)
	if err != nil {
		return fails(s, err)
	}
	b, err := term.ReadStart(c.File, s.In, terms.MaxTicketProof)
	if err != nil {
		return fmt.Errorf("reading the proof: %w", err)
	}
	t, err := terms.ParseTicket(b)
	if err == nil {
		err = t.Check()
	}
	if err == nil {
		err = t.Of(bound)
	}
	if err != nil {
		return fails(s, err)
	}
	_, err = fmt.Fprintf(s.Out, "Ticket %s has the number %d of %d.\n%s", t.Line, t.Number, t.Count, drawn(v, t.Number))
	return err
}

// fails is the end of the command for evidence that fails or cannot be judged.
func fails(s term.Streams, err error) error {
	if errors.Is(err, audit.ErrUnknown) {
		return player.CannotJudge(err.Error())
	}
	fmt.Fprintf(s.Out, "FAILED: %s\n", term.Visible(err.Error()))
	return term.ErrFails
}

// verdict verifies the transcript. An error says nothing about the evidence.
func (c *checkCmd) verdict(s term.Streams) (*verify.Verdict, error) {
	trust, err := player.ReadTrust(c.Key, c.Policy, nil)
	if err != nil {
		return nil, err
	}
	if c.Transcript == "-" && c.File == "-" {
		return nil, term.Usage("standard input can be the proof or the transcript, but not both")
	}
	data, err := term.ReadStart(c.Transcript, s.In, openings.MaxTranscript)
	if err != nil {
		return nil, fmt.Errorf("reading the transcript: %w", err)
	}
	return verify.File(data, trust), nil
}

// listOf returns the list of tickets of the shuffle. The error says what is wrong with the transcript.
func listOf(v *verify.Verdict) (*audit.Terms, error) {
	switch v.Verdict {
	case verify.Failed:
		return nil, fmt.Errorf("the transcript fails at the step %s: shuffled verify says why", v.Failed)
	case verify.CannotJudge:
		return nil, fmt.Errorf("the transcript: %s: %w", v.Unknown, audit.ErrUnknown)
	}
	if v.Terms == nil || v.Terms.Kind != audit.TermsTicketList.String() {
		return nil, errors.New("the shuffle of the transcript is not drawn from a list of tickets")
	}
	root, err := audit.ParseHash(v.Terms.Hash)
	return &audit.Terms{Kind: audit.TermsTicketList, Count: v.Terms.Count, Hash: root}, err
}

// drawn says whether a number was drawn, as far as the transcript shows, and how strong the evidence is.
func drawn(v *verify.Verdict, number uint64) string {
	text := fmt.Sprintf("It is not among the %s that the file shows, of %d that were committed to.\n",
		term.Plural(uint64(len(v.Cards)), "number"), v.Places)
	for _, card := range v.Cards {
		if uint64(card.Shows) == number {
			text = fmt.Sprintf("It was drawn, at place %d.\n", card.Place)
		}
	}
	if v.Verdict == verify.Consistent {
		return text + "KEY NOT PINNED: anybody can make such a file. Name the ledger's key with --key.\n"
	}
	text += fmt.Sprintf("The draw is proved, at the level %q.\n", v.Level)
	if v.Terms.HouseCouldChoose {
		text += "The house could choose the winner: it knows the list, and nothing that was unknown to it has a part in the order.\n"
	}
	return text
}
