// Package httpapi is the daemon's HTTP API: routes, strict input, limits,
// identity, problem documents, metrics, and the contract they all obey.
//
// openapi.yaml comes first. Types, parameters and routes, with the role that
// each route asks for, are generated from it into server.gen.go, and the tests
// hold every answer against it. What is decided about shuffles is decided in
// packages dealer and ledger; here requests become their types, and their
// answers and errors become bytes.
//
// A request passes, in this order: the route, the size of the body, the ledger,
// the rate of anonymous reads, the fair queue of ledgers, the token or certificate, the
// record of a regulator's access, the role, the token's rate, its tables, the
// parameters, the body. What fails is answered with a problem document (RFC
// 9457) and has changed nothing.
package httpapi

//go:generate go tool oapi-codegen -config oapi-codegen.yaml openapi.yaml
//go:generate env UPDATE_GOLDEN=1 go test -count=1 -run ^TestErrorsPage$ .
