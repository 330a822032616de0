package ticket

import (
	"errors"
	"fmt"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/cli/player"
	"shuffled/internal/term"
	"shuffled/internal/terms"
	"shuffled/internal/verify"
)

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
