// Command shuffled-cose turns the receipt of a ledger into a COSE receipt of inclusion (RFC
// 9942, RFC9162_SHA256), for systems that cannot read a C2SP tlog-proof, such as those of SCITT.
//
// A ledger signs checkpoints, but the signature of a COSE receipt is over the root only. So a new signature is needed:
// this program checks the receipt under a policy, and then signs the root with a key of its own. A reader of the COSE
// receipt must trust the holder of that key to have checked the signatures of the ledger and the witnesses. A reader of
// the ledger's own receipt checks these signatures without a third party.
package main

import (
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/fxamacker/cbor/v2"
	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
)

// Labels and values of COSE (RFC 9052, RFC 9597) and of COSE receipts (RFC 9942).
const (
	labelAlg    = 1
	labelKeyID  = 4
	labelClaims = 15
	labelTree   = 395 // vds
	labelProofs = 396 // vdp

	algEdDSA       = -8
	claimIssuer    = 1
	claimSubject   = 2
	treeRFC9162    = 1 // RFC9162_SHA256, which is also the tree of C2SP logs
	proofInclusion = -1
	tagSign1       = 18
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "shuffled-cose:", err)
		os.Exit(1)
	}
}

func run(args []string, in io.Reader, out io.Writer) error {
	flags := flag.NewFlagSet("shuffled-cose", flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprintln(flags.Output(), "shuffled-cose -policy FILE -key FILE -issuer URL [-entry FILE] < receipt > receipt.cose")
		flags.PrintDefaults()
	}
	policyFile := flags.String("policy", "", "C2SP tlog-policy: the ledger's keys, and the quorum that must have cosigned")
	keyFile := flags.String("key", "", "the issuer's private key, Ed25519 in PEM (PKCS #8), mode 0600; no key of a ledger")
	issuer := flags.String("issuer", "", "who signs, as a URL: the issuer among the claims")
	entryFile := flags.String("entry", "", "file for the entry, whose hash is the leaf")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *policyFile == "" || *keyFile == "" || *issuer == "" || flags.NArg() > 0 {
		return errors.New("-policy, -key and -issuer must be given, and no other argument")
	}
	text, err := os.ReadFile(*policyFile)
	if err != nil {
		return err
	}
	policy, err := trust.ParsePolicy(text)
	if err != nil {
		return err
	}
	key, err := readKey(*keyFile)
	if err != nil {
		return err
	}
	receipt, err := io.ReadAll(io.LimitReader(in, 1<<20))
	if err != nil {
		return fmt.Errorf("reading the receipt: %w", err)
	}
	signed, entry, err := convert(string(receipt), policy, key, *issuer)
	if err != nil {
		return err
	}
	if *entryFile != "" {
		if err := os.WriteFile(*entryFile, entry, 0o644); err != nil {
			return err
		}
	}
	_, err = out.Write(signed)
	return err
}

// convert checks a receipt under the policy, and returns the COSE receipt and the entry.
func convert(text string, p *trust.Policy, key ed25519.PrivateKey, issuer string) (signed, entry []byte, err error) {
	public := key.Public().(ed25519.PublicKey)
	isPublic := func(k []byte) bool { return slices.Equal(k[1:], public) }
	if slices.ContainsFunc(p.LogKeys, isPublic) {
		return nil, nil, errors.New("-key must not be the key of a ledger: the issuer has a key of its own")
	}
	r, err := audit.ParseReceipt(text)
	if err != nil {
		return nil, nil, err
	}
	c, err := audit.CheckpointText(r.Checkpoint)
	if err != nil {
		return nil, nil, err
	}
	// The policy may name several ledgers; only the keys of this one count.
	keys := slices.DeleteFunc(slices.Clone(p.Logs), func(v note.Verifier) bool { return v.Name() != c.Origin })
	if len(keys) == 0 {
		return nil, nil, fmt.Errorf("the policy has no log line of %s", c.Origin)
	}
	if _, err := audit.OpenCheckpoint(r.Checkpoint, keys...); err != nil {
		return nil, nil, fmt.Errorf("no log line of the policy verifies the checkpoint of %s: %w", c.Origin, err)
	}
	if !p.Satisfied(r.Checkpoint) {
		return nil, nil, errors.New("the quorum of the policy did not cosign the checkpoint")
	}
	if err := r.CheckInclusion(c); err != nil {
		return nil, nil, err
	}
	if len(r.Proof) == 0 {
		return nil, nil, errors.New("a ledger of one entry has no path, and a COSE receipt has one of one hash at least")
	}
	signed, err = sign(r, c, key, issuer)
	return signed, r.Entry, err
}

// inclusionProof is the inclusion proof of RFC 9942 section 5.2.
type inclusionProof struct {
	_     struct{} `cbor:",toarray"`
	Size  uint64
	Index uint64
	Path  [][]byte
}

// sign1 is a COSE_Sign1 with a detached payload: the root, which the reader computes.
type sign1 struct {
	_           struct{} `cbor:",toarray"`
	Protected   []byte
	Unprotected map[int]any
	Payload     []byte
	Signature   []byte
}

// toSign is the Sig_structure of RFC 9052 section 4.4.
type toSign struct {
	_         struct{} `cbor:",toarray"`
	Context   string
	Protected []byte
	External  []byte
	Payload   []byte
}

func sign(r audit.Receipt, c audit.Checkpoint, key ed25519.PrivateKey, issuer string) ([]byte, error) {
	mode, err := cbor.CoreDetEncOptions().EncMode()
	if err != nil {
		return nil, err
	}
	id := sha256.Sum256(key.Public().(ed25519.PublicKey))
	protected, err := mode.Marshal(map[int]any{
		labelAlg:    algEdDSA,
		labelKeyID:  id[:],
		labelClaims: map[int]string{claimIssuer: issuer, claimSubject: c.Origin},
		labelTree:   treeRFC9162,
	})
	if err != nil {
		return nil, err
	}
	path := make([][]byte, len(r.Proof))
	for i := range r.Proof {
		path[i] = r.Proof[i][:]
	}
	inclusion, err := mode.Marshal(inclusionProof{Size: c.Size, Index: r.Index, Path: path})
	if err != nil {
		return nil, err
	}
	message, err := mode.Marshal(toSign{Context: "Signature1", Protected: protected, External: []byte{},
		Payload: c.Root[:]})
	if err != nil {
		return nil, err
	}
	return mode.Marshal(cbor.Tag{Number: tagSign1, Content: sign1{
		Protected:   protected,
		Unprotected: map[int]any{labelProofs: map[int]any{proofInclusion: [][]byte{inclusion}}},
		Signature:   ed25519.Sign(key, message),
	}})
}

// readKey reads the issuer's key. It refuses a file that others than its owner have any right to.
func readKey(path string) (ed25519.PrivateKey, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s has mode %s, so others can use the key in it: make it 0600", path, info.Mode())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if block, rest := pem.Decode(text); block != nil && len(rest) == 0 {
		if key, err := x509.ParsePKCS8PrivateKey(block.Bytes); err == nil {
			if key, ok := key.(ed25519.PrivateKey); ok {
				return key, nil
			}
		}
	}
	return nil, fmt.Errorf("%s holds no key of Ed25519: openssl genpkey -algorithm ed25519 makes one", path)
}
