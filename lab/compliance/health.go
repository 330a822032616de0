package compliance

// health is rows 17 to 24: tests of the generator while it works, and what may influence it.
var health = []Row{
	{
		ID: "17", Title: "Repetition count test",
		Clauses:     "[SP 800-90B §4.4.1]",
		Requirement: "Equal bytes in a row stop the generator, at a stated rate of false alarms.",
		Evidence: []Evidence{
			tests("internal/entropy", "C−1 equal bytes pass, C latch, at every place; cutoffs from the formula",
				"TestRepetitionEdge", "TestCutoffsPublished", "TestCutoffsExact"),
			document("docs/operations/alerts.md", "Entropy", "cutoff 9 at 2^-60"),
		},
	},
	{
		ID: "18", Title: "Adaptive proportion test",
		Clauses:     "[SP 800-90B §4.4.2]",
		Requirement: "A value that comes too often stops the generator.",
		Evidence: []Evidence{
			tests("internal/entropy", "the cutoff at every place of a window; a byte at 10 % is found within 45 windows", "TestProportionEdge", "TestProportionLastSample", "TestTenPercent"),
			command("false alarms at weaker cutoffs, counted and computed, on real bytes", "lab", "health", "--bytes",
				"20000000"),
			tests("lab/alarms", "the rate of false alarms, computed and counted, and that of the halt", "TestSeeded",
				"TestHalt", "TestChances"),
			tests("internal/entropy", "equal to a reference; false alarms at a weaker cutoff are as many as computed",
				"TestHealthAgainstReference", "TestNoFalseAlarm"),
		},
		NotShown: "Subtle faults: these are tests for raw noise, and see gross ones only behind a cryptographic generator.",
	},
	{
		ID: "19", Title: "Tests at start and on demand",
		Clauses:     "[SP 800-90B; FIPS 140-3]",
		Requirement: "Known-answer tests of every algorithm and a health test run before anything is served.",
		Evidence: []Evidence{
			command("known answers of every primitive and format", "selftest", "--json"),
			tests("cmd/shuffled", "each test that fails stops the process, one by one; the module's own likewise",
				"TestSelfTestsStop", "TestModuleSelfTestsStop"),
			tests("internal/entropy", "1,024 bytes through both health tests at start and when asked",
				"TestFaultAtStart", "TestSelfTestOnDemand"),
		},
	},
	{
		ID: "20", Title: "FIPS 140-3 mode",
		Clauses:     "[Go's FIPS 140-3 documentation; CMVP #5247]",
		Requirement: "With GOFIPS140=v1.0.0 the generator and all that is signed or sealed use the validated module.",
		Evidence: []Evidence{
			document(".github/CONTRIBUTING.md", "Rules that have a test",
				"make fips builds and tests the packages that decide, on the module"),
			command("whether this binary has the module, and whether it is on", "version", "--json"),
		},
		NotShown: "BLS12-381, with which a beacon's rounds are checked, is in no FIPS module, and ML-DSA-44 is not in module v1.0.0. The mode fips140=only: row L1.",
	},
	{
		ID: "21", Title: "No hidden switch, every call listed",
		Clauses:     "GLI-19 §3.2.1, §4.6.1(b); [AGCO 9.1.1(2)–(4)]",
		Requirement: "Nobody takes random bytes who is not on the list, and nothing can take the generator's place.",
		Evidence: []Evidence{
			tests("lab/kit", "the list of calls in the kit is that of the source", "TestCallsAreComplete"),
			tests("internal/arrows", "who may import crypto/rand", "TestArrows", "TestTableIsComplete"),
			tests("internal/entropy", "another reader in place of crypto/rand's is refused", "TestReplacedReader",
				"TestReplacedBeforeInit"),
		},
	},
	{
		ID: "22", Title: "One implementation",
		Clauses:     "GLI-19 §4.5.1; [58 Pa. Code 810a.5(a)]",
		Requirement: "What is tested is what deals.",
		Evidence: []Evidence{
			tests("internal/arrows", "one function makes outcomes, for daemon and lab; one package reads tapes",
				"TestReserved", "TestArrows"),
			tests("lab/controls", "the true shuffler of the controls is the dealer's", "TestTrueIsTheDealers"),
			tests("lab/kit", "the list of calls", "TestCallsAreComplete"),
		},
	},
	{
		ID: "23", Title: "Nothing else influences an outcome",
		Clauses:     "GLI-19 §4.5.2(e)–(f); [AGCO 21.1.5, 4.26(2)–(4)]",
		Requirement: "Not stake, player, channel or load.",
		Evidence: []Evidence{
			document("docs/SPEC.md", "2.2 Shuffle and draw list",
				"an order is a function of deck and tape, and of a mix that was announced"),
			tests("internal/arrows", "the package that shuffles imports neither clock, network, files nor randomness",
				"TestArrows"),
			tests("internal/verify", "no move of a house that knows the tape, in a shuffle of two slots and a beacon, changes the order without showing",
				"TestNoChoiceIsLeft"),
			long(tests("cmd/shuffled", "under twice the load that the daemon can carry all it acknowledged is right",
				"TestOverload")),
		},
	},
	{
		ID: "24", Title: "Cards once dealt",
		Clauses:     "GLI-19 §4.4.4(b)–(d), §4.6.4, §4.6.5",
		Requirement: "They are not returned to the deck, and it is not shuffled again, unless the rules say so.",
		Evidence: []Evidence{
			tests("internal/dealer", "random stories against a model: no place twice, no gap", "TestModel",
				"TestRivalDeals", "TestRaces"),
			tests("internal/dealer", "a stub shuffled again is a new commit that names the old; every card is in one of them, once", "TestStub", "TestListedPositions"),
			document("docs/games/shoes.md", "Shuffled again: stubs, returned cards, continuous shufflers", "how"),
		},
		Duty: "To tell players the number of decks and when they are shuffled.",
	},
}
