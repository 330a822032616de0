package sequencer_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
	"shuffled/internal/keys"
	"shuffled/internal/ledger"
	"shuffled/internal/ledger/cosign"
	"shuffled/internal/ledger/sequencer"
	"shuffled/internal/witness/gateway"
	"shuffled/internal/witness/witnesstest"
)

// Tests here are of somebody who stole one key; what the thief of a sealing or
// disclosure key can do is in package dealer.

// TestThiefOfSigningKey: with a signing key that was replaced and retired, a thief who can also write the database and
// is heard by witnesses neither extends the ledger, nor makes a checkpoint that counts, nor stops the daemon.
func TestThiefOfSigningKey(t *testing.T) {
	onBothStores(t, func(t *testing.T, store ledger.Store) {
		w, next := rotatable(t, store, audit.DealsSigned, 0)
		thief := w.signer
		l := w.open(w.holding("mark", w.signer, next))
		genesis := l.KeyHistory().Records[0]
		w.must(l, propose(commit("t", 1)))
		w.rotate(l, next)
		if _, err := l.AddKey(t.Context(), as("tok_admin"),
			&audit.Key{Subject: audit.SubjectRetirement, Retired: audit.SubjectSigning, ID: genesis.ID, From: 1},
			nil); err != nil {
			t.Fatal(err)
		}
		w.everyWitness(l)

		// A witness that still takes the old key cosigns whatever extends what it saw, and shows that from then on.
		fork, proof := w.theft(thief)
		poisoned := w.witnesses[0]
		line, err := poisoned.Client().AddCheckpoint(t.Context(), fork.Size-1, proof, fork.Checkpoint)
		must(t, err)

		// In the table it stands for nothing.
		if err := store.PutCosigned(t.Context(), l.ID(),
			ledger.Head{Size: fork.Size, Root: fork.Root,
				Checkpoint: append(slices.Clone(fork.Checkpoint), line...)}); err != nil {
			t.Fatal(err)
		}
		index := w.must(l, propose(commits("u", 1, 3)...))[2].Index
		w.awaitCosigned(l, index)
		waitFor(t, func() bool {
			return slices.ContainsFunc(l.Witnesses(),
				func(s cosign.WitnessState) bool { return s.Name == poisoned.Name && s.Err != nil })
		})
		if err := l.Ready(); err != nil {
			t.Errorf("a thief of a retired key stops the ledger: %v", err)
		}
		if h, err := l.CosignedAtMost(t.Context(), fork.Size); err != nil || h.Root == fork.Root {
			t.Errorf("the thief's checkpoint of size %d counts (%v)", h.Size, err)
		}
		l.Close()

		// As the head it is not followed.
		size := w.size()
		now, err := store.Head(t.Context(), l.ID())
		must(t, err)
		e := audit.Entry{Time: 1 << 42, Actor: as("thief"), Body: commit("z", 1)}
		c := e.Body.(*audit.Commit)
		c.Serial, c.Instance, c.CloseBy = 1, 1, e.Time+1000
		encoded, err := e.Encode()
		must(t, err)
		row := ledger.Row{Index: size, Entry: encoded}
		row.Columns(e)
		stolen, err := ledger.SignHead(size+1, w.rootWith(encoded), thief)
		must(t, err)
		if err := store.Append(t.Context(), l.ID(), now,
			ledger.Batch{Rows: []ledger.Row{row}, Head: stolen}); err != nil {
			t.Fatal(err)
		}
		if l, err := sequencer.Open(t.Context(), w.holding("mark", next)); err == nil {
			l.Close()
			t.Error("a head under a key that is not in force is followed")
		}
	})
}

// TestThiefBeforeRetirement: as long as the old key is not retired, a checkpoint under it that the ledger does not
// extend is a second history for all that the daemon can know, and it stops.
func TestThiefBeforeRetirement(t *testing.T) {
	t.Parallel()
	w, next := rotatable(t, openSQLite(t), audit.DealsSigned, 0)
	thief := w.signer
	l := w.open(w.holding("mark", w.signer, next))
	w.rotate(l, next)
	w.everyWitness(l)
	fork, proof := w.theft(thief)
	if _, err := w.witnesses[0].Client().AddCheckpoint(t.Context(), fork.Size-1, proof, fork.Checkpoint); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool {
		on(l).Append(context.Background(), propose(commits("u", l.Head().Size, 2)...))
		return errors.Is(l.Ready(), ledger.ErrFrozen)
	})
	if err := l.Ready(); !strings.Contains(err.Error(), w.witnesses[0].Name) {
		t.Errorf("readiness does not name the witness: %v", err)
	}
}

// TestThiefOfWitnessKey: one stolen key of three makes no quorum, on whatever
// history. Once the policy has another witness in its place it is worth nothing.
func TestThiefOfWitnessKey(t *testing.T) {
	t.Parallel()
	w := newWitnessed(t, openSQLite(t), audit.DealsSigned)
	next := newQuorum(t, w.vkey)
	stolen := w.witnesses[0].Client() // it signs what it is shown, as its key would for the thief
	next.witnesses = append(slices.Clone(w.witnesses[1:]), next.witnesses[0])
	next.write(t)
	l := w.open(w.config("mark"))
	w.everyWitness(l)
	before := l.Head()
	w.awaitCosigned(l, w.addPolicy(l, next))
	w.asked(l, next)
	cosign := func(h ledger.Head) []byte {
		t.Helper()
		proof, err := tlog.ProveTree(int64(h.Size), int64(w.sizeAt(w.witnesses[0].Name, stolen)), tree(w.leaves()))
		must(t, err)
		lines, err := stolen.AddCheckpoint(t.Context(), w.sizeAt(w.witnesses[0].Name, stolen), proof, h.Checkpoint)
		must(t, err)
		return append(slices.Clone(h.Checkpoint), lines...)
	}
	old, err := trust.ParsePolicy(w.genesis.Policy)
	must(t, err)
	w.must(l, propose(commits("t", 1, 2)...))
	one := cosign(l.Head())
	if old.Satisfied(one) || next.policy.Satisfied(one) || len(next.policy.Cosignatures(one)) != 0 {
		t.Error("one stolen key is a quorum, or counts after it was replaced")
	}
	if before.Size >= l.Head().Size {
		t.Error("the test is about nothing")
	}
}

// sizeAt is the size that a witness is at.
func (w *witnessed) sizeAt(name string, asked interface {
	Latest(context.Context, string) ([]byte, error)
}) uint64 {
	w.t.Helper()
	signed, err := asked.Latest(w.t.Context(), origin)
	if err != nil {
		w.t.Fatalf("%s: %v", name, err)
	}
	c, err := audit.CheckpointText(signed)
	if err != nil {
		w.t.Fatal(err)
	}
	return c.Size
}

// leaves are the leaf hashes of the stored entries.
func (w *witnessed) leaves() (leaves []tlog.Hash) {
	w.t.Helper()
	for row, err := range w.store.Rows(w.t.Context(), ledger.IDOf(origin), 0, w.size()) {
		if err != nil {
			w.t.Fatal(err)
		}
		leaves = append(leaves, tlog.RecordHash(row.Entry))
	}
	return leaves
}

// tree is the stored hashes over leaves.
func tree(leaves []tlog.Hash) (hashes hashList) {
	for i, leaf := range leaves {
		more, err := tlog.StoredHashesForRecordHash(int64(i), leaf, hashes)
		if err != nil {
			panic(fmt.Sprint(err))
		}
		hashes = append(hashes, more...)
	}
	return hashes
}

// ofBoth is a ledger with its next signing key and one of ML-DSA-44. Two witnesses know all
// of its keys, the third one those of Ed25519 alone.
func ofBoth(t *testing.T) (w *witnessed, next signingKey, long *keys.MLDSAKey, enter *audit.Key) {
	t.Helper()
	h, vkey := newKeys(t, openSQLite(t))
	w, next = &witnessed{house: h, vkey: vkey}, newSigningKey(t)
	long, enter = newLongKey(t)
	policy := ""
	for i := range 3 {
		logs := []string{vkey, next.vkey, long.VKey()}
		if i == 2 {
			logs = logs[:2]
		}
		one := witnesstest.Start(t, logs...)
		w.witnesses = append(w.witnesses, one)
		policy += one.PolicyLine + "\n"
	}
	w.genesis = genesis(t, vkey)
	w.genesis.Deals = audit.DealsSigned
	w.genesis.Policy = fmt.Appendf(nil, "%sgroup three 2 %s %s %s\nquorum three\n", policy, w.witnesses[0].Name,
		w.witnesses[1].Name, w.witnesses[2].Name)
	w.create(w.genesis)
	return w, next, long, enter
}

// theft returns the head of an entry more than the ledger has, which the thief of a key
// signed, and the proof that it extends the ledger.
func (w *witnessed) theft(thief note.Signer) (ledger.Head, []tlog.Hash) {
	w.t.Helper()
	leaves := w.leaves()
	size := int64(len(leaves))
	forged := tree(append(leaves, tlog.RecordHash([]byte("the thief's entry"))))
	proof, err := tlog.ProveTree(size+1, size, forged)
	if err != nil {
		w.t.Fatal(err)
	}
	root, err := tlog.TreeHash(size+1, forged)
	if err != nil {
		w.t.Fatal(err)
	}
	head, err := ledger.SignHead(uint64(size)+1, root, thief)
	if err != nil {
		w.t.Fatal(err)
	}
	return head, proof
}

// TestThiefOfOneAlgorithm: the thief of the Ed25519 key of a ledger that signs with ML-DSA-44 as well moves no witness
// that knows both keys. Rotations go on with witnesses of both kinds. One that knows the one key alone is moved, and
// that stops the daemon: the head may as well be of the ledger before it was set back.
func TestThiefOfOneAlgorithm(t *testing.T) {
	t.Parallel()
	w, next, long, enter := ofBoth(t)
	other, replace := newLongKey(t)
	l := w.open(w.holding("mark", w.signer, next, long.At(0), other.At(0)))
	if _, err := l.AddKey(t.Context(), as("tok_admin"), enter, nil); err != nil {
		t.Fatal(err)
	}
	w.everyWitness(l)
	fork, proof := w.theft(w.signer)
	for i, one := range w.witnesses[:2] {
		_, err := one.Client().AddCheckpoint(t.Context(), fork.Size-1, proof, fork.Checkpoint)
		if !errors.Is(err, gateway.ErrRefused) || errors.Is(err, gateway.ErrContradicts) {
			t.Errorf("witness %d: %v", i, err)
		}
	}
	if _, err := l.AddKey(t.Context(), as("tok_admin"), next.rotation(), nil); err != nil {
		t.Fatal(err)
	}
	w.key = next.key
	w.awaitCosigned(l, w.must(l, propose(commit("v", 1)))[0].Index)
	_, err := l.AddKey(t.Context(), as("tok_admin"), replace, nil)
	unaware := fmt.Sprintf(": %s, %s", w.witnesses[0].Name, w.witnesses[1].Name)
	if !strings.HasSuffix(fmt.Sprint(err), unaware) {
		t.Errorf("a key of ML-DSA-44 that two witnesses do not know: %v", err)
	}
	w.everyWitness(l)
	fork, proof = w.theft(next)
	if _, err := w.witnesses[2].Client().AddCheckpoint(t.Context(), fork.Size-1, proof, fork.Checkpoint); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool {
		on(l).Append(context.Background(), propose(commits("u", l.Head().Size, 2)...))
		return errors.Is(l.Ready(), ledger.ErrFrozen)
	})
}
