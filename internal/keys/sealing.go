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
)

// sealingSize is the size of a sealing key in bytes.
const sealingSize = 32

// sealingPrefix starts the one line of a sealing key file. The key follows in base64.
const sealingPrefix = "shuffled-sealing-key:v1:"

// wrappedPrefix starts the one line of a sealing key file whose key is wrapped under a key of an HSM or KMS. The socket
// of the agent that unwraps it follows, then a space, and the wrapped key in base64. Without the agent the line is
// useless.
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
	return createFile(path, []byte(wrappedPrefix+line+"\n"), modePrivate)
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
