package store

import "time"

// Pool is how the connections of one pool to the database are used.
type Pool struct {
	Name  string // appends, reads or public
	Limit int    // connections that it may have
	Used  int    // connections that are at work
	Open  int
	Waits uint64        // how often a call waited for one
	Wait  time.Duration // for how long all of these calls together
}

// Standbys is what the server says of its synchronous replication.
type Standbys struct {
	Wanted bool // the server's settings name synchronous standbys
	Known  bool // the role may count them (deploy/roles.sql)
	Synced int  // how many are connected as sync or quorum
}
