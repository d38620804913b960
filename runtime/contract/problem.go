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

// Code is the kind of a problem with an argument. Codes are part of the tool contract.
type Code string

// The codes.
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

// Problem is one problem with the arguments of a call.
type Problem struct {
	Path    string // the parameter, or the path of a value in it: "items[1].text"
	Code    Code
	Message string   // one sentence: the problem, the given value and what is wanted
	Allowed []string // the allowed values or names, if they are a list
	Nearest string   // the allowed value nearest to the given one
	Fix     string   // JSON of a corrected value; empty removes the argument
	// Relation is true for a problem of several parameters together. No schema has such rules.
	Relation bool

	member bool // the unknown name is that of a member in a parameter
}

// InvalidArguments is the error for the arguments of a call. It has all their problems.
type InvalidArguments struct {
	Tool     string
	Problems []Problem // in the declared order of the parameters
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

// Unknown returns the problem of a parameter that the tool does not have.
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

// UnknownMember returns the problem of a member that the object at a path does not have.
func UnknownMember(path, name string, known []string) Problem {
	p := Problem{Path: path + "." + text.Cut(name, maxShown), Code: CodeUnknown, Allowed: known, Nearest: near.Name(name, known), member: true}
	p.Message = path + " has no member " + text.Quote(name) + suggestion(p.Nearest) + " Members: " + strings.Join(known, ", ") + "."
	return p
}

// NoneOf returns the problem of parameters of which at least one is required. fix is JSON for the first.
func NoneOf(names []string, fix string) Problem {
	return Problem{
		Path: names[0], Code: CodeMissing, Fix: fix, Allowed: names, Relation: true,
		Message: "one of " + strings.Join(names, " and ") + " is required.",
	}
}

// Requires returns the problem that the parameter name is missing where the parameter given is given.
func Requires(given, name, fix string) Problem {
	return Problem{Path: name, Code: CodeMissing, Fix: fix, Relation: true, Message: name + " is required where " + given + " is given."}
}

// suggestion returns the end of a sentence, with the name that may have been meant.
func suggestion(nearest string) string {
	if nearest == "" {
		return "."
	}
	return "; did you mean " + strconv.Quote(nearest) + "?"
}

// Missing returns the problem of a required parameter that was not given.
func Missing(name, want, fix string) Problem {
	return Problem{Path: name, Code: CodeMissing, Fix: fix, Message: name + " is required: " + want + "."}
}

// Type returns the problem of a value of the wrong JSON type.
func Type(path, want string, got any, fix string) Problem {
	return Problem{Path: path, Code: CodeType, Fix: fix, Message: path + " must be " + want + ", got " + kindOf(got) + " " + show(got) + "."}
}

// Enum returns the problem of a string that is not an allowed value. The fix is the nearest one, or else fallback.
func Enum(path, got string, allowed []string, fallback string) Problem {
	p := Problem{Path: path, Code: CodeEnum, Allowed: allowed, Nearest: near.Name(got, allowed), Fix: fallback}
	if p.Nearest != "" {
		p.Fix = JSON(p.Nearest)
	}
	p.Message = path + ": " + text.Quote(got) + " is not allowed" + suggestion(p.Nearest) + " Allowed: " + strings.Join(allowed, ", ") + "."
	return p
}

// Limit returns the problem of a number or a count outside its range. want completes the sentence "path must be …".
func Limit(path string, code Code, want string, got any, fix string) Problem {
	return Problem{Path: path, Code: code, Fix: fix, Message: path + " must be " + want + ", got " + show(got) + "."}
}

// Mismatch returns the problem of a string that a pattern refuses. says completes the sentence "path must …".
func Mismatch(path, says string, got any, fix string) Problem {
	return Problem{Path: path, Code: CodePattern, Fix: fix, Message: path + " must " + says + ", got " + show(got) + "."}
}

// Item returns the path of an item of an array.
func Item(path string, index int) string { return path + "[" + strconv.Itoa(index) + "]" }

// MaxProblems is the number of problems after which a validator stops: it bounds the cost of a hostile call.
const MaxProblems = 50

// Exclusive returns the problem of parameters that must not be given together. A corrected call keeps the first.
func Exclusive(names []string) Problem {
	return Problem{
		Path: names[len(names)-1], Code: CodeExclusive, Allowed: names, Relation: true,
		Message: strings.Join(names, " and ") + " cannot be combined: give one of them.",
	}
}

// Malformed returns the problem of arguments that are not one JSON object.
func Malformed(reason string) Problem {
	return Problem{Code: CodeMalformed, Message: "the arguments are not one JSON object: " + reason + "."}
}

// Unmet returns the error for a call with problems. given are the arguments in the order of the call.
func Unmet(tool string, given []Argument, problems []Problem) *InvalidArguments {
	return &InvalidArguments{Tool: tool, Problems: problems, Corrected: corrected(given, problems)}
}

// Argument is one given argument: its name and its value as JSON.
type Argument struct {
	Name  string
	Value string
}

// corrected returns the arguments as a JSON object, with the fix of every problem. An argument with an unknown name
// gets the nearest name, and an argument with a wrong value gets the fix. If there is no such name or fix, the argument
// is removed. A missing argument is added. Of arguments that exclude each other, only the first stays. An argument
// whose value is too long to repeat is removed.
func corrected(given []Argument, problems []Problem) string {
	byParameter := map[string][]Problem{}
	excluded := map[string]bool{}
	for _, p := range problems {
		if p.Code == CodeExclusive {
			for _, name := range p.Allowed[1:] { // of the parameters that exclude each other, all but the first
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
		ofArgument := byParameter[text.Cut(a.Name, maxShown)]
		switch {
		case excluded[a.Name]: // removed
		case len(ofArgument) == 0:
			keep(a.Name, a.Value)
		case ofArgument[0].Code == CodeUnknown && !ofArgument[0].member: // not a name inside of the argument
			// The nearest name gets the value, unless an argument with that name is given too.
			nearest := ofArgument[0].Nearest
			if nearest != "" && !contains(given, nearest) {
				keep(nearest, a.Value)
			}
		default:
			keep(a.Name, fixed(a, ofArgument))
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
		b.WriteString(JSON(f.Name))
		b.WriteString(": ")
		b.WriteString(f.Value)
	}
	b.WriteByte('}')
	return b.String()
}

// maxRepeated is the greatest length of a value in a corrected call, in bytes.
const maxRepeated = 200

// parameter returns the name of the argument that the problem is about: the path up to the first bracket or period. The
// path of an unknown parameter is a name that may have brackets and periods itself.
func (p *Problem) parameter() string {
	if p.Code == CodeUnknown && !p.member {
		return p.Path
	}
	if end := strings.IndexAny(p.Path, "[."); end >= 0 {
		return p.Path[:end]
	}
	return p.Path
}

// fixed returns the corrected value of an argument with problems, or "" if the argument has to be removed. A problem
// with the whole value has the corrected value as its fix. An object with problems inside is removed. In an array, the
// first problem of an item decides: the fix replaces the item. Without a fix, and if the problem is deeper inside the
// item, the item is removed.
func fixed(a Argument, problems []Problem) string {
	fixes := map[string]string{} // by the path of an item with a problem; "" removes the item
	for _, p := range problems {
		if p.Path == a.Name {
			return p.Fix
		}
		itemPath, inside, _ := strings.Cut(p.Path, "]") // files[2 and .name for files[2].name
		itemPath += "]"
		fix := p.Fix
		if inside != "" { // the fix is only for a part of the item
			fix = ""
		}
		if _, hasEarlier := fixes[itemPath]; !hasEarlier {
			fixes[itemPath] = fix
		}
	}
	var items []json.RawMessage
	if err := json.Unmarshal([]byte(a.Value), &items); err != nil {
		return "" // an object
	}
	var kept []string
	for i, item := range items {
		fix, hasProblem := fixes[Item(a.Name, i)]
		if !hasProblem {
			kept = append(kept, string(item))
		} else if fix != "" {
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

// maxShown is the number of characters of a given value that an error repeats.
const maxShown = 80

// show returns the beginning of a value for a message.
func show(v any) string {
	if n, ok := v.(json.Number); ok {
		return text.Cut(n.String(), maxShown)
	}
	return text.Cut(JSON(v), maxShown)
}

// kindOf returns the JSON type of a value, with an article.
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
