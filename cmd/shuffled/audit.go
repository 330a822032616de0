package main

// auditCmd is for auditors: whole ledgers, not single shuffles.
type auditCmd struct {
	Export auditExportCmd `cmd:"" help:"Write a ledger to a directory that proves it on its own, and mirrors the log."`
	Verify auditVerifyCmd `cmd:"" help:"Check such a directory, offline: every entry, every rule, every disclosed shuffle."`
	Fsck   auditFsckCmd   `cmd:"" help:"Check the rows of a database, beside a running daemon: every column of every table of evidence."`
}
