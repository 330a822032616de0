package compliance

// records is rows 25 to 36: what is kept, and how it is kept from change.
var records = []Row{
	{
		ID: "25", Title: "Program checks itself",
		Clauses:     "GLI-19 §2.3.2, B.2.6(a)–(e)",
		Requirement: "The control program's digest is compared with the approved one every 24 hours, on demand and at start, and the result kept.",
		Evidence: []Evidence{
			document("docs/SPEC.md", "5.8 Event (type 7)", "each start of a daemon writes digests of its executable and configuration into the ledger"),
			tests("internal/config", "what counts for the configuration's digest", "TestDigest"),
			tests("internal/inspect", "the audit lists starts, with what ran", "TestEvents"),
		},
		Duty: "The comparison with the approved digest, and a check every 24 hours: sha256sum from outside, on a timer. A program cannot vouch for itself.",
	},
	{
		ID: "26", Title: "Verification by a third party",
		Clauses:     "GLI-19 §2.3.3; [AGCO 4.01]",
		Requirement: "Others verify program and records without the system's own code.",
		Evidence: []Evidence{
			long(tests("lab/kit", "the same source gives the same bytes in two directories; compiled packages may come from the shared cache", "TestReproducible")),
			document("docs/LAB.md", "The kit", "how to build the same bytes; scripts/reproduce.sh takes empty caches"),
			tests("internal/verify", "a second verifier, in another language, on all vectors and on random files", "TestVectorsElsewhere", "TestBothImplementations"),
			long(tests("cmd/shuffled", "foreign software reads the live log and its exports", "TestForeignReaders", "TestMirror")),
		},
	},
	{
		ID: "27", Title: "Complete record of each game",
		Clauses:     "GLI-19 §2.8.2, §4.14.2, §4.14.3; [AGCO 4.02]",
		Requirement: "Each game can be found and rebuilt: ids, time, outcome, status.",
		Evidence: []Evidence{
			document("docs/OPERATIONS.md", "Recall", "shuffles by table, time, game or state"),
			long(tests("cmd/shuffled", "shuffles of a running daemon are found, tables walked back", "TestRecall", "TestHistoryGaps")),
			tests("internal/verify", "an order is recomputed from the disclosed tape, swap by swap", "TestExplain", "TestVectors"),
		},
		Duty: "Stakes, choices of players and pay-outs are the game's records, not ours.",
	},
	{
		ID: "28", Title: "Retention",
		Clauses:     "[58 Pa. Code 811a.7(d)]; GLI-19 A.4.4, B.2.6",
		Requirement: "Records and the means to verify them last for years.",
		Evidence: []Evidence{
			document("docs/OPERATIONS.md", "Retention", "evidence is kept for ever, records of access as long as configured"),
			long(tests("cmd/shuffled", "receipts, transcripts and exports are the same after all was dropped that can be", "TestRetention")),
		},
		Duty: "Storage and backups for as long as the licence asks.",
	},
	{
		ID: "29", Title: "Records cannot be altered",
		Clauses:     "GLI-19 B.3.1, B.6.5(a)–(d); [58 Pa. Code 811a.7(a); AGCO 4.01(2), 4.03; AGLC 4.3.3]",
		Requirement: "Nobody changes or drops a record unseen; a copy is with somebody else.",
		Evidence: []Evidence{
			tests("internal/fsck", "databases set back, and forked", "TestSetBack", "TestFork"),
			long(tests("internal/fsck", "every column of evidence changed in every way, every byte of a checkpoint", "TestMatrix", "TestEveryByte")),
			tests("internal/store/sqlite", "no row of evidence can be changed or removed", "TestInsertOnly"),
			long(tests("internal/store/postgres", "nor by the owner of the database", "TestInsertOnly")),
			tests("internal/ledger", "a ledger that went back or sideways is not signed on", "TestRollback", "TestRestoredBackup", "TestForkIsRefused"),
			document("docs/AUDIT.md", "An auditor's first hour", "how an auditor checks a whole ledger"),
		},
		Duty: "Witnesses that are run by somebody else, and a copy of the ledger outside the house.",
	},
	{
		ID: "30", Title: "Alterations are logged",
		Clauses:     "GLI-19 B.3.2, §2.9.5",
		Requirement: "A change of data is recorded with its value before and after, time, person and reason.",
		Evidence: []Evidence{
			tests("internal/store/sqlite", "evidence is inserted, never updated", "TestInsertOnly"),
			document("docs/SPEC.md", "5 Entries", "a correction is a new signed entry with its actor"),
		},
		NotShown: "There is no report of alterations, for there is no way to alter. What is changed behind the program's back is named by audit fsck, without the person.",
	},
	{
		ID: "31", Title: "Significant events",
		Clauses:     "GLI-19 §2.8.8",
		Requirement: "Failures, stops, overrides and changes of parameters are on record.",
		Evidence: []Evidence{
			document("docs/SPEC.md", "5.8 Event (type 7)", "starts, tables, kill switches, latches, alarms, as signed entries"),
			tests("internal/httpapi", "an administrator's requests become entries; what a regulator reads is recorded first", "TestAdminRequests", "TestKillSwitch", "TestAccessRecords"),
			tests("internal/inspect", "the audit lists events", "TestEvents"),
		},
		NotShown: "Failed attempts at access are in the daemon's log and metrics, not in the ledger.",
	},
	{
		ID: "32", Title: "Watching production outcomes",
		Clauses:     "GLI-19 A.6.2; [AGCO 4.27]",
		Requirement: "Outcomes of play are tested by count and by period, and an alarm is raised.",
		Evidence: []Evidence{
			tests("internal/monitor", "faults are seen within the stated number of outcomes; in 1,000 windows of small decks and dice, and fewer of larger decks, false alarms are as rare as computed down to about 1 in 1,000", "TestFaults", "TestFalseAlarms", "TestGenerator", "TestPower"),
			tests("internal/monitor", "windows by count and by day; what is told of a window is rounded", "TestWindows", "TestNothingKept"),
			document("docs/LAB.md", "Production outcomes", "levels: 1e-4 warns, 1e-6 stops where the configuration says so"),
		},
		Duty: "Acting on the warning.",
	},
	{
		ID: "33", Title: "Disabling on demand",
		Clauses:     "GLI-19 §2.4.1, §4.15.1, A.6.3",
		Requirement: "All or some play is stopped at once; games that have begun may end; time and reason are recorded.",
		Evidence: []Evidence{
			tests("internal/httpapi", "a switch stops the commits that it covers and no others; open shuffles are played on", "TestKillSwitch", "TestTables"),
			tests("internal/ledger", "a stopped ledger takes nothing", "TestClosedLedgerRefuses"),
		},
	},
	{
		ID: "34", Title: "Interrupted games",
		Clauses:     "GLI-19 A.6.4",
		Requirement: "Games that did not end are known, handled and reported.",
		Evidence: []Evidence{
			tests("internal/dealer", "a shuffle past its time is closed once, with its tape, also after an outage", "TestExpire", "TestOutage"),
			tests("internal/httpapi", "what is open and overdue shows, with its age", "TestBacklogFigures"),
			document("docs/GAMES.md", "What goes wrong at a table", "misdeals, voids, early ends"),
		},
		Duty: "Returning wagers and telling the regulator.",
	},
	{
		ID: "35", Title: "Clock",
		Clauses:     "GLI-19 §2.2.1–2.2.2",
		Requirement: "One time for all records; it does not go back.",
		Evidence: []Evidence{
			tests("internal/ledger", "the order is the index; time never decreases; a clock that steps is refused", "TestClock", "TestClockStepRefuses"),
			tests("internal/witness", "times of cosignatures never go back", "TestTime"),
		},
		Duty: "A time service for the hosts.",
	},
	{
		ID: "36", Title: "Export",
		Clauses:     "GLI-19 §2.8.1(b), §2.9.1(a)–(b); [58 Pa. Code 811a.7(b)]",
		Requirement: "Records can be exported for analysis and verified elsewhere.",
		Evidence: []Evidence{
			tests("internal/bundle", "an export holds the whole ledger, and grows", "TestContent", "TestGrowth", "TestPeriod"),
			long(tests("cmd/shuffled", "it is verified offline, and holds no secret", "TestAuditVerify", "TestExportAllowList")),
			document("docs/AUDIT.md", "1. Get the evidence", "how"),
		},
		NotShown: "The forms of a regulator's own reports (their header, their empty page).",
	},
}
