package compliance

// limits are what cannot be shown, or cannot be had, and why.
var limits = []Row{
	{
		ID: "L1", Title: "The mode fips140=only",
		Requirement: "A process that refuses every call outside the module.",
		NotShown:    "With module v1.0.0 it refuses HPKE, whose nonces are counted and not drawn by the module: closing a shuffle for auditors ends in an error. With v1.26.0 keys are wrapped and tapes sealed and opened in it, hybrid and P-256 alike (seen with internal/disclosure). Go documents that mode for tests, not for production. With fips140=on everything works, on both.",
	},
	{
		ID: "L2", Title: "A back door",
		Requirement: "A generator whose output looks random and is known to somebody.",
		NotShown:    "No test of output finds one. A build that you reproduce, and randomness from outside (the level mixed), help.",
	},
	{
		ID: "L3", Title: "Eyes on the live host",
		Requirement: "Nobody sees undealt cards.",
		NotShown:    "Root can, while a hand is in play (docs/THREATS.md).",
		Duty:        "Who may log in, and surveillance of play.",
	},
	{
		ID: "L4", Title: "The approved program runs",
		Requirement: "The binary in production is the one that was tested.",
		NotShown:    "A daemon writes its own digest into the ledger; a changed daemon can write another's.",
		Duty:        "Comparing digests from outside of the program.",
	},
	{
		ID: "L5", Title: "Statistics and small bias",
		Requirement: "A bias of any size is found by sampling.",
		NotShown:    "A 32-bit number modulo 52 would take about 6.4·10^18 draws. Uniformity is shown by enumeration and proof instead (rows 1 and 2).",
	},
}
