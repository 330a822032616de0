package verify

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
)

// victim is an honest file that holds under its trust, to be damaged.
type victim struct {
	t       testing.TB
	name    string
	g       *game
	index   uint64 // of the entry that a receipt is of
	receipt bool
	file    string
	trust   Trust
	sample  bool // also for what is large
}

// victims are of every shape: whole and one recipient's, mixed, drawn, witnessed, and receipts of each type of entry.
func victims(t testing.TB) []victim {
	w := newTrio(t)
	key, policy := Trust{VKey: w.key.vkey}, Trust{Policy: []byte(w.policy(twoOfThree))}
	whole, mixed, seen := plain(t), rich(t), witnessedGame(t, w).played()
	h := open(t)
	draws := h.commitTo(h.draws(6, 37, 1000, 6), nil).deal(board(2)).deal(board(2)).close(audit.OutcomeCompleted, 0)
	of := func(name string, g *game, trust Trust) victim {
		return victim{t: t, name: name, g: g, file: string(g.file("")), trust: trust}
	}
	numbers := mixedNumbers(t).deal(board(2)).deal(board(3)).close(audit.OutcomeEndedEarly, 0)
	all := []victim{of("whole", whole, key), of("mixed", mixed, key), of("draws", draws, key),
		of("numbers", numbers, key),
		of("witnessed", seen, policy)}
	for _, i := range append([]uint64{0, 1, 2}, mixed.indexes...) {
		all = append(all, victim{t: t, name: fmt.Sprintf("receipt %d", i), g: mixed, index: i, receipt: true,
			file: mixed.h.receipt(i).Text(), trust: key})
	}
	all[0].sample, all[len(all)-1].sample = true, true
	for _, v := range all {
		if got := File([]byte(v.file), v.trust); got.Verdict != Proved {
			t.Fatalf("%s is no honest file: %+v", v.name, got.Steps)
		}
	}
	return all
}

// with replaces the first old; nil where there is none.
func (v victim) with(old, new string) []byte {
	if old == "" || !strings.Contains(v.file, old) {
		return nil
	}
	return []byte(strings.Replace(v.file, old, new, 1))
}

// edited writes a transcript again after an edit; nil for a receipt.
func (v victim) edited(edit func(*openings.Transcript)) []byte {
	if v.receipt {
		return nil
	}
	f := v.g.transcript("")
	edit(f)
	return marshal(v.t, f)
}

// rewritten edits the receipt, or the second one of a transcript, its commit's.
func (v victim) rewritten(edit func(*audit.Receipt)) []byte { return v.rewrittenAt(1, edit) }

func (v victim) rewrittenAt(i int, edit func(*audit.Receipt)) []byte {
	text := func(text string) string {
		r, err := audit.ParseReceipt(text)
		must(v.t, err)
		r.Entry, r.Proof = bytes.Clone(r.Entry), slices.Clone(r.Proof)
		edit(&r)
		return r.Text()
	}
	if v.receipt {
		return []byte(text(v.file))
	}
	return v.edited(func(f *openings.Transcript) { f.Receipts[i] = text(f.Receipts[i]) })
}

// line replaces a whole line of each receipt in the file.
func (v victim) line(prefix, with string) []byte {
	newline := "\n"
	if !v.receipt {
		newline = `\n`
	}
	lines := strings.Split(v.file, newline)
	for i, l := range lines {
		if strings.HasPrefix(l, prefix) {
			lines[i] = with
		}
	}
	return []byte(strings.Join(lines, newline))
}

// firstHash is the base64 of the first hash that a proof of the file has.
func (v victim) firstHash() (string, []byte) {
	i := v.index
	if !v.receipt {
		i = 0
	}
	h := v.g.h.receipt(i).Proof[0]
	return base64.StdEncoding.EncodeToString(h[:]), h[:]
}

// number puts another number behind the first member of that name.
func (v victim) number(member, number string) []byte {
	before, after, ok := strings.Cut(v.file, member)
	if !ok || v.receipt {
		return nil
	}
	return []byte(before + member + number + strings.TrimLeft(after, "0123456789"))
}

// list puts items in front of what a list has.
func (v victim) list(opening, item string, n int) []byte {
	return v.with(opening, opening+strings.Repeat(item+",", n))
}

// sized writes another size into the checkpoint.
func (v victim) sized(size string) []byte {
	return v.reheaded(func(r *audit.Receipt) {
		lines := strings.SplitN(string(r.Checkpoint), "\n", 3)
		r.Checkpoint = []byte(lines[0] + "\n" + size + "\n" + lines[2])
	})
}

// reheaded edits the checkpoint of the receipt, or that of a transcript.
func (v victim) reheaded(edit func(*audit.Receipt)) []byte {
	if v.receipt {
		return v.rewritten(edit)
	}
	return v.edited(func(f *openings.Transcript) {
		r := audit.Receipt{Checkpoint: []byte(f.Checkpoint)}
		edit(&r)
		f.Checkpoint = string(r.Checkpoint)
	})
}

// relaid is the transcript over a ledger in which one entry is another, all of it signed by the real key: what only an
// operator can do. at counts the entries of the shuffle from its commit; -1 is the genesis.
func (v victim) relaid(at int, edit func(*audit.Entry)) []byte {
	index := uint64(0)
	if at >= 0 && !v.receipt {
		index = v.g.indexes[at]
	}
	return v.relay(func(i uint64, e *audit.Entry) {
		if i == index {
			edit(e)
		}
	})
}

// under is the transcript over a ledger with another genesis, which the commit names.
func (v victim) under(edit func(*audit.Genesis)) []byte {
	var zero [32]byte
	return v.relay(func(i uint64, e *audit.Entry) {
		switch b := e.Body.(type) {
		case *audit.Genesis:
			edit(b)
			encoded, err := e.Encode()
			must(v.t, err)
			zero = sha256.Sum256(encoded)
		case *audit.Commit:
			b.Context.Genesis = zero
		}
	})
}

// relay is the transcript over a ledger with edited entries.
func (v victim) relay(edit func(index uint64, e *audit.Entry)) []byte {
	if v.receipt || len(v.g.h.witnesses) > 0 {
		return nil
	}
	h := *v.g.h
	h.state, h.entries, h.hashes = nil, nil, nil
	for i, b := range v.g.h.entries {
		e, err := audit.ParseEntry(b)
		must(v.t, err)
		edit(uint64(i), &e)
		b, err = e.Encode()
		must(v.t, err)
		h.addBytes(b)
	}
	g := *v.g
	g.h = &h
	return g.file("")
}

// close edits the last entry of a relaid ledger.
func (v victim) close(edit func(*audit.Close)) []byte {
	return v.relaid(len(v.g.indexes)-1, func(e *audit.Entry) { edit(e.Body.(*audit.Close)) })
}

func (v victim) commit(edit func(*audit.Commit)) []byte {
	return v.relaid(0, func(e *audit.Entry) { edit(e.Body.(*audit.Commit)) })
}

// deal edits the first deal.
func (v victim) deal(edit func(*audit.Entry, *audit.Deal)) []byte {
	return v.relaid(len(v.g.indexes)-1-len(v.g.deals), func(e *audit.Entry) { edit(e, e.Body.(*audit.Deal)) })
}

func compressed(t testing.TB, b []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write(b)
	must(t, err)
	must(t, w.Close())
	return out.Bytes()
}

// open edits the first card that is opened; nil where there is none.
func (v victim) open(edit func(c *openings.Card, all []openings.Card)) []byte {
	return v.edited(func(f *openings.Transcript) { edit(&f.Cards[0], f.Cards) })
}

// A kind is one way to damage a file. It gives nil for a file that it does not
// apply to. step is where the result fails, "" where it cannot be judged.
type kind struct {
	name, about, step string
	damage            func(v victim) []byte
	trust             func(v victim) Trust // nil: the victim's
}

const million = 1_000_000

// kinds are all the kinds of damage to transcripts and receipts. Those to whole bundles are internal/inspect's.
func kinds() []kind {
	return slices.Concat(damagedBytes, otherSpellings, wrongNumbers, tooMuch, exchanged, editedFields(), forgedCards,
		forgedLedgers, wrongTrusts, fromLater)
}

var damagedBytes = []kind{
	{"empty", "nothing at all", stepFormat, func(victim) []byte { return []byte{} }, nil},
	{"half", "cut in the middle", stepFormat, func(v victim) []byte { return []byte(v.file[:len(v.file)/2]) }, nil},
	{"byte-less", "the last byte is missing", stepFormat,
		func(v victim) []byte { return []byte(v.file[:len(v.file)-1]) }, nil},
	{"byte-more", "a newline more", stepFormat, func(v victim) []byte { return []byte(v.file + "\n") }, nil},
	{"nul", "a NUL at the end", stepFormat, func(v victim) []byte { return []byte(v.file + "\x00") }, nil},
	{"twice", "the file twice", stepFormat, func(v victim) []byte { return []byte(v.file + v.file) }, nil},
	{"byte-order-mark", "a byte order mark", stepFormat, func(v victim) []byte { return []byte("\ufeff" + v.file) },
		nil},
	{"leading-space", "a space in front", stepFormat, func(v victim) []byte { return []byte(" " + v.file) }, nil},
	{"utf-16", "in UTF-16", stepFormat, func(v victim) []byte {
		var b []byte
		for _, u := range utf16.Encode([]rune(v.file)) {
			b = append(b, byte(u), byte(u>>8))
		}
		return b
	}, nil},
	{"latin-1", "in Latin-1, where the dash of a signature has no byte", stepFormat,
		func(v victim) []byte { return []byte(strings.ReplaceAll(v.file, "—", "\x97")) }, nil},
	{"no-utf-8", "an overlong dash", stepFormat, func(v victim) []byte { return v.with("—", "\xf0\x82\x80\x94") }, nil},
	{"surrogate", "a surrogate in UTF-8", stepFormat, func(v victim) []byte { return v.with("—", "\xed\xa0\x80") },
		nil},
	{"hyphen", "a hyphen for the dash of a signature", stepFormat,
		func(v victim) []byte { return []byte(strings.ReplaceAll(v.file, "—", "-")) }, nil},
	{"upper-case", "all in capitals", stepFormat, func(v victim) []byte { return []byte(strings.ToUpper(v.file)) },
		nil},
	{"gzip", "compressed", stepFormat, func(v victim) []byte { return compressed(v.t, []byte(v.file)) }, nil},
	{"html", "a page that shows it", stepFormat,
		func(v victim) []byte { return []byte("<!doctype html><pre>" + v.file) }, nil},
}

var otherSpellings = []kind{
	{"crlf", "CRLF for newlines", stepFormat, func(v victim) []byte {
		if v.receipt {
			return []byte(strings.ReplaceAll(v.file, "\n", "\r\n"))
		}
		return []byte(strings.ReplaceAll(v.file, `\n`, `\r\n`))
	}, nil},
	{"cr-in-line", "a carriage return at one end of line", stepFormat, func(v victim) []byte {
		return v.with(map[bool]string{true: "@v1\n", false: `@v1\n`}[v.receipt],
			map[bool]string{true: "@v1\r\n", false: `@v1\r\n`}[v.receipt])
	}, nil},
	{"indented", "the JSON indented", stepFormat,
		func(v victim) []byte { return v.with(`,"receipts":`, ",\n \"receipts\": ") }, nil},
	{"duplicate-id", "the id twice, the true one last", stepFormat,
		func(v victim) []byte { return v.with(`"id":`, `"id":9,"id":`) }, nil},
	{"duplicate-receipts", "an empty list of receipts behind the true one", stepFormat,
		func(v victim) []byte { return v.with(`,"cards":`, `,"receipts":[],"cards":`) }, nil},
	{"duplicate-cards", "the cards twice", stepFormat,
		func(v victim) []byte { return v.with(`,"cards":`, `,"cards":[],"cards":`) }, nil},
	{"duplicate-value", "a card's value twice", stepFormat,
		func(v victim) []byte { return v.with(`"value":`, `"value":0,"value":`) }, nil},
	{"duplicate-escaped", "a member twice, once escaped", stepFormat,
		func(v victim) []byte { return v.with(`"id":`, `"\u0069d":9,"id":`) }, nil},
	{"prototype", "a member that JavaScript knows", stepFormat,
		func(v victim) []byte { return v.with(`"id":`, `"__proto__":{},"id":`) }, nil},
	{"unknown-member", "a member of no version", stepFormat,
		func(v victim) []byte { return v.with(`"id":`, `"note":"paid","id":`) }, nil},
	{"members-exchanged", "two members in the other order", stepFormat,
		func(v victim) []byte { return v.with(`"place":0,"position":`, `"position":0,"place":`) }, nil},
	{"escaped-slash", "a slash escaped", stepFormat,
		func(v victim) []byte { return v.with(`"shuffled/v1/transcript"`, `"shuffled\/v1/transcript"`) }, nil},
	{"escaped-letter", "a letter escaped", stepFormat, func(v victim) []byte { return v.with(`"c2sp`, `"\u00632sp`) },
		nil},
	{"null-witnessed", "a member that is null", stepFormat,
		func(v victim) []byte { return v.with(`,"cards":`, `,"witnessed":null,"cards":`) }, nil},
	{"empty-witnessed", "an empty text of what the witnesses saw", stepFormat, func(v victim) []byte {
		if strings.Contains(v.file, "witnessed") {
			return nil
		}
		return v.with(`,"cards":`, `,"witnessed":"","cards":`)
	}, nil},
	{"base64-unpadded", "a hash without padding", stepFormat,
		func(v victim) []byte { s, _ := v.firstHash(); return v.with(s, strings.TrimRight(s, "=")) }, nil},
	{"base64-url", "the alphabet for URLs", stepFormat, func(v victim) []byte {
		s, _ := v.firstHash()
		return v.with(s, strings.Repeat("-_", 21)+"A=")
	}, nil},
	{"base64-stray-bits", "stray bits in a hash", stepFormat,
		func(v victim) []byte { s, h := v.firstHash(); return v.with(s, spareBits(h)) }, nil},
	{"base64-space", "a space in a hash", stepFormat,
		func(v victim) []byte { s, _ := v.firstHash(); return v.with(s, s[:20]+" "+s[20:]) }, nil},
	{"base64-padding-twice", "padding in the middle", stepFormat,
		func(v victim) []byte { s, _ := v.firstHash(); return v.with(s, s[:19]+"="+s[20:]) }, nil},
	{"base64-hex", "a hash in hexadecimal", stepFormat,
		func(v victim) []byte { s, h := v.firstHash(); return v.with(s, hex.EncodeToString(h)) }, nil},
	{"base64-two-lines", "a hash in two lines", stepFormat, func(v victim) []byte {
		s, _ := v.firstHash()
		return v.with(s, s[:20]+map[bool]string{true: "\n", false: `\n`}[v.receipt]+s[20:])
	}, nil},
	{"extra-none", "no entry in the receipts", stepFormat, func(v victim) []byte { return v.line("extra ", "extra ") },
		nil},
	{"extra-capital", "another word for extra", stepFormat, func(v victim) []byte { return v.with("extra ", "Extra ") },
		nil},
	{"blank-line-more", "a blank line more", stepFormat, func(v victim) []byte {
		return v.with(map[bool]string{true: "\n\n", false: `\n\n`}[v.receipt],
			map[bool]string{true: "\n\n\n", false: `\n\n\n`}[v.receipt])
	}, nil},
	{"extension-line", "an extension line in the checkpoint", stepFormat, func(v victim) []byte {
		return v.reheaded(func(r *audit.Receipt) {
			r.Checkpoint = bytes.Replace(r.Checkpoint, []byte("\n\n"), []byte("\nmore\n\n"), 1)
		})
	}, nil},
	{"signature-twice", "the same signature twice", stepFormat, func(v victim) []byte {
		return v.reheaded(func(r *audit.Receipt) {
			_, lines, _ := bytes.Cut(r.Checkpoint, []byte("\n\n"))
			r.Checkpoint = append(bytes.Clone(r.Checkpoint), lines...)
		})
	}, nil},
}

var wrongNumbers = []kind{
	{"id-2^53", "an id beyond 2^53 − 1", stepFormat,
		func(v victim) []byte { return v.number(`"id":`, "9007199254740992") }, nil},
	{"id-huge", "an id of a million digits", stepFormat,
		func(v victim) []byte { return v.number(`"id":`, strings.Repeat("9", million)) }, nil},
	{"id-exponent", "an id with an exponent that is enormous", stepFormat,
		func(v victim) []byte { return v.number(`"id":`, "1e999999999") }, nil},
	{"id-fraction", "an id with a fraction", stepFormat, func(v victim) []byte { return v.number(`"id":`, "3.0") },
		nil},
	{"id-zero", "shuffle 0, the genesis", stepFormat, func(v victim) []byte { return v.number(`"id":`, "0") }, nil},
	{"id-negative", "a negative id", stepFormat, func(v victim) []byte { return v.number(`"id":`, "-3") }, nil},
	{"place-4096", "a place that no deck has", stepFormat,
		func(v victim) []byte { return v.number(`"place":`, "4096") }, nil},
	{"position-4096", "a position that no deck has", stepFormat,
		func(v victim) []byte { return v.number(`"position":`, "4096") }, nil},
	{"value-2^32", "a value beyond 32 bits", stepFormat,
		func(v victim) []byte { return v.number(`"value":`, "4294967296") }, nil},
	{"value-leading-zero", "a value with a leading zero", stepFormat,
		func(v victim) []byte { return v.number(`"value":`, "00") }, nil},
	{"index-2^64", "an index beyond 64 bits", stepFormat,
		func(v victim) []byte { return v.line("index ", "index 18446744073709551616") }, nil},
	{"index-huge", "an index of a million digits", stepFormat,
		func(v victim) []byte { return v.line("index ", "index "+strings.Repeat("1", million)) }, nil},
	{"index-zeros", "indexes with leading zeros", stepFormat,
		func(v victim) []byte { return v.line("index ", "index 00") }, nil},
	{"size-huge", "a checkpoint over more entries than there can be", stepFormat,
		func(v victim) []byte { return v.sized("9007199254740992") }, nil},
	{"size-zero", "a checkpoint over nothing", stepSignature, func(v victim) []byte { return v.sized("0") }, nil},
	{"size-more", "a checkpoint over one entry more", stepSignature,
		func(v victim) []byte { return v.sized(fmt.Sprint(len(v.g.h.entries) + 1)) }, nil},
}

var tooMuch = []kind{
	{"33-mib", "more than 32 MiB of zeros behind the brace", stepFormat,
		func(v victim) []byte { return append([]byte("{"), make([]byte, 33<<20)...) }, nil},
	{"one-string", "32 MiB in one string", stepFormat, func(v victim) []byte {
		return []byte(`{"format":"shuffled/v1/transcript","id":3,"recipient":"` + strings.Repeat("a", 31<<20) + `"`)
	}, nil},
	{"nested", "thirty million brackets", stepFormat, func(v victim) []byte {
		return []byte(`{"format":"shuffled/v1/transcript","id":` + strings.Repeat("[", 30*million))
	}, nil},
	{"million-proof-lines", "a million hashes in the inclusion proof", stepFormat, func(v victim) []byte {
		s, _ := v.firstHash()
		if v.receipt {
			return v.with(s, strings.Repeat(s+"\n", 700_000)+s)
		}
		return v.with(s, strings.Repeat(s+`\n`, 680_000)+s)
	}, nil},
	{"64-proof-lines", "one hash more than an inclusion proof may have", stepFormat, func(v victim) []byte {
		return v.rewritten(func(r *audit.Receipt) { r.Proof = slices.Repeat(r.Proof[:1], 64) })
	}, nil},
	{"63-proof-lines", "as many hashes as an inclusion proof may have", stepInclusion, func(v victim) []byte {
		return v.rewritten(func(r *audit.Receipt) { r.Proof = slices.Repeat(r.Proof[:1], 63) })
	}, nil},
	{"entry-48001", "an entry beyond its limit", stepFormat, func(v victim) []byte {
		return v.rewritten(func(r *audit.Receipt) {
			r.Entry = append(r.Entry, make([]byte, audit.MaxEntry+1-len(r.Entry))...)
		})
	}, nil},
	{"entry-20-mib", "an entry of 20 MiB", stepFormat, func(v victim) []byte {
		return v.with("extra ", "extra "+strings.Repeat("AAAA", 5<<20))
	}, nil},
	{"checkpoint-64-kib", "a checkpoint beyond its limit", stepFormat, func(v victim) []byte {
		return v.reheaded(func(r *audit.Receipt) {
			line := fmt.Sprintf("— %s AAAAAAAA\n", strings.Repeat("a", audit.MaxCheckpoint))
			r.Checkpoint = append(bytes.Clone(r.Checkpoint), line...)
		})
	}, nil},
	{"65-signatures", "one signature line more than a checkpoint may have", stepFormat, func(v victim) []byte {
		return v.reheaded(func(r *audit.Receipt) {
			has := bytes.Count(r.Checkpoint, []byte("\n—"))
			r.Checkpoint = bytes.Clone(r.Checkpoint)
			for i := range 65 - has {
				r.Checkpoint = fmt.Appendf(r.Checkpoint, "— witness.example/%d AAAAAAAA\n", i+100)
			}
		})
	}, nil},
	{"4101-receipts", "more receipts than a shuffle can have", stepFormat,
		func(v victim) []byte { return v.list(`"receipts":[`, `"a"`, 4101) }, nil},
	{"million-receipts", "a million receipts", stepFormat,
		func(v victim) []byte { return v.list(`"receipts":[`, `"a"`, million) }, nil},
	{"4097-names", "more names than a deck can have", stepFormat,
		func(v victim) []byte { return v.list(`"deck":[`, `"a"`, 4097) }, nil},
	{"million-names", "a million names of cards", stepFormat,
		func(v victim) []byte { return v.list(`"deck":[`, `"a"`, million) }, nil},
	{"4097-cards", "more cards than a shuffle can have", stepFormat, func(v victim) []byte {
		if v.receipt {
			return nil
		}
		card, err := json.Marshal(v.g.transcript("").Cards[0])
		must(v.t, err)
		return v.list(`"cards":[`, string(card), 4097)
	}, nil},
	{"13-hashes", "one hash more than an opening may have", stepFormat, func(v victim) []byte {
		return v.open(func(c *openings.Card, _ []openings.Card) { c.Proof = slices.Repeat([]string{c.Salt}, 13) })
	}, nil},
	{"million-hashes", "a million hashes in an opening", stepFormat,
		func(v victim) []byte { return v.list(`"proof":[`, `"a"`, million) }, nil},
	{"long-name", "a name of a megabyte in the deck", stepDeck,
		func(v victim) []byte { return v.with(`"deck":["`, `"deck":["`+strings.Repeat("a", 1<<20)) }, nil},
	{"compressed-bomb", "a gigabyte of zeros, compressed", stepFormat,
		func(v victim) []byte { return compressed(v.t, make([]byte, 64<<20)) }, nil},
}

var exchanged = []kind{
	{"entries-swapped", "genesis and commit in each other's receipt", stepEntries, func(v victim) []byte {
		return v.edited(func(f *openings.Transcript) {
			swapped(v.t, f, func(a, b *audit.Receipt) { a.Entry, b.Entry = b.Entry, a.Entry })
		})
	}, nil},
	{"proofs-swapped", "the proofs of two entries exchanged", stepInclusion, func(v victim) []byte {
		return v.edited(func(f *openings.Transcript) {
			swapped(v.t, f, func(a, b *audit.Receipt) { a.Proof, b.Proof = b.Proof, a.Proof })
		})
	}, nil},
	{"receipts-swapped", "the last two receipts exchanged", stepEntries, func(v victim) []byte {
		return v.edited(func(f *openings.Transcript) {
			n := len(f.Receipts)
			f.Receipts[n-1], f.Receipts[n-2] = f.Receipts[n-2], f.Receipts[n-1]
		})
	}, nil},
	{"no-genesis", "the receipt of the genesis left out", stepEntries, func(v victim) []byte {
		return v.edited(func(f *openings.Transcript) { f.Receipts = f.Receipts[1:] })
	}, nil},
	{"no-commit", "the receipt of the commit left out", stepEntries, func(v victim) []byte {
		return v.edited(func(f *openings.Transcript) { f.Receipts = slices.Delete(f.Receipts, 1, 2) })
	}, nil},
	{"no-receipts", "no receipts", stepFormat, func(v victim) []byte {
		return v.edited(func(f *openings.Transcript) { f.Receipts = []string{} })
	}, nil},
	{"close-twice", "the last receipt twice", stepEntries, func(v victim) []byte {
		return v.edited(func(f *openings.Transcript) { f.Receipts = append(f.Receipts, f.Receipts[len(f.Receipts)-1]) })
	}, nil},
	{"receipt-empty", "an empty text for a receipt", stepFormat, func(v victim) []byte {
		return v.edited(func(f *openings.Transcript) { f.Receipts[1] = "" })
	}, nil},
	{"node-for-entry",
		"two hashes of the tree as an entry, as if a node were a leaf: of a type that is critical and not known", "",
		func(v victim) []byte { return v.nodeForEntry(func(t byte) bool { return t > 14 && t < 128 }) }, nil},
	{"node-for-entry-passed-over", "the same, of a type that is not critical, whose time is none", stepEntries,
		func(v victim) []byte { return v.nodeForEntry(func(t byte) bool { return t >= 128 }) }, nil},
	{"proof-from-above", "a proof from one level higher, as if a leaf were a node", stepInclusion,
		func(v victim) []byte {
			return v.rewritten(func(r *audit.Receipt) { r.Proof = r.Proof[1:] })
		}, nil},
	{"proof-none", "no proof", stepInclusion,
		func(v victim) []byte { return v.rewritten(func(r *audit.Receipt) { r.Proof = nil }) }, nil},
	{"proof-bit", "one bit of a proof", stepInclusion,
		func(v victim) []byte { return v.rewritten(func(r *audit.Receipt) { r.Proof[0][31] ^= 1 }) }, nil},
	{"proof-longer", "a hash more in a proof", stepInclusion, func(v victim) []byte {
		return v.rewritten(func(r *audit.Receipt) { r.Proof = append(r.Proof, r.Proof[0]) })
	}, nil},
	{"proof-reversed", "a proof from the root down", stepInclusion, func(v victim) []byte {
		if v.receipt && len(v.g.h.receipt(v.index).Proof) < 2 {
			return nil
		}
		return v.rewritten(func(r *audit.Receipt) { slices.Reverse(r.Proof) })
	}, nil},
	{"index-next", "a receipt that says the next index", stepInclusion, func(v victim) []byte {
		if !v.receipt || v.index == 0 {
			return nil
		}
		return v.rewritten(func(r *audit.Receipt) { r.Index++ })
	}, nil},
	{"index-beyond", "an index beyond the checkpoint", stepInclusion, func(v victim) []byte {
		if !v.receipt || v.index == 0 {
			return nil
		}
		return v.rewritten(func(r *audit.Receipt) { r.Index += 1000 })
	}, nil},
	{"index-of-commit", "a commit that says the next index", stepEntries, func(v victim) []byte {
		if v.receipt {
			return nil
		}
		return v.rewritten(func(r *audit.Receipt) { r.Index++ })
	}, nil},
	{"two-faults", "a run that is too long, of an unknown purpose: the first of two faults counts", stepEntries,
		func(v victim) []byte {
			if v.name != "mixed" {
				return nil
			}
			return v.rewrittenAt(atDeal, func(r *audit.Receipt) { r.Entry[inBody+21], r.Entry[inBody+23] = 0xff, 97 })
		}, nil},
	{"entry-byte-more", "a byte more in an entry", stepEntries,
		func(v victim) []byte { return v.rewritten(func(r *audit.Receipt) { r.Entry = append(r.Entry, 0) }) }, nil},
	{"entry-byte-less", "a byte less in an entry", stepEntries, func(v victim) []byte {
		return v.rewritten(func(r *audit.Receipt) { r.Entry = r.Entry[:len(r.Entry)-1] })
	}, nil},
	{"root-bit", "one bit of the checkpoint's root", stepSignature, func(v victim) []byte {
		return v.reheaded(func(r *audit.Receipt) {
			lines := strings.Split(string(r.Checkpoint), "\n")
			root, _ := base64.StdEncoding.DecodeString(lines[2])
			root[0] ^= 1
			lines[2] = base64.StdEncoding.EncodeToString(root)
			r.Checkpoint = []byte(strings.Join(lines, "\n"))
		})
	}, nil},
	{"signature-bit", "one bit of the signature", stepSignature, func(v victim) []byte {
		return v.reheaded(func(r *audit.Receipt) {
			r.Checkpoint = resigned(r.Checkpoint, func(b []byte) { b[4] ^= 1 })
		})
	}, nil},
	{"signature-key-id", "the signature under another key's id", stepSignature, func(v victim) []byte {
		return v.reheaded(func(r *audit.Receipt) {
			r.Checkpoint = resigned(r.Checkpoint, func(b []byte) { b[0] ^= 1 })
		})
	}, nil},
	{"signature-zero", "a signature of zeros", stepSignature, func(v victim) []byte {
		return v.reheaded(func(r *audit.Receipt) {
			r.Checkpoint = resigned(r.Checkpoint, func(b []byte) { clear(b[4:]) })
		})
	}, nil},
	{"impostor", "signed by another key of the same name", stepSignature, func(v victim) []byte {
		return v.reheaded(func(r *audit.Receipt) {
			text, _, _ := strings.Cut(string(r.Checkpoint), "\n\n")
			r.Checkpoint = signed(v.t, text+"\n", newKey(v.t, v.g.h.key.name, "impostor"))
		})
	}, nil},
	{"origin-line", "another origin in the checkpoint", stepFormat, func(v victim) []byte {
		return v.reheaded(func(r *audit.Receipt) {
			r.Checkpoint = bytes.Replace(r.Checkpoint, []byte("main"), []byte("mine"), 1)
		})
	}, nil},
	{"origin-everywhere", "another origin in checkpoints and signatures", stepSignature, func(v victim) []byte {
		return []byte(strings.ReplaceAll(v.file, "example.com/main", "example.com/mine"))
	}, nil},
	{"older-checkpoint", "an honest checkpoint from before the last entry", stepInclusion, func(v victim) []byte {
		h := *v.g.h
		h.state, h.entries, h.hashes = nil, nil, nil
		for _, e := range v.g.h.entries[:len(v.g.h.entries)-1] {
			h.addBytes(e)
		}
		return v.reheaded(func(r *audit.Receipt) { r.Checkpoint = h.head() })
	}, nil},
	{"two-checkpoints", "a receipt with a checkpoint of its own", stepFormat, func(v victim) []byte {
		if v.receipt {
			return nil
		}
		return v.rewritten(func(r *audit.Receipt) { r.Checkpoint = v.g.h.head() })
	}, nil},
	{"another-id", "the id of another entry", stepEntries,
		func(v victim) []byte { return v.edited(func(f *openings.Transcript) { f.ID++ }) }, nil},
	{"witnessed-leaf", "another leaf for the last entry that the witnesses saw", stepInclusion,
		func(v victim) []byte {
			return v.witnessed(func(p *openings.Prefix) { p.Leaf = hash32("leaf") })
		}, nil},
	{"witnessed-proof", "a path altered in what the witnesses saw", stepInclusion, func(v victim) []byte {
		return v.witnessed(func(p *openings.Prefix) { p.Proof[0] = hash32("another") })
	}, nil},
	{"witnessed-signature", "what the witnesses saw, not signed by the house", stepSignature, func(v victim) []byte {
		return v.witnessed(func(p *openings.Prefix) {
			p.Checkpoint = string(resigned([]byte(p.Checkpoint), func(b []byte) { b[9] ^= 1 }))
		})
	}, nil},
}

// nodeForEntry puts a hash of the proof, twice, where the entry stands; nil if none of
// them begins with a type that fits.
func (v victim) nodeForEntry(fits func(typ byte) bool) (file []byte) {
	found := false
	file = v.rewritten(func(r *audit.Receipt) {
		for _, h := range r.Proof {
			if fits(h[0]) && !found {
				found = true
				r.Entry = slices.Concat([]byte{1}, h[:], h[:])
			}
		}
	})
	if !found {
		return nil
	}
	return file
}

// witnessed edits that member, where there is one.
func (v victim) witnessed(edit func(*openings.Prefix)) []byte {
	if v.g.early == "" {
		return nil
	}
	return v.edited(func(f *openings.Transcript) { edit(f.Witnessed) })
}

// swapped exchanges something between the first two receipts.
func swapped(t testing.TB, f *openings.Transcript, swap func(a, b *audit.Receipt)) {
	a, err := audit.ParseReceipt(f.Receipts[0])
	must(t, err)
	b, err := audit.ParseReceipt(f.Receipts[1])
	must(t, err)
	swap(&a, &b)
	f.Receipts[0], f.Receipts[1] = a.Text(), b.Text()
}

// resigned edits key id and signature of the first signature line.
func resigned(checkpoint []byte, edit func(b []byte)) []byte {
	text, lines, _ := strings.Cut(string(checkpoint), "\n\n")
	first, rest, _ := strings.Cut(lines, "\n")
	at := strings.LastIndexByte(first, ' ') + 1
	b, _ := base64.StdEncoding.DecodeString(first[at:])
	edit(b)
	return []byte(text + "\n\n" + first[:at] + base64.StdEncoding.EncodeToString(b) + "\n" + rest)
}

// editedFields changes each field of each entry of the mixed shuffle, as someone without the key can.
func editedFields() []kind {
	var out []kind
	field := func(i int, name string, change func(*audit.Entry)) {
		out = append(out, kind{"field-" + name, "one field of an entry is another", stepInclusion,
			func(v victim) []byte {
				if v.name != "mixed" {
					return nil
				}
				return v.rewrittenAt(i, func(r *audit.Receipt) {
					e, err := audit.ParseEntry(r.Entry)
					must(v.t, err)
					change(&e)
					r.Entry, err = e.Encode()
					must(v.t, err)
				})
			}, nil})
	}
	field(atDeal, "entry-time", func(e *audit.Entry) { e.Time++ })
	field(atDeal, "entry-actor", func(e *audit.Entry) { e.Actor = audit.Operator })
	fields(genesisFields(), func(name string, f func(*audit.Genesis)) {
		field(atGenesis, "genesis-"+name, func(e *audit.Entry) { f(e.Body.(*audit.Genesis)) })
	})
	fields(commitFields(), func(name string, f func(*audit.Commit)) {
		field(atCommit, "commit-"+name, func(e *audit.Entry) { f(e.Body.(*audit.Commit)) })
	})
	fields(mixFields(), func(name string, f func(*audit.Mix)) {
		field(atMix, "mix-"+name, func(e *audit.Entry) { f(e.Body.(*audit.Mix)) })
	})
	fields(dealFields(), func(name string, f func(*audit.Deal)) {
		field(atDeal, "deal-"+name, func(e *audit.Entry) { f(e.Body.(*audit.Deal)) })
	})
	fields(closeFields(), func(name string, f func(*audit.Close)) {
		field(atClose, "close-"+name, func(e *audit.Entry) { f(e.Body.(*audit.Close)) })
	})
	return out
}

func fields[T any](all map[string]func(T), each func(string, func(T))) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		each(name, all[name])
	}
}

var forgedCards = []kind{
	{"card-value", "another value", stepOpenings,
		func(v victim) []byte { return v.open(func(c *openings.Card, _ []openings.Card) { c.Value ^= 1 }) }, nil},
	{"card-value-and-name", "another card altogether", stepOpenings, func(v victim) []byte {
		return v.open(func(c *openings.Card, all []openings.Card) { c.Value, c.Card = all[1].Value, all[1].Card })
	}, nil},
	{"card-name", "another name", stepOpenings,
		func(v victim) []byte { return v.open(func(c *openings.Card, _ []openings.Card) { c.Card = "Joker" }) }, nil},
	{"card-salt", "another card's salt", stepOpenings, func(v victim) []byte {
		return v.open(func(c *openings.Card, all []openings.Card) { c.Salt = all[1].Salt })
	}, nil},
	{"card-proof", "another card's proof", stepOpenings, func(v victim) []byte {
		return v.open(func(c *openings.Card, all []openings.Card) {
			c.Proof = slices.Clone(all[1].Proof)
			slices.Reverse(c.Proof)
		})
	}, nil},
	{"card-proof-none", "no proof", stepOpenings, func(v victim) []byte {
		return v.open(func(c *openings.Card, _ []openings.Card) { c.Proof = []string{} })
	}, nil},
	{"card-node-as-leaf", "an opening from one level higher", stepOpenings, func(v victim) []byte {
		return v.open(func(c *openings.Card, _ []openings.Card) { c.Proof = c.Proof[1:] })
	}, nil},
	{"card-position", "another position", stepOpenings,
		func(v victim) []byte { return v.open(func(c *openings.Card, _ []openings.Card) { c.Position ^= 1 }) }, nil},
	{"card-place", "a place that was not dealt", stepOpenings, func(v victim) []byte {
		return v.edited(func(f *openings.Transcript) { f.Cards[len(f.Cards)-1].Place = 4000 })
	}, nil},
	{"cards-swapped", "two cards in each other's place", stepOpenings, func(v victim) []byte {
		return v.open(func(c *openings.Card, all []openings.Card) { all[0].Place, all[1].Place = 1, 0 })
	}, nil},
	{"card-twice", "a card twice", stepOpenings, func(v victim) []byte {
		return v.edited(func(f *openings.Transcript) { f.Cards = slices.Insert(f.Cards, 0, f.Cards[0]) })
	}, nil},
	{"not-the-recipient's", "a recipient's file with another's card", stepOpenings, func(v victim) []byte {
		return v.edited(func(f *openings.Transcript) {
			if f.Recipient = "seat-9"; v.g.deck == nil {
				f.Cards[0].Value = 0 // all of its cards are public
			}
		})
	}, nil},
	{"recipient-no-name", "a recipient that is no name", stepFormat,
		func(v victim) []byte { return v.edited(func(f *openings.Transcript) { f.Recipient = "seat 1" }) }, nil},
	{"deck-swapped", "two names of the deck exchanged", stepDeck, func(v victim) []byte {
		if v.g.deck == nil {
			return nil
		}
		return v.edited(func(f *openings.Transcript) {
			f.Deck = slices.Clone(f.Deck)
			f.Deck[0], f.Deck[1] = f.Deck[1], f.Deck[0]
		})
	}, nil},
	{"deck-shorter", "a name left out of the deck", stepDeck, func(v victim) []byte {
		if v.g.deck == nil {
			return nil
		}
		return v.edited(func(f *openings.Transcript) { f.Deck = f.Deck[1:] })
	}, nil},
	{"deck-absent", "no deck", stepDeck, func(v victim) []byte {
		if v.g.deck == nil {
			return nil
		}
		return v.edited(func(f *openings.Transcript) { f.Deck = nil })
	}, nil},
	{"deck-of-draws", "a deck in a draw list", stepDeck, func(v victim) []byte {
		if v.g.deck != nil {
			return nil
		}
		return v.edited(func(f *openings.Transcript) { f.Deck = sixCards })
	}, nil},
	{"deck-lookalike", "a name with a space that does not show", stepDeck,
		func(v victim) []byte { return v.with(`"Ace"`, "\"Ace\u200b\"") }, nil},
}

var forgedLedgers = []kind{
	{"sandbox-genesis", "a sandbox's genesis over a commit for money", stepOrigin, func(v victim) []byte {
		return v.relaid(-1, func(e *audit.Entry) { e.Body.(*audit.Genesis).Production = false })
	}, nil},
	{"twin-genesis", "the genesis of a ledger of the same origin and key", stepOrigin, func(v victim) []byte {
		return v.relaid(-1, func(e *audit.Entry) { e.Body.(*audit.Genesis).DefaultCloseBy-- })
	}, nil},
	{"sandbox-commit", "a sandbox's commit in a ledger for money", stepOrigin, func(v victim) []byte {
		return v.commit(func(c *audit.Commit) { c.Context.Production = false })
	}, nil},
	{"other-genesis", "the genesis of another ledger", stepOrigin, func(v victim) []byte {
		return v.relaid(-1, func(e *audit.Entry) { e.Body.(*audit.Genesis).Origin = "example.com/mine" })
	}, nil},
	{"other-commit", "the commit of another ledger", stepOrigin, func(v victim) []byte {
		return v.commit(func(c *audit.Commit) { c.Context.Origin = "example.com/mine" })
	}, nil},
	{"auditor-no-point", "an auditor key that is no point", stepLegality, func(v victim) []byte {
		return v.under(func(g *audit.Genesis) { g.AuditorKeys[0][1249] ^= 1 })
	}, nil},
	{"instance-above", "an instance that started later", stepLegality,
		func(v victim) []byte { return v.commit(func(c *audit.Commit) { c.Instance = 1000 }) }, nil},
	{"previous-above", "a previous commit that came later", stepLegality, func(v victim) []byte {
		return v.commit(func(c *audit.Commit) { c.Serial, c.Previous = 2, 1000 })
	}, nil},
	{"close-by-past", "a time to close that had passed", stepLegality,
		func(v victim) []byte { return v.commit(func(c *audit.Commit) { c.CloseBy = 1 }) }, nil},
	{"close-by-far", "a time to close beyond the cap", stepLegality,
		func(v victim) []byte { return v.commit(func(c *audit.Commit) { c.CloseBy += 90000_000 }) }, nil},
	{"deal-late", "a deal after the time to close", stepLegality,
		func(v victim) []byte { return v.deal(func(e *audit.Entry, _ *audit.Deal) { e.Time += 4000_000 }) }, nil},
	{"deal-early", "a deal from before its commit", stepLegality,
		func(v victim) []byte { return v.deal(func(e *audit.Entry, _ *audit.Deal) { e.Time -= 60_000 }) }, nil},
	{"deal-gap", "a deal that leaves a place out", stepLegality,
		func(v victim) []byte { return v.deal(func(_ *audit.Entry, d *audit.Deal) { d.First++ }) }, nil},
	{"deal-beyond", "a deal beyond the last card", stepLegality,
		func(v victim) []byte { return v.deal(func(_ *audit.Entry, d *audit.Deal) { d.Runs[0].Count += 100 }) }, nil},
	{"deal-final", "a final deal before another", stepLegality,
		func(v victim) []byte { return v.deal(func(_ *audit.Entry, d *audit.Deal) { d.Final = true }) }, nil},
	{"deal-cosigned-above", "a deal that saw a checkpoint from later", stepLegality,
		func(v victim) []byte { return v.deal(func(_ *audit.Entry, d *audit.Deal) { d.Checkpoint = 1000 }) }, nil},
	{"expired-early", "expired before its time", stepLegality,
		func(v victim) []byte { return v.close(func(c *audit.Close) { c.Outcome = audit.OutcomeExpired }) }, nil},
	{"continued-alone", "continued in nothing", stepLegality, func(v victim) []byte {
		return v.close(func(c *audit.Close) {
			c.Outcome, c.Form, c.Tape, c.Key = audit.OutcomeContinued, audit.FormNone, nil, 0
		})
	}, nil},
	{"sealed-for-public", "a sealed tape where it goes to everybody", stepLegality, func(v victim) []byte {
		return v.close(func(c *audit.Close) {
			c.Form, c.Key, c.Tape = audit.FormSealed, 2, make([]byte, len(c.Tape)+81)
		})
	}, nil},
	{"tape-short", "a tape that is a byte short", stepLegality,
		func(v victim) []byte { return v.close(func(c *audit.Close) { c.Tape = c.Tape[1:] }) }, nil},
	{"tape-long", "a tape that is a byte long", stepLegality,
		func(v victim) []byte { return v.close(func(c *audit.Close) { c.Tape = append(c.Tape, 0) }) }, nil},
	{"tape-other", "another tape", stepTape, func(v victim) []byte {
		return v.close(func(c *audit.Close) { c.Tape = seeded("another", len(c.Tape)) })
	}, nil},
	{"tape-last-byte", "another last byte of the tape, which no draw reads", stepTape, func(v victim) []byte {
		return v.close(func(c *audit.Close) { c.Tape[len(c.Tape)-1] ^= 1 })
	}, nil},
	{"tape-lost", "the tape is lost", stepTape, func(v victim) []byte {
		if v.name == "mixed" {
			return nil // it opens a burn, which needs the tape
		}
		return v.close(func(c *audit.Close) {
			c.Form, c.Tape, c.Outcome, c.Reason = audit.FormNone, nil, audit.OutcomeVoid, audit.ReasonTapeLost
		})
	}, nil},
	{"deck-root", "another deck root", stepOpenings,
		func(v victim) []byte { return v.commit(func(c *audit.Commit) { c.DeckRoot[0] ^= 1 }) }, nil},
	{"commitment", "another commitment, which the leaves name", stepOpenings,
		func(v victim) []byte { return v.plainly(func(c *audit.Commit) { c.Commitment[0] ^= 1 }) }, nil},
	{"request", "a commit with another request hash, which moves what a mix shows", stepOpenings,
		func(v victim) []byte {
			if v.name != "mixed" {
				return nil
			}
			return v.commit(func(c *audit.Commit) { c.Request[0] ^= 1 })
		}, nil},
	{"deck-hash", "the hash of another deck", stepDeck, func(v victim) []byte {
		if v.g.deck == nil {
			return nil
		}
		return v.commit(func(c *audit.Commit) { c.Context.DeckHash[0] ^= 1 })
	}, nil},
	{"mix-modes", "a mix of sources that the ledger does not declare", stepLegality, func(v victim) []byte {
		if v.name != "mixed" {
			return nil
		}
		return v.under(func(g *audit.Genesis) { g.MixModes = 0 })
	}, nil},
	{"mix-slot", "a slot's value that was not promised", stepLegality, func(v victim) []byte {
		if v.name != "mixed" {
			return nil
		}
		return v.relaid(1, func(e *audit.Entry) { e.Body.(*audit.Mix).Values[0].Slot[0] ^= 1 })
	}, nil},
	{"mix-cut", "a cut beyond the last card", stepLegality, func(v victim) []byte {
		if v.name != "mixed" {
			return nil
		}
		return v.relaid(1, func(e *audit.Entry) { e.Body.(*audit.Mix).Values[3].Cut = 6 })
	}, nil},
}

// plainly edits a commit without a plan: under a plan the seed of the mix changes
// with the entry, and what the places show with it.
func (v victim) plainly(edit func(*audit.Commit)) []byte {
	if v.name == "mixed" {
		return nil
	}
	return v.commit(edit)
}

func asIs(v victim) []byte { return []byte(v.file) }

var wrongTrusts = []kind{
	{"another-ledger's-key", "the key of another ledger", stepSignature, asIs,
		func(v victim) Trust { return Trust{VKey: newKey(v.t, "example.com/other", "ledger key").vkey} }},
	{"another-key", "another key of the same name", stepSignature, asIs,
		func(v victim) Trust { return Trust{VKey: newKey(v.t, v.g.h.key.name, "impostor").vkey} }},
	{"another-policy", "a policy of other witnesses", stepWitnesses, asIs, func(v victim) Trust {
		w := trio{v.g.h.key, newKey(v.t, "witness.example/7", "w7"), newKey(v.t, "witness.example/8", "w8"),
			newKey(v.t, "witness.example/9", "w9")}
		return Trust{Policy: []byte(w.policy("quorum a\n"))}
	}},
	{"key-id", "a verifier key whose id is another's", "", asIs,
		func(v victim) Trust { return Trust{VKey: strings.Replace(v.g.h.key.vkey, "+5a", "+5b", 1)} }},
	{"key-space", "a verifier key with a space behind it", "", asIs,
		func(v victim) Trust { return Trust{VKey: v.g.h.key.vkey + " "} }},
	{"policy-unreadable", "a policy without a quorum", "", asIs,
		func(v victim) Trust { return Trust{Policy: []byte("log " + v.g.h.key.vkey + "\n")} }},
	{"policy-crlf", "a policy with CRLF", "", asIs,
		func(v victim) Trust { return Trust{Policy: []byte("log " + v.g.h.key.vkey + "\r\nquorum none\r\n")} }},
}

var fromLater = []kind{
	{"later-transcript", "a transcript of a later version", "",
		func(v victim) []byte { return v.with("shuffled/v1/transcript", "shuffled/v2/transcript") }, nil},
	{"later-receipt", "a receipt of a later version", "",
		func(v victim) []byte { return v.with("tlog-proof@v1", "tlog-proof@v2") }, nil},
	{"later-entry", "an entry of a later version", "",
		func(v victim) []byte { return v.rewritten(func(r *audit.Receipt) { r.Entry[0] = 2 }) }, nil},
	{"later-type", "a type of entry that a later version has", "",
		func(v victim) []byte { return v.rewritten(func(r *audit.Receipt) { r.Entry[1] = 15 }) }, nil},
}

// TestKinds damages honest files in every way and has both implementations judge
// them: none is accepted, each fails at its step, and both say the same.
func TestKinds(t *testing.T) {
	t.Parallel()
	all, names := kinds(), map[string]bool{}
	if len(all) < 60 {
		t.Fatalf("%d kinds of damage, at least 60 are wanted", len(all))
	}
	large := map[string]bool{}
	for _, k := range tooMuch {
		large[k.name] = true
	}
	honest, js, judged := victims(t), javaScriptIfAny(t), 0
	for _, k := range all {
		if names[k.name] || k.about == "" {
			t.Errorf("kind %q stands twice, or says nothing", k.name)
		}
		names[k.name] = true
		applied := 0
		for _, v := range honest {
			if !v.sample && large[k.name] {
				continue
			}
			file, trust := k.damage(v), v.trust
			if file == nil {
				continue
			}
			if k.trust != nil {
				trust = k.trust(v)
			} else if bytes.Equal(file, []byte(v.file)) {
				t.Errorf("%s, %s: nothing changed", k.name, v.name)
			}
			applied++
			got, diff := File(file, trust), ""
			if js != nil {
				got, diff = js.differ(file, trust)
			}
			if want := (want{Verdict: Failed, Failed: k.step}); k.step != "" &&
				(got.Verdict != want.Verdict || got.Failed != want.Failed) ||
				k.step == "" && got.Verdict != CannotJudge {
				t.Errorf("%s (%s), %s: %s at %q, not at %q: %+v", k.name, k.about, v.name, got.Verdict, got.Failed,
					k.step, got.Steps)
			}
			if diff != "" {
				t.Errorf("%s (%s), %s (-Go +JavaScript):\n%s", k.name, k.about, v.name, diff)
			}
		}
		if judged += applied; applied == 0 {
			t.Errorf("%s applies to no file", k.name)
		}
	}
	t.Logf("%d kinds, %d files", len(all), judged)
}
