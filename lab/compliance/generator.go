package compliance

// generator is rows 1 to 10: from the platform's bytes to one outcome that never
// changes.
var generator = []Row{
	{
		ID: "1", Title: "No bias in scaling",
		Clauses:     "GLI-19 §3.2.3(a); [N.J.A.C. 13:69E-1.28G(b)6; Okla. 325:85-15-50(7); 58 Pa. Code 810a.5(d); 25 CFR 547.14(f)]",
		Requirement: "Raw bytes become 1..k without any bias. Raw values may be rejected to get there.",
		Evidence: []Evidence{
			command("the proof, from the binary alone: 1,070 million lanes", "lab", "prove", "--only", "lanes"),
			tests("lab/exact", "the proof can fail", "TestBrokenShufflesFail"),
			tests("lab/exact", "all lanes of all k up to 2^14", "TestDrawIsUniform"),
			tests("internal/shuffle", "wide lanes", "TestDrawWideLanes"),
			tests("internal/shuffle", "a draw without rejection, or with a limit one off, is caught",
				"TestMutantsAreCaught"),
		},
	},
	{
		ID: "2", Title: "Every order equally likely",
		Clauses:     "GLI-19 §3.2.1, §3.2.3; [AGCO 19.3.2–19.3.5]",
		Requirement: "The shuffle is a published one, without a variation that favours some orders; order within and across decks is independent.",
		Evidence: []Evidence{
			command("every order of up to nine cards, once", "lab", "prove", "--only", "orders"),
			tests("lab/exact", "every vector of draws of small decks: each order once",
				"TestEveryOrderHasOneDrawVector"),
			tests("lab/exact", "whole decks, and faults that only decks of ten cards or more have",
				"TestDecks", "TestBrokenDecksFail"),
			tests("internal/shuffle", "swap with any position, never in place, and other mistakes are caught",
				"TestMutantsAreCaught"),
			tests("internal/shuffle", "agreement with a reference on random tapes", "TestReferenceAgrees"),
			document("docs/SPEC.md", "2.2 Shuffle and draw list", "the algorithm"),
		},
	},
	{
		ID: "3", Title: "All outcomes within reach",
		Clauses:     "GLI-19 §3.2.5; [AGCO 21.1.3; N.J.A.C. (b)1; 25 CFR 547.14(c)(2)]",
		Requirement: "Enough entropy goes into each shuffle for every order: log2 n! bits and more.",
		Evidence: []Evidence{
			command("bits of the tape, of the orders, and of smaller states, by deck", "lab", "prove", "--only",
				"budget,exhaustion"),
			tests("lab/exact", "the table against published figures", "TestBudget"),
			tests("internal/shuffle", "tape lengths against log2 of the number of orders",
				"TestTapeHasRoomForEveryOrder", "TestTapeLenOfNamedDecks"),
			tests("internal/entropy", "a tape is read in its full length", "TestTapeReadsOnce", "TestTapeLength"),
		},
		NotShown: "See 3.2.5: the state behind the tape has about 256 bits between reseedings.",
	},
	{
		ID: "4", Title: "Strong against who knows the source",
		Clauses:     "GLI-19 §3.3.1, §3.3.2(a); [58 Pa. Code 810a.5(a); 25 CFR 547.14(c)(1); UKGC Casino TR 2.1(b)]",
		Requirement: "Only a cryptographic generator; no other in the program.",
		Evidence: []Evidence{
			tests("internal/arrows", "math/rand is imported by benchmarks only; crypto/rand by packages with a reason",
				"TestArrows", "TestBreachesAreFound"),
			command("generator state and module version", "version", "--json"),
		},
	},
	{
		ID: "5", Title: "No outcome redrawn or discarded",
		Clauses:     "GLI-19 §3.2.4(a), §4.5.2(a)–(c); [AGCO 4.26(4); UKGC RTS 7A]",
		Requirement: "One request, one outcome; nothing after it changes, repeats or drops it.",
		Evidence: []Evidence{
			tests("internal/dealer", "copies sent together, to one daemon and to two: one commit, one answer",
				"TestCopiesTogether", "TestCopies", "TestRepeats"),
			tests("internal/inspect", "damage, gaps and forgeries in a ledger are found", "TestAnyEntry",
				"TestDamages"),
			long(tests("cmd/shuffled", "a house that writes what no honest daemon would: each deed is a fault in the audit", "TestCheatingHouse", "TestSelectiveHouse")),
			document("docs/SPEC.md", "9 Legality", "the rules: serials without gaps, one close"),
		},
		NotShown: "Tapes that were drawn and looked at before the first commit, by a changed program: only the level mixed excludes that.",
	},
	{
		ID: "6", Title: "A failing generator stops play",
		Clauses:     "[AGCO 21.1.9, 5.1.7, 4.26(5)]; GLI-19 §3.3.3",
		Requirement: "When selection fails, no outcome is made until it is repaired, and the failure is on record.",
		Evidence: []Evidence{
			tests("internal/entropy", "a fault or a replaced generator latches; a failed tape is wiped",
				"TestFaultLatches", "TestReplacedReader", "TestFailedTapeIsWiped"),
			tests("internal/dealer", "the ledger stays latched where clearing it cannot be written",
				"TestDoubtfulEntropy", "TestClearLatchNotKept", "TestClearLatchUnwritten"),
			tests("internal/httpapi", "an administrator clears it, and the start-up test must pass first",
				"TestClearLatch"),
		},
	},
	{
		ID: "7", Title: "Interrupted selection",
		Clauses:     "[AGCO 21.1.8, 5.1.6]; GLI-19 §4.16.3, B.3.5(a)",
		Requirement: "After an interruption the original outcome stands; nothing is lost or doubled.",
		Evidence: []Evidence{
			tests("internal/ledger", "a commit whose outcome is unknown is looked up, never guessed",
				"TestUnknownOutcomes"),
			long(tests("cmd/shuffled", "kill -9 at random moments under clients: whatever was acknowledged is there, byte for byte", "TestKill")),
			long(tests("internal/store/postgres", "the database restarted in every way alongside a writer", "TestRestart",
				"TestLostMessages")),
			tests("internal/store/sqlite", "the writer killed again and again", "TestKilled"),
		},
	},
	{
		ID: "8", Title: "Undealt cards are encrypted at rest",
		Clauses:     "GLI-19 §4.4.4(a), B.3.1(g); [AGCO 5.1.9]",
		Requirement: "Stored cards and random numbers cannot be read.",
		Evidence: []Evidence{
			tests("internal/seal", "AES-256-GCM per commitment: nothing altered or moved opens", "TestLayout",
				"TestOpenAltered", "TestOpenMoved", "TestSealFresh"),
			long(tests("cmd/shuffled", "tapes, salts of undealt cards, keys and tokens in no log, database, metric or reply", "TestSecretsStayHidden")),
			document("docs/operations/keys.md", "Keys and secrets", "which key is where"),
		},
		NotShown: "Memory of the live host: root can read tapes there.",
	},
	{
		ID: "9", Title: "Seeding",
		Clauses:     "GLI-19 §3.3.2(b); [25 CFR 547.14(d); UKGC Casino TR 2.1(c)–(d); AGCO 4.26(1), 21.1.6; N.J.A.C. (b)5]",
		Requirement: "Not from the clock, not shared by two instances, not to be set.",
		Evidence: []Evidence{
			tests("lab/kit", "no flag, setting or environment variable leads to the generator", "TestNoSeed"),
			tests("internal/entropy", "one read of crypto/rand for each tape; the program keeps no bytes for the next",
				"TestTapeReadsOnce", "TestConcurrentTapes"),
		},
		NotShown: "That the kernel of a virtual machine which was cloned while it ran has new entropy at once. Where the kernel offers getrandom in its vDSO (`shuffled version` says it), a key of 256 bits for each thread lies in memory of the process, from which the thread's next tapes follow until the kernel reseeds.",
	},
	{
		ID: "10", Title: "Fresh entropy for the state",
		Clauses:     "GLI-19 §3.3.2(c); [25 CFR 547.14(c)(2)–(3); N.J.A.C. (b)4; Okla. (5)]",
		Requirement: "The state is reseeded or cycled in the background, in a way that a player cannot time.",
		Evidence: []Evidence{
			tests("lab/kit", "the description handed in says how", "TestDescription"),
		},
		NotShown: "The kernel's and the module's reseeding are in their sources, and no trace of system calls shows them: where the kernel offers getrandom in its vDSO (Linux 6.11 and newer), one call is made for each thread, and reads go on in memory of the process, in FIPS mode too.",
	},
}
