package keys

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
)

// agentPrefix starts the one line of a key file whose private half an ssh-agent holds. The agent's socket, a space and
// the verifier key follow. Nothing in the line is secret.
const agentPrefix = "shuffled-agent-key:v1:"

// agentPatience is how long a signature may take. Entries wait for it, so a later signature is as bad as none.
const agentPatience = 5 * time.Second

// ErrAgent is matched if an agent does not do what a key file needs. The error names the agent's socket.
var ErrAgent = errors.New("asking the ssh-agent")

// pairwise is the text that a key signs to show that it works. It is no checkpoint, and no act.
var pairwise = []byte("shuffled pairwise test\n")

// agentSigner signs with a key that an ssh-agent holds. It verifies every signature before it returns it. It is safe
// for concurrent use.
type agentSigner struct {
	note.Verifier
	socket string
	public ed25519.PublicKey
}

// AgentSigning returns the signing key with this verifier key, whose private half the ssh-agent at socket holds. The
// agent proves this by a signature.
func AgentSigning(socket, vkey string) (*SigningKey, error) {
	return parseSigning([]byte(agentPrefix + socket + " " + vkey))
}

// parseAgent reads the line of a key file behind agentPrefix.
func parseAgent(line string) (*SigningKey, error) {
	at := strings.LastIndexByte(line, ' ')
	if at < 0 || !filepath.IsAbs(line[:at]) {
		return nil, fmt.Errorf("the line of a key in an ssh-agent must be %sSOCKET VKEY, with an absolute path as SOCKET", agentPrefix)
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
	return &SigningKey{noteKey{vkey, NewSecret([]byte(agentPrefix + line))}, s}, nil
}

// Present asks the agent for a signature that is not used, and returns an error if there is none.
func (s *agentSigner) Present() error {
	_, err := s.Sign(pairwise)
	return err
}

// Sign has the agent sign.
func (s *agentSigner) Sign(msg []byte) ([]byte, error) {
	sig, err := s.ask(msg)
	if err == nil && !s.Verify(msg, sig) {
		err = errors.New("the agent gave a signature that the public key refuses")
	}
	if err != nil {
		return nil, fmt.Errorf("%w at %s for a signature of %s: %w", ErrAgent, s.socket, s.Name(), err)
	}
	return sig, nil
}

func (s *agentSigner) ask(msg []byte) ([]byte, error) {
	key, err := ssh.NewPublicKey(s.public)
	if err != nil {
		return nil, err
	}
	var sig *ssh.Signature
	if err := withAgent(s.socket, func(a agent.ExtendedAgent) error {
		sig, err = a.Sign(key, msg)
		return err
	}); err != nil {
		return nil, fmt.Errorf("%w (ssh-add -L says whether it has the key, ssh-add -X unlocks it)", err)
	}
	if sig.Format != ssh.KeyAlgoED25519 || len(sig.Blob) != ed25519.SignatureSize || len(sig.Rest) > 0 {
		return nil, errors.New("the agent's answer is no signature of Ed25519")
	}
	return sig.Blob, nil
}

// withAgent calls ask with the agent at socket, on a connection that lasts agentPatience at most.
func withAgent(socket string, ask func(agent.ExtendedAgent) error) error {
	conn, err := net.DialTimeout("unix", socket, agentPatience)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(agentPatience)); err != nil {
		return err
	}
	return ask(agent.NewClient(conn))
}

// ReadSSHPublic reads the public half of a key as ssh-keygen and ssh-add -L write it, one line of type ssh-ed25519. It
// returns the verifier key for a ledger of this origin.
func ReadSSHPublic(path, origin string) (vkey string, err error) {
	b, err := readFile(path, false)
	if err != nil {
		return "", fmt.Errorf("reading an SSH public key: %w", err)
	}
	if key, _, _, rest, err := ssh.ParseAuthorizedKey(b); err == nil && len(rest) == 0 {
		public, ok := key.(ssh.CryptoPublicKey)
		if ok && key.Type() == ssh.KeyAlgoED25519 {
			vkey, err := note.NewEd25519VerifierKey(origin, public.CryptoPublicKey().(ed25519.PublicKey))
			if err == nil {
				_, err = audit.ParseVKey(vkey)
			}
			return vkey, err
		}
	}
	return "", fmt.Errorf("reading an SSH public key: %s holds no line of type ssh-ed25519: checkpoints are signed with Ed25519 alone",
		path)
}
