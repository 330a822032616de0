// Package ha breaks a real cluster under a real load: three nodes of Patroni with
// PostgreSQL, three members of etcd, HAProxy and PgBouncer, all from the distribution's
// packages, and two daemons on one ledger, one of them behind the pooler. Afterwards every
// acknowledged request is sent again to both daemons, and must have the same answer. It has
// no code but tests.
//
// Every process is this test's own, on loopback, on free ports. A node is reached through
// relays, so that it can be cut off from all others. Without -drills only the first drill
// runs:
//
//	go test -C test -count=1 -v -timeout 60m ./ha -drills 'leader_killed|switchover' -rounds 3
//	go test -C test -count=1 -v -timeout 60m ./ha -drills . -rounds 10 -from 4
//
// SHUFFLED_REQUIRE_HA=1 fails where it would be skipped; scripts/ha.sh finds or installs what
// it needs.
package ha
