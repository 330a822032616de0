package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"unicode/utf8"
)

// specFiles are the specification.
var specFiles = []string{"docs/SPEC.md", "docs/SPEC-BLIND.md"}

// worked is a block of the specification with a value of one construction, out of the vectors. The text says where it
// stands: between a line <!-- worked NAME --> and the next <!-- worked end -->.
type worked struct {
	file    string   // below internal/
	list    string   // of cases; empty: the file is one case
	name    string   // of the case; empty: the first one
	members []string // in order; a/b is member b of the object or text of JSON in a, a/0 the first of a list
	label   string   // of section 1.3
}

const (
	hashesFile     = "audit/testdata/hashes.json"
	entriesFile    = "audit/testdata/entries.json"
	receiptsFile   = "audit/testdata/receipts.json"
	termsFile      = "terms/testdata/terms.json"
	disclosureFile = "disclosure/testdata/disclosure.json"
	goodFiles      = "verify/testdata/vectors/good/"
)

func of(file, list, name, label, members string) worked {
	return worked{file, list, name, strings.Fields(members), label}
}

// entry is the block of a type of entries.
func entry(name string) worked { return of(entriesFile, "good", name, "", "bytes fields") }

var workedValues = map[string]worked{
	"reference": of(hashesFile, "references", "a person", "reference", "salt value reference"),
	"tape": of("shuffle/testdata/shuffle.json", "runs", "all of 8 cards", "",
		"cards take tape_len tape draws values"),
	"numbers": of("shuffle/testdata/shuffle.json", "numbers", "6 of 49 numbers", "", "of draws numbers"),
	"deck":    of("shuffle/testdata/decks.txt", "", "standard-52", "deck", "name cards hash"),
	"child":   of(hashesFile, "children", "two of five", "", "parent_values positions indexes values"),
	"slot":    of(hashesFile, "slots", "table table-7", "slot", "origin table r slot_hash"),
	"seed":    of(hashesFile, "seeds", "slots, beacon and cut", "mix", "commit_entry values seed"),
	"places":  of(hashesFile, "places", "9 positions, cut at 0", "", "seed m cut positions"),
	"shifts":  of(hashesFile, "shifts", "3 draws, list 2", "", "seed ranges values shown"),
	"beacon":  of("beacon/beacontest/quicknet.json", "", "", "", "rounds/0"),
	"ask_key": of(hashesFile, "asks", "", "ask-key", "commitment tape seed ask_key"),
	"ask": of(hashesFile, "asks", "", "ask",
		"shuffle commit_leaf after state first runs ask_key signed signature"),
	"state":   of(hashesFile, "states", "two lines", "state", "history state"),
	"genesis": entry("genesis: a sandbox without policy and auditors"),
	"commit":  entry("commit: 20 of 80 numbers"),
	"key_tag": of(hashesFile, "key_tags", "a UUIDv7", "key-tag", "origin identity table key key_tag"),
	"mix":     entry("mix: one slot"),
	"deal":    entry("deal: one card to a seat"),
	"close":   entry("close: void for exposed_card"),
	"key":     entry("key: two_persons for every act"),
	"key_id":  of(hashesFile, "key_ids", "Ed25519", "key-id", "key key_id"),
	"event":   entry("event: table_open"),
	"record": of(hashesFile, "records", "the first record", "access",
		"before number time request_id credential method path hash"),
	"takeover":   entry("takeover: to play"),
	"credential": entry("credential: a dealer's token for all tables"),
	"digest":     of(hashesFile, "credentials", "a dealer's token", "credential", "fields hash digest"),
	"act":        entry("act: of one administrator, for a takeover by dealer-2"),
	"approved":   of(hashesFile, "approvals", "a takeover", "approved", "entry digest"),
	"signed_act": of(hashesFile, "acts", "two signatures", "act", "genesis_entry entry signed key good"),
	"reveal":     entry("reveal: a showdown, in front of the close"),
	"disclosure": entry("disclosure: by the daemon, of a chain that expired"),
	"commitment": of(hashesFile, "commitments", "a draw list", "commitment", "context tape commitment"),
	"salts":      of(hashesFile, "salts", "one", "salt", "commitment tape salts"),
	"leaf":       of(hashesFile, "leaves", "position 51, value 17", "", "tag position value salt leaf"),
	"deck_root":  of(hashesFile, "shuffles", "a draw list", "pos", "context tape commitment tag values deck_root"),
	"opening":    of(hashesFile, "openings", "position 4 of 5", "", "tag deck_root m position value salt path opens"),
	"checkpoint": of(receiptsFile, "checkpoints", "size 11", "", "vkey signed size origin root"),
	"receipt":    of(receiptsFile, "receipts", "entry 3 of 8", "", "text step"),
	"policy":     of(goodFiles+"witnessed.json", "", "", "", "trust/policy"),
	"transcript": of(goodFiles+"open-undealt.json", "", "", "", "trust/vkey file want/verdict want/level"),
	"statement":  of(goodFiles+"stated.json", "", "", "", "file/statements/0 trust/auditors"),
	"wrap": of(disclosureFile, "wraps", "auditor 1", "wrap",
		"type origin auditor_private auditor_id disclosure_public sealed disclosure_private"),
	"sealed": of(disclosureFile, "tapes", "tape of 129 bytes", "disclosure",
		"type origin disclosure_private shuffle commitment sealed tape"),
	"manifest": of("bundle/testdata/manifests.json", "cases", "a month", "", "text want"),
	"document": of(termsFile, "documents", "wheel: nothing, a car, a trip", "terms", "document hash labels total"),
	"tickets":  of(termsFile, "lists", "2 tickets", "ticket-salt", "secret lines salts root"),
	"ticket":   of(termsFile, "lists", "2 tickets", "ticket", "lines/0 salts/0 leaves/0"),
	"proof":    of(termsFile, "tickets", "number 1 of 2", "", "text want"),
}

var workedBlock = regexp.MustCompile(`(?s)<!-- worked ([a-z_]+) -->\n.*?<!-- worked end -->`)

// fillWorked makes every block of the text anew.
func fillWorked(root, text string) (string, error) {
	var failed error
	return workedBlock.ReplaceAllStringFunc(text, func(old string) string {
		name := workedBlock.FindStringSubmatch(old)[1]
		w, ok := workedValues[name]
		block, err := w.block(root)
		if !ok || err != nil {
			failed = fmt.Errorf("<!-- worked %s -->: a worked value of this name: %t, %w", name, ok, err)
		}
		return "<!-- worked " + name + " -->\n" + block + "<!-- worked end -->"
	}), failed
}

// block prints one value.
func (w worked) block(root string) (string, error) {
	data, err := os.ReadFile(root + "/internal/" + w.file)
	if err != nil {
		return "", err
	}
	if strings.HasSuffix(w.file, ".txt") {
		data = asJSON(string(data), w.name, w.members)
	}
	var file map[string]any
	if err := json.Unmarshal(data, &file); err != nil {
		return "", err
	}
	found, where := file, "`"+w.file+"`"
	if w.list != "" {
		if found = findCase(file[w.list], w.name); found == nil {
			return "", fmt.Errorf("%s has no case %q of %s", w.file, w.name, w.list)
		}
		where += fmt.Sprintf(", `%s`, “%s”", w.list, found["name"])
	} else if w.name != "" {
		where += ", " + w.name
	}
	var names, values []string
	width := 0
	if w.label != "" {
		names, values = append(names, "label"), append(values, "shuffled/v1/"+w.label+`\0`)
	}
	for _, member := range w.members {
		value, err := pick(found, member)
		if err != nil && w.list != "" && file[member] != nil {
			value, err = file[member], nil
		}
		if err != nil {
			return "", fmt.Errorf("%s: %w", w.file, err)
		}
		parts := strings.Split(member, "/")
		name := parts[len(parts)-1]
		if name == "0" {
			name = parts[len(parts)-2]
		}
		names, values = append(names, name), append(values, printed(value))
	}
	for _, n := range names {
		width = max(width, len(n))
	}
	b := new(strings.Builder)
	fmt.Fprintf(b, "Worked value, %s:\n\n```\n", where)
	for i, n := range names {
		for _, line := range lines(values[i], columns-width-2) {
			fmt.Fprintf(b, "%s\n", strings.TrimRight(fmt.Sprintf("%-*s  %s", width, n, line), " "))
			n = ""
		}
	}
	b.WriteString("```\n")
	return b.String(), nil
}

const (
	columns = 118
	longest = 1300 // characters of a value that are printed
)

// asJSON is a line of a table of words as an object with these members.
func asJSON(table, name string, members []string) []byte {
	object := make(map[string]any)
	for line := range strings.SplitSeq(table, "\n") {
		if words := strings.Fields(line); len(words) == len(members) && words[0] == name {
			for i, m := range members {
				object[m] = words[i]
			}
		}
	}
	b, _ := json.Marshal(object)
	return b
}

func findCase(list any, name string) map[string]any {
	cases, _ := list.([]any)
	for _, c := range cases {
		if c, ok := c.(map[string]any); ok && (name == "" || c["name"] == name) {
			return c
		}
	}
	return nil
}

// pick follows a path through objects, lists, and texts that are JSON.
func pick(from any, path string) (any, error) {
	for part := range strings.SplitSeq(path, "/") {
		if text, ok := from.(string); ok {
			if err := json.Unmarshal([]byte(text), &from); err != nil {
				return nil, err
			}
		}
		switch v := from.(type) {
		case map[string]any:
			from = v[part]
		case []any:
			from = v[int(part[0]-'0')]
		}
		if from == nil {
			return nil, fmt.Errorf("no member %s", path)
		}
	}
	return from, nil
}

// printed is a value as text: strings as they are, lists of them by lines, anything else as JSON.
func printed(value any) string {
	switch v := value.(type) {
	case string:
		return abbreviated(v)
	case []any:
		var texts []string
		for _, item := range v {
			switch item := item.(type) {
			case string:
				texts = append(texts, abbreviated(item))
			case float64:
				texts = append(texts, fmt.Sprint(item))
			}
		}
		if len(texts) == len(v) && len(v) > 0 {
			if _, number := v[0].(float64); number {
				return strings.Join(texts, " ")
			}
			return strings.Join(texts, "\n")
		}
	case float64:
		return fmt.Sprintf("%.0f", v)
	}
	b := new(strings.Builder)
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return err.Error()
	}
	return abbreviated(strings.TrimSuffix(b.String(), "\n"))
}

// abbreviated cuts a long value, and says how long it is and what its hash is.
func abbreviated(text string) string {
	if len(text) <= longest {
		return text
	}
	what, bytes := "characters", []byte(text)
	if raw, err := hex.DecodeString(text); err == nil {
		what, bytes = "bytes", raw
	}
	n := 192
	for !utf8.RuneStart(text[n]) {
		n--
	}
	return fmt.Sprintf("%s …\n(%d %s; SHA-256 %x)", text[:n], len(bytes), what, sha256.Sum256(bytes))
}

// lines breaks a text into pieces of a width, at a space or a comma if one is near.
func lines(text string, width int) (out []string) {
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		for utf8.RuneCountInString(line) > width {
			cut := len(string([]rune(line)[:width]))
			if at := strings.LastIndexAny(line[:cut], " ,"); at > cut-30 {
				cut = at + 1
			}
			out, line = append(out, strings.TrimRight(line[:cut], " ")), line[cut:]
		}
		out = append(out, line)
	}
	return out
}
