package check

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/spec"
	"github.com/convtools/convtools/gen/table"
	"github.com/convtools/convtools/runtime/coerce"
	"github.com/convtools/convtools/runtime/commandline"
	"github.com/convtools/convtools/runtime/contract"
)

// example returns the arguments of an example as JSON, in the order of the parameters.
func example(t *ir.Tool, e *spec.Example) string {
	given := e.Arguments.Value
	order := slices.DeleteFunc(paramNames(t), func(name string) bool { _, ok := given[name]; return !ok })
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(order, name) {
			order = append(order, name)
		}
	}
	var members []string
	for _, name := range order {
		members = append(members, ir.JSON(name)+": "+ir.JSON(plain(given[name])))
	}
	return "{" + strings.Join(members, ", ") + "}"
}

// plain converts a TOML value to one that JSON has: dates, infinities and NaN become strings.
func plain(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = plain(v[i])
		}
		return out
	case []map[string]any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = plain(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, value := range v {
			out[name] = plain(value)
		}
		return out
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Sprint(v)
		}
		return v
	case bool, string, int64:
		return v
	default:
		return fmt.Sprint(v)
	}
}

// judgeExamples checks each example as a call, and reports defaults that the command would refuse.
func (c *checker) judgeExamples(t *ir.Tool, s *spec.Tool) {
	judge := &commandline.Tool{Tool: *table.Arguments(t)}
	if t.Command != nil {
		judge.Command = *t.Command
		for _, problem := range judge.Problems(nil) {
			i := slices.IndexFunc(s.Params, func(p spec.Param) bool { return p.Name == firstName(problem.Path) })
			c.refused(inside(s.Params[i].Default.At, strings.TrimPrefix(problem.Path, s.Params[i].Name)), problem)
		}
	}
	for i := range s.Examples {
		arguments := s.Examples[i].Arguments
		if !arguments.Set {
			continue
		}
		problems, misspelt := refusals(judge, t.Examples[i].Arguments), map[string]bool{}
		for _, p := range problems {
			misspelt[p.Nearest] = misspelt[p.Nearest] || p.Code == contract.CodeUnknown
		}
		for _, p := range problems {
			at := inside(arguments.At, p.Path)
			span, name := at.Span(), firstName(p.Path)
			if p.Code == contract.CodeUnknown {
				span = at.KeySpan()
			}
			absent := p.Path == name && (p.Code == contract.CodeUnknown || p.Code == contract.CodeMissing)
			_, given := arguments.Value[name]
			switch {
			case absent && p.Code == contract.CodeMissing && misspelt[name]:
			case absent && p.Code == contract.CodeUnknown && s.At.Key("parameters").Doubtful():
			case p.Relation, absent, given && !c.unsound[name]:
				c.reportAt(at, span, "CT024", "this example is not accepted: "+p.Message, "")
			}
		}
	}
}

// judgeDefault checks the default of a parameter or member against its own constraints.
func (c *checker) judgeDefault(s *spec.Param, p ir.Param) {
	judge := &commandline.Tool{Tool: *table.Arguments(&ir.Tool{Params: []ir.Param{p}})}
	for _, problem := range refusals(judge, ir.JSON(map[string]any{p.Name: p.Default})) {
		c.refused(inside(s.Default.At, strings.TrimPrefix(problem.Path, p.Name)), problem)
	}
}

// refused reports a default that a call would be refused for.
func (c *checker) refused(at spec.Place, problem contract.Problem) {
	c.report(at, "CT008", "the default is not accepted: "+strings.TrimSuffix(problem.Message, "."), "")
}

// refusals returns the problems that a call with the arguments would be refused for. Messages have no full stop.
func refusals(judge *commandline.Tool, arguments string) []contract.Problem {
	object, _, err := coerce.DecodeObject([]byte(arguments))
	if err != nil {
		return []contract.Problem{{Message: err.Error()}}
	}
	problems := coerce.Problems(&judge.Tool, object)
	if problems == nil {
		problems = judge.Problems(object)
	}
	for i := range problems {
		problems[i].Message = strings.TrimSuffix(problems[i].Message, ".")
	}
	return problems
}

// firstName returns the parameter at the beginning of a path such as items[1].text.
func firstName(path string) string {
	if end := strings.IndexAny(path, "[."); end >= 0 {
		return path[:end]
	}
	return path
}

// inside returns the place of path below at.
func inside(at spec.Place, path string) spec.Place {
	for _, step := range strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune("[].", r) }) {
		if i, err := strconv.Atoi(step); err == nil {
			at = at.Elem(i)
		} else {
			at = at.Key(step)
		}
	}
	return at
}
