// Package demo plays a whole hand in a terminal: a house, a player, a stranger who verifies, and forgeries that
// are caught.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	auditcli "shuffled/internal/cli/audit"
	"shuffled/internal/term"
	"shuffled/internal/verify"
)

// Cmd is shuffled demo.
type Cmd struct {
	Keep  string `placeholder:"DIR" help:"Leave the transcripts, the forgeries and the verifier key in this new directory."`
	Blind bool   `help:"Play a blind hand instead: two daemons deal it, and root at the house looks for the next card."`
	JSON  bool   `name:"json" help:"Print JSON: what was proved and what was caught."`
}

func (Cmd) Help() string {
	return `Takes seconds. The ledger is embedded, in a temporary directory, and the keys are made for this run. The exit code is 0 only if everything that must be proved was proved, and if every forgery was caught at its step.

Examples:

    shuffled demo
    shuffled demo --blind
    shuffled demo --keep hand && shuffled verify hand/transcript.json --key hand/demo.vkey --explain`
}

func (c *Cmd) Run(ctx context.Context, s term.Streams) (err error) {
	if left, err := os.ReadDir(c.Keep); c.Keep != "" && err == nil && len(left) > 0 {
		return term.WithHint(fmt.Errorf("there are files in %s", c.Keep), "name a new directory")
	}
	dir, err := os.MkdirTemp("", "shuffled-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	d := &demo{Sheet: auditcli.Sheet{Sheet: s.Sheet()}, out: s.Out, files: make(map[string][]byte)}
	if c.JSON {
		d.out = io.Discard
	}
	play := d.play
	if c.Blind {
		play = d.playBlind
	}
	if err := play(ctx, dir); err != nil {
		return fmt.Errorf("playing the demonstration: %w", err)
	}
	if c.Keep != "" {
		if err := keepFiles(c.Keep, d.files); err != nil {
			return err
		}
	}
	if c.JSON {
		return term.PrintJSON(s.Out, map[string]any{"key": d.trust.VKey, "proved": d.held, "caught": d.caught})
	}
	d.end(c.Keep)
	return nil
}

// demo is one run of the demonstration.
type demo struct {
	auditcli.Sheet
	out   io.Writer
	house *demoHouse
	trust verify.Trust // the house's key, pinned
	id    uint64       // of the shuffle

	files  map[string][]byte // what --keep writes, by name
	held   []provedFile
	caught []caughtForgery
}

// provedFile and caughtForgery are printed by --json.
type provedFile struct {
	File  string       `json:"file"`
	Level verify.Level `json:"level"`
}

type caughtForgery struct {
	Altered string `json:"altered"`
	Step    string `json:"step"` // of docs/SPEC.md section 10.1, or "start" of a daemon
	Detail  string `json:"detail"`
}

// play runs the acts. An act returns an error if something went differently than told.
func (d *demo) play(ctx context.Context, dir string) (err error) {
	if d.house, err = openDemoHouse(ctx, dir); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.house.close()) }()
	d.trust = verify.Trust{VKey: d.house.key.VKey()}
	d.files["demo.vkey"] = []byte(d.house.key.VKey() + "\n")
	fmt.Fprintln(d.out, d.P.Bold("shuffled demo: one hand, from its shuffle to a stranger's verdict"))
	d.say("A house deals a hand, a player checks it without trusting the house, and then there is some cheating. All of it happens here: an embedded ledger in a temporary directory, and keys made for this run.")
	d.facts("ledger", demoOrigin+", a sandbox", "key", d.house.key.VKey())
	for _, act := range []func(context.Context) error{
		d.commit, d.deal, d.onePlayer, d.closeHand, d.stranger, d.mix, d.cheat,
	} {
		if err := act(ctx); err != nil {
			return err
		}
	}
	return nil
}

// end says what to try next.
func (d *demo) end(kept string) {
	caught := ""
	if len(d.caught) > 0 {
		caught = fmt.Sprintf(", %d forgeries caught", len(d.caught))
	}
	fmt.Fprintf(d.out, "\n%s %d files proved%s.\n", d.P.Good("Everything went as described:"), len(d.held), caught)
	dir := kept
	if kept == "" {
		dir = "hand"
		again := "shuffled demo --keep " + dir
		if d.house == nil {
			again = "shuffled demo --blind --keep " + dir
		}
		fmt.Fprintf(d.out, "\nNothing was kept. To keep the files:\n  %s\n", again)
	} else {
		fmt.Fprintf(d.out, "\nThe files are in %s:\n", term.Visible(dir))
		for _, name := range slices.Sorted(maps.Keys(d.files)) {
			fmt.Fprintf(d.out, "  %s\n", name)
		}
	}
	at := func(name string) string { return term.Visible(filepath.Join(dir, name)) }
	trust, files := "--key "+at("demo.vkey"), [...]string{transcriptFile, "forged-card.json"}
	if d.house == nil {
		trust = "--policy " + at("house.policy") + " --co-dealer " + at("lab.policy")
		files = [...]string{blindFile, lookedFile}
	}
	fmt.Fprintf(d.out, "\nCheck them yourself:\n  shuffled verify %s %s --explain\n  shuffled verify %s %s\n",
		at(files[0]), trust, at(files[1]), trust)
}

// act begins an act. Everything in it begins with an empty line.
func (d *demo) act(title string) { fmt.Fprintf(d.out, "\n%s\n", d.P.Bold(title)) }

// say writes a paragraph.
func (d *demo) say(format string, args ...any) {
	d.show(term.Hanging("  ", fmt.Sprintf(format, args...), d.W))
}

// show writes lines as they are.
func (d *demo) show(lines string) { fmt.Fprint(d.out, "\n"+lines) }

// facts writes pairs of a label and a value.
func (d *demo) facts(pairs ...string) {
	fmt.Fprintln(d.out)
	for i := 0; i < len(pairs); i += 2 {
		line := fmt.Sprintf("  %-10s  %s", pairs[i], term.Fit(term.Visible(pairs[i+1]), d.W-14))
		fmt.Fprintln(d.out, strings.TrimRight(line, " "))
	}
}

// expect verifies a file under the house's key. It returns an error unless the verdict is what the story says:
// proved, or failed at the step.
func (d *demo) expect(name string, data []byte, failed string) (*verify.Verdict, error) {
	v := verify.File(data, d.trust)
	want := verify.Proved
	if failed != "" {
		want = verify.Failed
	}
	if v.Verdict != want || v.Failed != failed {
		return nil, fmt.Errorf("%s: the verdict is %q at step %q, and must be %q at %q", name, v.Verdict, v.Failed,
			want, failed)
	}
	d.files[name] = data
	if failed == "" {
		d.held = append(d.held, provedFile{File: name, Level: v.Level})
	}
	return v, nil
}
