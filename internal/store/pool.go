package store

import "time"

// Pool is how the connections to the database of one kind are used.
type Pool struct {
	Name  string // appends, reads or public
	Limit int    // connections that it may have
	Used  int    // that are at work
	Open  int
	Waits uint64        // how often somebody waited for one
	Wait  time.Duration // for how long, all together
}

// Standbys is what the server says of its synchronous replication.
type Standbys struct {
	Wanted bool // it has names of synchronous standbys
	Known  bool // the role may count them (deploy/roles.sql)
	Synced int  // that are connected as sync or quorum
}
