package kit

// A Call is one function of the program that uses randomness.
type Call struct {
	Package  string `json:"package"`  // directory in the source
	Function string `json:"function"` // that calls; a method has its type before a dot; "" is any in the package
	Calls    string `json:"calls"`    // what it calls
	Purpose  string `json:"purpose"`
	// Influence is what its bytes do to an order or a drawn value.
	Influence string `json:"influence"`
}

// The kinds of influence. What moves an order cannot choose it: the order was committed to before, and the way in which
// it moves is public (docs/SPEC.md section 4).
const (
	None    = "none"
	Moves   = "moves the order"
	Chooses = "chooses the order"
)

// Calls returns every place in the programs shuffled and shuffled-lab that takes random bytes, makes keys of them, or
// stretches a secret or a public seed. A test compares it with the source of every package in them.
func Calls() []Call {
	return []Call{
		{"internal/entropy", "readPlatform", "rand.Reader",
			"the one read of each tape; refuses when crypto/rand's reader was replaced", Chooses},
		{"internal/entropy", "platform", "rand.Reader", "the platform's reader, kept from the start", Chooses},
		{"internal/outcome", "makeBy", "entropy.Source.Tape", "one tape for one outcome, also in the lab", Chooses},
		{"internal/outcome", "Raw", "entropy.Source.Tape", "raw output for the lab; nothing is dealt of it", None},
		{"internal/dealer", "Dealer.commit", "outcome.Make", "makes the shuffle or draw that a commit commits to", Chooses},
		{"lab", "", "outcome.Make", "makes outcomes for samples and statistics", None},
		{"lab", "", "outcome.Raw", "writes raw output", None},
		{"lab/alarms", "", "outcome.Raw", "counts false alarms of the health tests", None},
		{"lab/controls", "", "outcome.Raw", "honest bytes for shufflers with a fault", None},
		{"internal/shuffle", "keystream", "cipher.NewCTR",
			"the public keystream of a mix, from players' values and a beacon: no random bytes", Moves},
		{"internal/audit/openings", "Salts", "cipher.NewCTR", "salts, from the tape: no random bytes", None},
		{"internal/selftest", "", "cipher.NewCTR", "known-answer test of the keystream", None},
		{"lab/exact", "newSequence", "cipher.NewCTR", "a fixed choice of cases for lab prove", None},
		{"lab/cmd/shuffled-lab", "", "cipher.NewCTR", "which of a shoe's equal cards a file means", None},
		{"internal/seal", "Draw", "rand.Read", "a key of the process, under which open shuffles stay in memory", None},
		{"internal/seal", "cipherOf", "cipher.NewGCMWithRandomNonce", "the nonce of a tape sealed at rest, and of an " +
			"open shuffle in memory", None},
		{"internal/selftest", "", "cipher.NewGCMWithRandomNonce", "known-answer test of opening", None},
		{"internal/keys", "random", "rand.Read", "a player's own value, by the command slot new; also a sealing key, " +
			"the secret of a list of tickets and a key of ML-DSA-44, which move nothing", Moves},
		{"internal/keys", "NewToken", "rand.Read", "an API token", None},
		{"internal/keys", "NewPassword", "rand.Read", "the password of a role of the database, and its salt", None},
		{"internal/keys", "GenerateSigning", "note.GenerateKey", "a signing key", None},
		{"internal/keys", "GenerateWitness", "ed25519.GenerateKey", "a witness's key", None},
		{"internal/keys", "GenerateAuditor", "GenerateKey", "an auditor's key", None},
		{"internal/keys", "encrypt", "age.Encrypt", "salt, nonce and file key of an encrypted key file", None},
		{"internal/disclosure", "Body", "GenerateKey", "a disclosure key", None},
		{"internal/disclosure", "seal", "hpke.NewSender", "the ephemeral key of what is sealed to auditors", None},
		{"client", "NewSlot", "rand.Read", "a player's own value, in a back end", Moves},
		{"client", "NewKey", "rand.Read", "an idempotency key", None},
		{"client", "Client.pause", "rand.Read", "spreads repeated requests in time", None},
	}
}

// A Library is a package of another module in the binary that imports a source of
// random numbers. None of them is asked for a tape.
type Library struct {
	Package string `json:"package"`
	Imports string `json:"imports"`
	Purpose string `json:"purpose"`
}

// Libraries returns all of them; a test compares them with the build.
func Libraries() []Library {
	return []Library{
		{"filippo.io/age", "crypto/rand", "encrypted key files"},
		{"filippo.io/hpke", "crypto/rand", "reached by age; the program seals with the standard library"},
		{"filippo.io/mldsa/internal/fips140/mldsa", "crypto/rand", "hedges signatures of ML-DSA-44"},
		{"github.com/cloudflare/circl/ecc/bls12381/ff", "crypto/rand", "checking a beacon's signature draws nothing"},
		{"github.com/google/uuid", "crypto/rand", "reached by a library; names nothing of ours"},
		{"github.com/jackc/pgx/v5/pgconn", "crypto/rand", "nonce of the login at PostgreSQL"},
		{"github.com/jackc/pgx/v5/pgxpool", "math/rand/v2", "spreads the ages of connections"},
		{"golang.org/x/crypto/ssh", "crypto/rand", "connections of SSH; none is made"},
		{"golang.org/x/crypto/ssh", "math/rand", "connections of SSH; none is made"},
		{"golang.org/x/crypto/ssh/agent", "crypto/rand", "keys of an agent of its own; none is run"},
		{"gonum.org/v1/gonum/stat/distuv", "math/rand/v2",
			"could draw from its distributions; only their probabilities are asked for"},
		{"modernc.org/libc", "math/rand", "temporary file names of SQLite"},
	}
}
