// Package ha breaks a real cluster under a real load: three nodes of Patroni with PostgreSQL, three members of etcd,
// HAProxy and PgBouncer, all from the distribution's packages, and two daemons on one ledger, one of them behind
// PgBouncer. Afterwards every acknowledged request is sent again to both daemons, and must get the same answer. The
// package contains only tests.
//
// The test starts every process itself, on free ports of the loopback address. A node is reached through relays, so
// that the test can cut it off from the others. Without -drills only the first drill runs:
//
//	go test -C test -count=1 -v -timeout 60m ./ha -drills 'leader_killed|switchover' -rounds 3
//	go test -C test -count=1 -v -timeout 60m ./ha -drills . -rounds 10 -from 4
//
// If a program is missing, the test is skipped; with SHUFFLED_REQUIRE_HA=1 it fails.
// scripts/ha.sh finds or installs the programs.
package ha
