package compliance

// operation is rows 37 to 44: keys, links, changes, and who checks from outside.
var operation = []Row{
	{
		ID: "37", Title: "Backup and recovery",
		Clauses:     "GLI-19 B.3.3–B.3.5, B.3.7",
		Requirement: "No single failure loses data; after a restore what is missing is known, and no number is used again.",
		Evidence: []Evidence{
			tests("internal/ledger/sequencer", "a restored backup is read, not signed onto, until it holds all that was seen",
				"TestRestoredBackup", "TestResumesWithoutRestart", "TestMark"),
			long(tests("perf/failover", "primaries that hang, are killed and replaced, with and without the newest entries", "TestProgram", "TestSynchronous", "TestLostTail")),
			document("docs/operations/backup.md", "Rollback and split brain", "what to do"),
		},
		Duty: "The backups, off site, and copies of the keys.",
	},
	{
		ID: "38", Title: "Keys",
		Clauses:     "GLI-19 B.6.2(f)–(g), B.6.3; [PCI DSS 4.0.1 §3.7.5]",
		Requirement: "Keys are generated, stored encrypted, changed, retired and revoked by procedure; algorithms can be replaced.",
		Evidence: []Evidence{
			tests("internal/ledger/sequencer", "a signing key is handed on under the old one; a stolen old one is of no use once retired",
				"TestRotation", "TestRotationRefused", "TestForgedRotation", "TestThiefOfSigningKey"),
			tests("internal/keys", "modes of key files, encryption under a passphrase, nothing printed",
				"TestPrivateFileModes", "TestEncryptedFiles", "TestSigningKeyIsNotPrinted"),
			long(tests("cmd/shuffled", "both rotations as the manual has them", "TestRotateSigning",
				"TestRotateSealing")),
			document("docs/operations/keys.md", "Changing keys", "the procedure"),
		},
		NotShown: "Split knowledge of a key. A signing key may be in an HSM, KMS or ssh-agent: docs/operations/keys.md.",
	},
	{
		ID: "39", Title: "Authenticated links",
		Clauses:     "[AGCO 21.1.10, 5.1.8]; GLI-19 B.6.2(b)–(c)",
		Requirement: "Between generator and game each knows the other, and nothing can be replayed.",
		Evidence: []Evidence{
			tests("internal/httpapi", "TLS 1.3 and client certificates: wrong, expired and revoked ones are refused",
				"TestCertificates", "TestCertificateRevoked", "TestCertificateRunsOut", "TestRoles"),
			tests("internal/codealer", "a request that comes again gets the same answer and draws nothing",
				"TestRepeatsAreTheFirstAnswer"),
		},
	},
	{
		ID: "40", Title: "No test tools in production",
		Clauses:     "GLI-19 B.8.3(a), (d)",
		Requirement: "Environments are apart, and nothing in production can fix an outcome.",
		Evidence: []Evidence{
			tests("internal/arrows", "what is for tests is not in the binary", "TestArrows"),
			tests("lab/kit", "no seed and no switch", "TestNoSeed"),
		},
		NotShown: "The commands of the laboratory are a program of their own, shuffled-lab, which opens no ledger and asks no daemon. A sandbox ledger says in its first entry that it is one.",
	},
	{
		ID: "41", Title: "Change control",
		Clauses:     "GLI-19 B.8.2; [Gibraltar RTOS 12.2(5); UKGC Annex A; 58 Pa. Code 461a.4]",
		Requirement: "A changed generator is certified again; what runs is what was certified.",
		Evidence: []Evidence{
			tests("internal/shuffle", "vectors and published decks are frozen with the algorithm's version",
				"TestVectorsAreTheReferences", "TestNamedDecksAreFrozen", "TestMixGolden"),
			long(tests("lab/kit", "the same source gives the same bytes in two directories, with a shared cache", "TestReproducible")),
			document("docs/LAB.md", "The kit",
				"the digest of each source file; scripts/reproduce.sh builds twice with empty caches"),
		},
		Duty: "Who approves a change, and sending it to the laboratory.",
	},
	{
		ID: "42", Title: "Signed, chained, committed beforehand",
		Clauses:     "[NIST IR 8213 draft]",
		Requirement: "Values are committed to before they are used, signed, and linked to all earlier ones.",
		Evidence: []Evidence{
			tests("internal/audit/openings", "commitment, deck root and openings", "TestFromTapeToRoot",
				"TestOpeningFails", "TestOpeningsElsewhere"),
			tests("internal/audit/answers", "the published hashes", "TestHashVectors"),
			tests("internal/audit", "one encoding of each entry", "TestBadEntries"),
			tests("internal/verify", "each byte of some honest files, changed to three other values, is refused", "TestEveryByteCounts"),
			document("docs/SPEC.md", "6 Commitment and openings", "what is committed to"),
		},
	},
	{
		ID: "43", Title: "Not repeatable, and yet recomputed",
		Clauses:     "[25 CFR 547.14(d)]; GLI-19 §3.3.2(b)",
		Requirement: "The generator cannot be set to repeat itself; what it gave can be checked.",
		Evidence: []Evidence{
			tests("internal/arrows", "the verifier cannot reach generator, network or database", "TestArrows"),
			tests("lab/kit", "no way to start from a chosen value", "TestNoSeed"),
			document("docs/SPEC.md", "4 Mix", "outside randomness is declared, per ledger, and off by default"),
		},
		NotShown: "Whether a regulator admits values of players or of a beacon in an outcome.",
	},
	{
		ID: "44", Title: "Yearly checks from outside",
		Clauses:     "GLI-19 B.9.1; [UKGC annual audits]",
		Requirement: "Security and games are tested every year by others.",
		Evidence: []Evidence{
			command("what a laboratory is handed, here in small and in part", "lab", "kit", "--out", "kit",
				"--leave-out", "source,modules,binary,proof,controls,battery,compliance", "--raw-bytes", "100000", "--decks", "100"),
			document("docs/LAB.md", "The kit", "all of it"),
		},
		Duty: "The checks themselves.",
	},
}
