package client

import (
	"testing"

	"shuffled/internal/audit"
)

// TestHostileBatch has commits with true signatures that are no batch.
func TestHostileBatch(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	commit := func(i int, serial, previous uint64) *audit.Commit {
		c, _, _ := h.commit()
		c.KeyTag, c.Serial, c.Previous = audit.KeyTagOf(h.signer.Name(), hostileIdentity, "t", "k", i), serial, previous
		return c
	}
	tagged := func(c *audit.Commit, tag [32]byte) *audit.Commit { c.KeyTag = tag; return c }
	event := &audit.Event{Kind: audit.EventTableOpen, Name: "u"}
	prove := func(bodies []audit.Body, ids ...uint64) error {
		receipts := h.receipts(bodies...)
		batch := new(ShuffleBatch)
		for _, id := range ids {
			c := bodies[id].(*audit.Commit)
			batch.Shuffles = append(batch.Shuffles,
				Shuffle{Time: timestamp(h.at), ID: id, Table: "t", Serial: c.Serial, Commitment: c.Commitment,
					DeckRoot: Hash(c.DeckRoot), CloseBy: timestamp(c.CloseBy), Receipt: receipts[id]})
		}
		count := 3
		req := ShuffleRequest{Table: "t", Cards: []string{"a", "b", "c"}, Count: &count}
		_, err := h.client().proveBatch(t.Context(), "k", &req, batch, asked{}, nil)
		return err
	}
	one, two, three := commit(0, 1, 0), commit(1, 2, 1), commit(2, 3, 2)
	expect(t, "an honest batch", prove([]audit.Body{event, one, two, three}, 1, 2, 3), false)
	expect(t, "an entry between two", prove([]audit.Body{event, one, commit(1, 2, 1), event, commit(2, 3, 2)}, 1, 2, 4),
		true)
	expect(t, "a serial left out", prove([]audit.Body{event, one, commit(1, 3, 1), commit(2, 4, 2)}, 1, 2, 3), true)
	expect(t, "another one before", prove([]audit.Body{event, event, one, commit(1, 2, 1), commit(2, 3, 3)}, 2, 3, 4),
		true)
	expect(t, "the first's tag twice", prove([]audit.Body{event, one, tagged(commit(1, 2, 1), one.KeyTag), three}, 1, 2,
		3), true)
	expect(t, "tags in another order", prove([]audit.Body{event, one, tagged(commit(1, 2, 1), three.KeyTag),
		tagged(commit(2, 3, 2), two.KeyTag)}, 1, 2, 3), true)
	expect(t, "one of another key", prove([]audit.Body{event, one, two,
		tagged(commit(2, 3, 2), audit.KeyTagOf(h.signer.Name(), hostileIdentity, "t", "j", 2))}, 1, 2, 3), true)
	expect(t, "the same one twice", prove([]audit.Body{event, one, two, three}, 1, 2, 2), true)
	expect(t, "one less", prove([]audit.Body{event, one, two, three}, 1, 2), true)
}
