package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"filippo.io/torchwood"
	"github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"
	"github.com/transparency-dev/tessera/api"
	"github.com/transparency-dev/tessera/client"
	"github.com/transparency-dev/tessera/fsck"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/testdb"
)

// foreignCommits fills a full tile and more.
const foreignCommits = 300

// TestForeignReaders reads a live log with software that is not ours: Tessera's client and fsck, torchwood's client,
// transparency-dev/merkle, and x/mod's note and tlog.
func TestForeignReaders(t *testing.T) {
	t.Parallel()
	for store, database := range map[string]func() string{
		"sqlite":   func() string { return "" },
		"postgres": func() string { return testdb.DSN(t) },
	} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			d := newDaemon(t, database())
			d.start()
			receipts := fill(t, d)
			log := readLog(t, d)
			t.Run("tessera", log.tessera)
			t.Run("torchwood", log.torchwood)
			t.Run("merkle", func(t *testing.T) { log.merkle(t, receipts) })
			d.stop()
		})
	}
}

// fill commits until the log is foreignCommits long and returns the receipts.
func fill(t *testing.T, d *daemon) []string {
	receipts := make([]string, foreignCommits)
	var wg sync.WaitGroup
	for client := range 4 {
		wg.Go(func() {
			for i := client; i < foreignCommits; i += 4 {
				var answer struct{ Receipt string }
				status, b, err := d.post("/v1/main/shuffles", d.token("dealer.token"), fmt.Sprint("key-", i),
					map[string]any{"table": fmt.Sprint("t", client), "deck": "short-36"})
				if err == nil {
					err = json.Unmarshal(b, &answer)
				}
				if err != nil || status/100 != 2 {
					t.Errorf("commit %d: %d, %v: %s", i, status, err, b)
				}
				receipts[i] = answer.Receipt
			}
		})
	}
	wg.Wait()
	return receipts
}

// foreignLog is a log as a stranger has it: an address and a key.
type foreignLog struct {
	root     *url.URL
	verifier note.Verifier
	origin   string
	size     int64
	hash     tlog.Hash
}

func readLog(t *testing.T, d *daemon) foreignLog {
	t.Helper()
	vkey := contents(t, filepath.Join(d.data, "main.vkey"))
	verifier, err := note.NewVerifier(strings.TrimSpace(string(vkey)))
	if err != nil {
		t.Fatal(err)
	}
	root, err := url.Parse(d.url + "/log/main/")
	if err != nil {
		t.Fatal(err)
	}
	_, signed, err := d.get("/log/main/checkpoint", "")
	if err != nil {
		t.Fatal(err)
	}
	n, err := note.Open(signed, note.VerifierList(verifier))
	if err != nil {
		t.Fatalf("x/mod's note refuses the checkpoint: %v\n%s", err, signed)
	}
	tree, err := torchwood.ParseCheckpoint(n.Text)
	if err != nil {
		t.Fatal(err)
	}
	if tree.N < foreignCommits {
		t.Fatalf("the log has %d entries", tree.N)
	}
	return foreignLog{root: root, verifier: verifier, origin: verifier.Name(), size: tree.N, hash: tree.Hash}
}

func (l foreignLog) tessera(t *testing.T) {
	fetcher, err := client.NewHTTPFetcher(l.root, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	// Many workers: with few of them a fault makes fsck of this version hang.
	if err := fsck.New(l.origin, l.verifier, fetcher, bundleHashes, fsck.Opts{N: 32}).Check(ctx); err != nil {
		t.Errorf("fsck: %v", err)
	}
	prover, err := client.NewProofBuilder(ctx, uint64(l.size), fetcher.ReadTile)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []uint64{0, 1, 255, 256, uint64(l.size) - 1} {
		bundle, err := client.GetEntryBundle(ctx, fetcher.ReadEntryBundle, i/256, uint64(l.size))
		if err != nil {
			t.Fatal(err)
		}
		hashes, err := prover.InclusionProof(ctx, i)
		if err != nil {
			t.Fatal(err)
		}
		leaf := rfc6962.DefaultHasher.HashLeaf(bundle.Entries[i%256])
		if err := proof.VerifyInclusion(rfc6962.DefaultHasher, i, uint64(l.size), leaf, hashes, l.hash[:]); err != nil {
			t.Errorf("entry %d: %v", i, err)
		}
	}
}

func bundleHashes(raw []byte) (hashes [][]byte, err error) {
	var bundle api.EntryBundle
	if err := bundle.UnmarshalText(raw); err != nil {
		return nil, err
	}
	for _, e := range bundle.Entries {
		hashes = append(hashes, rfc6962.DefaultHasher.HashLeaf(e))
	}
	return hashes, nil
}

func (l foreignLog) torchwood(t *testing.T) {
	fetcher, err := torchwood.NewTileFetcher(strings.TrimSuffix(l.root.String(), "/"),
		torchwood.WithHTTPClient(http.DefaultClient))
	if err != nil {
		t.Fatal(err)
	}
	c, err := torchwood.NewClient(fetcher)
	if err != nil {
		t.Fatal(err)
	}
	n := int64(0)
	for i, entry := range c.AllEntries(t.Context(), tlog.Tree{N: l.size, Hash: l.hash}, 0) {
		if _, err := audit.ParseEntry(entry); err != nil || i != n {
			t.Fatalf("entry %d of torchwood's walk: %v", i, err)
		}
		n++
	}
	if err := c.Err(); err != nil || n != l.size {
		t.Errorf("torchwood walked %d of %d entries: %v", n, l.size, err)
	}
}

// merkle: transparency-dev/merkle and torchwood accept our receipts.
func (l foreignLog) merkle(t *testing.T, receipts []string) {
	policy := torchwood.ThresholdPolicy(2, torchwood.OriginPolicy(l.origin), torchwood.SingleVerifierPolicy(l.verifier))
	for i, text := range receipts {
		r, err := audit.ParseReceipt(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := torchwood.VerifyProof(policy, tlog.RecordHash(r.Entry), []byte(text)); err != nil {
			t.Fatalf("torchwood refuses receipt %d: %v", i, err)
		}
		c, err := audit.CheckpointText(r.Checkpoint)
		if err != nil {
			t.Fatal(err)
		}
		hashes := make([][]byte, len(r.Proof))
		for j := range r.Proof {
			hashes[j] = bytes.Clone(r.Proof[j][:])
		}
		leaf := rfc6962.DefaultHasher.HashLeaf(r.Entry)
		if err := proof.VerifyInclusion(rfc6962.DefaultHasher, r.Index, c.Size, leaf, hashes, c.Root[:]); err != nil {
			t.Fatalf("merkle refuses receipt %d: %v", i, err)
		}
	}
}
