package kit

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// newKit writes a kit of two files.
func newKit(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	m := &Manifest{Commit: "c0ffee"}
	for _, f := range []File{{Name: "sources.tar", Reproducible: true}, {Name: "samples/raw.bin"}} {
		put(t, dir, f.Name, f.Name)
		if err := m.Add(dir, f); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Write(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	name = filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(dir string)
		want   string // of the one fault; "" for none
	}{
		{"honest", func(string) {}, ""},
		{"changed", func(dir string) { put(t, dir, "sources.tar", "sources.taR") }, "sources.tar has 11 bytes"},
		{"longer", func(dir string) { put(t, dir, "samples/raw.bin", "samples/raw.bin\n") },
			"samples/raw.bin has 16 bytes"},
		{"missing", func(dir string) { os.Remove(filepath.Join(dir, "samples/raw.bin")) },
			"samples/raw.bin is missing"},
		{"added", func(dir string) { put(t, dir, "samples/more", "") }, "samples/more is not in the manifest"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := newKit(t)
			c.damage(dir)
			m, err := Read(dir)
			if err != nil {
				t.Fatal(err)
			}
			faults, err := m.Check(dir)
			if err != nil {
				t.Fatal(err)
			}
			if c.want == "" && faults != nil || c.want != "" &&
				(len(faults) != 1 || !strings.HasPrefix(faults[0], c.want)) {
				t.Errorf("faults %q, want %q", faults, c.want)
			}
		})
	}
}

func TestReadRefuses(t *testing.T) {
	for _, text := range []string{
		"", "{}", `{"format":"shuffled/lab-kit/v1","files":[]}`, `{"format":"another","files":[{"name":"a"}]}`,
		`{"format":"shuffled/lab-kit/v1","files":[{"name":"../a"}]}`,
		`{"format":"shuffled/lab-kit/v1","files":[{"name":"/etc/passwd"}]}`,
		`{"format":"shuffled/lab-kit/v1","files":[{"name":"a"}],"more":1}`,
		`{"format":"shuffled/lab-kit/v1","files":[{"name":"a"}]}{}`,
		`{"format":"shuffled/lab-kit/v1","files":[{"name":"a"}]} more`,
		`{"format":"shuffled/lab-kit/v1","files":[{"name":"a"},{"name":"./a"}]}`,
		`{"format":"shuffled/lab-kit/v1","files":[{"name":"a/../b"}]}`,
		`{"format":"shuffled/lab-kit/v1","files":[{"name":"a//b"}]}`,
		`{"format":"shuffled/lab-kit/v1","files":[{"name":"a"}]}` + strings.Repeat(" ", maxManifest),
	} {
		dir := t.TempDir()
		put(t, dir, ManifestName, text)
		if _, err := Read(dir); err == nil {
			t.Errorf("%.80s was read", text)
		}
	}
	dir := newKit(t)
	if err := os.Rename(filepath.Join(dir, ManifestName), filepath.Join(dir, "elsewhere")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("elsewhere", filepath.Join(dir, ManifestName)); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(dir); err == nil {
		t.Error("a manifest was read through a link")
	}
}

func TestFailed(t *testing.T) {
	m := &Manifest{Files: []File{{Name: "a"}, {Name: "b", ExitCode: 1}, {Name: "c", ExitCode: 3}}}
	if got := m.Failed(); len(got) != 2 || got[0].Name != "b" || got[1].Name != "c" {
		t.Errorf("%+v", got)
	}
}

func TestDiffer(t *testing.T) {
	a := func() *Manifest {
		return &Manifest{Commit: "c0ffee", Files: []File{
			{Name: "proof", SHA256: "1", Reproducible: true}, {Name: "sources", SHA256: "2", Reproducible: true},
			{Name: "raw", SHA256: "3"},
		}}
	}
	for _, c := range []struct {
		name   string
		change func(*Manifest)
		same   int
		faults []string
	}{
		{"equal", func(*Manifest) {}, 2, nil},
		{"another sample", func(m *Manifest) { m.Files[2].SHA256 = "4" }, 2, nil},
		{"a sample less", func(m *Manifest) { m.Files = m.Files[:2] }, 2, nil},
		{"another source", func(m *Manifest) { m.Files[1].SHA256 = "4" }, 1, []string{"sources has SHA-256 2 and 4"}},
		{"said otherwise", func(m *Manifest) { m.Files[1].Reproducible = false }, 1,
			[]string{"sources has SHA-256 2 and 2"}},
		{"said otherwise of a sample", func(m *Manifest) { m.Files[2].Reproducible = true }, 2,
			[]string{"raw has SHA-256 3 and 3"}},
		{"one less", func(m *Manifest) { m.Files = m.Files[1:] }, 1, []string{"proof is in one kit only"}},
		{"one more", func(m *Manifest) { m.Files = append(m.Files, File{Name: "more", Reproducible: true}) }, 2,
			[]string{"more is in one kit only"}},
		{"another commit", func(m *Manifest) { m.Commit = "b" }, 0,
			[]string{"the kits are of two commits, c0ffee and b"}},
	} {
		b := a()
		c.change(b)
		if same, faults := a().Differ(b); same != c.same || !slices.Equal(faults, c.faults) {
			t.Errorf("%s: %d equal, %q; want %d, %q", c.name, same, faults, c.same, c.faults)
		}
	}
}
