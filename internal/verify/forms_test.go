package verify

import (
	"encoding/base64"
	"fmt"
	"strings"

	"shuffled/internal/audit"
)

// otherForms are the same content in other words, and words around it. A transcript has one form.
func otherForms(b *badAdder) {
	h := open(b.T)
	odd := []string{"Éclair", `"quoted" \ slash`, "tab", "<b>", "A", "B"}
	g := h.commitTo(h.cards(odd), odd).deal(board(2))
	file := string(g.file(""))
	form := func(name, about, old, with string) { b.text(stepFormat, "form-"+name, about, file, old, with) }
	raw := func(name, about, text string) { b.file(stepFormat, "form-"+name, about, []byte(text)) }
	salt := g.transcript("").Cards[0].Salt
	bytes, _ := base64.StdEncoding.DecodeString(salt)

	raw("truncated", "cut in the middle", file[:len(file)/2])
	raw("truncated-by-one", "the last byte is missing", file[:len(file)-1])
	raw("trailing-newline", "a newline at the end", file+"\n")
	raw("trailing-space", "a space at the end", file+" ")
	raw("trailing-nul", "a NUL at the end", file+"\x00")
	raw("twice", "two transcripts in one file", file+file)
	raw("indented", "with newlines between members", strings.ReplaceAll(file, `,"`, ",\n\""))
	raw("crlf", "with CRLF between members", strings.ReplaceAll(file, `,"`, ",\r\n\""))
	raw("crlf-in-receipts", "with CRLF inside the receipts", strings.ReplaceAll(file, `\n`, `\r\n`))
	raw("invalid-utf-8", "a byte that is no UTF-8", strings.Replace(file, "Éclair", "\xc9clair", 1))
	form("space", "a space after a colon", `"id":4`, `"id": 4`)
	form("member-order", "members in another order", `{"format":"shuffled/v1/transcript","id":4,`,
		`{"id":4,"format":"shuffled/v1/transcript",`)
	form("duplicate-member", "a member twice", `"id":4,`, `"id":4,"id":4,`)
	form("duplicate-in-card", "a member of a card twice", `"place":0,`, `"place":0,"place":0,`)
	form("unknown-member", "a member that no version lists", `"id":4,`, `"id":4,"note":"",`)
	form("unknown-in-card", "a member of a card that no version lists", `"place":0,`, `"suit":"s","place":0,`)
	form("member-case", "a member in capitals", `"id":4`, `"ID":4`)
	form("member-escaped", "an escape in a member's name", `"id":4`, `"\u0069d":4`)
	form("escape-slash", "an escaped slash", `"shuffled/v1/transcript"`, `"shuffled\/v1/transcript"`)
	form("escape-ascii", "a letter as an escape", `"tab"`, `"t\u0061b"`)
	form("escape-letter", "a letter beyond ASCII as an escape", `"Éclair"`, `"\u00c9clair"`)
	form("escape-html", "escapes as for HTML", `"<b>"`, `"\u003cb\u003e"`)
	form("escape-surrogate", "half a surrogate pair", `"Éclair"`, `"\ud800clair"`)
	form("recipient-empty", "an empty recipient", `"id":4,`, `"id":4,"recipient":"",`)
	form("id-null", "an id that is null", `"id":4`, `"id":null`)
	form("id-zero", "shuffle 0, which is the genesis", `"id":4`, `"id":0`)
	form("id-huge", "an id beyond 2^53−1", `"id":4`, `"id":9007199254740992`)
	form("id-beyond-u64", "an id beyond 64 bits", `"id":4`, `"id":99999999999999999999999999`)
	form("id-negative", "a negative id", `"id":4`, `"id":-4`)
	form("id-exponent", "an id with an exponent", `"id":4`, `"id":4e0`)
	form("id-fraction", "an id with a fraction", `"id":4`, `"id":4.0`)
	form("id-leading-zero", "an id with a leading zero", `"id":4`, `"id":04`)
	form("id-string", "an id as a string", `"id":4`, `"id":"4"`)
	form("place-negative-zero", "negative zero", `"place":0`, `"place":-0`)
	form("cards-null", "cards that are null", `"cards":[`, `"cards":null,"x":[`)
	form("receipts-object", "receipts as an object", `"receipts":[`, `"receipts":{`)
	form("card-null-name", "a name that is null", `"card":"`, `"card":null,"x":"`)
	raw("cards-absent", "no cards member", file[:strings.Index(file, `,"cards":`)]+"}")
	raw("array", "an array around the transcript", "["+file+"]")
	raw("byte-order-mark", "a byte order mark", "\ufeff"+file)
	raw("leading-space", "a space in front", " "+file)
	raw("nested", "very many brackets", `{"format":"shuffled/v1/transcript","id":`+strings.Repeat("[", 20_000))
	b.file(stepFormat, "form-text", "something else altogether", []byte("%PDF-1.7"))
	b.file(stepFormat, "empty", "an empty file", nil)

	form("salt-unpadded", "a salt without padding", salt, strings.TrimRight(salt, "="))
	form("salt-hex", "a salt in hexadecimal", salt, fmt.Sprintf("%x", bytes))
	form("salt-space", "a space in a salt", salt, salt[:8]+" "+salt[8:])
	form("salt-newline", "a newline in a salt", salt, salt[:8]+`\n`+salt[8:])
	form("salt-spare-bits", "stray bits in a salt", salt, spareBits(bytes))
	form("salt-31", "a salt of 31 bytes", salt, base64.StdEncoding.EncodeToString(bytes[:31]))
	form("salt-empty", "an empty salt", salt, "")
	url := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("\xfb\xff", 16)))
	form("salt-url-alphabet", "the alphabet for URLs", salt, strings.NewReplacer("+", "-", "/", "_").Replace(url))
	proof := g.transcript("").Cards[0].Proof[0]
	hash, _ := base64.StdEncoding.DecodeString(proof)
	form("proof-spare-bits", "stray bits in a proof", proof, spareBits(hash))
	form("proof-unpadded", "a proof without padding", proof, strings.TrimRight(proof, "="))
}

// otherReceiptForms are the same for receipts alone.
func otherReceiptForms(b *badAdder) {
	g := rich(b.T)
	// A receipt whose entry leaves spare bits in base64: its length is no multiple of three.
	i := g.id
	for len(g.h.entries[i])%3 == 0 {
		i++
	}
	r := g.h.receipt(i)
	text := r.Text()
	form := func(name, about, old, with string) { b.text(stepFormat, "receipt-"+name, about, text, old, with) }
	raw := func(name, about, text string) { b.file(stepFormat, "receipt-"+name, about, []byte(text)) }
	extra := base64.StdEncoding.EncodeToString(r.Entry)
	hash := base64.StdEncoding.EncodeToString(r.Proof[0][:])
	index := fmt.Sprintf("index %d\n", i)

	raw("trailing-newline", "a newline at the end", text+"\n")
	raw("trailing-text", "a line after the signatures", text+"more\n")
	raw("truncated", "cut in the middle", text[:len(text)/2])
	raw("no-last-newline", "the last newline is missing", strings.TrimSuffix(text, "\n"))
	raw("crlf", "CRLF for newlines", strings.ReplaceAll(text, "\n", "\r\n"))
	form("crlf-first", "CRLF after the header", "@v1\n", "@v1\r\n")
	form("header-case", "a header in capitals", "tlog-proof@v1", "tlog-proof@V1")
	form("no-blank-line", "no blank line before the checkpoint", "\n\nexample.com", "\nexample.com")
	form("extra-absent", "no extra line", "extra "+extra+"\n", "")
	form("extra-empty", "an empty extra line", "extra "+extra, "extra ")
	form("extra-twice", "two extra lines", "extra "+extra+"\n", "extra "+extra+"\nextra "+extra+"\n")
	form("extra-unpadded", "an entry without padding", extra, strings.TrimRight(extra, "="))
	form("extra-spare-bits", "stray bits in the entry's base64", extra, spareBits(r.Entry))
	form("extra-url-alphabet", "the alphabet for URLs", extra, "__8=")
	form("extra-space", "a space in the entry", extra, extra[:4]+" "+extra[4:])
	form("extra-carriage-return", "a carriage return in the entry", extra, extra[:4]+"\r"+extra[4:])
	form("index-leading-zero", "an index with a leading zero", index, "index 0"+index[6:])
	form("index-plus", "an index with a plus sign", index, "index +"+index[6:])
	form("index-hex", "an index in hexadecimal", index, "index 0x3\n")
	form("index-negative", "a negative index", index, "index -1\n")
	form("index-exponent", "an index with an exponent", index, "index 1e3\n")
	form("index-huge", "an index beyond 64 bits", index, "index 99999999999999999999\n")
	form("index-absent", "no index", index, "")
	form("hash-spare-bits", "stray bits in a hash", hash, spareBits(r.Proof[0][:]))
	form("hash-unpadded", "a hash without padding", hash, strings.TrimRight(hash, "="))
	form("hash-space", "a space before a hash", hash, " "+hash)
	form("hash-31", "a hash of 31 bytes", hash, base64.StdEncoding.EncodeToString(r.Proof[0][:31]))

	edited := func(step, name, about string, change func(*audit.Receipt)) {
		r := g.h.receipt(i)
		change(&r)
		b.file(step, "receipt-"+name, about, []byte(r.Text()))
	}
	edited(stepInclusion, "entry-changed", "one byte of the entry", func(r *audit.Receipt) {
		r.Entry = append([]byte(nil), r.Entry...)
		r.Entry[9] ^= 1
	})
	edited(stepInclusion, "index-changed", "another index", func(r *audit.Receipt) { r.Index++ })
	edited(stepInclusion, "index-beyond-size", "an index beyond the checkpoint",
		func(r *audit.Receipt) { r.Index = 1000 })
	edited(stepInclusion, "proof-changed", "one bit of the proof", func(r *audit.Receipt) { r.Proof[0][31] ^= 1 })
	edited(stepInclusion, "proof-of-neighbour", "another entry's proof",
		func(r *audit.Receipt) { r.Proof = g.h.receipt(i ^ 1).Proof })
	edited(stepEntries, "entry-malformed", "a byte after the entry",
		func(r *audit.Receipt) { r.Entry = append(r.Entry, 0) })
	edited(unjudged, "entry-unknown", "a type of entry that this version does not know", func(r *audit.Receipt) {
		r.Entry = []byte{1, 15}
	})

	capital := openAs(b.T, newKey(b.T, "example.com/Main", "capital"),
		func(g *audit.Genesis) { g.Origin = "example.com/main" })
	b.file(stepFormat, "receipt-origin-grammar", "a checkpoint whose origin no ledger can have, under its own key",
		[]byte(capital.receipt(1).Text()), func(v *vector) { v.Trust = vectorTrust{VKey: capital.key.vkey} })
	foreign := open(b.T, func(g *audit.Genesis) { g.Origin = "example.com/other" })
	b.file(stepOrigin, "receipt-genesis-of-another", "a genesis that names another ledger than the checkpoint over it",
		[]byte(foreign.receipt(0).Text()))
	cheat := open(b.T).cheating()
	ctx := cheat.cards(sixCards)
	ctx.Origin = "example.com/other"
	b.file(stepOrigin, "receipt-commit-of-another", "a commit that names another ledger than the checkpoint over it",
		[]byte(cheat.receipt(cheat.commitTo(ctx, sixCards).id).Text()))
}
