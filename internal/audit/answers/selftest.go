// Package answers has the known answers of package audit and of those above it, for a program to test itself.
package answers

import (
	_ "embed"
	"encoding/json"
	"sync"

	"shuffled/internal/known"
)

// selfTestJSON has cases of the data files of package audit, word for word. Embedded, so
// that the binary needs no file to test itself.
//
//go:embed selftest.json
var selfTestJSON []byte

// vectors are cases of the data files of package audit.
type vectors struct {
	VKey        string             `json:"vkey"`
	Entries     []entryVector      `json:"entries"`
	Damaged     []damagedVector    `json:"damaged_entries"`
	Shuffles    []shuffleVector    `json:"shuffles"`
	Salts       []saltVector       `json:"salts"`
	Openings    []openingVector    `json:"openings"`
	Slots       []slotVector       `json:"slots"`
	Seeds       []seedVector       `json:"seeds"`
	KeyTags     []keyTagVector     `json:"key_tags"`
	KeyIDs      []keyIDVector      `json:"key_ids"`
	References  []referenceVector  `json:"references"`
	Children    []childVector      `json:"children"`
	Receipts    []receiptVector    `json:"receipts"`
	Checkpoints []checkpointVector `json:"checkpoints"`
	Ledgers     []ledgerVector     `json:"ledgers"`
	Transcripts []transcriptVector `json:"transcripts"`
}

type entryVector struct {
	Name   string          `json:"name"`
	Bytes  known.Bytes     `json:"bytes"`
	Entry  json.RawMessage `json:"fields"`
	Passed []string        `json:"passed_over,omitempty"` // list and number of each code, in their order
	Digest known.Bytes     `json:"digest,omitempty"`      // leaf hash of RFC 6962; in the excerpt alone
}

type damagedVector struct {
	Name  string      `json:"name"`
	Bytes known.Bytes `json:"bytes"`
	Want  string      `json:"want"` // malformed or unknown
	Field string      `json:"field"`
}

type valueVector struct {
	Source uint8       `json:"source"`
	Value  known.Bytes `json:"value,omitempty"`
	Cut    uint64      `json:"cut,omitempty"`
}

type saltVector struct {
	Name       string        `json:"name"`
	Commitment known.Bytes   `json:"commitment"`
	Tape       known.Bytes   `json:"tape"`
	Salts      []known.Bytes `json:"salts"`
}

type shuffleVector struct {
	Name       string      `json:"name"`
	Context    known.Bytes `json:"context"`
	Tape       known.Bytes `json:"tape"`
	Commitment known.Bytes `json:"commitment"`
	Tag        known.Bytes `json:"tag"`
	Values     []uint32    `json:"values"`
	EndAt      uint64      `json:"end_at,omitempty"`
	DeckRoot   known.Bytes `json:"deck_root"`
}

type openingVector struct {
	Name     string        `json:"name"`
	Tag      known.Bytes   `json:"tag"`
	DeckRoot known.Bytes   `json:"deck_root"`
	M        int           `json:"m"`
	Position int           `json:"position"`
	Value    uint32        `json:"value"`
	Salt     known.Bytes   `json:"salt"`
	Path     []known.Bytes `json:"path"`
	Opens    bool          `json:"opens"`
}

type slotVector struct {
	Name   string      `json:"name"`
	Origin string      `json:"origin"`
	Table  string      `json:"table"`
	R      known.Bytes `json:"r"`
	Hash   known.Bytes `json:"slot_hash"`
}

type seedVector struct {
	Name   string        `json:"name"`
	Commit known.Bytes   `json:"commit_entry"`
	Values []valueVector `json:"values"`
	Seed   known.Bytes   `json:"seed"`
}

type keyTagVector struct {
	Name     string      `json:"name"`
	Origin   string      `json:"origin"`
	Identity string      `json:"identity"`
	Table    string      `json:"table"`
	Key      string      `json:"key"`
	Tag      known.Bytes `json:"key_tag"`
}

type keyIDVector struct {
	Name string      `json:"name"`
	Key  known.Bytes `json:"key"`
	ID   known.Bytes `json:"key_id"`
}

type referenceVector struct {
	Name      string      `json:"name"`
	Salt      known.Bytes `json:"salt"`
	Value     string      `json:"value"`
	Reference string      `json:"reference"`
}

type childVector struct {
	Name      string   `json:"name"`
	Parent    []uint32 `json:"parent_values"`
	Positions []uint16 `json:"positions"`
	Indexes   []uint32 `json:"indexes"`
	Values    []uint32 `json:"values"`
}

type receiptVector struct {
	Name  string      `json:"name"`
	VKey  string      `json:"vkey,omitempty"` // in place of the file's
	Text  string      `json:"text"`
	Step  string      `json:"step"`
	Index uint64      `json:"index,omitempty"`
	Size  uint64      `json:"size,omitempty"`
	Entry known.Bytes `json:"entry,omitempty"`
}

type checkpointVector struct {
	Name   string      `json:"name"`
	VKey   string      `json:"vkey,omitempty"`
	Signed string      `json:"signed"`
	Step   string      `json:"step"`
	Origin string      `json:"origin,omitempty"`
	Size   uint64      `json:"size,omitempty"`
	Root   known.Bytes `json:"root,omitempty"`
}

type ledgerVector struct {
	Name    string        `json:"name"`
	Entries []known.Bytes `json:"entries"`
}

type transcriptVector struct {
	Name string `json:"name"`
	Text string `json:"text"`
	Want string `json:"want,omitempty"`
}

var embedded = sync.OnceValue(func() *vectors { return known.Load[vectors](selfTestJSON) })

// SelfTest runs the known-answer test of that name on the embedded vectors. It panics if there is none.
func SelfTest(name string, a *known.Answers) { selfTests[name](a, embedded()) }

// selfTests are the known-answer tests, by name. Tests run those of hashes and transcripts on whole files.
var selfTests = map[string]func(*known.Answers, *vectors){
	"child": childrenTest, "slot-hash": slotsTest, "mix-seed": seedsTest,
	"commitment": commitmentTest, "salts": saltsTest, "deck-root": deckRootTest, "opening": openingTest,
	"context": contextTest,
	"key-tag": keyTagTest, "key-id": keyIDTest, "reference": referenceTest, "legality": legalityTest,
	"entry-genesis": entryTest("genesis"), "entry-commit": entryTest("commit"), "entry-mix": entryTest("mix"),
	"entry-deal": entryTest("deal"), "entry-close": entryTest("close"), "entry-key": entryTest("key"),
	"entry-event": entryTest("event"), "entry-takeover": entryTest("takeover"),
	"entry-credential": entryTest("credential"), "entry-act": entryTest("act"), "entry-reveal": entryTest("reveal"),
	"header-and-codes": headerAndCodes,
	"signed-note":      noteTest, "weak-key": weakKeyTest, "checkpoint": checkpointTest, "receipt": receiptTest,
	"cosignature": cosignatureTest, "transcript": transcriptTest,
}
