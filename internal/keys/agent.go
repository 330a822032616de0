package keys

import (
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
)

// agentPrefix starts the one line of a key file whose private half an ssh-agent holds; the
// agent's socket, a space and the verifier key follow. Nothing of the line is secret.
const agentPrefix = "shuffled-agent-key:v1:"

// agentPatience is how long a signature may take. Entries wait for it: one that takes
// longer is as bad as none.
const agentPatience = 5 * time.Second

// Messages of the agent protocol (draft-ietf-sshm-ssh-agent).
const (
	agentSign     = 13 // string key ‖ string data ‖ u32 flags
	agentSigned   = 14 // string signature
	agentLongest  = 1 << 16
	agentAlgEd255 = "ssh-ed25519" // of key and signature (RFC 8709)
)

// pairwise is what a key signs to show that it is there: no checkpoint, and no act.
var pairwise = []byte("shuffled pairwise test\n")

// agentSigner signs with a key that an ssh-agent holds. Every signature is checked before
// it leaves. It is safe for concurrent use.
type agentSigner struct {
	note.Verifier
	socket string
	public ed25519.PublicKey
}

// AgentSigning returns the signing key with this verifier key, whose private half the
// ssh-agent at socket holds. The agent proves it by a signature.
func AgentSigning(socket, vkey string) (*SigningKey, error) {
	return parseSigning([]byte(agentPrefix + socket + " " + vkey))
}

// parseAgent reads the line of a key file behind agentPrefix.
func parseAgent(line string) (*SigningKey, error) {
	at := strings.LastIndexByte(line, ' ')
	if at < 0 || !filepath.IsAbs(line[:at]) {
		return nil, fmt.Errorf("the line of a key in an ssh-agent is %sSOCKET VKEY, the socket an absolute path", agentPrefix)
	}
	socket, vkey := line[:at], line[at+1:]
	verifier, err := audit.ParseVKey(vkey)
	if err != nil {
		return nil, err
	}
	public, err := audit.SigningKey(vkey)
	if err != nil {
		return nil, err
	}
	s := &agentSigner{verifier, socket, public[1:]}
	if err := s.Present(); err != nil {
		return nil, err
	}
	return &SigningKey{noteKey{vkey, NewSecret([]byte(agentPrefix + line))}, s, public}, nil
}

// Present asks the agent for a signature that nobody uses. It returns why there is none.
func (s *agentSigner) Present() error {
	_, err := s.Sign(pairwise)
	return err
}

// Sign has the agent sign.
func (s *agentSigner) Sign(msg []byte) ([]byte, error) {
	sig, err := s.ask(msg)
	if err == nil && !s.Verify(msg, sig) {
		err = errors.New("it gave a signature that the public key refuses")
	}
	if err != nil {
		return nil, fmt.Errorf("asking the ssh-agent at %s for a signature of %s: %w", s.socket, s.Name(), err)
	}
	return sig, nil
}

func (s *agentSigner) ask(msg []byte) ([]byte, error) {
	until := time.Now().Add(agentPatience)
	conn, err := net.DialTimeout("unix", s.socket, agentPatience)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if err := conn.SetDeadline(until); err != nil {
		return nil, err
	}
	key := sshString(sshString(nil, []byte(agentAlgEd255)), s.public)
	request := binary.BigEndian.AppendUint32(sshString(sshString([]byte{agentSign}, key), msg), 0)
	if _, err := conn.Write(sshString(nil, request)); err != nil {
		return nil, err
	}
	var size [4]byte
	if _, err := io.ReadFull(conn, size[:]); err != nil {
		return nil, fmt.Errorf("waiting for the answer: %w", err)
	}
	n := binary.BigEndian.Uint32(size[:])
	if n < 1 || n > agentLongest {
		return nil, fmt.Errorf("an answer of %d bytes", n)
	}
	answer := make([]byte, n)
	if _, err := io.ReadFull(conn, answer); err != nil {
		return nil, fmt.Errorf("reading the answer: %w", err)
	}
	if answer[0] != agentSigned {
		return nil, errors.New("it refuses: ssh-add -L says whether it has the key, ssh-add -X unlocks it")
	}
	signature, rest := cutString(answer[1:])
	alg, inner := cutString(signature)
	sig, more := cutString(inner)
	if len(rest) > 0 || len(more) > 0 || string(alg) != agentAlgEd255 || len(sig) != ed25519.SignatureSize {
		return nil, errors.New("its answer is no signature of Ed25519")
	}
	return sig, nil
}

// sshString appends a string of the protocol: its length as u32, and its bytes.
func sshString(to, b []byte) []byte {
	return append(binary.BigEndian.AppendUint32(to, uint32(len(b))), b...)
}

// cutString takes the string in front off; both are nil if there is none.
func cutString(b []byte) (s, rest []byte) {
	if len(b) < 4 || uint32(len(b)-4) < binary.BigEndian.Uint32(b) {
		return nil, nil
	}
	n := binary.BigEndian.Uint32(b)
	return b[4 : 4+n], b[4+n:]
}

// ReadSSHPublic reads the public half of a key as ssh-keygen and ssh-add -L write it, one
// line of type ssh-ed25519, and returns the verifier key of the ledger of that origin.
func ReadSSHPublic(path, origin string) (vkey string, err error) {
	b, err := readFile(path, false)
	if err != nil {
		return "", fmt.Errorf("reading an SSH public key: %w", err)
	}
	words := strings.Fields(string(trimNewline(b)))
	if len(words) >= 2 && words[0] == agentAlgEd255 {
		if blob, err := decodeLine([]byte(words[1]), ""); err == nil {
			alg, inner := cutString(blob)
			public, rest := cutString(inner)
			if string(alg) == agentAlgEd255 && len(public) == ed25519.PublicKeySize && len(rest) == 0 {
				if vkey, err = note.NewEd25519VerifierKey(origin, public); err == nil {
					_, err = audit.ParseVKey(vkey)
				}
				return vkey, err
			}
		}
	}
	return "", fmt.Errorf("reading an SSH public key: %s holds no line of type ssh-ed25519: checkpoints are signed with Ed25519 alone",
		path)
}
