package contract

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/convtools/convtools/runtime/base/near"
	"github.com/convtools/convtools/runtime/base/text"
)

// Code names a kind of problem with an argument. Codes are part of the tool
// contract: prompts and tests may depend on them.
type Code string

// The problems an argument can have.
const (
	CodeMalformed  Code = "malformed_arguments"
	CodeUnknown    Code = "unknown_parameter"
	CodeMissing    Code = "missing_parameter"
	CodeType       Code = "wrong_type"
	CodeEnum       Code = "not_allowed"
	CodeMinimum    Code = "below_minimum"
	CodeMaximum    Code = "above_maximum"
	CodeMinLength  Code = "too_short"
	CodeMaxLength  Code = "too_long"
	CodeMinItems   Code = "too_few_items"
	CodeMaxItems   Code = "too_many_items"
	CodePattern    Code = "pattern_mismatch"
	CodeBlank      Code = "blank"
	CodeSingleLine Code = "not_single_line"
	CodeExclusive  Code = "mutually_exclusive"
)

// Problem is one thing wrong with a call's arguments.
type Problem struct {
	Path    string // parameter, with what leads to a value inside of it: "items[1].text"
	Code    Code
	Message string   // one sentence: what is wrong, what was given and what is wanted
	Allowed []string // the allowed values or names, where they are a list
	Nearest string   // the allowed value nearest to what was given
	Fix     string   // JSON to put at the path instead; empty drops it
	// Relation reports whether it is about several parameters together, which each for
	// itself may be right; no schema has such rules.
	Relation bool

	member bool // the name that is unknown is that of a member, within a parameter
}

// InvalidArguments reports everything wrong with one call's arguments at once.
type InvalidArguments struct {
	Tool     string
	Problems []Problem // in the order the parameters are declared
	// Corrected is the arguments object of a call that would be accepted.
	Corrected string
}

func (e *InvalidArguments) Error() string {
	var b strings.Builder
	if len(e.Problems) == 1 {
		fmt.Fprintf(&b, "Invalid arguments for %s: %s", e.Tool, e.Problems[0].Message)
	} else {
		fmt.Fprintf(&b, "Invalid arguments for %s, %d problems:", e.Tool, len(e.Problems))
		for _, p := range e.Problems {
			b.WriteString("\n- ")
			b.WriteString(p.Message)
		}
	}
	if e.Corrected != "" {
		fmt.Fprintf(&b, "\nA call in the right form: %s %s", e.Tool, e.Corrected)
	}
	return b.String()
}

// Unknown is the problem of a parameter the tool does not have.
func Unknown(name string, known []string) Problem {
	p := Problem{Path: text.Cut(name, maxShown), Code: CodeUnknown, Allowed: known, Nearest: near.Name(name, known)}
	p.Message = "unknown parameter " + text.Quote(name)
	if len(known) == 0 {
		p.Message += ": the tool has none."
		return p
	}
	p.Message += suggestion(p.Nearest) + " Parameters: " + strings.Join(known, ", ") + "."
	return p
}

// UnknownMember is the problem of a member that the object at a path within the arguments
// does not have.
func UnknownMember(at, name string, known []string) Problem {
	p := Problem{Path: at + "." + text.Cut(name, maxShown), Code: CodeUnknown, Allowed: known, Nearest: near.Name(name, known), member: true}
	p.Message = at + " has no member " + text.Quote(name) + suggestion(p.Nearest) + " Members: " + strings.Join(known, ", ") + "."
	return p
}

// NoneOf is the problem of parameters of which at least one has to be given. fix is
// JSON for the first.
func NoneOf(names []string, fix string) Problem {
	return Problem{
		Path: names[0], Code: CodeMissing, Fix: fix, Allowed: names, Relation: true,
		Message: "one of " + strings.Join(names, " and ") + " is required.",
	}
}

// Requires is the problem of a parameter that has to be given because another one is.
func Requires(given, name, fix string) Problem {
	return Problem{Path: name, Code: CodeMissing, Fix: fix, Relation: true, Message: name + " is required where " + given + " is given."}
}

// suggestion ends a sentence with the name that may have been meant.
func suggestion(nearest string) string {
	if nearest == "" {
		return "."
	}
	return "; did you mean " + strconv.Quote(nearest) + "?"
}

// Missing is the problem of a required parameter that was not given.
func Missing(name, want, fix string) Problem {
	return Problem{Path: name, Code: CodeMissing, Fix: fix, Message: name + " is required: " + want + "."}
}

// Type is the problem of a value of the wrong JSON type.
func Type(path, want string, got any, fix string) Problem {
	return Problem{Path: path, Code: CodeType, Fix: fix, Message: path + " must be " + want + ", got " + kindOf(got) + " " + show(got) + "."}
}

// Enum is the problem of a string outside its list of allowed values. The fix
// is the nearest of them, or fallback where none is near.
func Enum(path, got string, allowed []string, fallback string) Problem {
	p := Problem{Path: path, Code: CodeEnum, Allowed: allowed, Nearest: near.Name(got, allowed), Fix: fallback}
	if p.Nearest != "" {
		p.Fix = encode(p.Nearest)
	}
	p.Message = path + ": " + text.Quote(got) + " is not allowed" + suggestion(p.Nearest) + " Allowed: " + strings.Join(allowed, ", ") + "."
	return p
}

// Limit is the problem of a number, length or item count outside its range.
// want completes the sentence "path must be …".
func Limit(path string, code Code, want string, got any, fix string) Problem {
	return Problem{Path: path, Code: code, Fix: fix, Message: path + " must be " + want + ", got " + show(got) + "."}
}

// Mismatch is the problem of a string that a pattern refuses. says completes the
// sentence "path must …".
func Mismatch(path, says string, got any, fix string) Problem {
	return Problem{Path: path, Code: CodePattern, Fix: fix, Message: path + " must " + says + ", got " + show(got) + "."}
}

// Item is the path of an item of an array.
func Item(path string, index int) string { return path + "[" + strconv.Itoa(index) + "]" }

// MaxProblems is how many problems a validator collects before it stops: enough
// for every honest call, and a bound on what a hostile one can cost.
const MaxProblems = 50

// Exclusive is the problem of parameters that must not be given together. A
// corrected call keeps the first.
func Exclusive(names []string) Problem {
	return Problem{
		Path: names[len(names)-1], Code: CodeExclusive, Allowed: names, Relation: true,
		Message: strings.Join(names, " and ") + " cannot be combined: give one of them.",
	}
}

// Malformed is the problem of arguments that are not one JSON object.
func Malformed(reason string) Problem {
	return Problem{Code: CodeMalformed, Message: "the arguments are not one JSON object: " + reason + "."}
}

// Unmet builds the error for a call with problems. given holds the arguments in
// the order they came.
func Unmet(tool string, given []Argument, problems []Problem) *InvalidArguments {
	return &InvalidArguments{Tool: tool, Problems: problems, Corrected: corrected(given, problems)}
}

// Argument is one argument as given: its name and its value as JSON.
type Argument struct {
	Name  string
	Value string
}

// corrected is the arguments object with every problem's fix applied: renamed
// where a name is near, replaced where a value is known, dropped elsewhere.
// Values too long to repeat are dropped too.
func corrected(given []Argument, problems []Problem) string {
	byParameter := map[string][]Problem{}
	excluded := map[string]bool{}
	for _, p := range problems {
		if p.Code == CodeExclusive {
			for _, name := range p.Allowed[1:] {
				excluded[name] = true
			}
			continue
		}
		byParameter[p.parameter()] = append(byParameter[p.parameter()], p)
	}
	var fields []Argument
	keep := func(name, value string) {
		if value != "" && len(value) <= maxRepeated && !contains(fields, name) {
			fields = append(fields, Argument{name, value})
		}
	}
	for _, a := range given {
		found := byParameter[text.Cut(a.Name, maxShown)]
		switch {
		case excluded[a.Name]:
		case len(found) == 0:
			keep(a.Name, a.Value)
		case found[0].Code == CodeUnknown && !found[0].member:
			// A misspelt name keeps its value, unless the right one is there too.
			nearest := found[0].Nearest
			if nearest != "" && !contains(given, nearest) {
				keep(nearest, a.Value)
			}
		default:
			keep(a.Name, fixed(a, found))
		}
	}
	for _, p := range problems {
		if p.Code == CodeMissing {
			keep(p.Path, p.Fix)
		}
	}
	var b strings.Builder
	b.WriteByte('{')
	for i, f := range fields {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(encode(f.Name))
		b.WriteString(": ")
		b.WriteString(f.Value)
	}
	b.WriteByte('}')
	return b.String()
}

// maxRepeated is how many bytes of one value a corrected call repeats.
const maxRepeated = 200

// parameter is the name of the argument that p is about.
func (p *Problem) parameter() string {
	if p.Code == CodeUnknown && !p.member {
		return p.Path
	}
	if end := strings.IndexAny(p.Path, "[."); end >= 0 {
		return p.Path[:end]
	}
	return p.Path
}

// fixed is the value to put in the place of a's, or nothing to drop it. A
// problem of the whole value decides; with problems of items alone, the array
// stays with those replaced or left out. An item with a problem deep inside is left
// out, and an object is dropped.
func fixed(a Argument, problems []Problem) string {
	fixes := map[string]string{}
	for _, p := range problems {
		if p.Path == a.Name {
			return p.Fix
		}
		place, fix := p.Path, p.Fix
		if end := strings.IndexByte(place, ']'); end >= 0 && end+1 < len(place) {
			place, fix = place[:end+1], ""
		}
		if _, seen := fixes[place]; !seen {
			fixes[place] = fix
		}
	}
	var items []json.RawMessage
	if err := json.Unmarshal([]byte(a.Value), &items); err != nil {
		return ""
	}
	var kept []string
	for i, item := range items {
		fix, bad := fixes[Item(a.Name, i)]
		switch {
		case !bad:
			kept = append(kept, string(item))
		case fix != "":
			kept = append(kept, fix)
		}
	}
	if len(kept) == 0 {
		return ""
	}
	return "[" + strings.Join(kept, ", ") + "]"
}

func contains(given []Argument, name string) bool {
	return slices.ContainsFunc(given, func(a Argument) bool { return a.Name == name })
}

// maxShown is how many characters of a caller's own value an error repeats.
const maxShown = 80

// show is a bounded rendering of an argument's value.
func show(v any) string {
	if n, ok := v.(json.Number); ok {
		return text.Cut(n.String(), maxShown)
	}
	return text.Cut(encode(v), maxShown)
}

func encode(v any) string {
	text, err := marshal(v)
	if err != nil {
		return "(unprintable)"
	}
	return string(text)
}

func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "the value"
	case bool:
		return "the boolean"
	case json.Number:
		return "the number"
	case string:
		return "the string"
	case []any:
		return "the array"
	default:
		return "the object"
	}
}
