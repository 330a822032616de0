package selftest

import (
	"shuffled/internal/audit/answers"
	"shuffled/internal/beacon"
	"shuffled/internal/disclosure"
	"shuffled/internal/entropy"
	"shuffled/internal/seal"
	"shuffled/internal/shuffle"
)

// Data files of docs/SPEC.md.
const (
	shuffleData    = "internal/shuffle/testdata/shuffle.json"
	entriesData    = "internal/audit/testdata/entries.json"
	hashesData     = "internal/audit/testdata/hashes.json"
	receiptsData   = "internal/audit/testdata/receipts.json"
	ledgersData    = "internal/audit/testdata/ledgers.json"
	disclosureData = "internal/disclosure/testdata/disclosure.json"
)

// tests are all of them, from what the others rest on upwards.
var tests = []test{
	// The cryptographic primitives.
	{"sha-256", "every hash", "SPEC 1.3", "FIPS 180-4, NIST examples", primitive},
	{"hmac-sha-256", "HKDF", "SPEC 6.2, 12", "RFC 4231", primitive},
	{"hkdf-sha-256", "key of the salts, keys of sealed tapes", "SPEC 6.2", "RFC 5869 A.1", primitive},
	{"aes-256-ctr", "salts, lanes of a mix", "SPEC 4.3, 6.2", "SP 800-38A F.5.5", primitive},
	{"aes-256-gcm", "sealed tapes, HPKE", "SPEC 12", "GCM specification (McGrew, Viega), test case 16", primitive},
	{"ed25519", "checkpoints and cosignatures", "SPEC 7", "RFC 8032 7.1", primitive},
	{"hpke", "disclosure to auditors", "SPEC 12.1", "RFC 9180, test vectors, suite 0x0010 0x0001 0x0002", primitive},
	{"hpke-hybrid", "disclosure to auditors, ML-KEM-768 with P-256", "SPEC 12.1",
		"draft-ietf-hpke-pq-03, test vectors, suite 0x0050 0x0001 0x0001", primitive},

	// From bytes to cards: docs/SPEC.md sections 2 and 3.
	{"draw-lanes", "one draw: width, limit, rejection", "SPEC 2.1", "docs/SPEC.md 2.1, by hand", shuffle.SelfTest},
	{"tape-length", "bytes of a tape", "SPEC 2.3", "docs/SPEC.md 2.3, by hand", shuffle.SelfTest},
	{"shuffle", "order of all cards", "SPEC 2.2", shuffleData, shuffle.SelfTest},
	{"custom-take", "order of some cards", "SPEC 2.2", shuffleData, shuffle.SelfTest},
	{"end-at", "drawn place of the cut card", "SPEC 2.2", shuffleData, shuffle.SelfTest},
	{"draw-list", "dice, wheels, draws of numbers", "SPEC 2.2", shuffleData, shuffle.SelfTest},
	{"numbers", "numbers without repeats, from their draws", "SPEC 2.5", shuffleData, shuffle.SelfTest},
	{"tape-refused", "no result from a tape that runs out or has another length", "SPEC 2.3, 2.4", shuffleData,
		shuffle.SelfTest},
	{"decks", "deck hashes", "SPEC 3.1, 3.2", "internal/shuffle/testdata/decks.txt", shuffle.SelfTest},
	{"child", "cards of a child", "SPEC 3.3", hashesData, answers.SelfTest},

	// Outside randomness: docs/SPEC.md section 4.
	{"slot-hash", "promise of a player's slot", "SPEC 4.1", hashesData, answers.SelfTest},
	{"mix-seed", "seed from commit and values", "SPEC 4.2", hashesData, answers.SelfTest},
	{"mix", "public order of places", "SPEC 4.3", shuffleData, shuffle.SelfTest},
	{"cut", "a player's cut", "SPEC 4.3", shuffleData, shuffle.SelfTest},
	{"draw-shift", "a mixed draw list", "SPEC 4.3", shuffleData, shuffle.SelfTest},
	{"beacon", "rounds of drand's quicknet, BLS12-381", "SPEC 4.4", "round 1 as the beacon published it",
		beacon.SelfTest},

	// Commitments, salts, openings, names and rules: docs/SPEC.md sections 1.5, 5, 6 and 9.
	{"commitment", "what a commit promises", "SPEC 6.1", hashesData, answers.SelfTest},
	{"salts", "what hides an unopened card", "SPEC 6.2", hashesData, answers.SelfTest},
	{"deck-root", "Merkle tree over positions, two ways", "SPEC 6.3", hashesData, answers.SelfTest},
	{"opening", "proof of one card", "SPEC 6.4", hashesData, answers.SelfTest},
	{"context", "from context and tape to values", "SPEC 2.2, 5.2", hashesData, answers.SelfTest},
	{"key-tag", "tag of an idempotency key", "SPEC 5.3", hashesData, answers.SelfTest},
	{"key-id", "id of a public key", "SPEC 5.7", hashesData, answers.SelfTest},
	{"reference", "salted reference to a person", "SPEC 1.5", hashesData, answers.SelfTest},
	{"legality", "rules of legality", "SPEC 9", ledgersData, answers.SelfTest},

	// Every type of entry: docs/SPEC.md section 5.
	{"entry-genesis", "encoding and digest: genesis", "SPEC 5.1", entriesData, answers.SelfTest},
	{"entry-commit", "encoding and digest: commit", "SPEC 5.2, 5.3", entriesData, answers.SelfTest},
	{"entry-mix", "encoding and digest: mix", "SPEC 5.4", entriesData, answers.SelfTest},
	{"entry-deal", "encoding and digest: deal", "SPEC 5.5", entriesData, answers.SelfTest},
	{"entry-close", "encoding and digest: close", "SPEC 5.6", entriesData, answers.SelfTest},
	{"entry-key", "encoding and digest: key", "SPEC 5.7", entriesData, answers.SelfTest},
	{"entry-event", "encoding and digest: event", "SPEC 5.8", entriesData, answers.SelfTest},
	{"entry-reveal", "encoding and digest: reveal", "SPEC 5.12", entriesData, answers.SelfTest},
	{"entry-takeover", "encoding and digest: takeover", "SPEC 5.9", entriesData, answers.SelfTest},
	{"entry-credential", "encoding and digest: credential", "SPEC 5.10", entriesData, answers.SelfTest},
	{"entry-act", "encoding and digest: act", "SPEC 5.11", entriesData, answers.SelfTest},
	{"header-and-codes", "headers, and codes that are passed over", "SPEC 1.4, 5", entriesData, answers.SelfTest},

	// Checkpoints, receipts, cosignatures, transcripts: docs/SPEC.md sections 7 and 8.
	{"signed-note", "how a checkpoint is signed", "SPEC 7.1", "C2SP signed-note, its example", answers.SelfTest},
	{"weak-key", "keys under which a signature proves nothing", "SPEC 10.1", "RFC 8032, points of small order",
		answers.SelfTest},
	{"checkpoint", "the head of a ledger", "SPEC 7.1", receiptsData, answers.SelfTest},
	{"receipt", "proof of an entry", "SPEC 7.2", receiptsData, answers.SelfTest},
	{"cosignature", "what a witness says", "SPEC 7.3", receiptsData, answers.SelfTest},
	{"transcript", "the one form of a transcript", "SPEC 8", "internal/audit/testdata/transcripts.json",
		answers.SelfTest},

	// Sealed tapes, to auditors and at rest: docs/SPEC.md section 12.
	{"disclosure-key", "the key that auditors open tapes with", "SPEC 12.2", disclosureData, disclosure.SelfTest},
	{"disclosed-tape", "a tape as auditors get it", "SPEC 12.3", disclosureData, disclosure.SelfTest},
	{"sealed-tape", "a tape at rest", "package seal", "the layout of package seal, made with another implementation",
		seal.SelfTest},

	// The health tests of the generator.
	{"health-cutoffs", "when the generator is halted", "SP 800-90B 4.4",
		"SP 800-90B 4.4.1, 4.4.2 with the published correction; H = 8, W = 512", entropy.SelfTest},
	{"stuck-stream", "a generator that repeats a value", "SP 800-90B 4.4", "SP 800-90B 4.4.1, by hand",
		entropy.SelfTest},
	{"biased-stream", "a generator that prefers a value", "SP 800-90B 4.4", "SP 800-90B 4.4.2, by hand",
		entropy.SelfTest},
}
