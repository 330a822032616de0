package compliance

// statistics is rows 11 to 16: tests of outcomes and of raw bytes.
var statistics = []Row{
	{
		ID: "11", Title: "The battery",
		Clauses:     "GLI-19 §3.2.2; [25 CFR 547.14(b); AGCO 21.1.2; 58 Pa. Code 810a.5(c)]",
		Requirement: "Named tests on final outcomes at 99 %, as one decision over all of them.",
		Evidence: []Evidence{
			command("decks, with every result (--html FILE: as a page with plots)", "lab", "battery", "--deck",
				"standard-52", "--count", "100000", "--json"),
			command("a shoe", "lab", "battery", "--deck", "shoe-8", "--count", "20000"),
			command("dice and roulette", "lab", "battery", "--draws", "6", "--draws", "37", "--count", "200000"),
			tests("lab/battery", "one decision over all tests (Holm), and its second stage", "TestHolm", "TestJudge"),
			long(tests("lab/battery", "p-values of fair decks and draws are uniform, that of the largest cell at its low end", "TestPValuesAreEven",
				"TestDrawsUniform")),
			long(tests("lab/battery", "each family of tests rejects a fault of its own kind", "TestEveryFamilyFinds",
				"TestDrawFaults")),
			tests("lab/battery", "exact laws, by enumeration", "TestLawsAreExact", "TestSerialMomentsAreExact",
				"TestBlockProbabilities", "TestRunProbabilities", "TestCouponProbabilities", "TestGapProbabilities"),
			tests("lab/battery", "limits and odds that are printed in books", "TestKnownChances", "TestKnownOdds"),
			document("docs/LAB.md", "The battery", "the tests, and the decision"),
		},
	},
	{
		ID: "12", Title: "Positions, pairs, successive games",
		Clauses:     "[S.D. 48:02:08:02; W.Va. 29-22B-909; N.M. 15.1.7.13; Va. 11VAC20-20-510]",
		Requirement: "Each position, each pair of positions and the same position in the next game are tested, at 99 %.",
		Evidence: []Evidence{
			tests("lab/battery", "over all orders of few cards the tables are as even as can be, so that what is expected is exact", "TestTablesAreExact", "TestLawsAreExact"),
			tests("lab/battery", "the mean over five cards is 16, not 20: the factor (n−1)/n is there",
				"TestPositionCardFactor", "TestCorrectedChiSquareMeans"),
			document("docs/LAB.md", "The battery", "the tests of positions, pairs and the next game"),
		},
		NotShown: "Which two cards a pair of positions holds: a pair is tested by the difference of its cards modulo the number of card types. Whole tables, of up to 64 card types, are counted for neighbours and for one position in successive games only.",
	},
	{
		ID: "13", Title: "Enough data",
		Clauses:     "GLI-19 §3.2.2, §3.4.2",
		Requirement: "The sample is so large that a deviation that matters is found; the report says which is.",
		Evidence: []Evidence{
			long(tests("lab/battery", "a deviation of the stated size is found in 99 of 100 samples, for position × card and expected value of decks and the frequency of draws", "TestDetectsIsTrue", "TestDrawsDetect")),
			document("docs/LAB.md", "The battery", "sample sizes, and what they find"),
			tests("lab/battery", "a small sample gives no result that rests on a few events", "TestDrawsFew"),
		},
	},
	{
		ID: "14", Title: "The battery can fail",
		Clauses:     "GLI-19 §3.2.2",
		Requirement: "Faulty shufflers are rejected, the true one is not.",
		Evidence: []Evidence{
			tests("lab/controls", "what each faulty shuffler does, counted without statistics", "TestFaults",
				"TestSmallOrders", "TestMatrixIsEnumeration", "TestNeverLast"),
			tests("lab/controls", "the judge can fail: a fault that is called true, and the true one that is called a fault", "TestFaultyCalledTrue", "TestTrueCalledFaulty"),
			long(command("each control is rejected at its stated sample, the true shuffler is not", "lab", "selftest")),
		},
		NotShown: "Faults that no sample of a sensible size shows: they are listed with the sample that they would take.",
	},
	{
		ID: "15", Title: "Raw output and final outcomes",
		Clauses:     "[UKGC Testing strategy §3]",
		Requirement: "Both are collected, through the code that deals.",
		Evidence: []Evidence{
			command("raw output", "lab", "raw", "--bytes", "1000000", "--out", "raw.bin"),
			command("shuffles of eight decks", "lab", "decks", "--deck", "shoe-8", "--count", "1000", "--out",
				"shoes.csv"),
			command("dice", "lab", "draws", "--k", "6", "--count", "1000", "--out", "dice.csv"),
			tests("internal/arrows", "daemon and lab read tapes through one function, and nothing else does",
				"TestReserved"),
			tests("lab", "what is written is whole, and as the manifest says", "TestWrite", "TestRaw",
				"TestFormatsAgree"),
			document("docs/LAB.md", "Raw output and final outcomes", "forms, sizes, speed"),
		},
	},
	{
		ID: "16", Title: "Outside suites",
		Clauses:     "[NIST STS 2.1.2]",
		Requirement: "Raw bits pass suites that others wrote.",
		Evidence: []Evidence{
			tests("lab/kit", "the script that runs them passes only what they ran and passed", "TestLabScript"),
			document("docs/LAB.md", "Outside suites",
				"make lab: dieharder and rngtest on raw output, with versions, parameters and digests"),
		},
		NotShown: "Strength. STS is not run here; shuffled lab raw makes its input.",
	},
}
