package proof

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// A question is an input line for the extracted program, and the line that it must answer with.
type question struct{ name, line, want string }

// ask gives the questions to the extracted program, which make proof builds. A wrong answer
// fails the test.
func ask(t *testing.T, questions []question) {
	t.Helper()
	path := os.Getenv("SHUFFLED_RECIPE")
	if path == "" {
		t.Skip("SHUFFLED_RECIPE does not name the extracted program: make proof builds it")
	}
	var in strings.Builder
	for _, q := range questions {
		in.WriteString(q.line + "\n")
	}
	cmd := exec.Command(path)
	cmd.Stdin, cmd.Stderr = strings.NewReader(in.String()), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	answers := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(questions) == 0 || len(answers) != len(questions) {
		t.Fatalf("%d answers to %d questions", len(answers), len(questions))
	}
	wrong := 0
	for i, q := range questions {
		if answers[i] == q.want {
			continue
		}
		if wrong++; wrong > 10 {
			t.Fatal("and so on")
		}
		t.Errorf("%s: %.200q gives %.200q, want %.200q", q.name, q.line, answers[i], q.want)
	}
}

func join[T any](values []T, between string) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = fmt.Sprint(v)
	}
	return strings.Join(words, between)
}

// none is the program's answer if the tape runs out.
const none = "none"

// taken returns the answer with these values, or none if they are nil.
func taken[T any](values []T) string {
	if values == nil {
		return none
	}
	return join(values, " ")
}
