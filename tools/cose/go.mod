module shuffled/tools/cose

go 1.26.0

require (
	github.com/fxamacker/cbor/v2 v2.10.0
	github.com/transparency-dev/merkle v0.0.2
	github.com/veraison/go-cose v1.3.0
	golang.org/x/mod v0.42.0
	shuffled v0.0.0
)

require (
	filippo.io/edwards25519 v1.2.0 // indirect
	filippo.io/mldsa v1.0.0 // indirect
	github.com/transparency-dev/formats v0.1.1 // indirect
	github.com/x448/float16 v0.8.4 // indirect
	golang.org/x/crypto v0.58.0 // indirect
)

replace shuffled => ../../
