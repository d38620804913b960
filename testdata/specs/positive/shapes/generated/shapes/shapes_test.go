package shapes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/contract"
)

const id = "123e4567-e89b-12d3-a456-426614174000"

// handler answers with its parameters.
type handler struct{}

func (handler) Open(_ context.Context, call contract.Call, p OpenParams) (string, error) {
	return answer(call, p)
}

func (handler) Plot(_ context.Context, call contract.Call, p PlotParams) (string, error) {
	return answer(call, p)
}

func answer(call contract.Call, p any) (string, error) {
	text, err := json.Marshal(p)
	return strings.Join(append([]string{string(text)}, call.Notes...), "\n"), err
}

func run(t *testing.T, tool, arguments string) string {
	t.Helper()
	got, err := Call(t.Context(), handler{}, contract.Call{Tool: tool, Arguments: []byte(arguments)})
	if err != nil {
		return err.Error()
	}
	return got
}

const open = `{"text": "a", "instruction_text": "b", "internal_tools": {"include_plan_tool": true, "budget": {"currency": "EUR", "amounts": [0, 99.5]}},
	"items": [{"type": "text", "text": "x"}, {"image_url": "https://example.com/a", "detail": "high", "type": "image"}]}`

const plot = `{"id": "` + id + `", "scale": 0.1, "at": "2026-11-22T09:30:00Z", "day": null, "points": [1, 20], "rows": [[1, null, 0.5]], "marks": [true],
	"limit": 50, "color": "red", "names": ["a"], "x": 1}`

func TestBound(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ tool, in, want string }{
		{
			"shapes_open", open,
			`{"InstructionText":"b","InstructionFile":null,"Text":"a","Items":[{"Text":{"Text":"x"},"Image":null},{"Text":null,"Image":{"ImageURL":"https://example.com/a","Detail":"high"}}],` +
				`"InternalTools":{"IncludePlanTool":true,"Budget":{"Currency":"EUR","Amounts":[0,99.5]}}}`,
		},
		{
			"shapes_open", `{"text": "a", "instruction_file": null, "items": null, "instruction_text": "b", "internal_tools": {"include_plan_tool": null, "budget": null}}`,
			`{"InstructionText":"b","InstructionFile":null,"Text":"a","Items":null,"InternalTools":{"IncludePlanTool":null,"Budget":null}}`,
		},
		{
			"shapes_plot", plot,
			`{"ID":"` + id + `","Scale":0.1,"Least":null,"At":"2026-11-22T09:30:00Z","Day":null,"Points":[1,20],"Rows":[[1,null,0.5]],"Marks":[true],"Links":null,"Limit":50,"Color":"red","Names":["a"],"X":1,"Y":null}`,
		},
		{
			"shapes_plot", `{"id": "` + id + `", "limit": null, "names": null, "y": 3, "least": 1e400}`,
			`{"ID":"` + id + `","Scale":1.5,"Least":1.7976931348623157e+308,"At":null,"Day":null,"Points":[1,2],"Rows":null,"Marks":null,"Links":null,"Limit":null,"Color":null,"Names":null,"X":null,"Y":3}`,
		},
		{
			"shapes_plot", `{"id": "` + id + `", "y": 3}`,
			`{"ID":"` + id + `","Scale":1.5,"Least":null,"At":null,"Day":null,"Points":[1,2],"Rows":null,"Marks":null,"Links":null,"Limit":5,"Color":null,"Names":null,"X":null,"Y":3}`,
		},
	} {
		if diff := cmp.Diff(tc.want, run(t, tc.tool, tc.in)); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", tc.tool, tc.in, diff)
		}
	}
}

// A tool answers to its name, to how hosts without dots write it, and to former
// names, which are told to be that.
func TestNames(t *testing.T) {
	t.Parallel()
	arguments := `{"id": "` + id + `", "x": 1}`
	want := run(t, "shapes_plot", arguments)
	if got := run(t, "shapes_draw", arguments); got != want+"\nshapes_draw is now called shapes_plot; the old name works until 2027-06-30." {
		t.Errorf("answer by the former name: %s", got)
	}
	if a, b := run(t, "shapes.open", open), run(t, "shapes_open", open); a != b || strings.Contains(a, "called") {
		t.Errorf("answers by two spellings: %s and %s", a, b)
	}
	if got := run(t, "shapes_ope", "{}"); got != "There is no tool named \"shapes_ope\". Did you mean shapes.open? Tools: shapes.history, shapes.open, shapes_plot." {
		t.Errorf("answer by no name: %s", got)
	}
	for name, tool := range map[string]contract.Tool{"shapes.open": OpenTool(), "shapes_open": OpenTool(), "shapes_draw": PlotTool()} {
		if !tool.AnswersTo(name) || tool.AnswersTo(name+"_") {
			t.Errorf("%s is not a name of %s", name, tool.Name)
		}
	}
}

func TestRepairs(t *testing.T) {
	t.Parallel()
	got := run(t, "shapes_open", `{"instruction_text": "b",
		"items": {"type": "image", "image_url": "https://example.com/a", "detail": "HIGH"},
		"internal_tools": "{\"include_plan_tool\": \"True\"}"}`)
	want := `{"InstructionText":"b","InstructionFile":null,"Text":null,"Items":[{"Text":null,"Image":{"ImageURL":"https://example.com/a","Detail":"high"}}],` +
		`"InternalTools":{"IncludePlanTool":true,"Budget":null}}
Read items as an array of one value.
Read items[0].detail="HIGH" as "high".
Read internal_tools from a string as the JSON object inside it.
Read internal_tools.include_plan_tool="True" as the boolean true.`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("open (-want +got):\n%s", diff)
	}
	got = run(t, "shapes_plot", `{"id": "`+id+`", "scale": " 2.5 ", "points": 7, "limit": 51, "x": 0}`)
	if _, notes, _ := strings.Cut(got, "\n"); notes != "Read scale=\" 2.5 \" as the number 2.5.\nRead points as an array of one value.\nlimit=51 is over the maximum: used 50." {
		t.Errorf("notes %q", notes)
	}
}

// Every problem is reported at once, each at its path, with a call that works.
func TestProblems(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, tool, in, want string }{
		{
			"deep inside", "shapes_open",
			`{"text": "a", "instruction_text": "b", "items": [{"type": "text"}, {"type": "sound"}, {"typ": "text"}, 5, {"type": 1}],
			"internal_tools": {"include_plan_tool": 1, "plan": true, "budget": {"currency": "euro", "amounts": [1, -1, "x", 100]}}}`,
			`Invalid arguments for shapes_open, 12 problems:
- items must be an array of 1 to 3 objects, got [{"type":"text"},{"type":"sound"},{"typ":"text"},5,{"type":1}].
- items[0].text is required: a string (at most 20 characters).
- items[1].type: "sound" is not allowed. Allowed: text, image.
- items[2].type is required: one of text, image.
- items[3] must be an object whose type is one of text, image, got the number 5.
- items[4].type must be one of text, image, got the number 1.
- internal_tools.include_plan_tool must be true or false, got the number 1.
- internal_tools.budget.currency must be a currency such as EUR, got "euro".
- internal_tools.budget.amounts[1] must be a number (0 to 99.5), got -1.
- internal_tools.budget.amounts[2] must be a number (0 to 99.5), got the string "x".
- internal_tools.budget.amounts[3] must be a number (0 to 99.5), got 100.
- internal_tools has no member "plan". Members: include_plan_tool, budget.
A call in the right form: shapes_open {"text": "a", "instruction_text": "b"}`,
		},
		{
			"one bad item among good ones", "shapes_open",
			`{"items": [{"type": "text", "text": "x"}, {"type": "image", "image_url": "a"}]}`,
			`Invalid arguments for shapes_open: items[1].image_url must be a URI with its scheme, such as https://example.com/a, got "a".
A call in the right form: shapes_open {"items": [{"type":"text","text":"x"}]}`,
		},
		{
			"rules", "shapes_open", `{"internal_tools": {}}`,
			`Invalid arguments for shapes_open, 2 problems:
- one of text and items is required.
- instruction_text is required where internal_tools is given.
A call in the right form: shapes_open {"internal_tools": {}, "text": "What is this?", "instruction_text": "Be brief."}`,
		},
		{
			"exactly one, none", "shapes_plot", `{"id": "` + id + `"}`,
			`Invalid arguments for shapes_plot: one of x and y is required.
A call in the right form: shapes_plot {"id": "` + id + `", "x": 1}`,
		},
		{
			"exactly one, both", "shapes_plot", `{"id": "` + id + `", "x": 1, "y": 2}`,
			`Invalid arguments for shapes_plot: x and y cannot be combined: give one of them.
A call in the right form: shapes_plot {"id": "` + id + `", "x": 1}`,
		},
		{
			"scalars", "shapes_plot",
			`{"id": "x", "scale": 0, "least": "1", "at": "now", "day": "2026-02-30", "points": [1.5, 101], "rows": [[], [1, true], 3], "marks": [null], "links": ["a"], "limit": "7", "color": "green", "names": [""], "x": 1}`,
			`Invalid arguments for shapes_plot, 15 problems:
- id must be a UUID such as 123e4567-e89b-12d3-a456-426614174000, got "x".
- scale must be a number (0.1 to 10), got 0.
- least must be a number, got the string "1".
- at must be a date and time such as 2026-11-22T09:30:00Z, got "now".
- day must be a date such as 2026-11-22, got "2026-02-30".
- points[0] must be an integer (0 to 100), got the number 1.5.
- points[1] must be an integer (0 to 100), got 101.
- rows[0] must be an array of 1 to 3 numbers, got [].
- rows[1][1] must be a number, or null, got the boolean true.
- rows[2] must be an array of numbers or null (1 to 3 items), got the number 3.
- marks[0] must be true or false, got the value null.
- links[0] must be a URI with its scheme, such as https://example.com/a, got "a".
- limit must be an integer (at most 50), or null, got the string "7".
- color: "green" is not allowed. Allowed: red, blue.
- names[0] must be at least 1 character long, got "".
A call in the right form: shapes_plot {"id": "` + id + `", "scale": 0.1, "points": [100], "limit": 5, "x": 1}`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, run(t, tc.tool, tc.in)); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

// A hostile call costs no more than the problems that are reported.
func TestProblemsAreBounded(t *testing.T) {
	t.Parallel()
	items := strings.TrimSuffix(strings.Repeat(`{"type":"text","a":1,"b":2},`, 1000), ",")
	_, err := Call(t.Context(), handler{}, contract.Call{Tool: "shapes_open", Arguments: fmt.Appendf(nil, `{"items": [%s]}`, items)})
	var invalid *contract.InvalidArguments
	if !errors.As(err, &invalid) || len(invalid.Problems) < contract.MaxProblems || len(invalid.Problems) > contract.MaxProblems+5 {
		t.Errorf("error %.200v", err)
	}
}
