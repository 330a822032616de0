package main

// labCmd is what a test lab needs: raw output, final outcomes, statistics, proofs
// and what is handed in.
type labCmd struct {
	Raw      labRawCmd      `cmd:"" help:"Write raw output of the generator, before any scaling."`
	Decks    labDecksCmd    `cmd:"" help:"Write shuffled decks."`
	Draws    labDrawsCmd    `cmd:"" help:"Write drawn values."`
	Prove    labProveCmd    `cmd:"" help:"Prove that draws and orders are exactly uniform, by trying every case."`
	Battery  labBatteryCmd  `cmd:"" help:"Put outcomes to every test that regulators name, and report."`
	Selftest labSelftestCmd `cmd:"" help:"See that the battery finds shufflers that are wrong on purpose, and accepts the true one."`
	Kit      labKitCmd      `cmd:"" help:"Make everything that is handed in, in one directory, with a manifest; or check it."`
	Health   labHealthCmd   `cmd:"" help:"Count the false alarms of the health tests, and hold them against the exact distribution."`
}
