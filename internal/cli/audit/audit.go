// Package audit has the commands of those who check a house: the verdict on one shuffle and on
// a whole ledger, and how evidence is shown to people.
package audit

// AuditCmd is for auditors: whole ledgers, not single shuffles.
type AuditCmd struct {
	Export auditExportCmd `cmd:"" help:"Write a ledger to a directory that proves it on its own, and mirrors the log."`
	Verify auditVerifyCmd `cmd:"" help:"Check such a directory, offline: every entry, every rule, every disclosed shuffle."`
	Fsck   auditFsckCmd   `cmd:"" help:"Check the rows of a database, beside a running daemon: every column of every table of evidence."`
}
