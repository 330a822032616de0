// Package audit is the evidence of shuffled as bytes: entries with their codes and hashes, keys, checkpoints, receipts,
// and the names of the rules. Packages in its directory have the rest: openings the evidence of one shuffle, trust
// whose signatures count, rules what may come next. docs/SPEC.md is the same text for other implementations; each
// function names its section.
//
// It is pure: no clock, no randomness, no files, no network.
//
// Everything that is hashed or signed is length-prefixed binary with exactly one encoding: parsing and encoding again
// gives the same bytes. JSON appears only around exact bytes, in transcripts.
package audit

// Labels keep the hashes of different things apart (docs/SPEC.md section 1.3). Each ends in a NUL byte. The deck's
// label is in package shuffle, those of one shuffle's evidence in openings, and the sealing key's in package seal.
const (
	labelSlot       = "shuffled/v1/slot\x00"
	labelAsk        = "shuffled/v1/ask\x00"
	labelAskKey     = "shuffled/v1/ask-key\x00"
	labelState      = "shuffled/v1/state\x00"
	labelKeyTag     = "shuffled/v1/key-tag\x00"
	labelReference  = "shuffled/v1/reference\x00"
	labelKeyID      = "shuffled/v1/key-id\x00"
	labelCredential = "shuffled/v1/credential\x00"
	labelApproved   = "shuffled/v1/approved\x00"
	labelAct        = "shuffled/v1/act\x00"
)

// Limits of docs/SPEC.md section 1.2. Every reader checks them before it works.
const (
	MaxEntry      = 48_000    // bytes of one entry
	MaxName       = 64        // bytes of a table, recipient, game reference or actor
	MaxOrigin     = 128       // bytes of a ledger's origin
	MaxReason     = 200       // bytes of an operator's reason
	MaxInteger    = 1<<53 - 1 // largest index, time, serial or size
	MaxSources    = 32        // sources of a mix plan
	MaxRuns       = 512       // runs of one deal
	MaxAuditors   = 32        // auditor keys in force: a key entry holds a wrap for each
	MaxPolicy     = 32_768    // bytes of a witness policy in an entry
	MaxPolicyFile = 131_072   // bytes of any other
	MaxCheckpoint = 65_535    // bytes of a signed checkpoint: files of bundles have u16 lengths
	MaxSignatures = 64        // signature lines of a signed checkpoint
	MaxProof      = 63        // hashes of an inclusion proof
	MaxTakeovers  = 16        // takeovers of one shuffle
	MaxChain      = 8         // shuffles of a chain: a root, its child, its child's child
	MaxReveals    = 4096      // places of one reveal, and reveals of one shuffle
	MaxAdmins     = 16        // administrators in force
	MaxTables     = 256       // tables of one credential
	MaxOpaque     = 1024      // bytes behind a code that is not critical and not known

	MaxFirstAuditors = 8 // auditor keys of a genesis
)
