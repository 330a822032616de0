package main

// auditCmd is for auditors: whole ledgers, not single shuffles.
type auditCmd struct {
	Export auditExportCmd `cmd:"" help:"Write a ledger to a directory that proves it on its own, and mirrors the log."`
	Verify auditVerifyCmd `cmd:"" help:"Check such a directory, offline: every entry, every rule, every disclosed shuffle."`
}
