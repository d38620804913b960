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

// exampleJSON returns the arguments of an example as JSON: those of parameters in the order of the parameters, then
// those of unknown names, sorted.
func exampleJSON(t *ir.Tool, e *spec.Example) string {
	given := e.Arguments.Value
	var order []string
	for _, name := range paramNames(t) {
		if _, isGiven := given[name]; isGiven {
			order = append(order, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(order, name) {
			order = append(order, name)
		}
	}
	var members []string
	for _, name := range order {
		members = append(members, ir.JSON(name)+": "+ir.JSON(jsonValue(given[name])))
	}
	return "{" + strings.Join(members, ", ") + "}"
}

// jsonValue converts a TOML value to one that JSON has: dates, infinities and NaN become strings.
func jsonValue(v any) any {
	switch v := v.(type) {
	case []any:
		return jsonValues(v)
	case []map[string]any:
		return jsonValues(v)
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, value := range v {
			out[name] = jsonValue(value)
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

// jsonValues converts the items of a list as jsonValue does.
func jsonValues[T any](list []T) []any {
	out := make([]any, len(list))
	for i, item := range list {
		out[i] = jsonValue(item)
	}
	return out
}

// checkExamples reports defaults that the command would refuse, and examples that the tool would refuse as calls.
func (c *checker) checkExamples(t *ir.Tool, s *spec.Tool) {
	tool := &commandline.Tool{Tool: *table.Arguments(t)}
	if t.Command != nil {
		tool.Command = *t.Command
		for _, problem := range tool.Problems(nil) { // nil: no argument is given, so the defaults are checked
			name := firstName(problem.Path)
			i := slices.IndexFunc(s.Params, func(p spec.Param) bool { return p.Name == name })
			place := placeBelow(s.Params[i].Default.At, strings.TrimPrefix(problem.Path, name))
			c.reportDefault(place, problem)
		}
	}
	for i := range s.Examples {
		if arguments := s.Examples[i].Arguments; arguments.Set {
			c.reportProblems(arguments, refusals(tool, t.Examples[i].Arguments))
		}
	}
}

// reportProblems reports the problems with the arguments of an example. It leaves out a problem that may follow from
// another mistake in the spec, because that mistake is reported already.
func (c *checker) reportProblems(arguments spec.Field[map[string]any], problems []contract.Problem) {
	misspelt := map[string]bool{} // the parameters whose names are probably misspelt in the example
	for _, p := range problems {
		if p.Code == contract.CodeUnknown {
			misspelt[p.Nearest] = true
		}
	}
	for _, p := range problems {
		place, name := placeBelow(arguments.At, p.Path), firstName(p.Path)
		span := place.Span()
		if p.Code == contract.CodeUnknown {
			span = place.KeySpan()
		}
		isParameter := p.Path == name // the problem is about a whole parameter, not about a value inside one
		_, given := arguments.Value[name]
		var follows bool // from another mistake
		switch {
		case isParameter && p.Code == contract.CodeMissing:
			follows = misspelt[name]
		case isParameter && p.Code == contract.CodeUnknown:
			follows = c.spec.At.Key("parameters").Doubtful() // an unreadable table may declare it
		case !p.Relation: // the problem is about one value; a value that is not given is a default, and reported as such
			follows = !given || c.unsound[name] // an unsound parameter has a mistake in its declaration
		}
		if !follows {
			c.reportAt(place, span, "CT024", "this example is not accepted: "+p.Message, "")
		}
	}
}

// checkDefault reports the default of p, a parameter or a member, if it breaks the constraints of p. s declares p.
func (c *checker) checkDefault(s *spec.Param, p ir.Param) {
	tool := &commandline.Tool{Tool: *table.Arguments(&ir.Tool{Params: []ir.Param{p}})}
	for _, problem := range refusals(tool, ir.JSON(map[string]any{p.Name: p.Default})) {
		c.reportDefault(placeBelow(s.Default.At, strings.TrimPrefix(problem.Path, p.Name)), problem)
	}
}

// reportDefault reports a default, or the part of a default at place, that has the given problem.
func (c *checker) reportDefault(place spec.Place, problem contract.Problem) {
	c.report(place, "CT008", "the default is not accepted: "+strings.TrimSuffix(problem.Message, "."), "")
}

// refusals returns the problems for which tool would refuse a call with the arguments: those of the parameters, or else
// those of the command. Their messages have no full stop.
func refusals(tool *commandline.Tool, arguments string) []contract.Problem {
	object, _, err := coerce.DecodeObject([]byte(arguments))
	if err != nil {
		return []contract.Problem{{Message: err.Error()}}
	}
	problems := coerce.Problems(&tool.Tool, object)
	if problems == nil {
		problems = tool.Problems(object)
	}
	for i := range problems {
		problems[i].Message = strings.TrimSuffix(problems[i].Message, ".")
	}
	return problems
}

// firstName returns the parameter at the beginning of a path such as items[1].text.
func firstName(path string) string {
	name, _, _ := strings.Cut(strings.ReplaceAll(path, "[", "."), ".")
	return name
}

// placeBelow returns the place that a path such as items[1].text leads to from the given place.
func placeBelow(place spec.Place, path string) spec.Place {
	for _, step := range strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune("[].", r) }) {
		if i, err := strconv.Atoi(step); err == nil {
			place = place.Elem(i)
		} else {
			place = place.Key(step)
		}
	}
	return place
}
