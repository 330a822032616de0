package bench

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net"
	"net/http"

	"github.com/jackc/pgx/v5/pgxpool"
)

// rivalVariable makes the test binary run as the rival, on the database that it
// names.
const rivalVariable = "SHUFFLED_BENCH_RIVAL"

// serveRival is a simple service for signed shuffles, as somebody would write it in
// an hour: a handler that draws bytes, shuffles, signs, inserts a row and answers. It
// has no commitment, no log and no proof, looks up no key, and does not encrypt the
// order.
func serveRival(database string) error {
	cfg, err := pgxpool.ParseConfig(database)
	if err != nil {
		return err
	}
	cfg.MaxConns = 64 // pgbench is fastest with 32 or 64
	pool, err := pgxpool.NewWithConfig(context.Background(), cfg)
	if err != nil {
		return err
	}
	_, err = pool.Exec(context.Background(),
		`CREATE TABLE shuffles (id bigserial PRIMARY KEY, made timestamptz NOT NULL DEFAULT now(),
		game_table text NOT NULL, deck bytea NOT NULL, signature bytea NOT NULL)`)
	if err != nil {
		return err
	}
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		return err
	}
	http.HandleFunc("POST /v1/main/shuffles", func(w http.ResponseWriter, r *http.Request) {
		var request struct{ Table, Deck string }
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		deck := shuffled52()
		hash := sha256.Sum256(deck)
		signature := ed25519.Sign(key, hash[:])
		var id int64
		err := pool.QueryRow(r.Context(),
			"INSERT INTO shuffles (game_table, deck, signature) VALUES ($1, $2, $3) RETURNING id",
			request.Table, deck, signature).Scan(&id)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(map[string]any{"id": id, "table": request.Table, "deck": deck,
			"signature": signature})
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	return http.Serve(l, nil)
}

// shuffled52 is a Fisher–Yates shuffle from 128 bytes, which are nearly always
// enough; otherwise it reads more.
func shuffled52() []byte {
	tape := make([]byte, 128)
	rand.Read(tape)
	deck := make([]byte, 52)
	for i := range deck {
		deck[i] = byte(i)
	}
	for i := len(deck) - 1; i > 0; i-- {
		n := i + 1
		for {
			if len(tape) == 0 {
				tape = make([]byte, 128)
				rand.Read(tape)
			}
			x := int(tape[0])
			tape = tape[1:]
			if x < 256/n*n {
				deck[i], deck[x%n] = deck[x%n], deck[i]
				break
			}
		}
	}
	return deck
}
