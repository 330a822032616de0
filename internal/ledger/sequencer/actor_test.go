package ledger_test

import "shuffled/internal/audit"

// as is the actor of a test: a service with one credential of the same name.
func as(name string) audit.Actor { return audit.Actor{Identity: name, Credential: name} }
