module shuffled/tools/agent

go 1.26.0

require (
	github.com/miekg/pkcs11 v1.1.2
	golang.org/x/crypto v0.58.0
)

require golang.org/x/sys v0.49.0 // indirect
