package selftest

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
)

// published is an excerpt of the data files of docs/SPEC.md, word for word
// (TestExcerpt). Embedded, so that the binary needs no file to test itself.
//
//go:embed vectors.json
var published []byte

// vectors are the cases of the excerpt. Byte strings are hexadecimal.
type vectors struct {
	Format string   `json:"format"`
	About  []string `json:"about"`

	// internal/shuffle/testdata
	Runs   []runVector   `json:"runs"`
	Mixes  []mixVector   `json:"mixes"`
	Shifts []shiftVector `json:"shifts"`
	Decks  []deckVector  `json:"decks"`

	// internal/audit/testdata
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
	VKey        string             `json:"vkey"`
	Receipts    []receiptVector    `json:"receipts"`
	Checkpoints []checkpointVector `json:"checkpoints"`
	Ledgers     []ledgerVector     `json:"ledgers"`
	Transcripts []textVector       `json:"transcripts"`

	// internal/disclosure/testdata
	Wraps []wrapVector `json:"wraps"`
	Tapes []tapeVector `json:"tapes"`

	// internal/beacon/beacontest
	Rounds []roundVector `json:"rounds"`
}

type (
	runVector struct {
		Name    string   `json:"name"`
		Cards   int      `json:"cards"`
		Take    int      `json:"take"`
		EndLo   int      `json:"end_lo"`
		EndHi   int      `json:"end_hi"`
		Ranges  []uint32 `json:"ranges"`
		TapeLen int      `json:"tape_len"`
		Tape    string   `json:"tape"`
		Draws   []uint32 `json:"draws"`
		Values  []uint32 `json:"values"`
		EndAt   int      `json:"end_at"`
		Error   string   `json:"error"`
	}
	mixVector struct {
		Seed      string   `json:"seed"`
		Positions int      `json:"positions"`
		P         []uint32 `json:"p"`
		Cut       int      `json:"cut"`
		PCut      []uint32 `json:"p_cut"`
	}
	shiftVector struct {
		Seed    string   `json:"seed"`
		Ranges  []uint32 `json:"ranges"`
		Values  []uint32 `json:"values"`
		Shifted []uint32 `json:"shifted"`
	}
	deckVector struct {
		Name  string `json:"name"`
		Cards int    `json:"cards"`
		Hash  string `json:"hash"`
	}
	entryVector struct {
		Name   string          `json:"name"`
		Bytes  string          `json:"bytes"`
		Fields json.RawMessage `json:"fields"` // for readers of the file
		Digest string          `json:"digest"` // leaf hash of RFC 6962

		PassedOver []string `json:"passed_over"` // lists and codes that are not critical and not known
	}
	damagedVector struct {
		Name  string `json:"name"`
		Bytes string `json:"bytes"`
		Want  string `json:"want"` // malformed or unknown
		Field string `json:"field"`
	}
	shuffleVector struct {
		Name       string   `json:"name"`
		Context    string   `json:"context"`
		Tape       string   `json:"tape"`
		Commitment string   `json:"commitment"`
		Values     []uint32 `json:"values"`
		EndAt      int      `json:"end_at"`
		DeckRoot   string   `json:"deck_root"`
	}
	saltVector struct {
		Name       string   `json:"name"`
		Commitment string   `json:"commitment"`
		Tape       string   `json:"tape"`
		Salts      []string `json:"salts"`
	}
	openingVector struct {
		Name     string   `json:"name"`
		DeckRoot string   `json:"deck_root"`
		M        int      `json:"m"`
		Position int      `json:"position"`
		Value    uint32   `json:"value"`
		Salt     string   `json:"salt"`
		Path     []string `json:"path"`
		Opens    bool     `json:"opens"`
	}
	slotVector struct {
		Name   string `json:"name"`
		Origin string `json:"origin"`
		Table  string `json:"table"`
		R      string `json:"r"`
		Hash   string `json:"slot_hash"`
	}
	seedVector struct {
		Name   string `json:"name"`
		Commit string `json:"commit_entry"`
		Values []struct {
			Source uint8  `json:"source"`
			Value  string `json:"value"`
			Cut    uint16 `json:"cut"`
		} `json:"values"`
		Seed string `json:"seed"`
	}
	keyTagVector struct {
		Name     string `json:"name"`
		Origin   string `json:"origin"`
		Identity string `json:"identity"`
		Table    string `json:"table"`
		Key      string `json:"key"`
		I        int    `json:"i"`
		Tag      string `json:"key_tag"`
	}
	keyIDVector struct {
		Name string `json:"name"`
		Key  string `json:"key"`
		ID   string `json:"key_id"`
	}
	referenceVector struct {
		Name      string `json:"name"`
		Salt      string `json:"salt"`
		Value     string `json:"value"`
		Reference string `json:"reference"`
	}
	childVector struct {
		Name      string   `json:"name"`
		Parent    []uint32 `json:"parent_values"`
		Positions []uint16 `json:"positions"`
		Indexes   []uint32 `json:"indexes"`
		Values    []uint32 `json:"values"`
	}
	receiptVector struct {
		Name  string `json:"name"`
		Text  string `json:"text"`
		VKey  string `json:"vkey"` // trusted in its place
		Step  string `json:"step"` // the first that fails, or proved
		Index uint64 `json:"index"`
		Size  uint64 `json:"size"`
		Entry string `json:"entry"`
	}
	checkpointVector struct {
		Name   string `json:"name"`
		Signed string `json:"signed"`
		Step   string `json:"step"`
		Origin string `json:"origin"`
		Size   uint64 `json:"size"`
		Root   string `json:"root"`
	}
	ledgerVector struct {
		Name    string   `json:"name"`
		Entries []string `json:"entries"`
	}
	textVector struct {
		Name string `json:"name"`
		Text string `json:"text"`
	}
	wrapVector struct {
		Name    string `json:"name"`
		Origin  string `json:"origin"`
		Auditor string `json:"auditor_private"`
		ID      string `json:"auditor_id"`
		Public  string `json:"disclosure_public"`
		Sealed  string `json:"sealed"`
		Opens   bool   `json:"opens"`
		Private string `json:"disclosure_private"`
	}
	tapeVector struct {
		Name       string `json:"name"`
		Origin     string `json:"origin"`
		Private    string `json:"disclosure_private"`
		Shuffle    uint64 `json:"shuffle"`
		Commitment string `json:"commitment"`
		Sealed     string `json:"sealed"`
		Opens      bool   `json:"opens"`
		Tape       string `json:"tape"`
	}
	roundVector struct {
		Round     uint64 `json:"round"`
		Signature string `json:"signature"`
	}
)

func load() (*vectors, error) {
	v := new(vectors)
	d := json.NewDecoder(bytes.NewReader(published))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return nil, fmt.Errorf("reading the vectors: %w", err)
	}
	return v, nil
}
