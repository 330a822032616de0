package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"shuffled/internal/build"
	"shuffled/internal/term"
	"shuffled/lab/kit"
)

// certified are the packages with the generator and the shuffle, which a laboratory certifies, and those
// that call them.
var certified = []string{"internal/shuffle", "internal/entropy", "internal/outcome", "internal/dealer"}

// papers writes what a laboratory asks about the machine, the compiler and the submitter, and the input of
// outside suites.
func (k *kitMaker) papers(ctx context.Context) error {
	b := build.This()
	platform := kit.PlatformOf(b.Kernel, b.VDSO)
	if err := k.object("platform.json", "the machine and the kernel whose generator made the samples", platform); err != nil {
		return err
	}
	letter := kit.Letter{Platform: platform, Version: b.Version, Commit: k.manifest.Commit, Since: k.Since, Go: b.Go,
		FIPS: "off"}
	if b.FIPS {
		letter.FIPS = "on, " + b.FIPSBuild
	}
	if k.with("modules") {
		compiler, err := kit.CompilerHere(ctx)
		if err == nil {
			err = k.object("compiler.json", "the compiler here, by digest", compiler)
		}
		if err == nil {
			letter.Compiler = true
			err = k.modules(ctx)
		}
		if err != nil {
			return term.WithHint(err, "--leave-out modules makes a kit without go and a checkout")
		}
	}
	text, err := letter.Text()
	if err == nil {
		err = k.document("SUBMISSION.md", "the letter, to be filled in", text, false)
	}
	if err == nil && k.with("raw") {
		if text, err = kit.Suite(k.RawBytes); err == nil {
			err = k.document("sts.txt", "answers for NIST STS on raw.bin: assess 1000000 < sts.txt", text, false)
		}
	}
	return err
}

// object writes a value as JSON.
func (k *kitMaker) object(name, about string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return k.document(name, about, append(b, '\n'), false)
}

func (k *kitMaker) modules(ctx context.Context) error {
	f, err := os.Create(filepath.Join(k.Out, "modules.tar"))
	if err != nil {
		return err
	}
	if err := errors.Join(kit.Modules(ctx, k.Source, f), f.Close()); err != nil {
		return err
	}
	return k.manifest.Add(k.Out, kit.File{Name: "modules.tar",
		About: "the modules that the source needs, as a module proxy: BUILD.md builds with them alone"})
}

// compliance runs the evidence that docs/COMPLIANCE.md names, in the checkout.
func (k *kitMaker) compliance(ctx context.Context) error {
	fmt.Fprintln(k.s.Err, "kit: the compliance run")
	const name = "compliance.txt"
	f, err := os.Create(filepath.Join(k.Out, name))
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "run", "-C", "lab", "./compliance/run")
	cmd.Dir, cmd.Stdout, cmd.Stderr = k.Source, f, k.s.Err
	err = cmd.Run()
	code := cmd.ProcessState.ExitCode()
	if _, ended := errors.AsType[*exec.ExitError](err); ended && code == 1 {
		k.failed, err = append(k.failed, name), nil
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return term.WithHint(fmt.Errorf("the compliance run: %w", err), "--leave-out compliance makes a kit without the compliance run")
	}
	return k.manifest.Add(k.Out, kit.File{Name: name, About: "each clause of docs/COMPLIANCE.md with the result of what shows it",
		Command: []string{"make", "compliance"}, ExitCode: code})
}
