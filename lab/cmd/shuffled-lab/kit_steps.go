package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"shuffled/internal/build"
	"shuffled/internal/term"
	"shuffled/lab/kit"
)

// kitStep is a command whose output goes into the kit: one that anybody can run.
type kitStep struct {
	words        []string
	files        map[string]string // flag: the file that it names; "" is standard output
	about        map[string]string // by file, also those that no flag names
	reproducible bool
	without      string    // member of a printed JSON object that is left out
	again        []kitStep // what is done instead if it could not decide
}

// args returns the command line, with the files in dir.
func (st kitStep) args(dir string) []string {
	args := st.words
	for _, flag := range []string{"--from", "--second", "--out", "--html"} {
		if name, has := st.files[flag]; has {
			args = append(args[:len(args):len(args)], flag, filepath.Join(dir, name))
		}
	}
	return args
}

// kitDecks are the decks of the samples, by how many packs they have.
var kitDecks = []struct {
	packs int
	name  string
}{{1, "standard-52"}, {2, "shoe-2"}, {6, "shoe-6"}, {8, "shoe-8"}}

// steps are the commands of the kit, the quick ones first.
func (k *kitMaker) steps() []kitStep {
	steps := []kitStep{
		printed("version.json", "build, algorithm, FIPS state", "version", "--json"),
		printed("selftest.json", "known-answer tests of every primitive and format", "selftest", "--json"),
	}
	if k.with("proof") {
		proof := printed("proof.json", "draws, orders and decks, with what was tried of each; without the time that it took",
			"lab", "prove", "--json")
		proof.reproducible, proof.without = true, "seconds"
		steps = append(steps, proof)
	}
	if k.with("raw") {
		steps = append(steps, sampled("raw.bin", "raw output, before any scaling", "lab", "raw", "--bytes",
			text(k.RawBytes)))
	}
	for _, d := range k.samples() {
		steps = append(steps, d.made(""))
		if k.with("battery") && !d.unjudged {
			steps = append(steps, d.judged())
		}
	}
	if k.with("controls") {
		steps = append(steps, printed("controls.json", "faulty shufflers, each of which the battery must find", "lab",
			"selftest", "--json"))
	}
	return steps
}

// A kitSample is a file of outcomes. The battery judges the same file, except for numbers without repeats:
// they are the beginning of a shuffle, which it judges as decks.
type kitSample struct {
	name, format string // decks-1, bin
	about        string
	words        []string
	unjudged     bool
}

func (k *kitMaker) samples() (all []kitSample) {
	if !k.with("decks") {
		return nil
	}
	rest := []string{"--count", text(k.Decks), "--format", k.Format}
	for _, d := range kitDecks {
		all = append(all, kitSample{fmt.Sprintf("decks-%d", d.packs), k.Format,
			fmt.Sprintf("final outcomes: shuffles of %d × 52 cards", d.packs),
			append([]string{"lab", "decks", "--deck", d.name}, rest...), false})
	}
	return append(all,
		kitSample{"dice", k.Format, "final outcomes: two values of 1 to 6",
			append([]string{"lab", "draws", "--k", "6", "--values", "2"}, rest...), false},
		kitSample{"wheel", k.Format, "final outcomes: a value of 1 to 37",
			append([]string{"lab", "draws", "--k", "37"}, rest...), false},
		kitSample{"numbers", k.Format, "final outcomes: six numbers of 1 to 49 without repeats",
			append([]string{"lab", "draws", "--k", "49", "--values", "6", "--distinct"}, rest...), true})
}

// made makes the sample, or with a suffix another one of the same kind.
func (d kitSample) made(suffix string) kitStep {
	return sampled(d.name+suffix+"."+d.format, d.about+map[string]string{"": "", "-2nd": ", second sample"}[suffix],
		d.words...)
}

// judged has the battery judge the sample. If the battery cannot decide, a second sample is made and
// decides, by the rule.
func (d kitSample) judged() kitStep {
	st := printed("battery-"+d.name+".json", "the battery on "+d.name+": every result", "lab", "battery", "--json")
	st.files["--from"] = d.name + "." + d.format
	st.files["--html"] = "battery-" + d.name + ".html"
	st.about[st.files["--html"]] = "the same as a page with plots"
	again := st
	again.files = maps.Clone(st.files)
	again.files["--second"] = d.name + "-2nd." + d.format
	st.again = []kitStep{d.made("-2nd"), again}
	return st
}

// printed is a command that prints the file.
func printed(name, about string, words ...string) kitStep {
	return kitStep{words: words, files: map[string]string{"": name}, about: map[string]string{name: about}}
}

// sampled is a command that writes a sample and its manifest.
func sampled(name, about string, words ...string) kitStep {
	return kitStep{
		words: words, files: map[string]string{"--out": name},
		about: map[string]string{name: about, name + ".json": "how " + name + " is read, and how it was made"},
	}
}

func text(n uint64) string { return strconv.FormatUint(n, 10) }

// drop removes one member from a file with a JSON object.
func drop(file, member string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(b, &object); err != nil {
		return fmt.Errorf("reading %s: %w", filepath.Base(file), err)
	}
	delete(object, member)
	if b, err = json.MarshalIndent(object, "", "  "); err != nil {
		return err
	}
	return os.WriteFile(file, append(b, '\n'), 0o644)
}

// runStep runs a command line of shuffled and returns its exit code. The program shuffled runs commands
// that are not of the lab.
func runStep(ctx context.Context, args []string, s term.Streams) (code int, err error) {
	if args[0] == "lab" {
		return run(ctx, args[1:], s), nil
	}
	path, err := build.Sibling(product)
	if err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.In, s.Out, s.Err
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), nil
	}
	return 0, err
}

// step runs one command. A result with exit code 1 stays in the kit, marked as failed; other failures end the kit.
func (k *kitMaker) step(ctx context.Context, st kitStep) error {
	s := term.Streams{In: strings.NewReader(""), Out: new(strings.Builder), Err: k.s.Err}
	var file *os.File
	if name, prints := st.files[""]; prints {
		var err error
		if file, err = os.Create(filepath.Join(k.Out, name)); err != nil {
			return err
		}
		s.Out = file
	}
	code, runErr := runStep(ctx, st.args(k.Out), s)
	if file != nil {
		if err := file.Close(); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return errors.New("interrupted: the directory holds no complete kit")
	}
	if runErr != nil {
		return runErr
	}
	if code == term.ExitCannot && st.again != nil {
		for _, name := range []string{st.files[""], st.files["--html"]} {
			if err := os.Remove(filepath.Join(k.Out, name)); err != nil {
				return err
			}
		}
		for _, next := range st.again {
			if err := k.step(ctx, next); err != nil {
				return err
			}
		}
		return nil
	}
	if code != term.ExitOK && code != term.ExitFails {
		return fmt.Errorf("shuffled %s ended with exit code %d", term.Visible(strings.Join(st.args(""), " ")), code)
	}
	if st.without != "" {
		if err := drop(filepath.Join(k.Out, st.files[""]), st.without); err != nil {
			return err
		}
	}
	for name, about := range st.about {
		f := kit.File{Name: name, About: about, Reproducible: st.reproducible,
			Command: append([]string{"shuffled"}, st.args("")...), ExitCode: code}
		if err := k.manifest.Add(k.Out, f); err != nil {
			return err
		}
		if code == term.ExitFails {
			k.failed = append(k.failed, name)
		}
	}
	return nil
}
