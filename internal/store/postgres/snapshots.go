package postgres

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"shuffled/internal/ledger"
)

const (
	// sqlDropSnapshots drops what is older than the $3 newest before $2.
	sqlDropSnapshots = `
DELETE FROM snapshots WHERE ledger = $1 AND idx <= (
    SELECT s.idx FROM snapshots s WHERE s.ledger = $1 AND s.idx < $2 ORDER BY s.idx DESC OFFSET $3 LIMIT 1)`

	sqlCopySnapshot = `COPY snapshots (ledger, idx, state) FROM STDIN (FORMAT binary)`

	sqlSnapshotBelow = `SELECT idx, state FROM snapshots WHERE ledger = $1 AND idx < $2 ORDER BY idx DESC LIMIT 1`
)

// PutSnapshot implements [ledger.Snapshots]. A state may have hundreds of megabytes:
// as a parameter it would be copied twice, and the connection would hold it until
// its next statement of as many parameters.
func (s *Store) PutSnapshot(ctx context.Context, id ledger.ID, snapshot ledger.Snapshot) error {
	err := s.copySnapshot(ctx, id, snapshot)
	switch {
	case isCode(err, codeForeignKey):
		return ledger.ErrNotFound
	case err != nil && !isCode(err, codeUnique):
		return fmt.Errorf("keeping a snapshot: %w", err)
	}
	if _, err := s.exec(ctx, sqlDropSnapshots, int64(id), int64(snapshot.Index), ledger.KeptSnapshots-1); err != nil {
		return fmt.Errorf("dropping old snapshots: %w", err)
	}
	return nil
}

// copySnapshot sends a snapshot in pieces, for as long as ctx lets it.
func (s *Store) copySnapshot(ctx context.Context, id ledger.ID, snapshot ledger.Snapshot) error {
	conn, _, release, err := s.reader(ctx)
	if err != nil {
		return err
	}
	defer release()
	// The format is that of COPY in the PostgreSQL documentation: signature, flags,
	// length of an extension; a tuple of three fields; the end.
	head := append([]byte("PGCOPY\n\xff\r\n\x00"), make([]byte, 8)...)
	head = binary.BigEndian.AppendUint16(head, 3)
	for _, v := range []int64{int64(id), int64(snapshot.Index)} {
		head = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(head, 8), uint64(v))
	}
	head = binary.BigEndian.AppendUint32(head, uint32(len(snapshot.State)))
	all := io.MultiReader(bytes.NewReader(head), bytes.NewReader(snapshot.State), bytes.NewReader([]byte{0xff, 0xff}))
	_, err = conn.Conn().PgConn().CopyFrom(ctx, all, sqlCopySnapshot)
	return clean(err)
}

// SnapshotBelow implements [ledger.Snapshots].
func (s *Store) SnapshotBelow(ctx context.Context, id ledger.ID, below uint64) (found ledger.Snapshot, err error) {
	args := []any{int64(id), int64(min(below, math.MaxInt64))}
	err = s.one(ctx, sqlSnapshotBelow, args, func(row scanner) error { return row.Scan(&found.Index, &found.State) })
	return found, err
}
