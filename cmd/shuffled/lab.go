package main

// labCmd is what a test lab needs: raw output, final outcomes, statistics, proofs
// and what is handed in.
type labCmd struct {
	Raw    labRawCmd    `cmd:"" help:"Write raw output of the generator, before any scaling."`
	Decks  labDecksCmd  `cmd:"" help:"Write shuffled decks."`
	Draws  labDrawsCmd  `cmd:"" help:"Write drawn values."`
	Prove  labProveCmd  `cmd:"" help:"Prove that draws and orders are exactly uniform, by trying every case."`
	Health labHealthCmd `cmd:"" help:"Count the false alarms of the health tests, and hold them against the exact distribution."`
}
