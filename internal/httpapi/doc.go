// Package httpapi is the daemon's HTTP API: routes, strict input, limits,
// identity, problem documents, metrics, and the contract that they all keep.
//
// The contract, openapi.yaml, is the source. Types, parameters and routes, with the roles that each route asks for, are
// generated from it into server.gen.go, and tests compare every answer with it. Requests about shuffles, and their
// answers, are types of package dealer, which decides with package ledger; this package reads and writes their bytes.
//
// A request passes these steps, in this order: the route, the size of the body, the ledger, the rate of anonymous
// reads, the fair queue of ledgers, the token or certificate, the record of a regulator's or an administrator's access,
// the role, the token's rate, its tables, for a reader the fair queue of readers, the parameters, the body. A request
// that fails at a step is answered with a problem document (RFC 9457) and changes nothing, except that a recorded
// access stays recorded.
package httpapi

//go:generate go tool oapi-codegen -config oapi-codegen.yaml openapi.yaml
//go:generate env UPDATE_GOLDEN=1 go test -count=1 -run ^TestErrorsPage$ .
