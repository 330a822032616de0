package keys

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"shuffled/internal/audit"
	"shuffled/internal/process"
)

// sealingSize is the size of a sealing key in bytes.
const sealingSize = 32

// sealingPrefix starts the one line of a sealing key file. The key follows in base64.
const sealingPrefix = "shuffled-sealing-key:v1:"

// wrappedPrefix starts the one line of a sealing key file whose key is wrapped under a key of an HSM or KMS. Its
// agent's socket follows, then a space, and the wrapped key in base64. Without the agent the line is useless.
const wrappedPrefix = "shuffled-wrapped-sealing-key:v1:"

// The requests of the extension of ssh-agent's protocol that tools/agent speaks.
const (
	wrapRequest   = "wrap@shuffled"
	unwrapRequest = "unwrap@shuffled"
)

// GenerateSealing makes a new sealing key of 32 random bytes.
func GenerateSealing() Secret { return random(sealingSize) }

// ReadSealing reads a sealing key file, which may be encrypted under passphrase, and returns the 32 bytes of the key.
// If the file names an agent, the agent unwraps the key.
func ReadSealing(path string, passphrase Secret) (Secret, error) {
	b, err := readPrivate(path, passphrase)
	if err != nil {
		return Secret{}, fmt.Errorf("reading a sealing key: %w", err)
	}
	if line, ok := bytes.CutPrefix(b, []byte(wrappedPrefix)); ok {
		key, err := unwrapSealing(line)
		if err != nil {
			return Secret{}, fmt.Errorf("reading the wrapped sealing key in %s: %w", path, err)
		}
		return NewSecret(key), nil
	}
	key, err := decodeLine(b, sealingPrefix)
	if err != nil || len(key) != sealingSize {
		return Secret{}, fmt.Errorf("reading a sealing key: %s holds no %q and %d bytes in base64", path, sealingPrefix,
			sealingSize)
	}
	return NewSecret(key), nil
}

func unwrapSealing(line []byte) ([]byte, error) {
	socket, text, ok := strings.Cut(string(line), " ")
	wrapped, err := decodeLine([]byte(text), "")
	if !ok || err != nil || !filepath.IsAbs(socket) {
		return nil, fmt.Errorf("the line must be %sSOCKET BASE64, with an absolute path as SOCKET", wrappedPrefix)
	}
	key, err := askExtension(socket, unwrapRequest, wrapped)
	if err == nil && len(key) != sealingSize {
		err = fmt.Errorf("%w at %s: the agent gave %d bytes, and a sealing key has 32", ErrAgent, socket, len(key))
	}
	return key, err
}

// WriteSealing creates a sealing key file with mode 0600, encrypted unless
// passphrase is empty. An existing file is an error that matches fs.ErrExist.
func WriteSealing(path string, key, passphrase Secret) error {
	if len(key.Bytes()) != sealingSize {
		return errors.New("a sealing key has 32 bytes")
	}
	return writeLine(path, passphrase, sealingPrefix, key.Bytes())
}

// WriteWrappedSealing creates a file with the key as the agent at socket wraps it, after the agent has unwrapped it
// again.
func WriteWrappedSealing(path, socket string, key Secret) error {
	wrapped, err := askExtension(socket, wrapRequest, key.Bytes())
	if err != nil {
		return err
	}
	line := socket + " " + base64.StdEncoding.EncodeToString(wrapped)
	if opened, err := unwrapSealing([]byte(line)); err != nil {
		return err
	} else if !bytes.Equal(opened, key.Bytes()) {
		return fmt.Errorf("%w at %s: the agent gave another key than it wrapped", ErrAgent, socket)
	}
	return process.CreateFile(path, []byte(wrappedPrefix+line+"\n"), modePrivate)
}

// askExtension returns the answer of the agent at socket to a request of its extension.
func askExtension(socket, request string, body []byte) ([]byte, error) {
	var answer struct {
		Request string `sshtype:"29"` // SSH_AGENT_EXTENSION_RESPONSE
		Result  []byte `ssh:"rest"`
	}
	err := withAgent(socket, func(a agent.ExtendedAgent) error {
		b, err := a.Extension(request, body)
		if errors.Is(err, agent.ErrExtensionUnsupported) {
			return fmt.Errorf("the agent does not know %s, which shuffled-agent with -wrap does", request)
		}
		if err != nil {
			return err
		}
		return ssh.Unmarshal(b, &answer)
	})
	if err == nil && answer.Request != request {
		err = errors.New("the agent answers another request")
	}
	if err != nil {
		return nil, fmt.Errorf("%w at %s for %s: %w", ErrAgent, socket, request, err)
	}
	return answer.Result, nil
}

// Each auditor key file is one line: a prefix, and base64 of a type byte and the key. The private key has 32 bytes. The
// public key is the one in entries (docs/SPEC.md section 5.7).
const (
	auditorPrefix       = "shuffled-auditor-key:v1:"
	auditorPublicPrefix = "shuffled-auditor:v1:"
)

// AuditorKey is the key under which disclosure keys are wrapped for one auditor. It is safe for concurrent use and
// prints as its public line.
type AuditorKey struct {
	private Secret
	public  []byte
}

// GenerateAuditor makes a new key, a hybrid one.
func GenerateAuditor() (*AuditorKey, error) {
	kem, _ := audit.KEMOf([]byte{audit.KeyHybrid})
	k, err := kem.GenerateKey() // always from the platform generator
	if err != nil {
		return nil, fmt.Errorf("generating an auditor key: %w", err)
	}
	private, err := k.Bytes()
	if err != nil {
		return nil, fmt.Errorf("generating an auditor key: %w", err)
	}
	return newAuditor(append([]byte{kem.Type}, private...))
}

// newAuditor returns the key with this private half, type byte first.
func newAuditor(private []byte) (*AuditorKey, error) {
	kem, ok := audit.KEMOf(private)
	if !ok {
		return nil, fmt.Errorf("key type %d: %w", private[0], audit.ErrUnknown)
	}
	k, err := kem.NewPrivateKey(private[1:])
	if err != nil {
		return nil, fmt.Errorf("no private key of %s", kem.Name) // err may have something of the key
	}
	return &AuditorKey{NewSecret(private), append([]byte{kem.Type}, k.PublicKey().Bytes()...)}, nil
}

// ReadAuditor reads a private auditor key file, which may be encrypted under passphrase.
func ReadAuditor(path string, passphrase Secret) (*AuditorKey, error) {
	b, err := readPrivate(path, passphrase)
	if err != nil {
		return nil, fmt.Errorf("reading an auditor key: %w", err)
	}
	raw, err := decodeLine(b, auditorPrefix)
	if err != nil || len(raw) != 1+audit.PrivateSize {
		return nil, fmt.Errorf("reading an auditor key: %s holds no %q and %d bytes in base64", path, auditorPrefix,
			1+audit.PrivateSize)
	}
	k, err := newAuditor(raw)
	if err != nil { // the message has nothing of the text, which may be a damaged key
		return nil, fmt.Errorf("reading an auditor key: %s: %w", path, err)
	}
	return k, nil
}

// WriteFile creates a private file with mode 0600, encrypted unless passphrase
// is empty. An existing file is an error that matches fs.ErrExist.
func (k *AuditorKey) WriteFile(path string, passphrase Secret) error {
	return writeLine(path, passphrase, auditorPrefix, k.private.Bytes())
}

// Private returns the private key, type byte first.
func (k *AuditorKey) Private() Secret { return k.private }

// Public returns the public key as genesis and key entries hold it, type byte first.
func (k *AuditorKey) Public() []byte { return bytes.Clone(k.public) }

// String returns the line of the public file.
func (k *AuditorKey) String() string { return AuditorLine(k.public) }

// ReadAuditorPublic reads the file that an auditor gives to the house, and returns the public key as AuditorKey.Public
// does.
func ReadAuditorPublic(path string) ([]byte, error) {
	b, err := readFile(path, false)
	if err != nil {
		return nil, fmt.Errorf("reading a public auditor key: %w", err)
	}
	public, err := decodeLine(b, auditorPublicPrefix)
	if err == nil {
		_, _, err = audit.ParseSealingKey(public)
	}
	if err != nil {
		return nil, fmt.Errorf("reading a public auditor key: %s holds no %q and a public key in base64: %w", path,
			auditorPublicPrefix, err)
	}
	return public, nil
}

// WriteAuditorPublic creates a file with a public auditor key and mode 0644. An
// existing file is an error that matches fs.ErrExist.
func WriteAuditorPublic(path string, public []byte) error {
	if _, _, err := audit.ParseSealingKey(public); err != nil {
		return err
	}
	return process.CreateFile(path, []byte(AuditorLine(public)+"\n"), modePublic)
}

// AuditorLine returns the line of a public file.
func AuditorLine(public []byte) string {
	return auditorPublicPrefix + base64.StdEncoding.EncodeToString(public)
}
