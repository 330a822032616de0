package selftest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"shuffled/internal/known"
)

var update = flag.Bool("update", false, "write selftest.json of each package from the data files")

// A pick takes cases of one list of a data file into the excerpt: those with these names, or by their place.
type pick struct {
	member string // of the excerpt
	file   string
	list   string // of the file
	names  []string
	places []int
}

const (
	transcriptData = "internal/audit/testdata/transcripts.json"
	root           = "../../"
)

// excerpts are the selftest.json of each package, and what stands in it.
var excerpts = map[string][]pick{"shuffle": shufflePicks, "audit/answers": auditPicks, "disclosure": disclosurePicks}

var shufflePicks = []pick{
	{"runs", shuffleData, "runs", []string{"all of 52 cards", "all of 416 cards", "52 cards, lanes about the limits",
		"9 of 52 cards", "2 of 66 cards",
		"52 of 52 cards, end_at of 1..52", "20 of 52 cards, end_at of 19..20",
		"a list of 6 draws, the last 1..1073741824", "a list of 2 draws, the last 1..6",
		"52 cards, a tape of ff", "3 cards, one rejection too many", "52 cards, a byte short", "52 cards, a byte long"},
		nil},
	{"mixes", shuffleData, "mixes", nil, []int{3, 4, 6}},
	{"shifts", shuffleData, "shifts", nil, []int{2, 3}},
	{"numbers", shuffleData, "numbers", []string{"a place that was swapped into twice", "6 of 49 numbers",
		"20 of 80 numbers", "20 of 1000000 numbers", "the ends of the widest range"}, nil},
}

var auditPicks = []pick{
	{"entries", entriesData, "good", []string{"genesis: a sandbox without policy and auditors",
		"genesis: production with every option",
		"commit: 52 cards, the first of its table", "commit: a draw list with slots and a beacon",
		"commit: a plan of every source", "commit: a child with a plan and an end_at", "commit: 20 of 80 numbers",
		"mix: every source", "deal: every purpose", "deal: final, to a salted reference",
		"close: completed, public", "close: void for tape_lost, without a tape", "close: completed, sealed to auditors",
		"key: signing", "key: disclosure for one auditor", "key: auditor", "key: policy",
		"key: retirement of a disclosure key",
		"event: instance_start in FIPS 140-3 mode", "event: table_open", "event: table_close",
		"event: kill_set for a deck", "event: kill_clear for a table",
		"event: latch_set for statistics", "event: latch_clear", "event: alarm statistics", "event: head_adopted",
		"event: access_head",
		"takeover: to close", "takeover: to play", "credential: for two tables, with an expiry", "credential: revoked",
		"act: takeover", "reveal: one place", "reveal: a showdown, in front of the close",
		"key: an administrator has another key", "key: two_persons for every act",
		"passed over: a type", "passed over: two purposes", "passed over: extensions of a context and its commit"},
		nil},
	{"damaged_entries", entriesData, "bad",
		[]string{"genesis: deals 3", "genesis: production 2", "commit: serial 1 with a previous commit",
			"commit: a context that ends a byte late",
			"mix: source 5", "mix: a value fewer than counted", "deal: past the last place of any shuffle",
			"deal: purpose 7",
			"close: form 3", "close: tape_lost with a tape", "key: a signing key of 32 bytes",
			"key: wraps in descending order", "event: kind 11", "event: FIPS flag 2",
			"an identity that is reserved, and the other name is not: daemon",
			"a credential that is reserved, and the other name is not: daemon",
			"deal: extension 127", "deal: extensions in descending order", "takeover: extent 3",
			"act: three signatures", "reveal: no place", "reveal: a place twice"},
		nil},
	{"shuffles", hashesData, "shuffles",
		[]string{"52 cards", "one of two cards", "104 cards, a drawn end_at", "a draw list", "20 of 80 numbers"}, nil},
	{"salts", hashesData, "salts", []string{"one", "nine, from a tape of 129 bytes"}, nil},
	{"openings", hashesData, "openings",
		[]string{"position 0 of 1", "position 4 of 5", "position 17 of 52", "damaged: another value",
			"damaged: a bit of the salt",
			"damaged: the neighbour's position", "damaged: a bit of the path",
			"damaged: the path without its last hash"},
		nil},
	{"slots", hashesData, "slots", []string{"table table-7", "table t"}, nil},
	{"seeds", hashesData, "seeds", []string{"two slots", "a beacon", "slots, beacon and cut"}, nil},
	{"key_tags", hashesData, "key_tags", []string{"a UUIDv7", "a UUIDv4"}, nil},
	{"key_ids", hashesData, "key_ids", []string{"Ed25519", "P-256"}, nil},
	{"references", hashesData, "references", []string{"a person", "UTF-8"}, nil},
	{"children", hashesData, "children", []string{"cards in no order, a value twice", "two of five"}, nil},
	{"receipts", receiptsData, "receipts",
		[]string{"entry 4 of 11, cosigned", "a leading zero in the index", "signed by another key of the same name",
			"a root that was not signed", "another entry's proof"}, nil},
	{"checkpoints", receiptsData, "checkpoints",
		[]string{"size 11", "a leading zero", "signed by another key", "the signature of another text"}, nil},
	{"ledgers", ledgersData, "cases", []string{"everything"}, nil},
	{"transcripts", transcriptData, "good", []string{"names with every escape and with what needs none"}, nil},
}

var disclosurePicks = []pick{
	{"wraps", disclosureData, "wraps", []string{"auditor 1", "of another ledger",
		"another private key, sealed as it should be", "hybrid: auditor 1", "hybrid: of another ledger",
		"hybrid: another private key, sealed as it should be", "hybrid: without the type in the info"}, nil},
	{"tapes", disclosureData, "tapes", []string{"tape of 129 bytes", "of another ledger", "of another shuffle",
		"of another commitment", "a bit of the tag", "hybrid: tape of 129 bytes", "hybrid: of another shuffle",
		"hybrid: a bit of the ML-KEM ciphertext", "hybrid: a bit of the tag"}, nil},
}

func TestExcerpts(t *testing.T) {
	for name, picks := range excerpts {
		made, path := excerpt(t, picks), root+"internal/"+name+"/selftest.json"
		if *update {
			if err := os.WriteFile(path, made, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if stored, err := os.ReadFile(path); err != nil || !bytes.Equal(stored, made) {
			t.Errorf("%s is not the excerpt of the data files (%v); go test -update writes it", path, err)
		}
	}
}

// excerpt holds the cases picked, one a line, and the key that receipts are under.
func excerpt(t *testing.T, picks []pick) []byte {
	var members []string
	for _, p := range picks {
		var cases []string
		for _, c := range p.cases(t) {
			if p.member == "entries" {
				c = withDigest(t, c)
			}
			cases = append(cases, string(c))
		}
		members = append(members, fmt.Sprintf("%q: [\n%s\n]", p.member, strings.Join(cases, ",\n")))
		if p.member == "receipts" {
			members = append(members, fmt.Sprintf("\"vkey\": %s", member(t, receiptsData, "vkey")))
		}
	}
	return []byte("{\n" + strings.Join(members, ",\n") + "\n}\n")
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(root + path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func member(t *testing.T, path, name string) json.RawMessage {
	t.Helper()
	var file map[string]json.RawMessage
	if err := json.Unmarshal(read(t, path), &file); err != nil || file[name] == nil {
		t.Fatalf("%s has no %s: %v", path, name, err)
	}
	return file[name]
}

// cases returns what p picks, word for word; one that is not there is an error.
func (p pick) cases(t *testing.T) (picked []json.RawMessage) {
	t.Helper()
	var all []json.RawMessage
	if err := json.Unmarshal(member(t, p.file, p.list), &all); err != nil {
		t.Fatal(err)
	}
	for _, i := range p.places {
		picked = append(picked, compact(t, all[i]))
	}
	for _, name := range p.names {
		i := slices.IndexFunc(all, func(c json.RawMessage) bool {
			var v struct{ Name string }
			return json.Unmarshal(c, &v) == nil && v.Name == name
		})
		if i < 0 {
			t.Fatalf("%s: no case %q in %s", p.file, name, p.list)
		}
		picked = append(picked, compact(t, all[i]))
	}
	return picked
}

func compact(t *testing.T, c json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if err := json.Compact(&b, c); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// withDigest adds to an entry its leaf hash, by RFC 6962 alone.
func withDigest(t *testing.T, c json.RawMessage) json.RawMessage {
	var v struct{ Bytes known.Bytes }
	if err := json.Unmarshal(c, &v); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(append([]byte{0}, v.Bytes...))
	return append(bytes.TrimSuffix(c, []byte("}")), `,"digest":"`+hex.EncodeToString(sum[:])+`"}`...)
}
