package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// sumsName is the name of the file of digests, which sha256sum -c reads.
const sumsName = "SHA256SUMS"

// built returns the versions of the Go modules that the programs are built from. The standard library is "std".
func built(programs []string) (map[string]string, error) {
	modules := map[string]string{}
	for _, program := range programs {
		info, err := buildinfo.ReadFile(program)
		if err != nil {
			return nil, fmt.Errorf("reading what %s is built from: %w", program, err)
		}
		modules["std"] = info.GoVersion
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			if strings.HasPrefix(m.Version, "v") { // any other is a module of this repository
				modules[m.Path] = m.Version
			}
		}
	}
	return modules, nil
}

// materials writes the bill of materials, in CycloneDX, and the texts of the licences of what is in it. It prints the
// name of each licence.
func (r *release) materials(programs []string) error {
	modules, err := built(programs)
	if err != nil {
		return err
	}
	list, err := r.pageLibraries()
	if err != nil {
		return err
	}
	var texts strings.Builder
	for _, path := range slices.Sorted(maps.Keys(modules)) {
		version := modules[path]
		names, text, err := licences(path, version)
		if err != nil {
			return err
		}
		list = append(list, library("pkg:golang/"+path+"@"+version, path, version, names...))
		fmt.Fprintf(&texts, "==== %s %s\n\n%s\n", path, version, text)
	}
	slices.SortFunc(list, func(a, b cdx.Component) int { return strings.Compare(a.BOMRef, b.BOMRef) })
	for _, c := range list {
		var names []string
		for _, choice := range *c.Licenses {
			names = append(names, choice.License.ID)
		}
		fmt.Printf("%s %s: %s\n", c.Name, c.Version, strings.Join(names, ", "))
	}
	if err := os.WriteFile(filepath.Join(r.dir, licencesName), []byte(texts.String()), 0o644); err != nil {
		return err
	}
	bom := cdx.NewBOM()
	shuffled := library("", "shuffled", r.version, licence)
	shuffled.Type = cdx.ComponentTypeApplication
	bom.Metadata = &cdx.Metadata{Timestamp: r.time.Format("2006-01-02T15:04:05Z"), Component: &shuffled}
	bom.Components = &list
	var b bytes.Buffer
	if err := cdx.NewBOMEncoder(&b, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom); err != nil {
		return fmt.Errorf("writing the bill of materials: %w", err)
	}
	return os.WriteFile(filepath.Join(r.dir, "shuffled.cdx.json"), b.Bytes(), 0o644)
}

// A statement is an in-toto statement, version 1. It says that scripts/release.sh built the
// programs of the release from the commit (SLSA provenance, version 1).
type statement struct {
	Type          string    `json:"_type"`
	Subject       []subject `json:"subject"`
	PredicateType string    `json:"predicateType"`
	Predicate     predicate `json:"predicate"`
}

type subject struct {
	Name   string            `json:"name"`
	Digest map[string]string `json:"digest"`
}

type predicate struct {
	BuildDefinition struct {
		BuildType            string            `json:"buildType"`
		ExternalParameters   map[string]string `json:"externalParameters"`
		ResolvedDependencies []subject         `json:"resolvedDependencies"`
	} `json:"buildDefinition"`
	RunDetails struct {
		Builder struct {
			ID string `json:"id"`
		} `json:"builder"`
	} `json:"runDetails"`
}

// provenance writes from what, and how, the programs were built.
func (r *release) provenance(programs []string) error {
	s := statement{Type: "https://in-toto.io/Statement/v1", PredicateType: "https://slsa.dev/provenance/v1"}
	for _, program := range programs {
		name, sum, err := r.digest(program)
		if err != nil {
			return err
		}
		s.Subject = append(s.Subject, subject{name, map[string]string{"sha256": sum}})
	}
	info, err := buildinfo.ReadFile(programs[0])
	if err != nil {
		return err
	}
	d := &s.Predicate.BuildDefinition
	d.BuildType = "urn:shuffled:scripts/release.sh"
	d.ExternalParameters = map[string]string{"version": r.version, "compiler": info.GoVersion}
	d.ResolvedDependencies = []subject{{"source", map[string]string{"gitCommit": r.commit}}}
	s.Predicate.RunDetails.Builder.ID = "urn:shuffled:holder-of-the-release-key"
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.dir, "provenance.json"), append(b, '\n'), 0o644)
}

// digest returns a file's name in the release and its SHA-256.
func (r *release) digest(path string) (name, sum string, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", "", err
	}
	if name, err = filepath.Rel(r.dir, path); err != nil {
		return "", "", err
	}
	return filepath.ToSlash(name), fmt.Sprintf("%x", sha256.Sum256(text)), nil
}

// sums writes the digests of all files, in the format of sha256sum.
func (r *release) sums() error {
	var b strings.Builder
	err := filepath.WalkDir(r.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), sumsName) {
			return err
		}
		name, sum, err := r.digest(path)
		fmt.Fprintf(&b, "%s  %s\n", sum, name)
		return err
	})
	if err != nil {
		return fmt.Errorf("computing digests: %w", err)
	}
	return os.WriteFile(filepath.Join(r.dir, sumsName), []byte(b.String()), 0o644)
}
