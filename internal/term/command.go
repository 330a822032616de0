// Package term is what the command lines of this project share: exit codes and errors of commands, text that is
// safe for a terminal, tables, cards, progress.
package term

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"

	"github.com/alecthomas/kong"

	"shuffled/internal/near"
	"shuffled/internal/stops"
)

// Exit codes. They are part of the interface: scripts depend on them.
const (
	ExitOK     = 0 // done; for verify: proved
	ExitFails  = 1 // the evidence fails, or a check of shuffled doctor
	ExitUsage  = 2 // the command line is wrong
	ExitCannot = 3 // could not run, or could not judge
)

// Streams are what a command reads and writes.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Sheet returns the width and the colours of standard output.
func (s Streams) Sheet() Sheet { return Sheet{NewPainter(s.Out), Columns(s.Out)} }

// Sheet is for text of W columns. P says whether it has colours.
type Sheet struct {
	P Painter
	W int
}

// Title writes a line that stands out, and an empty one.
func (s Streams) Title(format string, args ...any) {
	fmt.Fprintf(s.Out, "%s\n\n", s.Sheet().P.Bold(fmt.Sprintf(format, args...)))
}

// Fact writes a label and a fact.
func (s Streams) Fact(label, format string, args ...any) {
	fmt.Fprintf(s.Out, "  %-10s  %s\n", label, Visible(fmt.Sprintf(format, args...)))
}

// List writes rows of cells as aligned columns.
func (s Streams) List(rows [][]any) error {
	w := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		cells := strings.TrimSuffix(strings.Repeat("%v\t", len(row)), "\t")
		fmt.Fprintf(w, cells+"\n", row...)
	}
	return w.Flush()
}

// Answer writes what a command found: v as JSON, or the text for people.
func (s Streams) Answer(asJSON bool, v any, format string, args ...any) error {
	if asJSON {
		return PrintJSON(s.Out, v)
	}
	_, err := fmt.Fprintf(s.Out, format, args...)
	return err
}

// output is standard output. It keeps the first error, which commands that write line by line do not look at.
type output struct {
	file *os.File
	err  error
}

func (o *output) Fd() uintptr { return o.file.Fd() }
func (o *output) Write(b []byte) (n int, err error) {
	n, err = o.file.Write(b)
	o.err = cmp.Or(o.err, err)
	return n, err
}

// Main runs a program with the streams of this process, unless begin fails. It exits with the code of run, or with that
// of a failure to write what the program found.
func Main(begin func() error, run func(context.Context, []string, Streams) int) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	out := &output{file: os.Stdout}
	s := Streams{os.Stdin, out, os.Stderr}
	code := Report(s.Err, begin())
	if code == ExitOK {
		code = run(ctx, os.Args[1:], s)
	}
	if code <= ExitFails && out.err != nil && !errors.Is(out.err, syscall.EPIPE) { // EPIPE: the reader has seen enough
		code = Report(s.Err, out.err)
	}
	stop()
	os.Exit(code)
}

// Program is a command line.
type Program struct {
	Name, Description string
	Grammar           any // pointer to a struct for kong, whose commands may have the tag example

	// Before is called when the command line is parsed, and before the command runs. Its result is an argument
	// of the command. Its error ends the program.
	Before func(command string) (any, error)
}

// Run parses the arguments, runs the command and returns the exit code. A command may have ctx and the values
// of bind as arguments.
func (p Program) Run(ctx context.Context, args []string, s Streams, bind ...any) int {
	code, asJSON := -1, slices.Contains(args, "--json")
	parser, err := kong.New(p.Grammar, kong.Name(p.Name), kong.Description(p.Description),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
		kong.Writers(s.Out, s.Err),
		kong.Exit(func(c int) { code = c }),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(bind...),
		kong.PostBuild(func(k *kong.Kong) error { return kong.Visit(k.Model, exemplify) }),
	)
	if err != nil {
		return report(s.Err, err, asJSON)
	}
	parsed, err := parser.Parse(args)
	if code >= 0 { // --help was printed
		return code
	}
	if err != nil {
		return report(s.Err, Usage("%s", plain(err.Error())), asJSON)
	}
	before, err := p.Before(parsed.Command())
	if err != nil {
		return report(s.Err, err, asJSON)
	}
	return report(s.Err, parsed.Run(before), asJSON)
}

// exemplify shows the tag example of a command in its help. It is for commands whose help has no more to say.
func exemplify(node kong.Visitable, next kong.Next) error {
	if n, ok := node.(*kong.Node); ok && n.Tag.Has("example") {
		n.Detail = "Example:\n  " + n.Tag.Get("example")
	}
	return next(nil)
}

// parserWords are messages of the parser, and the words for people that replace them.
var parserWords = []struct {
	of *regexp.Regexp
	as string
}{
	{regexp.MustCompile(`: expected a valid \d+ bit u?int but got `), " must be a whole number, not "},
	{regexp.MustCompile(`: expected duration but got ("[^"]*").*`), " must be a duration such as 90s, 20m or 4h, not $1"},
	{regexp.MustCompile(`: expected \w+ value but got "EOL".*`), " must have a value"},
	{regexp.MustCompile(`^expected "(<[^"]+)"$`), "$1 is missing: --help shows an example"},
	{regexp.MustCompile(`must be one of ("",)?(.*) but got (".*")$`), "must be one of $2, not $3"},
}

// plain makes a sentence of the parser's message, with the nearest word if there is one.
func plain(message string) string {
	for _, w := range parserWords {
		message = w.of.ReplaceAllString(message, w.as)
	}
	if _, list, ok := strings.Cut(message, " must be one of "); ok {
		list, sent, _ := strings.Cut(list, ", not ")
		message += "." + near.Hint(strings.Trim(sent, `"`), strings.Split(strings.ReplaceAll(list, `"`, ""), ","))
	}
	return message
}

// UsageError is a mistake in the command line.
type UsageError struct{ error }

func (e *UsageError) Unwrap() error { return e.error }

// Usage returns a UsageError.
func Usage(format string, args ...any) error { return &UsageError{fmt.Errorf(format, args...)} }

// hinted is an error with advice.
type hinted struct {
	error
	hint string
}

func (h *hinted) Unwrap() error { return h.error }

// WithHint adds advice to an error.
func WithHint(err error, format string, args ...any) error {
	return &hinted{err, fmt.Sprintf(format, args...)}
}

// Hint returns the advice of an error: its own, or else the cure of its cause; "" if it has none.
func Hint(err error) string {
	if h, ok := errors.AsType[*hinted](err); ok {
		return h.hint
	}
	return stops.Of(err).Cure()
}

// refusedError is a refusal of a daemon, with its code.
type refusedError struct {
	error
	code string
}

func (r refusedError) Unwrap() error { return r.error }

// WithCode adds the code with which a daemon refused a request.
func WithCode(err error, code string) error { return refusedError{err, code} }

// ErrFails is for evidence that fails, or a check of shuffled doctor that does. The command has printed why.
var ErrFails = errors.New("the evidence fails")

// Report prints an error, unless it is nil or ErrFails, and returns the exit code. Messages are lower case,
// without a full stop. Advice is on a line of its own. Every program of the project calls itself shuffled here,
// which is what users type.
func Report(w io.Writer, err error) int { return report(w, err, false) }

func report(w io.Writer, err error, asJSON bool) int {
	code, hint := exitCode(err), Hint(err)
	switch {
	case code <= ExitFails:
		return code
	case asJSON:
		refused, _ := errors.AsType[refusedError](err)
		PrintJSON(w, struct {
			Error string `json:"error"`
			Hint  string `json:"hint,omitempty"`
			Code  string `json:"code,omitempty"` // of the daemon
			Exit  int    `json:"exit"`
		}{err.Error(), hint, refused.code, code})
		return code
	}
	fmt.Fprintf(w, "shuffled: error: %s\n", err)
	if hint != "" {
		fmt.Fprintf(w, "shuffled: hint: %s\n", hint)
	}
	return code
}

// exitCode returns the exit code for the error of a command.
func exitCode(err error) int {
	switch {
	case err == nil:
		return ExitOK
	case errors.Is(err, ErrFails):
		return ExitFails
	}
	if _, ok := errors.AsType[*UsageError](err); ok {
		return ExitUsage
	}
	return stops.Of(err).Exit()
}

// ReadStart reads at most n+1 bytes of a file, so that the caller sees if there are more than n. The name "-"
// is stdin, unless that is nil.
func ReadStart(name string, stdin io.Reader, n int64) ([]byte, error) {
	if name == "-" && stdin != nil {
		return io.ReadAll(io.LimitReader(stdin, n+1))
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, n+1))
}

// ReadBounded reads a file of text, and returns an error if it has more than n bytes. It takes off what editors add: a
// byte order mark, and the CR of line ends.
func ReadBounded(name string, n int64) ([]byte, error) {
	b, err := ReadStart(name, nil, n)
	switch b = bytes.TrimPrefix(b, []byte("\ufeff")); {
	case err != nil:
	case bytes.HasPrefix(b, []byte("\xff\xfe")) || bytes.HasPrefix(b, []byte("\xfe\xff")):
		err = fmt.Errorf("%s is in UTF-16: save it as UTF-8", name)
	case int64(len(b)) > n:
		err = fmt.Errorf("%s has more than the %d bytes that such a file can have: give the right file, or make this file shorter", name, n)
	}
	return bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")), err
}
