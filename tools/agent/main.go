// Command shuffled-agent lets a daemon use keys that an HSM or a KMS holds. It speaks the protocol of ssh-agent on a
// Unix socket: it lists keys of Ed25519 and signs with them. An extension of the protocol seals and opens small secrets
// with a key of the same store. The program holds no private key, and accepts none.
//
// The daemon uses it like any other ssh-agent. C code (PKCS#11) and the credential of a KMS
// are thus in this process, and not in the daemon.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"golang.org/x/crypto/ssh/agent"
)

// connection is the longest time that a connection may last. The daemon opens one for each request.
const connection = time.Minute

// connections is the number of connections that are served at the same time. Further ones wait.
const connections = 64

// settings are the settings of the command line.
type settings struct {
	socket, wrap           string
	sign                   []string
	library, token, pin    string // of PKCS#11
	generate               bool
	url, mount, credential string // of a transit engine
}

const usage = `shuffled-agent pkcs11 -socket PATH -library FILE -token LABEL -pin-file FILE -sign LABEL [-wrap LABEL]
or shuffled-agent transit -socket PATH -url URL -token-file FILE -sign NAME [-wrap NAME]`

func main() {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, log, os.Args[1:]); err != nil {
		log.Error("shuffled-agent stops", "err", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, log *slog.Logger, args []string) error {
	// Secrets that the store opens pass through the memory of this process.
	memory, err := closeMemory()
	if err != nil {
		return err
	}
	stores := map[string]func(*settings) (store, error){"pkcs11": openToken, "transit": openTransit}
	if len(args) == 0 || stores[args[0]] == nil {
		return errors.New("the first argument must be pkcs11 or transit: " + usage)
	}
	var s settings
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	flags.Usage = func() { fmt.Fprintln(flags.Output(), usage); flags.PrintDefaults() }
	flags.StringVar(&s.socket, "socket", "", "path of the socket, made with mode 0660")
	flags.Func("sign", "label of a key of Ed25519 that signs; may be repeated",
		func(name string) error { s.sign = append(s.sign, name); return nil })
	flags.StringVar(&s.wrap, "wrap", "", "label of a key of AES-256 that seals small secrets")
	if args[0] == "pkcs11" {
		flags.StringVar(&s.library, "library", "", "the PKCS#11 library, such as /usr/lib/softhsm/libsofthsm2.so")
		flags.StringVar(&s.token, "token", "", "label of the token")
		flags.StringVar(&s.pin, "pin-file", "", "file with the user's PIN")
		flags.BoolVar(&s.generate, "generate", false, "make the keys of -sign and -wrap in the token, and end")
	} else {
		flags.StringVar(&s.url, "url", "", "address of Vault or OpenBao")
		flags.StringVar(&s.mount, "mount", "transit", "path of the transit engine")
		flags.StringVar(&s.credential, "token-file", "", "file with its token, which is read for each request")
	}
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	if flags.NArg() > 0 || len(s.sign) == 0 && s.wrap == "" || s.socket == "" && !s.generate {
		return errors.New("the arguments are not complete: " + usage)
	}
	keys, err := stores[args[0]](&s)
	if err != nil || s.generate {
		return err
	}
	h, err := newHelper(keys, log)
	if err != nil {
		return err
	}
	listener, err := listen(s.socket)
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, func() { listener.Close() })
	log.Info("ready", "socket", s.socket, "keys", len(h.keys), "wrap", s.wrap, "memory", memory)
	return serve(ctx, log, h, listener)
}

// serve answers connections until the context ends. It logs an error of Accept, and continues.
func serve(ctx context.Context, log *slog.Logger, h *helper, listener net.Listener) error {
	slots := make(chan struct{}, connections)
	for {
		conn, err := listener.Accept()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil { // for example too many open files, which may be over soon
			log.Error("no connection", "err", err)
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
			continue
		}
		select {
		case <-ctx.Done():
		case slots <- struct{}{}:
		}
		go func() {
			defer func() { conn.Close(); <-slots }()
			if conn.SetDeadline(time.Now().Add(connection)) == nil {
				agent.ServeAgent(h, conn) // always ends with an error, at the latest when the client hangs up
			}
		}()
	}
}

// listen makes the socket with mode 0660, so that its group may send requests. If the directory has the set-group-ID
// bit, that is the group of the directory. listen replaces a socket that no process serves any more.
func listen(path string) (net.Listener, error) {
	if conn, err := net.Dial("unix", path); err == nil {
		conn.Close()
		return nil, fmt.Errorf("another program already serves %s", path)
	} else if info, gone := os.Lstat(path); gone == nil && errors.Is(err, syscall.ECONNREFUSED) {
		if info.Mode()&os.ModeSocket == 0 {
			return nil, fmt.Errorf("%s exists, and is no socket: -socket must name another file", path)
		}
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	defer syscall.Umask(syscall.Umask(0o117))
	return net.Listen("unix", path)
}

// secret reads the text of a file, without newlines at its end. It refuses a file that others than
// its owner may change, or that others than its owner and its group may read.
func secret(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if bad := info.Mode().Perm() & 0o037; bad != 0 || !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s has mode %s, so others can read the secret in it: make it 0600", path, info.Mode())
	}
	b, err := os.ReadFile(path)
	text := strings.TrimRight(string(b), "\r\n")
	if err == nil && text == "" {
		err = fmt.Errorf("%s is empty", path)
	}
	return text, err
}
