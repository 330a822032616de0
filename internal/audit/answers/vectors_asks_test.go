package answers

import (
	"crypto/ed25519"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/audit/spec"
)

// askVector is a request to a co-dealer (docs/SPEC-BLIND.md section 2).
type askVector struct {
	Name       string     `json:"name"`
	Commitment spec.Hexed `json:"commitment"`
	Tape       spec.Hexed `json:"tape"`
	Seed       spec.Hexed `json:"seed"`
	AskKey     spec.Hexed `json:"ask_key"`
	Shuffle    uint64     `json:"shuffle"`
	Commit     spec.Hexed `json:"commit_leaf"`
	After      spec.Hexed `json:"after"`
	State      spec.Hexed `json:"state"`
	First      uint16     `json:"first"`
	Runs       []spec.Run `json:"runs"`
	Signed     spec.Hexed `json:"signed"`
	Signature  spec.Hexed `json:"signature"`
}

type stateVector struct {
	Name    string     `json:"name"`
	History string     `json:"history"`
	State   spec.Hexed `json:"state"`
}

// recordVector is a record of a request (docs/SPEC.md section 5.8).
type recordVector struct {
	Name       string     `json:"name"`
	Before     spec.Hexed `json:"before"`
	Number     uint64     `json:"number"`
	Time       int64      `json:"time"`
	Request    string     `json:"request_id"`
	Credential string     `json:"credential"`
	Method     string     `json:"method"`
	Path       string     `json:"path"`
	Hash       spec.Hexed `json:"hash"`
}

const sampleHistory = "seat-a post 1 00112233445566778899aabbccddeeff\nflop\n"

func refHistoryState(history string) []byte { return spec.Sum("shuffled/v1/state\000", history) }

// refAskSeed is HKDF-SHA-256 for 32 bytes.
func refAskSeed(commitment, tape []byte) []byte {
	return spec.HMAC(spec.HMAC(commitment, tape), "shuffled/v1/ask-key\000", uint8(1))
}

func (v *hashVectors) addAsks() {
	for _, c := range []struct {
		name, history string
		runs          []spec.Run
		first         uint16
	}{
		{"two cards to a seat, and a burn", "", []spec.Run{{Cards: 2, Purpose: 1, Recipient: "seat-1", Public: false,
			Round: 0}, {Cards: 1, Purpose: 3, Recipient: "", Public: false, Round: 0}}, 0},
		{"three cards of a board, with a state", sampleHistory,
			[]spec.Run{{Cards: 3, Purpose: 2, Recipient: "", Public: true, Round: 7}}, 9},
	} {
		a := askVector{Name: c.name, Commitment: spec.BytesOf("commitment", 32), Tape: spec.BytesOf("tape", 129),
			Shuffle: 17,
			Commit:  spec.BytesOf("leaf", 32), After: spec.BytesOf("before", 32), State: make(spec.Hexed, 32),
			First: c.first, Runs: c.runs}
		if c.history != "" {
			a.State = refHistoryState(c.history)
		}
		a.Seed = refAskSeed(a.Commitment, a.Tape)
		key := ed25519.NewKeyFromSeed(a.Seed)
		a.AskKey = spec.Hexed(key.Public().(ed25519.PublicKey))
		a.Signed = spec.Join("shuffled/v1/ask\000", a.Shuffle, []byte(a.Commit), []byte(a.After), []byte(a.State),
			a.First, uint16(len(c.runs)))
		for _, r := range c.runs {
			public := uint8(0)
			if r.Public {
				public = 1
			}
			a.Signed = spec.Join([]byte(a.Signed), uint16(r.Cards), r.Purpose, spec.Str8(r.Recipient), public,
				uint16(r.Round))
		}
		a.Signature = ed25519.Sign(key, a.Signed)
		v.Asks = append(v.Asks, a)
	}
	for name, history := range []string{"", sampleHistory} {
		v.States = append(v.States, stateVector{[]string{"before the first line", "two lines"}[name], history,
			refHistoryState(history)})
	}
	before := make([]byte, 32)
	for i, name := range []string{"the first record", "the second record"} {
		r := recordVector{name, before, uint64(i + 1), spec.SampleTime, "req-" + spec.Letters(uint64(i)+1), "token-1",
			"GET", "/v1/main/audit", nil}
		r.Hash = spec.Sum("shuffled/v1/access\000", before, r.Number, uint64(r.Time), spec.Blob([]byte(r.Request)),
			spec.Blob([]byte(r.Credential)), spec.Blob([]byte(r.Method)), spec.Blob([]byte(r.Path)))
		v.Records, before = append(v.Records, r), r.Hash
	}
}

// TestAskVectors runs the package on the requests and states of testdata/hashes.json. The records are run by
// internal/ledger.
func TestAskVectors(t *testing.T) {
	v := loadHashes(t)
	for _, c := range v.Asks {
		key := audit.AskKey([32]byte(c.Commitment), c.Tape)
		holdBytes(t, c.Name, key.Seed(), c.Seed)
		holdBytes(t, c.Name, key.Public().(ed25519.PublicKey), c.AskKey)
		a := audit.Asked{Commit: audit.Foreign{Index: c.Shuffle, Leaf: [32]byte(c.Commit)}, After: [32]byte(c.After),
			State: [32]byte(c.State)}
		runs := (&spec.Deal{Runs: c.Runs}).Body().Runs
		holdBytes(t, c.Name, audit.AskMessage(&a, int(c.First), runs), c.Signed)
		a.Sign(key, int(c.First), runs)
		holdBytes(t, c.Name, a.Ask[:], c.Signature)
	}
	for _, c := range v.States {
		h := audit.StateHash([]byte(c.History))
		holdBytes(t, c.Name, h[:], c.State)
	}
}
