package knowledge_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/generated/knowledge"
	"github.com/convtools/convtools/runtime/contract"
)

// listener keeps what it was asked, and answers with a constant.
type listener struct {
	params knowledge.LearnParams
	notes  []string
}

func (l *listener) Learn(_ context.Context, call contract.Call, p knowledge.LearnParams) (string, error) {
	l.params, l.notes = p, call.Notes
	return "# Topic: style", nil
}

func learnCall(arguments string) contract.Call {
	return contract.Call{Tool: "learn", Arguments: []byte(arguments)}
}

func TestSubjectsOfCalls(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, subjects string // JSON; empty: not given
		want           []string
	}{
		{"KB-21 not given", ``, nil},
		{"KB-21 null", `null`, nil},
		{"KB-21 one string", `"style"`, []string{"style"}},
		{"KB-21 several strings", `["style","maintainers/**"]`, []string{"style", "maintainers/**"}},
		{"A-11 empty string", `""`, nil},
		{"A-11 blank string", `"  "`, nil},
		{"A-11 empty array", `[]`, nil},
		{"A-11 array of an empty string", `[""]`, nil},
		{"A-11 empty string among others", `["","style"]`, []string{"style"}},
		{"A-11 the word null", `"null"`, nil},
		{"A-11 JSON array in a string", `"[\"style\", \"**\"]"`, []string{"style", "**"}},
		{"A-11 empty JSON array in a string", `"[]"`, nil},
		{"A-11 a bracket that begins no JSON", `"[a-z]*"`, []string{"[a-z]*"}},
		{"A-11 JSON array of numbers in a string", `"[2]"`, []string{"[2]"}},
		{"A-11 long JSON array in a string", `"[` + strings.Repeat(`\"maintainers/jean\",`, 63) + `\"x\"]"`, append(repeated("maintainers/jean", 63), "x")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			arguments := `{"topic":"project"}`
			if tc.subjects != "" {
				arguments = `{"topic":"project","subjects":` + tc.subjects + `}`
			}
			var l listener
			got, err := knowledge.Call(t.Context(), &l, learnCall(arguments))
			if err != nil || got != "# Topic: style" {
				t.Fatalf("answer %q, %v", got, err)
			}
			if diff := cmp.Diff(knowledge.LearnParams{Topic: "project", Subjects: tc.want}, l.params); diff != "" {
				t.Errorf("parameters (-want +got):\n%s", diff)
			}
			if len(l.notes) > 0 {
				t.Errorf("notes %q", l.notes)
			}
		})
	}
}

func repeated(s string, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = s
	}
	return list
}

func TestRefusalsOfCalls(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ in, want string }{
		{`{}`, "topic is required: a string (at most 200 characters; not blank)."},
		{`{"topic":" "}`, `topic must be more than white space, got " ".`},
		{`{"topic":"x","subjects":5}`, "subjects must be a string, or an array of strings (at most 64 items; each at most 256 characters), got the number 5."},
		{`{"topic":"x","subjects":["a",5]}`, "subjects[1] must be a string (at most 256 characters), got the number 5."},
		{`{"topic":"x","subject":"a"}`, `unknown parameter "subject"; did you mean "subjects"? Parameters: topic, subjects.`},
		{`{"topic":"x","subjects":[` + strings.Repeat(`"a",`, 64) + `"a"]}`, "subjects must be an array of at most 64 strings, got "},
		{`{"topic":"x","subjects":"` + strings.Repeat("a", 257) + `"}`, "subjects must be at most 256 characters long, got "},
	} {
		var l listener
		_, err := knowledge.Call(t.Context(), &l, learnCall(tc.in))
		var invalid *contract.InvalidArguments
		if !errors.As(err, &invalid) || len(invalid.Problems) != 1 || !strings.HasPrefix(invalid.Problems[0].Message, tc.want) {
			t.Errorf("%.80s: %v, want %q", tc.in, err, tc.want)
			continue
		}
		if _, err := knowledge.Call(t.Context(), &l, learnCall(invalid.Corrected)); err != nil || len(l.notes) > 0 {
			t.Errorf("%.80s: the call that works does not: %s: %v, notes %q", tc.in, invalid.Corrected, err, l.notes)
		}
	}
}

func TestNobodyListens(t *testing.T) {
	t.Parallel()
	got, err := knowledge.Call(t.Context(), nil, learnCall(`{"topic":"project"}`))
	var failure *contract.Error
	if got != "" || !errors.As(err, &failure) || !strings.HasPrefix(failure.Message, "learn cannot be used here") {
		t.Errorf("answer %q, %v", got, err)
	}
}

// A host puts the topics of its workspace behind the description, and clients cut
// the whole at 2,048 characters.
func TestDescriptionLeavesRoomForTopics(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../generated/mcp/tools.json")
	if err != nil {
		t.Fatal(err)
	}
	var tools []struct{ Name, Description string }
	if err := json.Unmarshal(data, &tools); err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools {
		if tool.Name != "learn" {
			continue
		}
		if n := len(utf16.Encode([]rune(tool.Description))); n > 2048-1300 {
			t.Errorf("the description has %d characters: fewer than 1,300 are left for topics", n)
		}
		return
	}
	t.Error("learn is not among the tools")
}

// Providers refuse a type that is a list of types, and null among the types.
func TestSchemaHasOneTypeEach(t *testing.T) {
	t.Parallel()
	var schema map[string]any
	if err := json.Unmarshal([]byte(knowledge.LearnTool().InputSchema), &schema); err != nil {
		t.Fatal(err)
	}
	types := 0
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			if kind, given := v["type"]; given {
				types++
				if name, ok := kind.(string); !ok || name == "null" {
					t.Errorf("%s has the type %v", path, kind)
				}
			}
			for name, member := range v {
				walk(path+"."+name, member)
			}
		case []any:
			for _, item := range v {
				walk(path+"[]", item)
			}
		}
	}
	walk("schema", schema)
	if types != 5 { // the object, the topic, one subject, many subjects, each of them
		t.Errorf("%d types", types)
	}
}
