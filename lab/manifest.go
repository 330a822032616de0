package lab

import (
	"encoding/hex"
	"fmt"

	"shuffled/internal/entropy"
	"shuffled/internal/shuffle"
)

// Algorithm is the version of docs/SPEC.md that outcomes follow.
const Algorithm = "shuffled/v1"

// Manifest says what a file holds, how it is read, and what made it: everything that a test lab needs in
// addition to the file.
type Manifest struct {
	Command    string         `json:"command"`
	Parameters map[string]any `json:"parameters"` // as they were given, defaults included
	Algorithm  string         `json:"algorithm"`
	Build      Build          `json:"build"`
	Started    string         `json:"started"` // UTC, RFC 3339
	Seconds    float64        `json:"seconds"`

	File      string `json:"file,omitempty"` // its name, where it went to one
	Bytes     uint64 `json:"bytes"`
	SHA256    string `json:"sha256"`
	Outcomes  uint64 `json:"outcomes"`            // 0 for raw output
	Positions int    `json:"positions,omitempty"` // values in each outcome

	Format    FormatInfo `json:"format"`
	Order     Order      `json:"order"`
	Generator Generator  `json:"generator"`
	Deck      *DeckInfo  `json:"deck,omitempty"`
}

// Build is what the program knows about itself and its platform.
type Build struct {
	Version   string `json:"version"`
	Revision  string `json:"revision,omitempty"`
	Modified  bool   `json:"modified,omitempty"`
	Algorithm string `json:"algorithm"`
	Go        string `json:"go"`
	FIPS      bool   `json:"fips"`
	FIPSBuild string `json:"fips_module"`
	Platform  string `json:"platform"` // operating system and architecture of Go
	Kernel    string `json:"kernel,omitempty"`
	VDSO      string `json:"vdso_getrandom"` // yes, no or unknown: whether the kernel offers getrandom there
}

// FormatInfo says how the file is read.
type FormatInfo struct {
	Name        string `json:"name"` // raw, or a Format
	RecordBytes int    `json:"record_bytes,omitempty"`
	ValueBytes  int    `json:"value_bytes,omitempty"`
	Description string `json:"description"`
}

// Order says which worker made which part of the file.
type Order struct {
	Workers int    `json:"workers"`
	Block   uint64 `json:"block"`
	Rule    string `json:"rule"`
}

// Generator says where the bytes came from.
type Generator struct {
	Source      string `json:"source"`
	HealthTests string `json:"health_tests"`
	Tapes       uint64 `json:"tapes"`
	TapeBytes   uint64 `json:"tape_bytes"` // of all tapes together
	Failures    uint64 `json:"failures"`   // a manifest is written only for a run without any
}

// DeckInfo is the deck that was shuffled; an index into Names is a card's value.
type DeckInfo struct {
	Name  string   `json:"name,omitempty"` // of a published deck
	Cards int      `json:"cards"`
	Hash  string   `json:"hash"` // docs/SPEC.md section 3, hexadecimal
	Names []string `json:"names"`
}

// RawManifest is the manifest of raw output, without the members that only the command knows: Parameters,
// Build, Started, Seconds and File.
func RawManifest(w *Written) *Manifest {
	m := newManifest("lab raw", w)
	m.Format = FormatInfo{Name: "raw", Description: "the generator's bytes as tapes hold them, before any scaling, and nothing between them"}
	m.Order.Rule = fmt.Sprintf("tape t, the bytes from %d·t on, was read by worker t mod workers", entropy.MaxTape)
	return m
}

// Manifest is the manifest of what the sample wrote, without the members that only the command knows:
// Parameters, Build, Started, Seconds and File.
func (s Sample) Manifest(w *Written) *Manifest {
	command := "lab decks"
	if s.Recipe.Ranges != nil {
		command = "lab draws"
	}
	m := newManifest(command, w)
	m.Outcomes, m.Positions = s.Count, s.Recipe.Positions()
	m.Format = FormatInfo{Name: string(s.Format), RecordBytes: s.RecordBytes(), Description: s.Describe()}
	if s.Format == Binary {
		m.Format.ValueBytes = s.valueBytes()
	}
	m.Order.Rule = "outcome i, from 0, was made by worker floor(i / block) mod workers; the outcomes of a worker stand in the order in which it made them"
	if s.Recipe.Ranges == nil {
		m.Deck = infoOf(s.Deck)
	}
	return m
}

func infoOf(d shuffle.Deck) *DeckInfo {
	hash := d.Hash()
	return &DeckInfo{d.Name(), d.Len(), hex.EncodeToString(hash[:]), d.Cards()}
}

func newManifest(command string, w *Written) *Manifest {
	return &Manifest{
		Command: command, Algorithm: Algorithm, Bytes: w.Bytes, SHA256: w.SHA256,
		Order: Order{Workers: w.Workers, Block: w.Block},
		Generator: Generator{
			Source:      "the platform generator through crypto/rand: one read for each tape, of which the program keeps nothing; build.vdso_getrandom says whether the kernel keeps a state of its generator in memory of the process",
			HealthTests: fmt.Sprintf("SP 800-90B section 4.4, repetition count and adaptive proportion, on every byte at 2^-%d", entropy.AlphaExp),
			Tapes:       w.Tapes, TapeBytes: w.TapeBytes,
		},
	}
}
