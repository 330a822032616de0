package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// packed packs a release with one program, for which it takes the binary of this test.
func packed(t *testing.T) *release {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	r := &release{dir: t.TempDir(), source: "../..", version: "1.0.0-rc.1", commit: strings.Repeat("a", 40),
		time: time.Unix(1790000000, 0).UTC()}
	if err := os.Mkdir(filepath.Join(r.dir, "linux-amd64"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r.dir, "linux-amd64", "shuffled"), text, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := r.pack(); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestSame: the same programs give the same bytes.
func TestSame(t *testing.T) {
	a, b := packed(t), packed(t)
	one, err := os.ReadFile(filepath.Join(a.dir, sumsName))
	if err != nil {
		t.Fatal(err)
	}
	two, err := os.ReadFile(filepath.Join(b.dir, sumsName))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(one, two) || bytes.Count(one, []byte("\n")) != 8 {
		t.Errorf("%s\n%s", one, two)
	}
}

// TestLicences: release and bill of materials have the licence of shuffled, and that of each library.
func TestLicences(t *testing.T) {
	r := packed(t)
	texts, err := os.ReadFile(filepath.Join(r.dir, licencesName))
	if err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(filepath.Join(r.dir, "shuffled.cdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var bom cdx.BOM
	if err := cdx.NewBOMDecoder(in, cdx.BOMFileFormatJSON).Decode(&bom); err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, c := range append(*bom.Components, *bom.Metadata.Component) {
		if c.Licenses == nil || len(*c.Licenses) == 0 {
			t.Fatalf("%s has no licence", c.Name)
		}
		found[c.Name] = (*c.Licenses)[0].License.ID
		if heading := "==== " + c.Name + " " + c.Version + "\n"; strings.HasPrefix(c.PackageURL, "pkg:golang/") &&
			!bytes.Contains(texts, []byte(heading)) {
			t.Errorf("%s has no text for %s", licencesName, c.Name)
		}
	}
	for name, want := range map[string]string{"shuffled": licence, "std": "BSD-3-Clause", "@noble/curves": "MIT",
		"github.com/goreleaser/nfpm/v2": "MIT"} {
		if found[name] != want {
			t.Errorf("the licence of %s is %q, not %s", name, found[name], want)
		}
	}
	if _, _, err := licences("example.com/nobody", "v1.0.0"); err == nil {
		t.Error("a module that is not there has a licence")
	}
	for _, name := range licenceFiles {
		own, err := os.ReadFile(filepath.Join(r.source, name))
		page, pageErr := os.ReadFile(filepath.Join(r.source, "client/typescript", name))
		if err != nil || pageErr != nil || !bytes.Equal(own, page) {
			t.Errorf("%s of the npm package is not that of the repository (%v, %v)", name, err, pageErr)
		}
	}
}

// TestImage: the image is well formed, and contains the program, the certificates for TLS and the licences.
func TestImage(t *testing.T) {
	r := packed(t)
	dir := t.TempDir()
	unpack(t, filepath.Join(r.dir, "shuffled-1.0.0-rc.1-oci.tar"), dir)
	index, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(index); err != nil {
		t.Fatal(err)
	}
	list, err := index.IndexManifest()
	if err != nil || len(list.Manifests) != 1 || list.Manifests[0].Platform.Architecture != "amd64" {
		t.Fatalf("%+v, %v", list, err)
	}
	image, err := index.Image(list.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	checkImage(t, r, image)
}

func checkImage(t *testing.T, r *release, image v1.Image) {
	t.Helper()
	config, err := image.ConfigFile()
	if err != nil || config.Config.User != "65532:65532" || config.Config.Entrypoint[0] != "/shuffled" {
		t.Errorf("%+v, %v", config, err)
	}
	layers, err := image.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatal(len(layers), err)
	}
	text, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer text.Close()
	files := map[string][]byte{}
	for in := tar.NewReader(text); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if files[h.Name], err = io.ReadAll(in); err != nil {
			t.Fatal(err)
		}
	}
	program, err := os.ReadFile(filepath.Join(r.dir, "linux-amd64", "shuffled"))
	if err != nil || !bytes.Equal(files["shuffled"], program) {
		t.Errorf("the program in the image has %d bytes, not %d: %v", len(files["shuffled"]), len(program), err)
	}
	if n := bytes.Count(files["etc/ssl/certs/ca-certificates.crt"], []byte("BEGIN CERTIFICATE")); n < 50 {
		t.Errorf("%d roots", n)
	}
	for _, name := range append(licenceFiles, licencesName) {
		if len(files["licenses/"+name]) == 0 {
			t.Errorf("the image has no %s", name)
		}
	}
}

func unpack(t *testing.T, file, dir string) {
	t.Helper()
	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := extract(tar.NewReader(in), dir); err != nil {
		t.Fatal(err)
	}
}

func extract(in *tar.Reader, dir string) error {
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		path := filepath.Join(dir, filepath.FromSlash(h.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		text, err := io.ReadAll(in)
		if err != nil {
			return err
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return err
		}
	}
}

// TestDeb: Debian's tools read the package. The version of a release candidate sorts before that of the release.
func TestDeb(t *testing.T) {
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		t.Skip("no dpkg-deb here: the package was not read")
	}
	r := packed(t)
	path := filepath.Join(r.dir, "shuffled_1.0.0-rc.1_amd64.deb")
	read := []string{"--field", path, "Package", "Version", "Architecture", "Depends"}
	fields, err := exec.Command("dpkg-deb", read...).CombinedOutput()
	want := "Package: shuffled\nVersion: 1.0.0~rc.1\nArchitecture: amd64\nDepends: passwd, procps\n"
	if err != nil || string(fields) != want {
		t.Errorf("%s, %v", fields, err)
	}
	dir := t.TempDir()
	if out, err := exec.Command("dpkg-deb", "--extract", path, dir).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	unit, err := os.ReadFile(filepath.Join(dir, "usr/lib/systemd/system/shuffled.service"))
	if err != nil || !bytes.Contains(unit, []byte("ExecStart=/usr/bin/shuffled ")) ||
		bytes.Contains(unit, []byte("/usr/local/bin/shuffled ")) {
		t.Errorf("%s, %v", unit, err)
	}
	if i, err := os.Stat(filepath.Join(dir, "usr/bin/shuffled")); err != nil || i.Mode() != 0o755 {
		t.Errorf("%v, %v", i, err)
	}
	for _, name := range append(licenceFiles, licencesName) {
		if i, err := os.Stat(filepath.Join(dir, "usr/share/doc/shuffled", name)); err != nil || i.Size() == 0 {
			t.Errorf("%v, %v", i, err)
		}
	}
}
