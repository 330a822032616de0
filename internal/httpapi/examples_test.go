package httpapi

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"shuffled/internal/audit"
)

// TestExamples holds each example of a request or an answer against its schema. A success
// that is answered in JSON has an example.
func TestExamples(t *testing.T) {
	t.Parallel()
	doc, held := loadContract(t), 0
	for _, item := range doc.Paths.Map() {
		for _, op := range item.Operations() {
			if op.RequestBody != nil {
				for _, media := range op.RequestBody.Value.Content {
					held += checkExamples(t, op.OperationID+", request", media)
				}
			}
			for status, answer := range op.Responses.Map() {
				at := op.OperationID + ", " + status
				for kind, media := range answer.Value.Content {
					held += checkExamples(t, at, media)
					if kind == "application/json" && status[0] == '2' && len(media.Examples) == 0 {
						t.Errorf("%s: the answer has no example", at)
					}
				}
			}
		}
	}
	if held < 100 {
		t.Errorf("%d examples", held)
	}
}

// checkExamples returns the number of the examples that it held against their schema.
func checkExamples(t *testing.T, at string, media *openapi3.MediaType) int {
	t.Helper()
	for name, e := range media.Examples {
		v := decodeAny(t, exampleJSON(t, e))
		if err := media.Schema.Value.VisitJSON(v, openapi3.EnableJSONSchema2020(), openapi3.MultiErrors()); err != nil {
			t.Errorf("%s, %s: %v", at, name, err)
		}
	}
	return len(media.Examples)
}

func exampleJSON(t *testing.T, e *openapi3.ExampleRef) []byte {
	t.Helper()
	b, err := json.Marshal(e.Value.Value)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestTranscriptExample has the daemon judge the example of a transcript. The verdict is the
// example of a verdict, and the example of a receipt is the transcript's.
func TestTranscriptExample(t *testing.T) {
	t.Parallel()
	paths := loadContract(t).Paths
	success := func(op *openapi3.Operation, kind, name string) []byte {
		return exampleJSON(t, op.Responses.Value("200").Value.Content[kind].Examples[name])
	}
	var file audit.Transcript
	if err := json.Unmarshal(success(paths.Find("/v1/{ledger}/shuffles/{id}/transcript").Get,
		"application/json", "closed"), &file); err != nil {
		t.Fatal(err)
	}
	b, err := file.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	s, verify := newStack(t, stackOptions{}), paths.Find("/v1/verify").Post
	for name, body := range map[string][]byte{"consistent": b, "failed": []byte("neither")} {
		got := s.do(ask{method: "POST", path: "/v1/verify", body: body}).body
		want := success(verify, "application/json", name)
		if !reflect.DeepEqual(decodeAny(t, got), decodeAny(t, want)) {
			t.Errorf("%s is judged\n%s\nand in the example\n%s", name, got, want)
		}
	}
	receipt := success(paths.Find("/v1/{ledger}/entries/{index}/receipt").Get, "text/plain", "commit")
	if got := decodeAny(t, receipt); got != strings.Join(file.Receipts[1:2], "") {
		t.Errorf("the receipt is not the transcript's: %s", got)
	}
}
