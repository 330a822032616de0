package kit

// A Call is one function of the program that uses randomness.
type Call struct {
	Package  string `json:"package"`  // directory in the source
	Function string `json:"function"` // that calls; a method has its type before a dot; "" is any in the package
	Calls    string `json:"calls"`    // what it calls
	Purpose  string `json:"purpose"`
	// Outcome says that an order or a drawn value results from it.
	Outcome bool `json:"outcome"`
}

// Calls returns every place in the programs shuffled and shuffled-lab that takes random bytes, or makes
// keys of them. A test compares it with the source of every package in them.
func Calls() []Call {
	return []Call{
		{"internal/entropy", "readPlatform", "rand.Reader",
			"the one read of each tape; refuses when crypto/rand's reader was replaced", true},
		{"internal/entropy", "platform", "rand.Reader", "the platform's reader, captured when the program starts",
			true},
		{"internal/outcome", "makeBy", "entropy.Source.Tape",
			"one tape for one outcome, in the daemon and in the lab alike", true},
		{"internal/outcome", "Raw", "entropy.Source.Tape",
			"raw output before scaling, for the lab; nothing is dealt of it", false},
		{"internal/dealer", "Dealer.commit", "outcome.Make", "makes the shuffle or draw that a commit commits to", true},
		{"lab", "", "outcome.Make", "makes outcomes for samples and statistics", false},
		{"lab", "", "outcome.Raw", "writes raw output", false},
		{"lab/alarms", "", "outcome.Raw", "counts false alarms of the health tests", false},
		{"lab/controls", "", "outcome.Raw", "honest bytes for shufflers with a fault", false},
		{"internal/seal", "Key.cipher", "cipher.NewGCMWithRandomNonce",
			"the nonce under which a tape is sealed at rest", false},
		{"internal/seal", "Draw", "rand.Read", "a key of the process, under which open shuffles stay in memory", false},
		{"internal/selftest", "", "cipher.NewGCMWithRandomNonce", "known-answer test of opening", false},
		{"internal/keys", "random", "rand.Read", "a player's own value, by the command slot new; a sealing key; " +
			"the secret of a list of tickets; a key of ML-DSA-44", false},
		{"internal/keys", "NewToken", "rand.Read", "an API token", false},
		{"internal/keys", "NewPassword", "rand.Read", "the password of a role of the database, and its salt", false},
		{"internal/keys", "GenerateSigning", "note.GenerateKey", "a signing key", false},
		{"internal/keys", "GenerateWitness", "ed25519.GenerateKey", "a witness's key", false},
		{"internal/keys", "GenerateAuditor", "GenerateKey", "an auditor's key", false},
		{"internal/keys", "encrypt", "age.Encrypt", "salt, nonce and file key of an encrypted key file", false},
		{"internal/disclosure", "NewPair", "GenerateKey", "a disclosure key", false},
		{"internal/disclosure", "seal", "hpke.NewSender",
			"the ephemeral key under which a tape or key is sealed to auditors", false},
		{"client", "NewSlot", "rand.Read", "a player's own value, in a back end", false},
		{"client", "NewKey", "rand.Read", "an idempotency key", false},
		{"client", "Client.pause", "rand.Read", "spreads repeated requests in time", false},
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
		{"github.com/jackc/pgx/v5/stdlib", "math/rand/v2", "order of PostgreSQL servers, for migrations"},
		{"golang.org/x/crypto/ssh", "crypto/rand", "connections of SSH; none is made"},
		{"golang.org/x/crypto/ssh", "math/rand", "connections of SSH; none is made"},
		{"golang.org/x/crypto/ssh/agent", "crypto/rand", "keys of an agent of its own; none is run"},
		{"gonum.org/v1/gonum/stat/distuv", "math/rand/v2",
			"could draw from its distributions; only their probabilities are asked for"},
		{"modernc.org/libc", "math/rand", "temporary file names of SQLite"},
	}
}
