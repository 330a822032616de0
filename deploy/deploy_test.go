package deploy

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestContainerfileCopiesEnough sees that every package in the binary lies in a
// directory that enters the build, and nothing else does.
func TestContainerfileCopiesEnough(t *testing.T) {
	var copied []string
	for _, m := range regexp.MustCompile(`(?m)^COPY (\S+) (\S+)$`).FindAllStringSubmatch(read(t, "Containerfile"), -1) {
		if m[1] != m[2] {
			t.Errorf("%s is copied to %s", m[1], m[2])
		}
		copied = append(copied, m[1])
	}
	if len(copied) == 0 {
		t.Fatal("no COPY found")
	}
	cmd := exec.Command("go", "list", "-e", "-deps", "-json=Dir,Module", "./cmd/shuffled")
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	needed := map[string]bool{}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			Dir    string
			Module *struct {
				Main bool
				Dir  string
			}
		}
		if err := dec.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if p.Module == nil || !p.Module.Main {
			continue
		}
		rel, err := filepath.Rel(p.Module.Dir, p.Dir)
		if err != nil {
			t.Fatal(err)
		}
		top, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
		needed[top] = true
	}
	if !needed["cmd"] {
		t.Fatal("the binary has no packages")
	}
	for top := range needed {
		if !slices.Contains(copied, top) {
			t.Errorf("the binary needs %s, which is not copied", top)
		}
	}
}

// TestImagesHaveShortNames keeps registries out of the files: where an image comes from is the operator's choice.
func TestImagesHaveShortNames(t *testing.T) {
	images := regexp.MustCompile(`(?m)^(?:FROM|\s+image:) (\S+)`)
	for path, want := range map[string]int{"Containerfile": 2, "compose.yaml": 4} {
		found := images.FindAllStringSubmatch(read(t, path), -1)
		if len(found) != want {
			t.Errorf("%s names %d images, want %d", path, len(found), want)
		}
		for _, m := range found {
			if strings.Contains(m[1], "/") {
				t.Errorf("%s names a registry: %s", path, m[1])
			}
		}
	}
}

// TestUnits asks systemd, where there is one, whether it understands the units and how exposed it finds the services.
func TestUnits(t *testing.T) {
	for _, name := range []string{"shuffled", "shuffled-witness", "shuffled-audit"} {
		t.Run(name, func(t *testing.T) { testUnit(t, name) })
	}
}

func testUnit(t *testing.T, name string) {
	file := name + ".service"
	unit := read(t, file)
	for _, line := range []string{
		"NoNewPrivileges=yes", "ProtectSystem=strict", "LimitCORE=0", "MemorySwapMax=0",
		"MemoryDenyWriteExecute=yes", "StateDirectory=" + name, "User=" + name, "CapabilityBoundingSet=",
	} {
		if !strings.Contains(unit, "\n"+line+"\n") {
			t.Errorf("the unit lacks %s", line)
		}
	}
	// What root made in the directory, such as a mark, would keep the daemon from its start.
	if name == "shuffled" && !strings.Contains(unit, "\nExecStartPre=+/bin/chown -R shuffled: /var/lib/shuffled\n") {
		t.Error("the unit does not give the daemon's user what root made in the data directory")
	}
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("no systemd-analyze here")
	}
	// A copy whose program exists everywhere.
	path := filepath.Join(t.TempDir(), file)
	unit = regexp.MustCompile(`/usr/local/bin/\S+`).ReplaceAllString(unit, "/bin/true")
	if err := os.WriteFile(path, []byte(unit), 0o644); err != nil {
		t.Fatal(err)
	}
	// It also speaks of the machine's other units, which are not ours to judge.
	out, err := exec.Command(analyze, "verify", "--recursive-errors=no", path).CombinedOutput()
	if err != nil || strings.Contains(string(out), file) {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
	// The scale goes from 0 to 100; above the threshold is an error.
	out, err = exec.Command(analyze, "security", "--offline=true", "--threshold=20", "--no-pager",
		path).CombinedOutput()
	if err != nil {
		t.Errorf("systemd-analyze security: %v\n%s", err, out)
	}
}

// TestAlertsNameFigures: each figure of the alerting rules is one that the daemon shows.
func TestAlertsNameFigures(t *testing.T) {
	sources, err := filepath.Glob("../cmd/shuffled/*.go")
	if err != nil {
		t.Fatal(err)
	}
	shown := read(t, "../internal/httpapi/metrics.go")
	for _, path := range sources {
		shown += read(t, path)
	}
	names := regexp.MustCompile(`\bshuffled_[a-z_]+`).FindAllString(read(t, "alerts.yaml"), -1)
	for _, name := range names {
		name = strings.TrimSuffix(name, "_bucket") // of a histogram
		figure, ofLedger := strings.CutPrefix(name, "shuffled_ledger_")
		if !strings.Contains(shown, `"`+name+`"`) && !(ofLedger && strings.Contains(shown, `figure("`+figure+`"`)) {
			t.Errorf("%s is no figure of the daemon", name)
		}
	}
	if len(names) < 10 {
		t.Errorf("%d figures were found in the rules", len(names))
	}
}
