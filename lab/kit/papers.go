package kit

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// A Platform is the platform of a kit's generator, which is the kernel's.
type Platform struct {
	System    string `json:"system"`    // operating system and architecture, as Go names them
	Kernel    string `json:"kernel"`    // release
	VDSO      string `json:"vdso"`      // whether the kernel offers getrandom in its vDSO: yes, no or unknown
	Processor string `json:"processor"` // model
	CPUs      int    `json:"cpus"`
	Release   string `json:"release"` // of the distribution
}

// PlatformOf adds to the program's own knowledge what Linux says about the machine; "" for unknown values.
func PlatformOf(kernel, vdso string) Platform {
	return Platform{System: runtime.GOOS + "/" + runtime.GOARCH, Kernel: kernel, VDSO: vdso, CPUs: runtime.NumCPU(),
		Processor: field("/proc/cpuinfo", "model name", ":"), Release: field("/etc/os-release", "PRETTY_NAME", "=")}
}

// field returns the value of the first line with a name.
func field(file, name, sep string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, sep); ok && strings.TrimSpace(key) == name {
			return strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	return ""
}

// A Compiler is the go command of this machine, by digest.
type Compiler struct {
	Version string   `json:"version"`
	Tools   []Digest `json:"tools"`
}

// CompilerHere finds the go command and the tools that it builds with.
func CompilerHere(ctx context.Context) (c Compiler, err error) {
	out, err := goCommand(ctx, ".", nil, "env", "GOVERSION", "GOROOT", "GOTOOLDIR")
	if err != nil {
		return c, err
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != 3 {
		return c, fmt.Errorf("go env printed %d lines, not 3", len(lines))
	}
	c.Version = lines[0]
	for _, file := range []string{filepath.Join(lines[1], "bin", "go"), filepath.Join(lines[2], "asm"),
		filepath.Join(lines[2], "compile"), filepath.Join(lines[2], "link")} {
		sum, _, err := digestFile(file)
		if err != nil {
			return c, err
		}
		c.Tools = append(c.Tools, Digest{filepath.Base(file), sum})
	}
	return c, nil
}

// goCommand runs go in a directory.
func goCommand(ctx context.Context, dir string, env []string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return nil, fmt.Errorf("go %s: %w: %s", args[0], err, bytes.TrimSpace(exit.Stderr))
	}
	return out, err
}

// Changes returns the commits after the revision since, a line each, and which files of the certified path
// they touched.
func (s *Source) Changes(ctx context.Context, since string, certified []string) ([]byte, error) {
	from, err := s.git(ctx, "rev-parse", "--verify", since+"^{commit}")
	if err != nil {
		return nil, fmt.Errorf("finding the version %s: %w", since, err)
	}
	span := strings.TrimSpace(string(from)) + ".." + s.Commit
	log, err := s.git(ctx, "log", "--no-merges", "--reverse", "--format=- %h %cs %s", span)
	if err != nil {
		return nil, err
	}
	files, err := s.git(ctx, append([]string{"diff", "--stat=110", span, "--"}, certified...)...)
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		files = []byte("none\n")
	}
	return fmt.Appendf(nil, "# Changes since %s\n\nFrom commit %sto %s.\n\n%s\n## Files of the certified path\n\n```\n%s```\n",
		since, from, s.Commit, log, files), nil
}

// programs are the programs of scripts/build.sh, by module.
var programs = map[string]string{".": "./cmd/shuffled", "lab": "./cmd/shuffled-lab", "perf": "./cmd/shuffled-bench"}

// Modules writes to w, as a tar, the modules of which the programs of the checkout at dir are built, in the
// form of a module proxy: with it, no registry is needed. They are copied from this machine's module cache,
// and go.sum has the digest of each.
func Modules(ctx context.Context, dir string, w io.Writer) error {
	out, err := goCommand(ctx, dir, nil, "env", "GOMODCACHE")
	if err != nil {
		return err
	}
	room, err := os.MkdirTemp("", "modules-")
	if err != nil {
		return err
	}
	defer func() {
		// A module cache is read-only. What cannot be removed stays in the temporary directory.
		_, _ = goCommand(context.WithoutCancel(ctx), dir, []string{"GOMODCACHE=" + room}, "clean", "-modcache")
		os.RemoveAll(room)
	}()
	env := []string{"GOMODCACHE=" + room, "GOFLAGS=-modcacherw", "GOWORK=off", "GOSUMDB=off",
		"GOPROXY=file://" + filepath.Join(strings.TrimSpace(string(out)), "cache", "download")}
	for module, program := range programs {
		if _, err := goCommand(ctx, filepath.Join(dir, module), env, "list", "-deps", program); err != nil {
			return fmt.Errorf("collecting modules: %w", err)
		}
	}
	return packModules(filepath.Join(room, "cache", "download"), w)
}

// packModules archives the files of a proxy, in the order of their names.
func packModules(dir string, w io.Writer) error {
	var names []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && slices.Contains([]string{".info", ".mod", ".zip"}, filepath.Ext(name)) {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		return err
	}
	t := tar.NewWriter(w)
	for _, name := range names {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			err = t.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(b)),
				Format: tar.FormatPAX})
		}
		if err == nil {
			_, err = t.Write(b)
		}
		if err != nil {
			return err
		}
	}
	return t.Close()
}
