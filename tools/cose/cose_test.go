package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"
	"github.com/veraison/go-cose"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
)

const (
	origin = "cards.example.com/main"
	issuer = "https://receipts.example.com"
)

// ledger is a small ledger, whose entries are arbitrary bytes.
type ledger struct {
	signer note.Signer
	vkey   string
	hashes []tlog.Hash
}

func newLedger(t *testing.T) *ledger {
	t.Helper()
	skey, vkey, err := note.GenerateKey(nil, origin)
	must(t, err)
	signer, err := note.NewSigner(skey)
	must(t, err)
	return &ledger{signer: signer, vkey: vkey}
}

func entryAt(i int64) []byte { return fmt.Appendf(nil, "entry %d", i) }

func (l *ledger) ReadHashes(indexes []int64) (list []tlog.Hash, err error) {
	for _, i := range indexes {
		list = append(list, l.hashes[i])
	}
	return list, nil
}

// receipt returns the receipt of entry i in a ledger of n entries.
func (l *ledger) receipt(t *testing.T, i, n int64) string {
	t.Helper()
	for l.hashes = nil; tlog.StoredHashCount(n) > int64(len(l.hashes)); {
		next := int64(0)
		for tlog.StoredHashCount(next+1) <= int64(len(l.hashes)) {
			next++
		}
		more, err := tlog.StoredHashes(next, entryAt(next), l)
		must(t, err)
		l.hashes = append(l.hashes, more...)
	}
	root, err := tlog.TreeHash(n, l)
	must(t, err)
	path, err := tlog.ProveRecord(n, i, l)
	must(t, err)
	text := audit.Checkpoint{Origin: origin, Size: uint64(n), Root: root}.Text()
	signed, err := note.Sign(&note.Note{Text: text}, l.signer)
	must(t, err)
	return audit.Receipt{Index: uint64(i), Entry: entryAt(i), Proof: path, Checkpoint: signed}.Text()
}

func (l *ledger) policy(t *testing.T, more string) *trust.Policy {
	t.Helper()
	p, err := trust.ParsePolicy([]byte("log " + l.vkey + "\n" + more + "\n"))
	must(t, err)
	return p
}

// verify checks a COSE receipt with libraries that are not ours: transparency-dev/merkle computes
// the root from the entry and the path, and veraison/go-cose checks the signature over the root.
func verify(signed, entry []byte, public ed25519.PublicKey) error {
	var m cose.Sign1Message
	if err := m.UnmarshalCBOR(signed); err != nil {
		return err
	}
	var proofs struct {
		Inclusion [][]byte `cbor:"-1,keyasint"`
	}
	raw, err := cbor.Marshal(m.Headers.Unprotected[int64(396)])
	if err != nil {
		return err
	}
	if err := cbor.Unmarshal(raw, &proofs); err != nil {
		return err
	}
	if m.Payload != nil || m.Headers.Protected[int64(395)] != int64(1) || len(proofs.Inclusion) != 1 {
		return fmt.Errorf("payload %x, headers %v, proofs %v", m.Payload, m.Headers.Protected, proofs)
	}
	var p struct {
		_           struct{} `cbor:",toarray"`
		Size, Index uint64
		Path        [][]byte
	}
	if err := cbor.Unmarshal(proofs.Inclusion[0], &p); err != nil {
		return err
	}
	h := rfc6962.DefaultHasher
	root, err := proof.RootFromInclusionProof(h, p.Index, p.Size, h.HashLeaf(entry), p.Path)
	if err != nil {
		return err
	}
	v, err := cose.NewVerifier(cose.AlgorithmEdDSA, public)
	if err != nil {
		return err
	}
	m.Payload = root
	return m.Verify(nil, v)
}

// TestConvert: the libraries of others accept the COSE receipt of every entry with its claims, and
// refuse every changed one.
func TestConvert(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	p := l.policy(t, "quorum none")
	public, key, err := ed25519.GenerateKey(nil)
	must(t, err)
	for n := int64(2); n <= 9; n++ {
		for i := range n {
			signed, entry, err := convert(l.receipt(t, i, n), p, key, issuer)
			must(t, err)
			if err := verify(signed, entry, public); err != nil || !bytes.Equal(entry, entryAt(i)) {
				t.Fatalf("entry %d of %d: %v", i, n, err)
			}
			if verify(signed, entryAt(i+1), public) == nil {
				t.Errorf("entry %d of %d is proved by another's receipt", i+1, n)
			}
		}
	}
	signed, entry, err := convert(l.receipt(t, 2, 5), p, key, issuer)
	must(t, err)
	for i := range signed {
		changed := bytes.Clone(signed)
		changed[i] ^= 1
		if verify(changed, entry, public) == nil {
			t.Errorf("byte %d is free", i)
		}
	}
	var m cose.Sign1Message
	must(t, m.UnmarshalCBOR(signed))
	id := sha256.Sum256(public)
	want := map[any]any{int64(1): issuer, int64(2): origin}
	if kid, _ := m.Headers.Protected[int64(4)].([]byte); !bytes.Equal(kid, id[:]) ||
		fmt.Sprint(m.Headers.Protected[int64(15)]) != fmt.Sprint(want) {
		t.Errorf("headers %v", m.Headers.Protected)
	}
}

// TestRefused: convert signs nothing for a receipt that the policy does not accept.
func TestRefused(t *testing.T) {
	t.Parallel()
	l, other := newLedger(t), newLedger(t)
	_, key, err := ed25519.GenerateKey(nil)
	must(t, err)
	good := l.receipt(t, 2, 5)
	_, vkey, err := note.GenerateKey(nil, "other.example.com/main")
	must(t, err)
	elsewhere, err := trust.ParsePolicy([]byte("log " + vkey + "\nquorum none\n"))
	must(t, err)
	nobody, err := trust.ParsePolicy([]byte("quorum none\n"))
	must(t, err)
	own, err := note.NewEd25519VerifierKey(origin, key.Public().(ed25519.PublicKey))
	must(t, err)
	public, _, err := ed25519.GenerateKey(nil)
	must(t, err)
	const name = "witness.example.org/w"
	cosigner := append([]byte{4}, public...)
	id := sha256.Sum256(append([]byte(name+"\n"), cosigner...))
	witness := fmt.Sprintf("%s+%x+%s", name, id[:4], base64.StdEncoding.EncodeToString(cosigner))
	for name, of := range map[string]struct {
		receipt string
		policy  *trust.Policy
		want    string
	}{
		"another ledger's key": {good, other.policy(t, "quorum none"), "no log line"},
		"another origin":       {good, elsewhere, "no log line"},
		"no log":               {good, nobody, "no log line"},
		"one entry alone":      {l.receipt(t, 0, 1), l.policy(t, "quorum none"), "one hash at least"},
		"another entry": {strings.Replace(good, "index 2\n", "index 3\n", 1), l.policy(t, "quorum none"),
			audit.ErrInclusion.Error()},
		"not a receipt":         {"x", l.policy(t, "quorum none"), audit.ErrMalformed.Error()},
		"signed by nobody else": {good, l.policy(t, "witness w "+witness+"\nquorum w"), "did not cosign"},
		"the ledger's own key":  {good, l.policy(t, "log "+own+"\nquorum none"), "a key of its own"},
	} {
		signed, _, err := convert(of.receipt, of.policy, key, issuer)
		if signed != nil || err == nil || !strings.Contains(err.Error(), of.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCommand: the command writes the receipt and the entry, and refuses a key that others can read.
func TestCommand(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	public, key, err := ed25519.GenerateKey(nil)
	must(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	must(t, err)
	dir := t.TempDir()
	put := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		must(t, os.WriteFile(path, []byte(text), mode))
		must(t, os.Chmod(path, mode))
		return path
	}
	text := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	args := func(key string) []string {
		return []string{"-policy", put("policy", "log "+l.vkey+"\nquorum none\n", 0o644), "-key", key,
			"-issuer", issuer, "-entry", filepath.Join(dir, "entry")}
	}
	var out bytes.Buffer
	must(t, run(args(put("key.pem", text, 0o600)), strings.NewReader(l.receipt(t, 1, 3)), &out))
	entry, err := os.ReadFile(filepath.Join(dir, "entry"))
	must(t, err)
	must(t, verify(out.Bytes(), entry, public))
	for name, bad := range map[string][]string{"open to all": args(put("open.pem", text, 0o644)),
		"no key": args(put("none.pem", "x", 0o600)), "a word": append(args(put("k", text, 0o600)), "x"),
		"nothing": nil} {
		if err := run(bad, strings.NewReader(l.receipt(t, 1, 3)), &out); err == nil {
			t.Errorf("%s: it signs", name)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
