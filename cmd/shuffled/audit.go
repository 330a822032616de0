package main

// auditCmd is for auditors: whole ledgers, not single shuffles.
type auditCmd struct {
	Export auditExportCmd `cmd:"" help:"Write a ledger to a directory that proves it on its own, and mirrors the log."`
}
