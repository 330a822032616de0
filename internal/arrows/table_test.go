// Package arrows is a test of which package may import which. It has no code
// but tests: the table in this file, the checker, and a check of the checker.
//
// Imports point downwards only, so that the parts that decide what is dealt and what is proved can be read, tested and
// replaced without the rest. A package that is not in the table fails: a new package begins with its row.
package arrows

// A row says what one package may import, apart from the standard library.
// Tests of a package may import what they like.
type row struct {
	why string
	// ours are the packages of this module that it may import directly, relative
	// to the module; {"*"} is all but the test-only ones.
	ours []string
	// stdOnly forbids other modules as well.
	stdOnly bool
	// pure forbids the imports in impure.
	pure bool
	// testOnly marks a package for tests and benchmarks. No other package may
	// import it, except those of the nested modules.
	testOnly bool
}

// table has a row for every package, from the bottom up.
var table = map[string]row{
	"internal/stops": {
		why:  "what stops a start or a store: causes, cures and exit codes, for errors of every layer",
		pure: true,
	},
	"internal/near": {
		why:  "the name that somebody meant, for errors of daemon and command line alike",
		pure: true,
	},
	"internal/needle": {
		why:     "looks for secrets in memory and files as root would, for the demonstration and the attacks",
		stdOnly: true,
	},
	"internal/known": {
		why:     "what known-answer tests report to; computes nothing",
		stdOnly: true, pure: true,
	},
	"internal/shuffle": {
		why:     "re-implemented and reviewed on its own: a pure function of deck and tape",
		ours:    []string{"internal/known"},
		stdOnly: true, pure: true,
	},
	"internal/entropy": {
		why:     "where tapes come from; nothing else may stand between it and crypto/rand",
		ours:    []string{"internal/known"},
		stdOnly: true,
	},
	"internal/outbound": {
		why: "asks servers of others, and repeats nothing that they say", stdOnly: true,
	},
	"internal/process": {
		why: "dumps, swap, kernel and locks of files, below everything that has a secret",
	},
	"internal/outcome": {
		why:  "where a tape becomes an outcome, for the dealer and the lab alike",
		ours: []string{"internal/shuffle", "internal/entropy"},
	},
	"internal/audit": {
		why:  "formats, hashes and signed texts, the same for the sequencer and for a stranger",
		ours: []string{"internal/shuffle"}, pure: true,
	},
	"internal/audit/openings": {
		why:  "the evidence of one shuffle; knows no ledger and no policy",
		ours: []string{"internal/audit", "internal/shuffle"}, pure: true,
	},
	"internal/audit/trust": {
		why:  "whose signatures count; knows neither rules nor cards",
		ours: []string{"internal/audit"}, pure: true,
	},
	"internal/audit/rules": {
		why:  "rules and state of a ledger, the same for the sequencer and for a stranger",
		ours: []string{"internal/audit", "internal/audit/trust", "internal/shuffle"}, pure: true,
	},
	"internal/audit/answers": {
		why: "known answers of package audit and of those made of it, from one excerpt of the data files",
		ours: []string{"internal/audit", "internal/audit/openings", "internal/audit/trust", "internal/audit/rules",
			"internal/shuffle", "internal/known"}, pure: true,
	},
	"internal/audit/spec": {
		why:  "docs/SPEC.md once more, from its text alone, for the tests of package audit and of those made of it",
		ours: []string{"internal/audit", "internal/shuffle", "internal/known"}, testOnly: true,
	},
	"internal/audit/codegen": {
		why:     "prints the registry of codes, and must work where the code that it prints does not build",
		stdOnly: true,
	},
	"internal/beacon": {
		why:  "checks a round of a public beacon, with a curve that nothing else may rest on",
		ours: []string{"internal/audit", "internal/known"}, pure: true,
	},
	"internal/beacon/relay": {
		why:  "fetches rounds, and believes none that internal/beacon does not",
		ours: []string{"internal/beacon", "internal/audit", "internal/outbound"},
	},
	"internal/terms": {
		why:  "reads the terms of shuffles, and hashes lists of tickets, for house and strangers alike",
		ours: []string{"internal/audit", "internal/shuffle"}, pure: true,
	},
	"internal/verify": {
		why: "a verdict needs evidence, and neither house nor network",
		ours: []string{"internal/beacon", "internal/terms", "internal/audit", "internal/audit/openings",
			"internal/audit/rules", "internal/audit/trust", "internal/shuffle"},
	},
	"internal/bundle": {
		why:  "a directory of evidence: its form, a reader and a writer",
		ours: []string{"internal/audit", "internal/audit/trust", "internal/process", "internal/shuffle"},
	},
	"internal/inspect": {
		why: "judges a whole ledger, from a bundle or whatever else holds the evidence",
		ours: []string{"internal/bundle", "internal/disclosure", "internal/beacon", "internal/terms",
			"internal/audit", "internal/audit/openings", "internal/audit/rules", "internal/audit/trust",
			"internal/shuffle"},
	},
	"internal/ledger": {
		why: "rows, heads and the store of a ledger, and what its readers see; orders and signs nothing",
		ours: []string{"internal/witness/gateway", "internal/audit", "internal/audit/rules", "internal/audit/trust",
			"internal/stops"},
	},
	"internal/ledger/cosign": {
		why: "has witnesses cosign heads, and does not know who made these",
		ours: []string{"internal/ledger", "internal/witness/gateway", "internal/audit", "internal/audit/trust",
			"internal/stops"},
	},
	"internal/ledger/sequencer": {
		why: "orders and signs entries; what they mean is audit's",
		ours: []string{"internal/ledger", "internal/ledger/cosign", "internal/witness/gateway", "internal/audit",
			"internal/audit/rules", "internal/audit/trust",
			"internal/process", "internal/stops"},
	},
	"internal/recall": {
		why:  "finds shuffles by the indexes of entries, and writes none",
		ours: []string{"internal/ledger", "internal/audit", "internal/audit/rules"},
	},
	"internal/follow": {
		why: "tells what the entries say, after they are durable; writes none",
		ours: []string{"internal/ledger", "internal/ledger/sequencer", "internal/audit", "internal/audit/rules",
			"internal/shuffle"},
	},
	"internal/seal": {
		why:  "seals bytes for the store; of a shuffle it knows how long a tape is",
		ours: []string{"internal/audit", "internal/shuffle", "internal/known"},
	},
	"internal/keys": {
		why:  "key files and their kinds",
		ours: []string{"internal/audit", "internal/process", "internal/stops"},
	},
	"internal/config": {
		why:  "one struct and its checks",
		ours: []string{"internal/audit", "internal/near", "internal/shuffle", "internal/stops"},
	},
	"internal/disclosure": {
		why:  "seals tapes to auditors and opens them, for dealer and auditor alike",
		ours: []string{"internal/audit", "internal/shuffle", "internal/known"},
	},
	"internal/dealer/api": {
		why: "requests of the dealer, judged without a ledger, and its answers",
		ours: []string{"internal/audit", "internal/audit/openings", "internal/near", "internal/shuffle",
			"internal/wire"},
	},
	"internal/dealer/record": {
		why: "what a ledger holds of a shuffle, and what its tape opens",
		ours: []string{"internal/dealer/api", "internal/ledger", "internal/ledger/sequencer", "internal/audit",
			"internal/audit/openings", "internal/audit/rules",
			"internal/outcome", "internal/shuffle", "internal/entropy", "internal/seal"},
	},
	"internal/dealer/blind": {
		why: "what house and co-dealer ask of each other, which a plain deal does not meet",
		ours: []string{"internal/dealer/api", "internal/dealer/record", "internal/ledger",
			"internal/ledger/sequencer", "internal/audit", "internal/audit/openings", "internal/audit/trust"},
	},
	"internal/dealer": {
		why: "the lifecycle, and the only place where a tape becomes an entry",
		ours: []string{"internal/dealer/api", "internal/dealer/record", "internal/dealer/blind", "internal/ledger",
			"internal/ledger/sequencer", "internal/audit", "internal/audit/openings", "internal/audit/rules",
			"internal/terms", "internal/outcome", "internal/shuffle",
			"internal/entropy", "internal/seal", "internal/disclosure", "internal/beacon", "internal/stops"},
	},
	"internal/dealer/batch": {
		why:  "answers many requests by the dealer's answers to each",
		ours: []string{"internal/dealer", "internal/dealer/api", "internal/ledger", "internal/audit"},
	},
	"internal/witness": {
		why: "sees checkpoints and proofs, never a shuffle",
		ours: []string{"internal/audit", "internal/audit/trust", "internal/outbound", "internal/process",
			"internal/witness/gateway"},
	},
	"internal/witness/gateway": {
		why:  "asks witnesses for cosignatures of a log, of which it knows heads and proofs",
		ours: []string{"internal/audit", "internal/audit/trust"},
	},
	"lab": {
		why:  "measures the generator and the shuffle that the daemon uses",
		ours: []string{"internal/outcome", "internal/shuffle", "internal/entropy"},
	},
	"lab/battery": {
		why:  "judges outcomes wherever they come from, and makes none",
		ours: nil,
	},
	"lab/controls": {
		why:  "shufflers that are wrong on purpose, and the battery that must say so",
		ours: []string{"lab", "lab/battery", "internal/outcome", "internal/shuffle", "internal/entropy"},
	},
	"lab/exact": {
		why:  "proves draws, orders and tapes of the function it is given, and needs no randomness for it",
		ours: []string{"internal/shuffle"}, stdOnly: true, pure: true,
	},
	"lab/lesson": {
		why:  "counts what a page for students says, by the proofs and the controls",
		ours: []string{"lab/controls", "lab/exact"}, pure: true,
	},
	"lab/kit": {
		why:  "archives source and describes the generator; draws nothing",
		ours: []string{"internal/shuffle", "internal/entropy"},
	},
	"lab/alarms": {
		why:  "counts what the health tests say of the bytes that tapes are made of, and judges as the battery does",
		ours: []string{"lab/battery", "internal/outcome", "internal/entropy"},
	},
	"lab/monitored": {why: "holds the chances of the monitor against those of gonum, in its tests"},
	"lab/labreport": {
		why:  "judges samples by the battery and shows what it says; plots are its own",
		ours: []string{"lab", "lab/battery", "internal/shuffle", "internal/entropy"},
	},
	"internal/monitor": {
		why:  "counts what is dealt, and tells figures of whole windows: it reaches neither evidence nor network",
		ours: []string{"internal/shuffle"},
	},
	"internal/selftest": {
		why: "known answers of all that a daemon and a verifier compute with, from bytes in the binary alone",
		ours: []string{"internal/known", "internal/shuffle", "internal/entropy", "internal/audit",
			"internal/audit/answers", "internal/seal",
			"internal/disclosure", "internal/beacon", "internal/stops"}, pure: true,
	},
	"migrations": {why: "embeds SQL", stdOnly: true},
	"configs":    {why: "embeds the example", stdOnly: true},
	"deploy":     {why: "embeds the roles and the unit", stdOnly: true},
	"web":        {why: "embeds the second implementation, which shares no code with the first", stdOnly: true},
	"internal/store": {
		why:  "what the stores share, migrating included, and a ledger of theirs as the source of a bundle",
		ours: []string{"internal/bundle", "internal/ledger", "migrations", "internal/stops"},
	},
	"internal/store/postgres": {
		why:  "keeps what the ledger hands over, and does not read it",
		ours: []string{"internal/ledger", "internal/store", "migrations", "internal/stops"},
	},
	"internal/store/sqlite": {
		why:  "keeps what the ledger hands over, and does not read it",
		ours: []string{"internal/ledger", "internal/process", "internal/store", "migrations", "internal/stops"},
	},
	"internal/fsck": {
		why: "holds the rows of a store against the evidence in them",
		ours: []string{"internal/store", "internal/ledger", "internal/ledger/sequencer", "internal/inspect",
			"internal/seal", "internal/audit", "internal/audit/openings", "internal/audit/trust", "internal/shuffle",
			"internal/stops"},
	},
	"internal/httpapi": {
		why: "requests in, answers out; neither stores nor keys",
		ours: []string{"internal/near", "internal/dealer", "internal/dealer/api", "internal/dealer/batch",
			"internal/follow", "internal/ledger",
			"internal/ledger/sequencer", "internal/verify", "internal/terms", "internal/audit",
			"internal/audit/openings", "internal/audit/rules", "internal/audit/trust", "internal/wire",
			"internal/config", "web", "internal/stops"},
	},
	"internal/wire": {why: "values that JSON writes in more than one way", pure: true},
	"client": {
		why: "for game back ends, which check what they are told",
		// Decks by name, and rounds of a beacon: what was asked for is checked here.
		ours: []string{"internal/audit", "internal/audit/openings", "internal/audit/trust", "internal/verify",
			"internal/terms", "internal/shuffle", "internal/beacon",
			"internal/outbound", "internal/wire", "internal/process"},
	},
	"internal/codealer": {
		why: "asks the co-dealer of a house as any house would, and writes no entry",
		ours: []string{"client", "internal/audit", "internal/audit/trust", "internal/dealer/api",
			"internal/dealer/blind",
			"internal/dealer/record", "internal/ledger", "internal/process"},
	},
	"internal/term": {
		why:  "what command lines share; knows the names of published cards, and no evidence",
		ours: []string{"internal/near", "internal/shuffle", "internal/stops"},
	},
	"internal/cli/remote": {
		why:  "how a command reaches a running daemon",
		ours: []string{"client", "internal/audit", "internal/keys", "internal/term"},
	},
	"internal/cli/player": {
		why:  "a player's own randomness, which no daemon sees before its commit",
		ours: []string{"internal/audit", "internal/cli/remote", "internal/keys", "internal/term", "internal/verify"},
	},
	"internal/cli/ticket": {
		why: "lists of tickets, for the house, its entrants and auditors; asks no daemon",
		ours: []string{"internal/audit", "internal/audit/openings", "internal/cli/player", "internal/keys",
			"internal/term", "internal/terms",
			"internal/verify"},
	},
	"internal/cli/operate": {
		why:  "asks a running daemon as a game's back end does, and opens no state",
		ours: []string{"client", "internal/audit", "internal/cli/player", "internal/cli/remote", "internal/term"},
	},
	"internal/cli/place": {
		why: "where commands find configuration, key files, database and a ledger that nobody serves",
		ours: []string{"internal/audit", "internal/audit/rules", "internal/audit/trust", "internal/build",
			"internal/config", "internal/keys", "internal/ledger",
			"internal/ledger/sequencer", "internal/near", "internal/outbound", "internal/process", "internal/seal",
			"internal/store", "internal/store/postgres", "internal/store/sqlite", "internal/term",
			"internal/witness", "internal/stops"},
	},
	"internal/cli/serving": {
		why:  "what the commands share that listen; knows no request",
		ours: []string{"internal/config", "internal/keys", "internal/process", "internal/term", "internal/stops"},
	},
	"internal/cli/host": {
		why: "keys, ledgers, tokens and acts, in the stored state or through a daemon, and checks of a host; deals nothing",
		ours: []string{"client", "internal/audit", "internal/audit/rules", "internal/audit/trust",
			"internal/cli/place", "internal/cli/remote",
			"internal/cli/serving", "configs", "deploy", "internal/config", "internal/entropy", "internal/httpapi",
			"internal/keys", "internal/ledger", "internal/ledger/sequencer", "internal/outbound", "internal/process",
			"internal/recall", "internal/seal", "internal/shuffle", "internal/store", "internal/term",
			"internal/witness", "internal/witness/gateway", "migrations"},
	},
	"internal/cli/audit": {
		why: "reads files and stores, and shows what verify, inspect and fsck find in them; writes no entry",
		ours: []string{"internal/audit", "internal/audit/openings", "internal/audit/trust", "internal/build",
			"internal/bundle", "internal/cli/place",
			"internal/cli/player", "internal/cli/remote", "internal/cli/ticket", "internal/config",
			"internal/disclosure", "internal/fsck", "internal/inspect", "internal/keys", "internal/ledger",
			"internal/seal", "internal/shuffle", "internal/store", "internal/term", "internal/terms",
			"internal/verify", "internal/witness", "internal/stops"},
	},
	"internal/cli/demo": {
		why: "a house and those who check it, in one terminal: the daemon's parts and the auditor's pages",
		ours: []string{"client", "internal/audit", "internal/audit/openings", "internal/cli/audit",
			"internal/cli/host", "internal/cli/place",
			"internal/config", "internal/dealer", "internal/dealer/api", "internal/entropy", "internal/keys",
			"internal/ledger", "internal/ledger/sequencer", "internal/needle", "internal/process", "internal/seal",
			"internal/shuffle", "internal/store", "internal/term", "internal/verify"},
	},
	"internal/build": {
		why:  "which build this is, and which programs lie in its directory",
		ours: []string{"internal/process"},
	},
	"perf/load": {
		why: "loads a running daemon and verifies what it acknowledged, as a stranger would",
		// Idempotency keys are the client's; a published deck is known by its hash.
		ours: []string{"client", "internal/audit", "internal/audit/openings", "internal/shuffle"},
	},
	"cmd/shuffled": {
		why:  "the only place where everything meets",
		ours: []string{"*"},
	},
	"lab/cmd/shuffled-lab": {
		why: "the commands of the lab",
		ours: []string{
			"lab", "lab/alarms", "lab/battery", "lab/controls", "lab/exact", "lab/kit", "lab/labreport", "lab/lesson",
			"internal/build", "internal/keys",
			"internal/entropy", "internal/outcome", "internal/process", "internal/selftest", "internal/shuffle",
			"internal/term",
		},
	},
	"perf/cmd/shuffled-bench": {
		why: "the command that loads a daemon",
		ours: []string{
			"perf/load", "client", "internal/audit", "internal/audit/trust", "internal/build",
			"internal/cli/remote", "internal/process",
			"internal/selftest", "internal/term",
		},
	},

	"internal/store/storetest": {
		why:      "the conformance suite of the stores",
		ours:     []string{"internal/store", "internal/ledger", "internal/audit", "internal/shuffle", "migrations"},
		testOnly: true,
	},
	"internal/witness/witnesstest": {
		why:  "hands out witnesses to tests",
		ours: []string{"internal/witness", "internal/audit"}, testOnly: true,
	},
	"internal/inspect/inspecttest": {
		why: "writes ledgers to inspect, honest ones and others",
		ours: []string{"internal/bundle", "internal/disclosure", "internal/beacon", "internal/beacon/beacontest",
			"internal/audit", "internal/audit/openings", "internal/audit/rules", "internal/shuffle",
			"internal/terms"}, testOnly: true,
	},
	"internal/beacon/beacontest": {
		why:     "rounds that a beacon published, for tests",
		stdOnly: true, testOnly: true,
	},
	"internal/keys/keystest": {
		why:     "runs a real HSM and a real KMS for tests",
		stdOnly: true, testOnly: true,
	},
	"internal/term/termtest": {
		why:  "builds the programs for tests, and has commands for their scripts",
		ours: []string{"internal/term"}, testOnly: true,
	},
	"internal/testdb": {why: "a private PostgreSQL for tests", testOnly: true},
	"perf/failover": {
		why:      "tests of the whole against servers that fail",
		testOnly: true,
	},
	"test/attacks": {
		why:     "tries what an attacker would, from outside",
		stdOnly: true, testOnly: true,
	},
	"test/golden":     {why: "what version 1 wrote, played with the whole product", ours: []string{"*"}, testOnly: true},
	"test/ha":         {why: "breaks a real cluster below the product", ours: []string{"*"}, testOnly: true},
	"test/monitoring": {why: "a real Prometheus, alongside a real daemon", ours: []string{"*"}, testOnly: true},
	"test/kubernetes": {why: "renders the chart; knows nothing of the product", testOnly: true},
	"test/proof":      {why: "runs the program of the machine-checked proof alongside the product", testOnly: true},
	"test/third":      {why: "a verifier that is written from SPEC alone, alongside the product", stdOnly: true, testOnly: true},
	"perf/bench":      {why: "measures the whole", ours: []string{"*"}, testOnly: true},
	"perf/growth": {why: "writes large ledgers and measures what their size costs", ours: []string{"*"},
		testOnly: true},
	"internal/arrows": {why: "this test", stdOnly: true, testOnly: true},
	"lab/compliance": {
		why:     "names what shows each requirement, for the document and the person who runs it",
		stdOnly: true, testOnly: true,
	},
	"lab/compliance/run": {
		why:  "runs what the table names",
		ours: []string{"lab/compliance"}, stdOnly: true, testOnly: true,
	},
}

// impure are imports that a pure package does without: it has no clock, no randomness, no files, no network, no log.
var impure = []string{
	"crypto/rand", "log", "log/slog", "math/rand", "math/rand/v2", "net", "net/http",
	"os", "os/exec", "path/filepath", "syscall", "time", "unsafe",
}

// A ban keeps packages out of everything that from imports, however indirectly.
// A path stands for itself and for everything below it.
type ban struct {
	from string
	why  string
	all  []string
}

var bans = []ban{
	{
		"internal/verify", "a verdict is offline, and never draws",
		[]string{
			"shuffled/internal/entropy", "net/http", "os/exec", "database/sql",
			"github.com/jackc/pgx/v5", "modernc.org/sqlite",
		},
	},
	{
		"internal/bundle", "a bundle is read without a network and written from any store",
		[]string{
			"shuffled/internal/entropy", "shuffled/internal/ledger", "net/http", "os/exec", "database/sql",
			"github.com/jackc/pgx/v5", "modernc.org/sqlite", "filippo.io/torchwood",
		},
	},
	{
		"internal/inspect", "a verdict is offline, and never draws",
		[]string{
			"shuffled/internal/entropy", "net/http", "os/exec", "database/sql",
			"github.com/jackc/pgx/v5", "modernc.org/sqlite",
		},
	},
	{
		"client", "a game back end neither draws nor opens the database",
		[]string{
			"shuffled/internal/entropy", "shuffled/internal/ledger", "database/sql",
			"github.com/jackc/pgx/v5", "modernc.org/sqlite",
		},
	},
	{
		"internal/cli/operate", "the operator's tool asks, and neither draws nor opens the database",
		[]string{
			"shuffled/internal/entropy", "shuffled/internal/ledger", "database/sql",
			"github.com/jackc/pgx/v5", "modernc.org/sqlite",
		},
	},
	{
		"internal/outcome", "what is dealt comes of no shuffler but one",
		[]string{"shuffled/lab"},
	},
	{
		"internal/httpapi", "neither dealer nor API knows a shuffler that is wrong on purpose",
		[]string{"shuffled/lab/controls"},
	},
	{
		"internal/dealer", "neither dealer nor API knows a shuffler that is wrong on purpose",
		[]string{"shuffled/lab/controls"},
	},
	{
		"internal/monitor", "what it counts of undealt cards goes nowhere",
		[]string{
			"shuffled/internal/store", "shuffled/internal/ledger", "net/http", "os/exec", "database/sql", "log/slog",
		},
	},
	{
		"cmd/shuffled", "what is for tests stays out of the binary",
		[]string{
			"testing", "shuffled/internal/testdb", "shuffled/internal/store/storetest",
			"shuffled/internal/beacon/beacontest",
			"shuffled/internal/witness/witnesstest", "shuffled/internal/arrows",
			"shuffled/internal/inspect/inspecttest",
			"shuffled/internal/term/termtest", "shuffled/internal/keys/keystest", "shuffled/lab", "gonum.org/v1/gonum",
			"github.com/getkin/kin-openapi", "github.com/google/go-cmp",
			"github.com/rogpeppe/go-internal", "github.com/transparency-dev/merkle",
			"github.com/transparency-dev/tessera", "go.uber.org/goleak", "pgregory.net/rapid",
			"github.com/chromedp", "github.com/anishathalye/porcupine",
			"github.com/oapi-codegen/oapi-codegen", "honnef.co/go/tools",
		},
	},
}

// A monopoly lists the packages of this module that may import something directly, each with its reason. Test-only
// packages with a reason of their own stand in it too.
type monopoly struct {
	what    string
	holders map[string]string
}

var monopolies = []monopoly{
	{"crypto/rand", map[string]string{
		"internal/entropy": "tapes, and nothing else takes bytes for a tape",
		"internal/keys":    "new keys and tokens",
		"internal/seal":    "new sealing keys",
		"client":           "idempotency keys, and players' slots",
		"internal/testdb":  "the password and the port of a test server",
	}},
	// Shufflers that are wrong on purpose are for one command of the lab.
	{"shuffled/lab/controls", map[string]string{"lab/cmd/shuffled-lab": "lab selftest", "lab/lesson": "their fractions"}},
	// Nothing that is dealt or kept secret may come from a generator that can be seeded. Benchmarks compare against it.
	{"math/rand", map[string]string{"perf/bench": "the rival"}},
	{"math/rand/v2", map[string]string{"perf/bench": "the rival", "perf/growth": "noise",
		"internal/audit/spec": "values in the data files"}},
	{"testing", map[string]string{
		"internal/audit/spec":          "holds data files against the reference",
		"internal/testdb":              "hands out databases to tests",
		"internal/store/storetest":     "is a test suite",
		"internal/keys/keystest":       "runs an HSM and a KMS for tests",
		"internal/term/termtest":       "finds programs for tests",
		"internal/witness/witnesstest": "hands out witnesses to tests",
		"perf/bench":                   "measures with it",
	}},
	{"github.com/jackc/pgx/v5", map[string]string{
		"internal/store/postgres": "PostgreSQL is behind the store",
		"internal/testdb":         "creates databases",
		"perf/bench":              "measures the server alone",
	}},
	{"modernc.org/sqlite", map[string]string{
		"internal/store/sqlite": "SQLite is behind the store",
	}},
	{"github.com/cloudflare/circl", map[string]string{
		"internal/beacon": "the one user of a curve that is not in the FIPS 140-3 module",
	}},
	{"filippo.io/torchwood", map[string]string{
		"internal/ledger":  "tiles",
		"internal/httpapi": "tiles",
		"internal/witness": "its protocol",
	}},
}
