// Package player has the commands of a player: the secret values that players bring into a shuffle.
package player

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"shuffled/internal/audit"
	"shuffled/internal/cli/remote"
	"shuffled/internal/keys"
	"shuffled/internal/term"
	"shuffled/internal/verify"
)

// SlotCmd is shuffled slot.
type SlotCmd struct {
	New slotNewCmd `cmd:"" help:"Draw a secret value. Print it with its hash, which is handed in before the commit."`
}

type slotNewCmd struct {
	Origin string `required:"" help:"The ledger's origin, as in its key."`
	Table  string `required:"" help:"The table."`
	JSON   bool   `name:"json" help:"Print JSON."`
}

func (slotNewCmd) Help() string {
	return `The value is a player's own randomness in a shuffle. Hand in the hash before the commit, and keep the value. Hand in the value when the receipt of the commit shows your slot and the cosignatures of your witnesses: shuffled verify commit.receipt --policy FILE --my-slot-file FILE. Use a value for one commit only.

Example:

    shuffled slot new --origin example.com/main --table table-7 > my-slot`
}

func (c slotNewCmd) Run(s term.Streams) error {
	if err := audit.CheckOrigin(c.Origin); err != nil {
		return term.Usage("--origin %s", term.Visible(err.Error()))
	}
	if err := audit.CheckName(c.Table); err != nil {
		return term.Usage("--table %s", term.Visible(err.Error()))
	}
	value := [keys.SlotSize]byte(keys.NewSlot().Bytes())
	hash := audit.SlotHash(c.Origin, c.Table, value)
	out := struct {
		Value []byte `json:"value"`
		Hash  []byte `json:"hash"`
	}{value[:], hash[:]}
	return s.Answer(c.JSON, out,
		"value  %s  keep it until the commit is witnessed\nhash   %s  hand it in before the commit\n",
		base64.StdEncoding.EncodeToString(out.Value), base64.StdEncoding.EncodeToString(out.Hash))
}

// maxSlotFile bounds a file with a slot, in bytes. slot new prints less.
const maxSlotFile = 4096

// ReadSlot reads a slot's value from a file, or from standard input for "-". The value is alone on its line, or
// as slot new prints it.
func ReadSlot(name string, stdin io.Reader) (value [keys.SlotSize]byte, err error) {
	b, err := term.ReadStart(name, stdin, maxSlotFile)
	if err != nil {
		return value, fmt.Errorf("reading the slot's value: %w", err)
	}
	for line := range strings.Lines(string(b)) {
		fields := strings.Fields(line)
		if len(fields) > 1 && fields[0] == "value" {
			fields = fields[1:2]
		}
		if len(fields) == 1 {
			b, err := ParseBytes(fields[0], keys.SlotSize)
			if err != nil {
				return value, term.Usage("a slot's value %s", err)
			}
			return [keys.SlotSize]byte(b), nil
		}
	}
	return value, term.Usage("%s holds no value of a slot", term.Visible(name))
}

// ParseBytes reads n bytes in padded base64 or hexadecimal. The error does not repeat the text, which may be a secret.
func ParseBytes(text string, n int) (b []byte, err error) {
	switch len(text) {
	case hex.EncodedLen(n):
		b, err = hex.DecodeString(text)
	case base64.StdEncoding.EncodedLen(n):
		b, err = base64.StdEncoding.Strict().DecodeString(text)
	}
	if err != nil || len(b) != n { // a line end in base64 is skipped
		return nil, fmt.Errorf("must be %d bytes in base64 or hexadecimal", n)
	}
	return b, nil
}

// CannotJudge is the error for evidence that uses something unknown. Its hint says that this is no fault of the
// evidence.
func CannotJudge(unknown string) error {
	return term.WithHint(errors.New("cannot judge: "+term.Visible(unknown)),
		"this is no fault of the evidence; a newer version of shuffled may be able to judge the evidence")
}

// ReadTrust reads what --key, --policy and --auditor pin. A file that cannot be read is a failure to run. A
// file that is no key or policy is a mistake in the command line.
func ReadTrust(key, policy string, auditors []string) (t verify.Trust, err error) {
	switch {
	case key != "":
		if t.VKey, err = remote.ReadKey("--key", key); err != nil {
			return t, err
		}
	case policy != "":
		if t.Policy, err = term.ReadBounded(policy, audit.MaxPolicyFile); err != nil {
			return t, fmt.Errorf("reading the policy: %w", err)
		}
	}
	for _, name := range auditors {
		vkey, err := remote.ReadKey("--auditor", name)
		if err != nil {
			return t, err
		}
		t.Auditors = append(t.Auditors, vkey)
	}
	if err := t.Check(); err != nil {
		return t, term.Usage("%s", term.Visible(err.Error()))
	}
	return t, nil
}
