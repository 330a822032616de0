package compliance

// chapter3 is GLI-19 v3.0, chapter 3.
var chapter3 = []Row{
	{
		ID: "3.2.1", Title: "Source code",
		Requirement: "The laboratory reads all source that touches randomness, holds the algorithm against published references, and looks for hidden switches and parameters.",
		Evidence: []Evidence{
			document("docs/SPEC.md", "2 From bytes to draws", "the algorithm, exact enough to write it again"),
			tests("internal/shuffle", "equal to an independent reference, on fresh random tapes and on published vectors", "TestReferenceAgrees", "TestVectors", "TestVectorsAreTheReferences"),
			tests("internal/shuffle", "known mistakes put into the code, each of them caught", "TestMutantsAreCaught"),
			tests("internal/arrows", "who may import the generator; the binary holds no test code", "TestArrows", "TestBreachesAreFound"),
			tests("lab/kit", "the list of every use of randomness is that of the source", "TestCallsAreComplete"),
			command("build, algorithm and FIPS state of the binary at hand", "version", "--json"),
		},
		Duty: "The reading itself.",
	},
	{
		ID: "3.2.2", Title: "Statistical analysis",
		Requirement: "Final outcomes pass an adequate set of tests, judged together at 99 % confidence, on samples large enough to find real deviations often.",
		Evidence: []Evidence{
			command("the battery on shuffles, by the code that deals; exit code 1 when rejected", "lab", "battery", "--deck", "standard-52", "--count", "100000", "--json"),
			tests("lab/battery", "the family-wise level is 1 % (Holm), with a second sample for what is borderline", "TestHolm", "TestJudge"),
			long(tests("lab/battery", "each family finds a fault of its kind; fair games pass", "TestEveryFamilyFinds", "TestFairIsAccepted")),
			long(command("faulty shufflers are rejected, the true one is not", "lab", "selftest")),
			document("docs/LAB.md", "The battery", "the named tests, and rows 11 to 15 here"),
		},
		NotShown: "Strength against an attacker: the output of a predictable generator can pass every statistic.",
	},
	{
		ID: "3.2.3", Title: "Distribution",
		Requirement: "Every outcome has the chance that it should have; scaling to a range adds no bias.",
		Evidence: []Evidence{
			command("the whole proof, from the binary alone", "lab", "prove", "--only", "lanes,orders"),
			tests("lab/exact", "every lane of every k up to 2^14, counted", "TestDrawIsUniform"),
			tests("internal/shuffle", "ranges above 2^14", "TestDrawWideLanes"),
			tests("lab/exact", "each order from exactly one vector of draws", "TestEveryOrderHasOneDrawVector"),
			tests("internal/shuffle", "cut-card places and draw lists alike", "TestEveryOutcomeHasOneDrawVector"),
			tests("internal/shuffle", "a tape that runs out distorts nothing", "TestUniformGivenNotExhausted", "TestEveryTapeOfTwoLanes"),
			tests("internal/shuffle", "a mix permutes, and keeps uniform values uniform", "TestMixIsAPermutation", "TestShiftIsABijection"),
		},
	},
	{
		ID: "3.2.4", Title: "Independence",
		Requirement: "No outcome depends on earlier ones, and none is thrown away or adapted by a second decision.",
		Evidence: []Evidence{
			tests("internal/entropy", "each tape is one read of crypto/rand, of which the program keeps nothing for the next", "TestTapeReadsOnce", "TestTapeFromPlatform"),
			tests("internal/shuffle", "a draw forgets the lanes before it", "TestDrawForgetsEarlierLanes"),
			tests("internal/dealer", "one request is one shuffle for ever, however often it comes; no tape is drawn for a repeat whose key says the time at which it was made, or none", "TestRepeats", "TestCopiesTogether", "TestCopies", "TestNewKeys"),
			tests("internal/dealer", "a key that says a wrong time, or comes to another daemon before that one has read the first answer, may cost a tape, which nobody sees; its answer is the first one", "TestLyingKeys", "TestLyingKeyLatched", "TestLyingKeyOfAChild"),
			tests("internal/audit", "serials have no gaps, and each commit has one close", "TestLegalityVectors", "TestLegalityAgreesWithModel"),
		},
		NotShown: "A house that changes the program can draw tapes until it likes one and commit to that. Only the level mixed excludes it (docs/THREATS.md).",
	},
	{
		ID: "3.2.5", Title: "Available outcomes",
		Requirement: "Every possible outcome can come up in every draw.",
		Evidence: []Evidence{
			command("tape and orders in bits, for every published deck", "lab", "prove", "--only", "budget,exhaustion"),
			tests("internal/shuffle", "a tape has more bits than the logarithm of the number of orders, for every number of cards and, of each, takes from one card to all", "TestTapeHasRoomForEveryOrder", "TestTapeLenOfNamedDecks"),
			tests("lab/exact", "every order of small decks comes up", "TestEveryOrderHasOneDrawVector"),
		},
		NotShown: "Behind the tape the platform's generator has about 256 bits of state between reseedings: every order of one deck (225.6 bits) is within reach of one state, the 3,024.9 bits of an eight-deck shoe are not. Shoes are indistinguishable from uniform by computation, not by counting.",
	},
	{
		ID: "3.3.1", Title: "Cryptographic strength",
		Requirement: "The generator of outcomes withstands an attacker who has its source and present computers.",
		Evidence: []Evidence{
			tests("internal/entropy", "tapes come from the platform's generator; those of a scripted reader are its bytes, unchanged", "TestTapeFromPlatform", "TestTapeReadsOnce"),
			tests("internal/arrows", "no generator that can be seeded is in the program", "TestArrows"),
			document("docs/SPEC.md", "2.3 Length of the tape", "bytes are used directly, never stretched from a seed"),
			command("whether the FIPS 140-3 module generates, and which version", "version", "--json"),
		},
		NotShown: "The strength of the generator itself, which is the operating system's, or that of Go's FIPS 140-3 module: their certificates and literature show it.",
	},
	{
		ID: "3.3.2", Title: "Attacks on the generator",
		Requirement: "(a) Nobody computes other outcomes from some. (b) The state does not start from the clock alone. (c) A state that leaked is left behind, for new entropy comes in.",
		Evidence: []Evidence{
			tests("internal/httpapi", "nothing that anybody may ask for before the close depends on an undealt card", "TestUndealtCardsStayHidden"),
			tests("internal/entropy", "there is no seed; a generator that somebody put in its place is refused", "TestReplacedReader", "TestReplacedBeforeInit", "TestTapeFromPlatform"),
			tests("lab/kit", "no flag, setting or environment variable of the daemon leads to the generator", "TestNoSeed"),
			document("docs/OPERATIONS.md", "Entropy", "where tapes come from, and what stops them"),
		},
		NotShown: "How often the kernel reseeds: Linux does so about once a minute, and Go's module mixes 128 bits of the kernel into every read; where the kernel offers getrandom in its vDSO, those come from a key in memory of the process, too. All of it is in their sources, not here.",
	},
	{
		ID: "3.3.3", Title: "Monitoring of generators in hardware",
		Requirement: "The output of a generator in hardware is watched, and play stops when it fails.",
		Evidence: []Evidence{
			tests("internal/entropy", "cutoffs of the repetition count and adaptive proportion tests, from the formulas", "TestCutoffsPublished", "TestCutoffsExact", "TestHealthAgainstReference"),
			tests("internal/entropy", "a fault latches, at start and while running, for all callers", "TestFaultLatches", "TestFaultAtStart", "TestConcurrentFault", "TestTenPercent"),
			tests("internal/dealer", "no shuffle is made of doubtful bytes, and none after them", "TestDoubtfulEntropy"),
		},
		NotShown: "There is no generator in hardware of ours. On the output of a cryptographic generator such tests catch gross faults only.",
	},
	{
		ID: "3.4.2", Title: "Mechanical devices: data",
		Requirement: "Outcomes of a mechanical device are collected, 10,000 or more, and tested.",
		NotShown:    "There is no mechanical device. The number of outcomes that the battery takes for software is in row 13.",
	},
}
