package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"shuffled/internal/build"
	"shuffled/internal/keys"
	"shuffled/internal/term"
	"shuffled/lab/kit"
)

type labKitCmd struct {
	Out      string   `placeholder:"DIR" required:"" xor:"mode" help:"Make a kit in this new directory."`
	Source   string   `default:"." placeholder:"DIR" help:"The checkout of the source, with git. Its commit is archived."`
	RawBytes uint64   `default:"125000000" placeholder:"N" help:"Number of bytes of raw output."`
	Decks    uint64   `default:"200000" placeholder:"N" help:"Number of outcomes in each sample: of 1, 2, 6 and 8 decks, of dice and of a wheel."`
	Format   string   `default:"bin" enum:"bin,csv" help:"Format of the samples of outcomes, which the battery judges: bin or csv."`
	Since    string   `placeholder:"REV" help:"List what changed since this version: a tag or commit of the source."`
	SignKey  string   `name:"sign-key" placeholder:"FILE" help:"Sign the manifest with this key. shuffled key generate signing --origin NAME makes a key."`
	Pass     string   `name:"passphrase-file" placeholder:"FILE" help:"File with the passphrase of an encrypted --sign-key."`
	LeaveOut []string `placeholder:"PART" help:"Leave out source, modules, binary, raw, decks, proof, controls, battery or compliance."`
	Signer   string   `placeholder:"VKEY" help:"With --check: check that this verifier key signed the manifest."`
	Check    string   `placeholder:"DIR" required:"" xor:"mode" help:"Make nothing. Check this kit against its manifest."`
	Against  string   `placeholder:"DIR" help:"With --check: check that this other kit has the same reproducible files."`
	JSON     bool     `name:"json" help:"Print JSON."`
}

func (labKitCmd) Help() string {
	return `Makes everything that a laboratory asks for, in one directory:

  - a letter to fill in, and samples with the battery on them
  - the source with digests and the modules that it needs, and the changes since a version
  - compiler, platform, version and build instructions
  - a description of the generator with every use of randomness, and the differences between collecting and dealing
  - proof, self-tests, controls and the compliance run
  - a manifest with the SHA-256 of each file, which a key can sign. It says which files another machine makes byte for byte, and which are samples

Examples:

    shuffled lab kit --out kit --source ~/src/shuffled
    shuffled lab kit --out kit --source ~/src/shuffled --since v1.0.0 --sign-key submitter.key
    shuffled lab kit --out kit --leave-out source,modules,compliance,controls --raw-bytes 1000000 --decks 1000
    shuffled lab kit --check kit --signer submitter.vkey --against kit-of-another-machine

Exit codes: 0 all is well, 1 a result or a check fails, 2 usage, 3 could not run.`
}

// kitParts are the parts that can be left out.
var kitParts = []string{"source", "modules", "binary", "raw", "decks", "proof", "controls", "battery", "compliance"}

func (c *labKitCmd) Run(ctx context.Context, s term.Streams) error {
	for _, part := range c.LeaveOut {
		if !slices.Contains(kitParts, part) {
			return term.Usage("--leave-out must be one of %s, not %s", strings.Join(kitParts, ", "), term.Visible(part))
		}
	}
	if c.Check != "" {
		return c.check(s)
	}
	switch {
	case c.Against != "":
		return term.Usage("--against needs --check")
	case c.Signer != "":
		return term.Usage("--signer needs --check")
	}
	k := &kitMaker{labKitCmd: c, s: s}
	if c.Since != "" && !k.with("source") {
		return term.Usage("--since needs the source, and --leave-out leaves the source out")
	}
	if c.SignKey != "" {
		passphrase, err := keys.ReadPassphrase(c.Pass)
		if err != nil {
			return err
		}
		if k.signer, err = keys.ReadSigning(c.SignKey, passphrase); err != nil {
			return err
		}
	}
	if err := k.make(ctx); err != nil {
		return fmt.Errorf("making the kit: %w", err)
	}
	return k.conclude()
}

// kitMaker makes one kit.
type kitMaker struct {
	*labKitCmd
	s        term.Streams
	manifest kit.Manifest
	failed   []string // files whose commands ended with exit code 1
	signer   *keys.SigningKey
}

func (k *kitMaker) with(part string) bool { return !slices.Contains(k.LeaveOut, part) }

// make writes everything. The manifest comes last, so that an interrupted run leaves no kit.
func (k *kitMaker) make(ctx context.Context) error {
	if err := os.Mkdir(k.Out, 0o755); err != nil {
		return err
	}
	k.manifest.Made = time.Now().UTC().Truncate(time.Second)
	if k.with("source") {
		if err := k.source(ctx); err != nil {
			return term.WithHint(err, "--source must name a checkout with git; --leave-out source makes a kit without the source")
		}
	}
	if err := errors.Join(k.program(), k.papers(ctx)); err != nil {
		return err
	}
	steps := k.steps()
	for i, st := range steps {
		fmt.Fprintf(k.s.Err, "kit: %d of %d: shuffled %s\n", i+1, len(steps),
			term.Visible(strings.Join(st.args(""), " ")))
		if err := k.step(ctx, st); err != nil {
			return err
		}
	}
	if k.with("compliance") {
		if err := k.compliance(ctx); err != nil {
			return err
		}
	}
	readme, err := kit.Readme(&k.manifest)
	if err == nil {
		err = k.document("README.md", "this list", readme, false)
	}
	if err != nil {
		return err
	}
	if err := k.manifest.Write(k.Out); err != nil || k.signer == nil {
		return err
	}
	return kit.Sign(k.Out, k.signer.Signer())
}

// document writes one file and takes it into the manifest.
func (k *kitMaker) document(name, about string, text []byte, reproducible bool) error {
	if err := os.WriteFile(filepath.Join(k.Out, name), text, 0o644); err != nil {
		return err
	}
	return k.manifest.Add(k.Out, kit.File{Name: name, About: about, Reproducible: reproducible})
}

// source archives the commit of the checkout.
func (k *kitMaker) source(ctx context.Context) error {
	src, err := kit.OpenSource(ctx, k.Source)
	if err != nil {
		return err
	}
	if own := build.This().Revision; own != "" && own != src.Commit {
		return fmt.Errorf("this binary is of commit %s, the source of %s", own, src.Commit)
	}
	k.manifest.Commit = src.Commit
	if k.Since != "" {
		changes, err := src.Changes(ctx, k.Since, certified)
		if err == nil {
			err = k.document("CHANGES.md", "what was changed since "+k.Since, changes, true)
		}
		if err != nil {
			return err
		}
	}
	f, err := os.Create(filepath.Join(k.Out, "sources.tar"))
	if err != nil {
		return err
	}
	digests, err := src.Archive(ctx, f)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := k.manifest.Add(k.Out, kit.File{Name: "sources.tar", About: "the source, as committed",
		Reproducible: true}); err != nil {
		return err
	}
	var list strings.Builder
	for _, d := range digests {
		fmt.Fprintf(&list, "%s  %s\n", d.SHA256, d.Name)
	}
	return k.document("sources.sha256", "SHA-256 of each file in sources.tar, for sha256sum -c", []byte(list.String()),
		true)
}

// program writes the documents about the program, and the program.
func (k *kitMaker) program() error {
	b := build.This()
	about := kit.Build{Commit: k.manifest.Commit, Version: build.Release, Go: b.Go, System: runtime.GOOS,
		Arch: runtime.GOARCH, Module: fipsModule(), FIPS: "off",
		Reproducible: build.Commit != "" && build.Commit == k.manifest.Commit}
	about.Rebuilds = about.Reproducible && k.with("modules") && k.with("binary")
	if about.Commit == "" {
		about.Commit = "(not known: no source in this kit)"
	}
	if b.FIPS {
		about.FIPS = "on, " + b.FIPSBuild
	}
	for _, d := range []struct {
		name, about string
		text        func() ([]byte, error)
		same        bool
	}{
		{"DESCRIPTION.md", "the generator: algorithm, state, seeding, scaling, every use of randomness",
			kit.Description, true},
		{"DIFFERENCES.md", "how collecting differs from dealing", kit.Differences, true},
		{"BUILD.md", "how to build the same program", func() ([]byte, error) { return kit.BuildInstructions(about) },
			about.Reproducible},
	} {
		text, err := d.text()
		if err == nil {
			err = k.document(d.name, d.about, text, d.same)
		}
		if err != nil {
			return err
		}
	}
	if about.Rebuilds {
		text, err := kit.Rebuild(about)
		if err == nil {
			err = k.document("rebuild.sh", "builds the programs from this kit alone, and compares the bytes", text, true)
		}
		if err != nil {
			return err
		}
	}
	if !k.with("binary") {
		return nil
	}
	return errors.Join(k.binary(product, about.Reproducible), k.binary("shuffled-lab", about.Reproducible))
}

// fipsModule is the GOFIPS140 that this program was built with.
func fipsModule() string {
	info, _ := debug.ReadBuildInfo()
	for _, s := range info.Settings {
		if s.Key == "GOFIPS140" {
			return s.Value
		}
	}
	return "off"
}

// product is the program that a kit is about, in the directory of this one.
const product = "shuffled"

// binary copies a program.
func (k *kitMaker) binary(name string, reproducible bool) error {
	path, err := build.Sibling(name)
	if err != nil {
		return err
	}
	from, err := os.Open(path)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenFile(filepath.Join(k.Out, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	if err := errors.Join(err, to.Close()); err != nil {
		return err
	}
	said := map[string]string{product: "the program that deals", "shuffled-lab": "the program that made this kit"}[name]
	if !reproducible {
		said += "; not built by scripts/build.sh from the source here, so nobody can build the same bytes"
	}
	return k.manifest.Add(k.Out, kit.File{Name: name, About: said, Reproducible: reproducible})
}

// conclude prints what was made, and fails if a result does.
func (k *kitMaker) conclude() error {
	if k.JSON {
		if err := term.PrintJSON(k.s.Out, &k.manifest); err != nil {
			return err
		}
	} else {
		w := tabwriter.NewWriter(k.s.Out, 0, 0, 2, ' ', 0)
		for _, f := range k.manifest.Files {
			kind := "new each time"
			if f.Reproducible {
				kind = "reproducible"
			}
			fmt.Fprintf(w, "%s\t%s bytes\t%s\t%s\n", f.Name, term.Counted(uint64(f.Size)), f.SHA256[:16], kind)
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	for _, name := range k.failed {
		fmt.Fprintf(k.s.Err, "kit: %s: the evidence fails\n", name)
	}
	if k.failed != nil {
		return term.ErrFails
	}
	return nil
}
