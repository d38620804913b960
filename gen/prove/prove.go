package prove

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/convtools/convtools/gen/emit/targets"
	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/lower"
	"github.com/convtools/convtools/runtime/coerce"
	"github.com/convtools/convtools/runtime/contract"
)

// Tool is a tool, with what is generated for it.
type Tool struct {
	Tool     contract.Tool
	Coerce   func(*coerce.Args)
	Validate func(coerce.Object) []contract.Problem
	Examples []string // arguments, as JSON
	// Answer returns an empty answer: an envelope, or a result that is written as JSON;
	// nil for a tool that answers with text.
	Answer func() any
}

// draws is how many arguments of a tool are compared with its schema by a test.
const draws = 500

// Tools proves what holds for every tool, whatever its spec says: validator and schema
// accept the same arguments; examples and defaults are valid as they stand; a refusal
// names a call that works; repairs leave nothing to repair; an answer reads back as it
// was written; and every target takes the name and the description.
func Tools(t *testing.T, tools []Tool) {
	for _, tool := range tools {
		t.Run(tool.Tool.Name, func(t *testing.T) {
			t.Parallel()
			if err := tool.prove(); err != nil {
				t.Error(err)
			}
		})
	}
}

// prove returns everything that does not hold for a tool.
func (p Tool) prove() error {
	schema, err := compile(p.Tool.InputSchema)
	if err != nil {
		return fmt.Errorf("compiling the schema: %w", err)
	}
	source, err := NewSource(p.Tool.InputSchema, 1)
	if err != nil {
		return err
	}
	wrong := append(p.definition(), p.defaults())
	for _, example := range p.Examples {
		if err := p.accepted(schema, example); err != nil {
			wrong = append(wrong, fmt.Errorf("the example %s: %w", example, err))
		}
	}
	for range draws {
		if err := p.arguments(schema, source.Arguments()); err != nil {
			wrong = append(wrong, err)
			break
		}
	}
	if p.Answer != nil {
		if err := roundTrip(p.Answer()); err != nil {
			wrong = append(wrong, fmt.Errorf("its answer: %w", err))
		}
	}
	return errors.Join(wrong...)
}

// Fuzz holds validators and schemas against each other for any text.
func Fuzz(f *testing.F, tools []Tool) {
	schemas := make([]*jsonschema.Schema, len(tools))
	for i, tool := range tools {
		schema, err := compile(tool.Tool.InputSchema)
		if err != nil {
			f.Fatalf("compiling the schema of %s: %v", tool.Tool.Name, err)
		}
		schemas[i] = schema
		source, err := NewSource(tool.Tool.InputSchema, 2)
		if err != nil {
			f.Fatal(err)
		}
		for range 20 {
			f.Add(uint(i), source.Arguments())
		}
		for _, example := range tool.Examples {
			f.Add(uint(i), []byte(example))
		}
	}
	f.Fuzz(func(t *testing.T, which uint, arguments []byte) {
		i := int(which % uint(len(tools)))
		if err := tools[i].arguments(schemas[i], arguments); err != nil {
			t.Fatal(err)
		}
	})
}

// accepted demands that arguments are valid as they stand, to validator and schema.
func (p Tool) accepted(schema *jsonschema.Schema, arguments string) error {
	call := contract.Call{Tool: p.Tool.Name, Arguments: []byte(arguments)}
	if _, err := coerce.Arguments(&call, p.Coerce, p.Validate, p.Tool.Example); err != nil {
		return err
	}
	if len(call.Notes) > 0 {
		return fmt.Errorf("it needs repairs: %s", strings.Join(call.Notes, " "))
	}
	if valid, err := holds(schema, []byte(arguments)); err != nil || !valid {
		return errors.Join(errors.New("the schema refuses it"), err)
	}
	return nil
}

// arguments holds validator and schema against each other for arguments, which may be
// any text.
func (p Tool) arguments(schema *jsonschema.Schema, arguments []byte) error {
	object, repairs, err := coerce.DecodeObject(arguments)
	if err != nil {
		return nil // it is no object, which every tool is told the same way
	}
	problems := p.Validate(object)
	if text := strings.TrimSpace(string(arguments)); len(repairs) == 0 && strings.HasPrefix(text, "{") {
		valid := !slices.ContainsFunc(problems, func(p contract.Problem) bool { return !p.Relation })
		want, err := holds(schema, arguments)
		switch {
		case err != nil:
			return fmt.Errorf("%q was decoded: %w", arguments, err)
		case valid != want:
			return fmt.Errorf("%q: the validator accepts them: %v, the schema: %v", arguments, valid, want)
		}
	}
	call := contract.Call{Tool: p.Tool.Name, Arguments: arguments}
	_, err = coerce.Arguments(&call, p.Coerce, p.Validate, p.Tool.Example)
	var invalid *contract.InvalidArguments
	switch {
	case err == nil:
		return p.repairedOnce(arguments)
	case len(problems) == 0 && readsArrays(p.Tool):
		return nil // of a text that is valid, the array in it need not be, and nothing is in a blank one
	case len(problems) == 0:
		return fmt.Errorf("%q is valid, and refused: %w", arguments, err)
	case !errors.As(err, &invalid):
		return fmt.Errorf("%q is refused with an error that is not about arguments: %w", arguments, err)
	case invalid.Corrected == "":
		return nil // no call is known that works
	}
	if err := p.accepted(schema, invalid.Corrected); err != nil {
		return fmt.Errorf("%q: the call that works does not: %s: %w", arguments, invalid.Corrected, err)
	}
	return nil
}

// readsArrays reports whether a text in the place of an array is read as one.
func readsArrays(t contract.Tool) bool {
	return slices.ContainsFunc(t.Parameters, func(p contract.Parameter) bool { return p.OneOrMany })
}

// repairedOnce demands that what was repaired needs no repairs.
func (p Tool) repairedOnce(arguments []byte) error {
	object, _, err := coerce.DecodeObject(arguments)
	if err != nil {
		return err
	}
	args := coerce.Args{Object: object}
	p.Coerce(&args)
	again := coerce.Args{Object: args.Object}
	p.Coerce(&again)
	if len(again.Repairs) > 0 {
		return fmt.Errorf("%q is repaired twice: %s", arguments, again.Repairs[0].Note)
	}
	return nil
}

// defaults demands that no default is a problem.
func (p Tool) defaults() error {
	var schema struct {
		Properties map[string]struct {
			Default json.RawMessage `json:"default"`
		} `json:"properties"`
	}
	if err := json.Unmarshal([]byte(p.Tool.InputSchema), &schema); err != nil {
		return fmt.Errorf("reading the schema: %w", err)
	}
	for name, property := range schema.Properties {
		if property.Default == nil {
			continue
		}
		object, _, err := coerce.DecodeObject(fmt.Appendf(nil, "{%q:%s}", name, property.Default))
		if err != nil {
			return fmt.Errorf("the default of %s: %w", name, err)
		}
		for _, problem := range p.Validate(object) {
			if !problem.Relation && (problem.Path == name || strings.HasPrefix(problem.Path, name+".") || strings.HasPrefix(problem.Path, name+"[")) {
				return fmt.Errorf("the default of %s: %s", name, problem.Message)
			}
		}
	}
	return nil
}

// definition returns what targets would not take of a tool's definition.
func (p Tool) definition() (wrong []error) {
	legal := regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)
	text := len(utf16.Encode([]rune(p.Tool.Summary + ".\n\n" + p.Tool.Description)))
	for _, target := range targets.All() {
		if target.Lower == nil {
			continue
		}
		_, name := lower.Name(*target.Lower, &ir.Tool{Name: p.Tool.Name})
		if !legal.MatchString(name) || target.Lower.MaxName > 0 && len(name) > target.Lower.MaxName {
			wrong = append(wrong, fmt.Errorf("%s does not take the name %q", target.Name, name))
		}
		if most := target.Lower.MaxDescription; most > 0 && !target.Lower.Terse && text > most {
			wrong = append(wrong, fmt.Errorf("%s takes descriptions of %d characters, and this one has %d", target.Name, most, text))
		}
	}
	return wrong
}
