package prove

import (
	"strings"
	"testing"

	"github.com/convtools/convtools/runtime/coerce"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/envelope"
)

// sound is a tool whose parts agree.
func sound() Tool {
	return Tool{
		Tool: contract.Tool{
			Name: "note_list", Summary: "List", Description: "Lists.", Example: `{"limit": 5}`,
			InputSchema: `{"type":"object","properties":{"limit":{"type":"integer","minimum":1,"default":20}},"additionalProperties":false}`,
		},
		Coerce: func(args *coerce.Args) {},
		Validate: func(object coerce.Object) (problems []contract.Problem) {
			for _, f := range object {
				n, ok := coerce.Int(f.Value)
				switch {
				case f.Name != "limit":
					problems = append(problems, contract.Unknown(f.Name, []string{"limit"}))
				case !ok:
					problems = append(problems, contract.Mismatch("limit", "be an integer", "x", "20"))
				case n < 1:
					problems = append(problems, contract.Problem{Path: "limit", Code: contract.CodeMinimum, Message: "limit must be at least 1", Fix: "20"})
				}
			}
			return problems
		},
		Examples: []string{`{"limit": 5}`, `{}`},
	}
}

// forged is an answer whose text can end its element.
type forged struct{ Text string }

func (f *forged) Bytes() []byte { return []byte("<a>" + f.Text + "</a>") }

// deaf is an answer that leaves a text out.
type deaf struct{ Text, Other string }

func (d *deaf) AppendFields(w *envelope.JSON) { w.Name("text"); w.Text(d.Text) }

// TestFindsFaults breaks one thing of a tool at a time.
func TestFindsFaults(t *testing.T) {
	t.Parallel()
	if err := sound().prove(); err != nil {
		t.Fatalf("a sound tool: %v", err)
	}
	for _, tc := range []struct {
		name  string
		broke func(*Tool)
		want  string
	}{
		{"an example that is not valid", func(p *Tool) { p.Examples = []string{`{"limit": 0}`} }, "limit must be at least 1"},
		{"an example that needs repairs", func(p *Tool) {
			p.Coerce = func(args *coerce.Args) { args.Repairs = append(args.Repairs, coerce.Repair{Note: "Repaired."}) }
		}, "it needs repairs: Repaired."},
		{"a default that is not valid", func(p *Tool) {
			p.Tool.InputSchema = strings.Replace(p.Tool.InputSchema, `"default":20`, `"default":0`, 1)
		}, "the default of limit: limit must be at least 1"},
		{"a schema that takes more", func(p *Tool) {
			p.Tool.InputSchema = strings.Replace(p.Tool.InputSchema, `"minimum":1`, `"minimum":-9`, 1)
		}, "the validator accepts them: false, the schema: true"},
		{"a validator that takes more", func(p *Tool) {
			p.Validate = func(coerce.Object) []contract.Problem { return nil }
		}, "the validator accepts them: true, the schema: false"},
		{"a call that does not work", func(p *Tool) {
			p.Examples, p.Tool.Example = nil, `{"limit": 0}`
		}, "the call that works does not"},
		{"a name that hosts refuse", func(p *Tool) { p.Tool.Name = strings.Repeat("long_", 20) + "name" }, "does not take the name"},
		{"text that ends its element", func(p *Tool) { p.Answer = func() any { return new(forged) } }, "element"},
		{"text that is left out", func(p *Tool) { p.Answer = func() any { return new(deaf) } }, "is not read back"},
		{"no answer at all", func(p *Tool) { p.Answer = func() any { return new(string) } }, "*string is no answer"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			tool := sound()
			tc.broke(&tool)
			if err := tool.prove(); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("it says %v, and not %q", err, tc.want)
			}
		})
	}
}
