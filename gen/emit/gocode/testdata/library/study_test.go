package library

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/coerce"
	"github.com/convtools/convtools/runtime/contract"
)

func TestTextAnswer(t *testing.T) {
	t.Parallel()
	got, err := Call(t.Context(), librarian{}, nil, contract.Call{
		Tool: "study", Arguments: []byte(`{"subjects":["tides","moons"],"ids":[17]}`), Notes: []string{"first"},
	})
	if want := "tides\nmoons\nfirst\nRead the integers in ids as strings."; err != nil || got != want {
		t.Errorf("answer %q, %v, want %q", got, err, want)
	}
	cause := errors.New("closed")
	got, err = Call(t.Context(), librarian{cause}, nil, contract.Call{Tool: "study", Arguments: []byte(`{"subjects":"x"}`)})
	if !errors.Is(err, cause) {
		t.Errorf("the handler's error is lost: %q, %v", got, err)
	}
	if StudyMaxChars != 2000 {
		t.Error("a constant is wrong")
	}
}

// TestOneOrMany checks every form in which one or many strings reach a handler.
func TestOneOrMany(t *testing.T) {
	t.Parallel()
	defaults := StudyParams{Subjects: []string{"x"}, Rooms: []string{"north"}}
	for _, tc := range []struct {
		in    string
		words []string
		notes int
	}{
		{`{}`, nil, 0},
		{`{"words":null}`, nil, 0},
		{`{"words":"tide"}`, []string{"tide"}, 0},
		{`{"words":" tide "}`, []string{" tide "}, 0},
		{`{"words":["tide"]}`, []string{"tide"}, 0},
		{`{"words":["b","a","b"]}`, []string{"b", "a", "b"}, 0},
		{`{"words":"[\"a\",\"b\"]"}`, []string{"a", "b"}, 0},
		{`{"words":" [\"a\", \"\"] "}`, []string{"a"}, 0},
		{`{"words":"[1]"}`, []string{"[1]"}, 0},
		{`{"words":"[\"a\",1]"}`, []string{`["a",1]`}, 0},
		{`{"words":"[a]"}`, []string{"[a]"}, 0},
		{`{"words":"\"a\""}`, []string{`"a"`}, 0},
		{`{"words":"nullable"}`, []string{"nullable"}, 0},
		{`{"words":""}`, nil, 0},
		{`{"words":" \t"}`, nil, 0},
		{`{"words":"null"}`, nil, 0},
		{`{"words":"[]"}`, nil, 0},
		{`{"words":"[\"\"]"}`, nil, 0},
		{`{"words":[]}`, nil, 0},
		{`{"words":["",""]}`, nil, 0},
		{`{"words":["","a"," "]}`, []string{"a"}, 0},
	} {
		arguments := strings.Replace(strings.Replace(tc.in, "{", `{"subjects":"x",`, 1), ",}", "}", 1)
		call := contract.Call{Arguments: []byte(arguments)}
		tool := StudyTool()
		got, err := coerce.Params[StudyParams](&call, &tool)
		if err != nil || len(call.Notes) != tc.notes {
			t.Errorf("%s: %v, notes %q", tc.in, err, call.Notes)
		}
		want := defaults
		want.Words = tc.words
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.in, diff)
		}
	}
}

func TestOneOrManyRepairs(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		in, want string
		notes    int
	}{
		{`{"rooms":"North"}`, `{"rooms":"north"}`, 1},
		{`{"rooms":"[\"SOUTH\"]"}`, `{"rooms":["south"]}`, 1},
		{`{"rooms":[""]}`, `{}`, 0},
		{`{"ids":17}`, `{"ids":"17"}`, 1},
		{`{"ids":[17,"b"]}`, `{"ids":["17","b"]}`, 1},
		{`{"words":17}`, `{"words":17}`, 0}, // declares no repair
		{`{"words":{"a":1}}`, `{"words":{"a":1}}`, 0},
	} {
		tool := StudyTool()
		args, notes := coerce.Repair(&tool, decode(t, tc.in))
		got, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != tc.want || len(notes) != tc.notes {
			t.Errorf("%s became %s with notes %q, want %s with %d", tc.in, got, notes, tc.want, tc.notes)
		}
	}
}

func TestOneOrManyProblems(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{}`:                                  `missing_parameter: subjects is required: a string, or an array of strings (1 to 3 items; each at most 12 characters; each on one line).`,
		`{"subjects":5}`:                      `wrong_type: subjects must be a string, or an array of strings (1 to 3 items; each at most 12 characters; each on one line), got the number 5.`,
		`{"subjects":"0123456789abc"}`:        `too_long: subjects must be at most 12 characters long, got "0123456789abc".`,
		`{"subjects":["x","0123456789abc"]}`:  `too_long: subjects[1] must be at most 12 characters long, got "0123456789abc".`,
		`{"subjects":"a\nb"}`:                 `not_single_line: subjects must be a single line without line breaks and NUL characters, got "a\nb".`,
		`{"subjects":["a","b","c","d"]}`:      `too_many_items: subjects must be an array of 1 to 3 strings, got ["a","b","c","d"].`,
		`{"subjects":[]}`:                     `too_few_items: subjects must be an array of 1 to 3 strings, got [].`,
		`{"subjects":[7]}`:                    `wrong_type: subjects[0] must be a string (at most 12 characters; on one line), got the number 7.`,
		`{"subjects":"x","rooms":"east"}`:     `not_allowed: rooms: "east" is not allowed. Allowed: north, south.`,
		`{"subjects":"x","rooms":true}`:       `wrong_type: rooms must be a string, or an array of strings (each one of north, south), got the boolean true.`,
		`{"subjects":"x","ids":"B 17"}`:       `pattern_mismatch: ids must be the id of a book, such as b-17, got "B 17".`,
		`{"subjects":"x","words":{"a":"b"}}`:  `wrong_type: words must be a string, or an array of strings, got the object {"a":"b"}.`,
		`{"subjects":"x","words":["a",null]}`: `wrong_type: words[1] must be a string, got the value null.`,
	} {
		problems := problems(StudyTool(), decode(t, in))
		if len(problems) != 1 || fmt.Sprintf("%s: %s", problems[0].Code, problems[0].Message) != want {
			t.Errorf("%s: %+v, want the message %q", in, problems, want)
		}
	}
}
