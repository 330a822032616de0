package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/licensecheck"
	"golang.org/x/mod/module"
)

// licence is the SPDX name of the licence of shuffled.
const licence = "Apache-2.0"

// licenceFiles are in the repository, and go into packages, image and release.
var licenceFiles = []string{"LICENSE", "NOTICE"}

// licencesName is the name of the file with the licences of all Go modules that the programs are built from.
const licencesName = "LICENSES.txt"

// licenceFile matches the files of a module that hold its licence.
var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)`)

// library returns a component of the bill of materials with its licences, named as in SPDX.
func library(ref, name, version string, licences ...string) cdx.Component {
	c := cdx.Component{BOMRef: ref, Type: cdx.ComponentTypeLibrary, Name: name, Version: version, PackageURL: ref,
		Licenses: &cdx.Licenses{}}
	for _, name := range licences {
		*c.Licenses = append(*c.Licenses, cdx.LicenseChoice{License: &cdx.License{ID: name}})
	}
	return c
}

// moduleDir returns the directory of a module's source. The module "std" is the standard library of the Go in use.
func moduleDir(path, version string) (string, error) {
	out, err := exec.Command("go", "env", "GOMODCACHE", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("asking Go for its directories: %w", err)
	}
	cache, root, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if path == "std" {
		return root, nil
	}
	escaped, err := module.EscapePath(path)
	if err != nil {
		return "", err
	}
	version, err = module.EscapeVersion(version)
	return filepath.Join(cache, escaped+"@"+version), err
}

// licences returns the names of a Go module's licences, and the text of the files that hold them. A module without a
// licence that has a name is an error: nobody may pass it on.
func licences(path, version string) (names []string, text string, err error) {
	dir, err := moduleDir(path, version)
	if err != nil {
		return nil, "", err
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, "", fmt.Errorf("reading the source of %s %s: %w", path, version, err)
	}
	for _, file := range files {
		if file.IsDir() || !licenceFile.MatchString(file.Name()) {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, file.Name()))
		if err != nil {
			return nil, "", err
		}
		for _, found := range licensecheck.Scan(b).Match {
			if !strings.HasPrefix(found.ID, "GooglePatents") { // a grant in addition, which SPDX does not list
				names = append(names, found.ID)
			}
		}
		text += string(b) + "\n"
	}
	if len(names) == 0 {
		return nil, "", fmt.Errorf("finding the licence of %s %s: no file in %s holds one that is known", path, version, dir)
	}
	slices.Sort(names)
	return slices.Compact(names), text, nil
}

// pageLibraries returns the packages of npm that the verify page is made with. NOTICE has their licence.
func (r *release) pageLibraries() ([]cdx.Component, error) {
	b, err := os.ReadFile(filepath.Join(r.source, "client/typescript/package-lock.json"))
	var lock struct {
		Packages map[string]struct {
			Version, License string
			Dev              bool
		}
	}
	if err == nil {
		err = json.Unmarshal(b, &lock)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the libraries of the verify page: %w", err)
	}
	var list []cdx.Component
	for path, p := range lock.Packages {
		if name, ok := strings.CutPrefix(path, "node_modules/"); ok && !p.Dev {
			ref := "pkg:npm/" + strings.Replace(name, "@", "%40", 1) + "@" + p.Version
			list = append(list, library(ref, name, p.Version, p.License))
		}
	}
	return list, nil
}
