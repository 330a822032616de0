package dealer_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/dealer"
	"shuffled/internal/dealer/api"
	"shuffled/internal/disclosure"
	"shuffled/internal/ledger"
	"shuffled/internal/seal"
)

// memoryVariable has the test binary be the daemon whose memory is searched.
const memoryVariable = "SHUFFLED_MEMORY_CHILD"

// memorySecret is the sealing key of that daemon: the searcher opens with it what the
// daemon sealed, and neither has a tape from the other.
var memorySecret = bytes.Repeat([]byte{0x5a, 0xc3}, seal.KeySize/2)

// sealedTape is what the daemon says of a shuffle.
type sealedTape struct {
	Commitment [32]byte
	Sealed     []byte
}

// kept has the daemon keep a tape, for the control.
var kept []byte

// TestMemoryDaemon is no test but the daemon of TestNoTapeStays: it commits, deals and
// closes, says what it sealed, and waits.
func TestMemoryDaemon(t *testing.T) {
	how := os.Getenv(memoryVariable)
	if how == "" {
		t.Skip("only as a child of TestNoTapeStays")
	}
	auditor, err := disclosure.NewAuditor(append([]byte{audit.KeyHybrid}, make([]byte, 32)...))
	must(t, err)
	tb := newTableWith(t, setting{disclosure: audit.DisclosureAuditor, auditors: [][]byte{auditor.Public()}})
	tb.cfg.Keys = memoryRing(t)
	tb.Dealer = dealer.New(tb.cfg)
	out := json.NewEncoder(os.Stdout)
	for i := range 12 {
		made, err := tb.Shuffle(t.Context(), as("house"), fmt.Sprint("key-", i),
			api.ShuffleRequest{Table: fmt.Sprint("t", i), Deck: "shoe-2"})
		must(t, err)
		for first := range i % 4 {
			if _, err := tb.Deal(t.Context(), as("house"), made.ID,
				api.DealRequest{First: first, Runs: []audit.Run{seat(1, "box")}}); err != nil {
				t.Fatal(err)
			}
		}
		switch i % 3 {
		case 1:
			if _, err := tb.Close(t.Context(), as("house"), made.ID,
				api.CloseRequest{Outcome: audit.OutcomeCompleted}); err != nil {
				t.Fatal(err)
			}
		case 2:
			if _, err := tb.Transcript(t.Context(), made.ID, api.View{Identity: "tester"}); err != nil {
				t.Fatal(err)
			}
		}
		rows, err := tb.cfg.Store.ByShuffles(t.Context(), ledger.IDOf(origin), ledger.Durable, made.ID)
		must(t, err)
		if how == "keeps" && i == 3 {
			if kept, err = memoryRing(t).Open(origin, made.Commitment, rows[0][0].Kept); err != nil {
				t.Fatal(err)
			}
		}
		must(t, out.Encode(sealedTape{made.Commitment, rows[0][0].Kept}))
	}
	fmt.Println("null")
	io.Copy(io.Discard, os.Stdin) // until it is searched
	runtime.KeepAlive(kept)
}

func memoryRing(t *testing.T) *seal.Keyring {
	t.Helper()
	key, err := seal.NewKey(memorySecret)
	must(t, err)
	ring, err := seal.NewKeyring(key)
	must(t, err)
	return ring
}

// TestNoTapeStays searches the whole memory of a daemon that committed, dealt, closed and showed shuffles for 32 bytes
// in a row of any of its tapes. Garbage is searched as well: nothing is given to the collector before. What hashing
// leaves of the last block of a message, less than 64 bytes, is the limit of what a program in Go can wipe. Nor can it
// wipe vector registers, of which a signal saves what the copy of a tape left there: the daemon is sent none.
func TestNoTapeStays(t *testing.T) {
	t.Parallel()
	for how, want := range map[string]int{"wipes": 0, "keeps": 1} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			tapes, memory := daemonMemory(t, how)
			if len(tapes) != 12 || len(memory) < 1<<20 {
				t.Fatalf("%d tapes, %d bytes of memory", len(tapes), len(memory))
			}
			found := 0
			for i, tape := range tapes {
				if places := occurrences(memory, tape[:len(tape)-64]); len(places) > 0 {
					found++
					t.Logf("of tape %d with %d bytes these stand in memory: %v", i, len(tape), places)
				}
			}
			if found != want {
				t.Errorf("%d tapes of %d are in memory, not %d", found, len(tapes), want)
			}
		})
	}
}

// occurrences returns the offsets, multiples of 32, at which 32 bytes of the tape stand in memory.
func occurrences(memory, tape []byte) (at []int) {
	for i := 0; i+32 <= len(tape); i += 32 {
		if bytes.Contains(memory, tape[i:i+32]) {
			at = append(at, i)
		}
	}
	return at
}

// daemonMemory runs the daemon, and returns its tapes and its writable memory.
func daemonMemory(t *testing.T, how string) (tapes [][]byte, memory []byte) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestMemoryDaemon$")
	cmd.Env = append(os.Environ(), memoryVariable+"="+how, "GOGC=off", "GODEBUG=asyncpreemptoff=1")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	defer cmd.Wait()
	defer in.Close()
	ring := memoryRing(t)
	for dec := json.NewDecoder(out); ; {
		var s *sealedTape
		if err := dec.Decode(&s); err != nil {
			rest, _ := io.ReadAll(io.MultiReader(dec.Buffered(), out))
			t.Fatalf("the daemon says: %v\n%s", err, rest)
		}
		if s == nil {
			break
		}
		tape, err := ring.Open(origin, s.Commitment, s.Sealed)
		must(t, err)
		tapes = append(tapes, tape)
	}
	return tapes, readMemory(t, cmd.Process.Pid)
}

// readMemory returns everything that a process may write to.
func readMemory(t *testing.T, pid int) (all []byte) {
	t.Helper()
	maps, err := os.Open(fmt.Sprintf("/proc/%d/maps", pid))
	must(t, err)
	defer maps.Close()
	memory, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		t.Skipf("the memory of a child cannot be read here: %v", err)
	}
	defer memory.Close()
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if !strings.HasPrefix(fields[1], "rw") {
			continue
		}
		low, high, _ := strings.Cut(fields[0], "-")
		from, err := strconv.ParseInt(low, 16, 64)
		must(t, err)
		to, err := strconv.ParseInt(high, 16, 64)
		must(t, err)
		part := make([]byte, to-from)
		n, _ := memory.ReadAt(part, from) // [vvar] and the like cannot be read
		all = append(all, part[:n]...)
	}
	return all
}
