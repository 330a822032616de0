package audit

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"syscall"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/cli/player"
	"shuffled/internal/term"
	"shuffled/internal/verify"
)

// VerifyCmd is shuffled verify.
type VerifyCmd struct {
	File     string   `arg:"" help:"The transcript or receipt; - reads standard input."`
	Key      string   `placeholder:"VKEY" xor:"trust" help:"Trust this verifier key of the ledger, or the key in the file of this name."`
	Policy   string   `placeholder:"FILE" xor:"trust" help:"Trust the keys of this C2SP witness policy, and require its quorum."`
	SlotFile []string `name:"my-slot-file" placeholder:"FILE" sep:"none" help:"Judge for the holder of the slot whose value is in this file: 32 bytes in base64 or hexadecimal, or what shuffled slot new printed. May be repeated."`
	Auditor  []string `placeholder:"VKEY" sep:"none" help:"Believe the statements of the auditor with this verifier key, or with the key in the file of this name. May be repeated."`
	CoDealer string   `name:"co-dealer" placeholder:"FILE" help:"Trust this C2SP witness policy for the ledger of a co-dealer. Without it, no verdict says blind."`
	History  string   `placeholder:"FILE" help:"Compare the requests of a blind shuffle with this text of the game's history."`
	Deck     string   `placeholder:"NAME" help:"Fail unless this published deck was shuffled as a whole, such as standard-52 or shoe-8."`
	Explain  bool     `help:"Show every draw and swap, if the tape is disclosed."`
	Require  string   `placeholder:"LEVEL" enum:",recorded,witnessed,mixed" default:"" help:"Fail below this level: recorded, witnessed or mixed."`
	HTML     string   `name:"html" placeholder:"FILE" help:"Also write the verdict to FILE as one page to print: what was proved and how, for which hand, and how to repeat it."`
	JSON     bool     `name:"json" help:"Print JSON."`
}

func (VerifyCmd) Help() string {
	return `Recomputes everything on this machine, without a network and without the house. Take the key from where you trust it, not from the person who gave you the file.

Examples:

    shuffled verify transcript.json --key main.vkey
    shuffled verify transcript.json --key main.vkey --explain
    shuffled verify transcript.json --key main.vkey --html verdict.html
    shuffled verify transcript.json --policy player.policy --require witnessed
    shuffled verify transcript.json --key main.vkey --auditor lab.vkey
    shuffled verify transcript.json --key main.vkey --co-dealer lab.policy
    shuffled verify commit.receipt --policy player.policy --my-slot-file my-slot
    curl -s $URL/v1/main/shuffles/7/transcript | shuffled verify - --key main.vkey --json

Exit codes: 0 proved, 1 the evidence fails or is below --require, 2 usage, 3 could not run or cannot judge. A file without the slot of --my-slot-file fails. Without --key and --policy a file that agrees with itself exits 0, as "key not pinned".`
}

func (c *VerifyCmd) Run(s term.Streams) error {
	trust, err := player.ReadTrust(c.Key, c.Policy, c.Auditor)
	if mistake, ok := errors.AsType[*term.UsageError](err); ok && c.JSON {
		// The verdict is the same for every file (docs/SPEC.md section 10).
		v := &verify.Verdict{Verdict: verify.CannotJudge, Unknown: mistake.Error(), Steps: []verify.Step{}}
		return errors.Join(term.PrintJSON(s.Out, v), err)
	}
	if err != nil {
		return err
	}
	trust.Deck = c.Deck
	if c.History != "" {
		if trust.History, err = os.ReadFile(c.History); err != nil {
			return fmt.Errorf("reading the history: %w", err)
		}
	}
	if c.CoDealer != "" {
		if trust.CoDealer, err = term.ReadBounded(c.CoDealer, audit.MaxPolicyFile); err != nil {
			return fmt.Errorf("reading the co-dealer's policy: %w", err)
		}
	}
	if c.File == "-" && slices.Contains(c.SlotFile, "-") {
		return term.Usage("standard input can be the evidence or a slot's value, but not both")
	}
	for _, name := range c.SlotFile {
		value, err := player.ReadSlot(name, s.In)
		if err != nil {
			return err
		}
		trust.Slots = append(trust.Slots, value)
	}
	data, err := readEvidence(c.File, s.In)
	if err != nil {
		return err
	}
	v := verify.File(data, trust)
	if c.HTML != "" {
		if err := writeVerdictPage(c.HTML, c.File, data, trust, v); err != nil {
			return err
		}
	}
	var paper *DryRun
	if c.Explain {
		paper = NewDryRun(data)
	}
	r := Sheet{s.Sheet()}
	if err := s.Answer(c.JSON, struct {
		*verify.Verdict
		Conclusions []Conclusion `json:"conclusions,omitempty"`
		Explain     *DryRun      `json:"explain,omitempty"`
	}{v, Conclude(v), paper}, "%s%s", r.Verdict(c.File, data, v), paper.Text(r)); err != nil {
		return err
	}
	return c.judge(s, v)
}

// judge turns the verdict into the exit code.
func (c *VerifyCmd) judge(s term.Streams, v *verify.Verdict) error {
	switch v.Verdict {
	case verify.Failed:
		return term.ErrFails
	case verify.CannotJudge:
		return player.CannotJudge(v.Unknown)
	}
	levels := []verify.Level{verify.LevelKeyNotPinned, verify.LevelRecorded, verify.LevelWitnessed, verify.LevelMixed}
	if c.Require != "" && slices.Index(levels, v.Level) < slices.Index(levels, verify.Level(c.Require)) {
		fmt.Fprintf(s.Err, "shuffled: --require asks for the level %q, and the evidence has the level %q\n", c.Require, v.Level)
		return term.ErrFails
	}
	return nil
}

// readEvidence reads the file, or standard input for "-". It reads at most one byte more than a transcript may
// have, so that a longer file fails as evidence.
func readEvidence(name string, stdin io.Reader) (data []byte, err error) {
	if data, err = term.ReadStart(name, stdin, openings.MaxTranscript); err != nil {
		if err = fmt.Errorf("reading the evidence: %w", err); errors.Is(err, syscall.EISDIR) {
			return nil, term.WithHint(err, "a bundle is a directory; shuffled audit verify judges a bundle")
		}
		return nil, err
	}
	return data, nil
}
