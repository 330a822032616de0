package verify

import (
	"encoding/base64"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
)

// editedReceipts moves whole receipts and proofs about.
func editedReceipts(b *badAdder) {
	receipts := func(step, name, about string, change func([]string) []string) {
		b.edited(step, "receipts-"+name, about, rich(b.T),
			func(f *openings.Transcript) { f.Receipts = change(f.Receipts) })
	}
	swap := func(i, j int) func([]string) []string {
		return func(r []string) []string { r[i], r[j] = r[j], r[i]; return r }
	}
	drop := func(i int) func([]string) []string {
		return func(r []string) []string { return slices.Delete(r, i, i+1) }
	}
	receipts(stepEntries, "deals-swapped", "receipts out of order", swap(atDeal, atDeal2))
	receipts(stepEntries, "commit-first", "the genesis is not first", swap(atGenesis, atCommit))
	receipts(stepEntries, "close-before-deal", "the close is not last", swap(atDeal2, atClose))
	receipts(stepEntries, "no-genesis", "without the genesis", drop(atGenesis))
	receipts(stepEntries, "no-commit", "without the commit", drop(atCommit))
	receipts(stepEntries, "no-mix", "without the mix that the plan asks for", drop(atMix))
	receipts(stepEntries, "no-first-deal", "without a deal, the places have a gap", drop(atDeal))
	receipts(stepEntries, "no-last-deal", "without the last deal, as if nothing had come of it", drop(atDeal2))
	receipts(stepEntries, "deal-twice", "the same receipt twice",
		func(r []string) []string { return slices.Insert(r, atDeal, r[atDeal]) })
	receipts(stepEntries, "genesis-twice", "a second genesis",
		func(r []string) []string { return slices.Insert(r, 1, r[0]) })
	receipts(stepEntries, "close-twice", "the same close twice",
		func(r []string) []string { return append(r, r[atClose]) })
	receipts(stepEntries, "event", "an entry that belongs to no shuffle", func(r []string) []string {
		return slices.Insert(r, 1, rich(b.T).h.bare(1))
	})
	receipts(stepFormat, "too-few", "a genesis alone", func(r []string) []string { return r[:1] })
	receipts(stepFormat, "none", "no receipt at all", func([]string) []string { return []string{} })

	proof := func(step, name, about string, change func(*audit.Receipt)) {
		b.edited(step, "proof-"+name, about, rich(b.T), func(f *openings.Transcript) {
			r, err := audit.ParseReceipt(f.Receipts[atDeal])
			must(b.T, err)
			change(&r)
			f.Receipts[atDeal] = r.Text()
		})
	}
	proof(stepInclusion, "bit", "one bit of a proof", func(r *audit.Receipt) { r.Proof[0][0] ^= 1 })
	proof(stepInclusion, "short", "one hash too few", func(r *audit.Receipt) { r.Proof = r.Proof[:len(r.Proof)-1] })
	proof(stepInclusion, "long", "one hash too many", func(r *audit.Receipt) { r.Proof = append(r.Proof, r.Proof[0]) })
	proof(stepInclusion, "empty", "no proof", func(r *audit.Receipt) { r.Proof = nil })
	proof(stepInclusion, "swapped", "two hashes exchanged",
		func(r *audit.Receipt) { r.Proof[0], r.Proof[1] = r.Proof[1], r.Proof[0] })
	proof(stepFormat, "64-hashes", "more hashes than any tree has levels",
		func(r *audit.Receipt) { r.Proof = make([]tlog.Hash, 64) })
	proof(stepFormat, "index-too-large", "an index beyond 2^53−1", func(r *audit.Receipt) { r.Index = 1 << 53 })
	proof(stepEntries, "index-of-commit", "the deal at the commit's place", func(r *audit.Receipt) { r.Index = 3 })

	b.edited(stepEntries, "genesis-at-1", "the genesis at another index", plain(b.T), func(f *openings.Transcript) {
		r, err := audit.ParseReceipt(f.Receipts[atGenesis])
		must(b.T, err)
		r.Index = 1
		f.Receipts[atGenesis] = r.Text()
	})
	h := open(b.T)
	b.edited(stepEntries, "id-of-another", "the id of another shuffle", h.commitTo(h.cards(sixCards), sixCards),
		func(f *openings.Transcript) { f.ID++ })
	b.edited(stepInclusion, "leaf-shifted", "the last entry one index later, under a larger index", rich(b.T),
		func(f *openings.Transcript) {
			r, err := audit.ParseReceipt(f.Receipts[atClose])
			must(b.T, err)
			r.Index++
			f.Receipts[atClose] = r.Text()
		})
	b.edited(stepInclusion, "leaves-swapped", "two deals exchange their entries", rich(b.T),
		func(f *openings.Transcript) {
			one, err := audit.ParseReceipt(f.Receipts[atDeal])
			must(b.T, err)
			two, err := audit.ParseReceipt(f.Receipts[atDeal2])
			must(b.T, err)
			one.Entry, two.Entry = two.Entry, one.Entry
			f.Receipts[atDeal], f.Receipts[atDeal2] = one.Text(), two.Text()
		})
	// An inner node as if it were a leaf: its two children stand as the entry.
	h = rich(b.T).h
	children := append(tlogHash(h, 0), tlogHash(h, 1)...)
	node := h.receipt(0)
	node.Entry, node.Proof = children, node.Proof[1:]
	b.file(unjudged, "node-as-leaf", "the children of an inner node in place of an entry: their first byte is no version", []byte(node.Text()))
	node.Entry = append([]byte{1, 7}, children[2:]...)
	b.file(stepEntries, "node-as-entry", "the same, made to look like an event", []byte(node.Text()))
}

func tlogHash(h *house, leaf int64) []byte {
	x := h.hashes[tlog.StoredHashIndex(0, leaf)]
	return x[:]
}

// editedCheckpoints changes the signed checkpoint of all receipts.
func editedCheckpoints(b *badAdder) {
	all := func(step, name, about string, change func(signed string) string) {
		b.edited(step, "checkpoint-"+name, about, plain(b.T),
			func(f *openings.Transcript) { f.Checkpoint = change(f.Checkpoint) })
	}
	line := func(n int, change func(string) string) func(string) string {
		return func(s string) string {
			lines := strings.Split(s, "\n")
			if lines[n] = change(lines[n]); lines[n] == "" {
				lines = slices.Delete(lines, n, n+1)
			}
			return strings.Join(lines, "\n")
		}
	}
	to := func(s string) func(string) string { return func(string) string { return s } }
	const origin, size, root, sig = 0, 1, 2, 4
	signature := func(change func([]byte) string) func(string) string {
		return line(sig, func(l string) string {
			fields := strings.Split(l, " ")
			raw, err := base64.StdEncoding.DecodeString(fields[2])
			must(b.T, err)
			return fields[0] + " " + fields[1] + " " + change(raw)
		})
	}
	flip := func(i int) func([]byte) string {
		return func(raw []byte) string {
			raw[i] ^= 1
			return base64.StdEncoding.EncodeToString(raw)
		}
	}
	all(stepFormat, "origin", "another origin than the first signature's", line(origin, to("example.com/mine")))
	all(stepFormat, "origin-grammar", "an origin that is none", line(origin, to("example.com/Main")))
	all(stepSignature, "size", "another size", line(size, to("9")))
	all(stepFormat, "size-zeros", "a size with a leading zero", line(size, to("08")))
	all(stepFormat, "size-huge", "a size beyond 2^53−1", line(size, to("9007199254740992")))
	all(stepSignature, "root", "another root", line(root, to(base64.StdEncoding.EncodeToString(seeded("root", 32)))))
	all(stepFormat, "root-spare-bits", "stray bits in the root's base64", line(root, func(l string) string {
		raw, _ := base64.StdEncoding.DecodeString(l)
		return spareBits(raw)
	}))
	all(stepFormat, "root-short", "a root of 31 bytes",
		line(root, to(base64.StdEncoding.EncodeToString(make([]byte, 31)))))
	all(stepFormat, "extension", "an extension line", line(root, func(l string) string { return l + "\nextension" }))
	all(stepSignature, "signature-bit", "one bit of the signature", signature(flip(40)))
	all(stepSignature, "signature-key-hash", "the signature of another key", signature(flip(0)))
	all(stepFormat, "signature-spare-bits", "stray bits in the signature's base64", signature(spareBits))
	all(stepFormat, "signature-unpadded", "a signature without padding",
		signature(base64.RawStdEncoding.EncodeToString))
	all(stepFormat, "signature-twice", "the same signature twice",
		line(sig, func(l string) string { return l + "\n" + l }))
	all(stepFormat, "signature-again", "two different signatures of one key", func(s string) string {
		return s + strings.Split(signature(flip(40))(s), "\n")[sig] + "\n"
	})
	all(stepFormat, "signature-none", "not signed", line(sig, to("")))
	all(stepFormat, "signature-dash", "a hyphen where the dash stands",
		line(sig, func(l string) string { return "-" + strings.TrimPrefix(l, "—") }))
	all(stepFormat, "signature-other-first", "another name's signature first", line(sig, func(l string) string {
		return strings.Replace(l, "example.com/main", "example.com/mine", 1) + "\n" + l
	}))
	all(stepFormat, "no-newline", "the last newline is missing",
		func(s string) string { return strings.TrimSuffix(s, "\n") })
	all(stepFormat, "blank-line", "a blank line more", func(s string) string { return s + "\n" })

	other := newKey(b.T, "example.com/main", "a key of the same name")
	all(stepSignature, "resigned", "signed again, by another key of the same name", func(s string) string {
		text, _, _ := strings.Cut(s, "\n\n")
		return string(signed(b.T, text+"\n", other))
	})
	small := plain(b.T)
	small.h.entries, small.h.hashes = small.h.entries[:4], small.h.hashes[:tlog.StoredHashCount(4)]
	all(stepInclusion, "older", "an older checkpoint of this ledger", to(string(small.h.head())))
	edited := func(name, about string, change func(*openings.Transcript)) {
		b.edited(stepFormat, "checkpoint-"+name, about, plain(b.T), change)
	}
	edited("one-differs", "a receipt with another checkpoint, behind that of all",
		func(f *openings.Transcript) { f.Receipts[2] += string(small.h.head()) })
	edited("repeated", "a receipt with the checkpoint of all once more", func(f *openings.Transcript) {
		f.Receipts[2] = f.Receipt(2)
	})
	edited("repeated-in-all", "every receipt with the checkpoint, and that of all", func(f *openings.Transcript) {
		for i := range f.Receipts {
			f.Receipts[i] = f.Receipt(i)
		}
	})
	edited("empty", "an empty checkpoint", func(f *openings.Transcript) { f.Checkpoint = "" })
	edited("empty-in-receipts", "an empty checkpoint, and the receipts have it", func(f *openings.Transcript) {
		for i := range f.Receipts {
			f.Receipts[i] = f.Receipt(i)
		}
		f.Checkpoint = ""
	})
	edited("no-empty-line", "a receipt that ends in front of its empty line", func(f *openings.Transcript) {
		f.Receipts[2] = strings.TrimSuffix(f.Receipts[2], "\n")
	})
	file := string(plain(b.T).file(""))
	from, until := strings.Index(file, `"checkpoint":`), strings.Index(file, `"receipts":`)
	end := strings.Index(file, `"cards":`)
	before, member, receipts, cards := file[:from], file[from:until], file[until:end], file[end:]
	b.file(stepFormat, "checkpoint-missing", "no checkpoint", []byte(before+receipts+cards))
	b.file(stepFormat, "checkpoint-twice", "the member twice", []byte(before+member+member+receipts+cards))
	b.file(stepFormat, "checkpoint-behind", "the checkpoint behind the receipts", []byte(before+receipts+member+cards))
}
