package plan_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/convtools/convtools/gen/emit/schema"
	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/plan"
	"github.com/convtools/convtools/gen/table"
	"github.com/convtools/convtools/runtime/base/cases"
	"github.com/convtools/convtools/runtime/coerce"
	"github.com/convtools/convtools/runtime/contract"
)

// TestProof checks properties of every tool: validator and schema accept the same arguments; examples and defaults
// are valid unchanged; a refusal contains a call that works; repaired arguments need no repairs. It checks this
// repository's tools, those in testdata, and random ones.
func TestProof(t *testing.T) {
	t.Parallel()
	projects := map[string]fs.FS{"repository": os.DirFS(repository), "positive": os.DirFS(positiveDir), "shapes": os.DirFS(positiveDir + "/../shapes")}
	for seed := range cases.Of(uint64(20)) {
		r := random{rand.New(rand.NewPCG(seed, 2))}
		projects[fmt.Sprintf("random %d", seed)] = r.project()
	}
	var proven, valid, drawn int
	for name, project := range projects {
		result, err := plan.Generate(project)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if result.Contract == nil {
			continue
		}
		draws := 40
		if !strings.HasPrefix(name, "random") {
			draws = 500
		}
		for _, tool := range result.Contract.Tools() {
			p, err := newProof(tool)
			if err != nil {
				t.Fatalf("%s: %s: %v", name, tool.Name, err)
			}
			if err := p.prove(draws); err != nil {
				t.Errorf("%s: %s: %v", name, tool.Name, err)
			}
			proven, valid, drawn = proven+1, valid+p.valid, drawn+draws
		}
	}
	t.Logf("%d tools, %d of %d arguments valid", proven, valid, drawn)
	if proven < 30 || valid < drawn/10 || valid > drawn*9/10 {
		t.Errorf("%d tools with %d of %d arguments valid prove little", proven, valid, drawn)
	}
}

// FuzzProof compares validators with schemas for any text.
func FuzzProof(f *testing.F) {
	var proofs []*proof
	for _, dir := range []string{repository, positiveDir + "/../shapes"} {
		result, err := plan.Generate(os.DirFS(dir))
		if err != nil {
			f.Fatal(err)
		}
		for _, tool := range result.Contract.Tools() {
			p, err := newProof(tool)
			if err != nil {
				f.Fatal(err)
			}
			for range 20 {
				f.Add(uint(len(proofs)), p.source.arguments())
			}
			for _, text := range []string{``, `null`, `[]`, `"{}"`, `{"subjects":" [ ] "}`, "{\"topic\":\"\xff\"}"} {
				f.Add(uint(len(proofs)), []byte(text))
			}
			proofs = append(proofs, p)
		}
	}
	f.Fuzz(func(t *testing.T, which uint, arguments []byte) {
		if err := proofs[int(which%uint(len(proofs)))].checkArguments(arguments); err != nil {
			t.Fatal(err)
		}
	})
}

// proof checks the properties of one tool.
type proof struct {
	tool     contract.Tool
	examples []ir.Example
	schema   *jsonschema.Schema
	source   *source
	valid    int // the number of random arguments that were valid
}

// newProof returns a proof for a tool, with a source of random arguments for its schema.
func newProof(tool *ir.Tool) (*proof, error) {
	text := schema.Compact(tool)
	compiled, err := compileSchema(text)
	if err != nil {
		return nil, fmt.Errorf("compiling the schema: %w", err)
	}
	source, err := newSource(text, 1)
	return &proof{tool: table.Tool(tool, text), examples: tool.Examples, schema: compiled, source: source}, err
}

// prove returns an error for every property that the tool lacks.
func (p *proof) prove(draws int) error {
	errs := []error{p.checkDefaults()}
	for _, example := range p.examples {
		if err := p.checkAccepted(example.Arguments); err != nil {
			errs = append(errs, fmt.Errorf("the example %s: %w", example.Arguments, err))
		}
	}
	for range draws {
		if err := p.checkArguments(p.source.arguments()); err != nil {
			errs = append(errs, err)
			break
		}
	}
	return errors.Join(errs...)
}

// checkAccepted returns an error unless validator and schema accept the arguments without repairs.
func (p *proof) checkAccepted(arguments string) error {
	call := contract.Call{Tool: p.tool.Name, Arguments: []byte(arguments)}
	if _, err := coerce.Arguments(&call, &p.tool, nil); err != nil {
		return err
	}
	if len(call.Notes) > 0 {
		return fmt.Errorf("it needs repairs: %s", strings.Join(call.Notes, " "))
	}
	if valid, err := holds(p.schema, []byte(arguments)); err != nil || !valid {
		return errors.Join(errors.New("the schema refuses it"), err)
	}
	return nil
}

// checkArguments returns an error if validator and schema disagree about arguments, which may be any text. If the
// validator accepts them, one repair must be enough. If it refuses them, the corrected call must be accepted.
func (p *proof) checkArguments(arguments []byte) error {
	object, repairs, err := coerce.DecodeObject(arguments)
	if err != nil {
		return nil // every tool refuses text that is not an object
	}
	problems := coerce.Problems(&p.tool, object)
	if text := strings.TrimSpace(string(arguments)); len(repairs) == 0 && strings.HasPrefix(text, "{") {
		valid := !slices.ContainsFunc(problems, func(p contract.Problem) bool { return !p.Relation })
		want, err := holds(p.schema, arguments)
		switch {
		case err != nil:
			return fmt.Errorf("%q was decoded: %w", arguments, err)
		case valid != want:
			return fmt.Errorf("%q: the validator accepts them: %v, the schema: %v", arguments, valid, want)
		}
	}
	call := contract.Call{Tool: p.tool.Name, Arguments: arguments}
	_, err = coerce.Arguments(&call, &p.tool, nil)
	var invalid *contract.InvalidArguments
	switch {
	case err == nil:
		p.valid++
		return p.checkRepairedOnce(arguments)
	case len(problems) == 0 && readsArrays(p.tool):
		return nil // an array in a valid string need not be valid, and a blank string has none
	case len(problems) == 0:
		return fmt.Errorf("%q is valid, and refused: %w", arguments, err)
	case !errors.As(err, &invalid):
		return fmt.Errorf("%q is refused with an error that is not about arguments: %w", arguments, err)
	case invalid.Corrected == "":
		return nil // no working call is known
	}
	if err := p.checkAccepted(invalid.Corrected); err != nil {
		return fmt.Errorf("%q: the call that works does not: %s: %w", arguments, invalid.Corrected, err)
	}
	return nil
}

// readsArrays reports whether a string is read as an array where an array is expected.
func readsArrays(t contract.Tool) bool {
	return slices.ContainsFunc(t.Parameters, func(p contract.Parameter) bool { return p.OneOrMany })
}

// checkRepairedOnce returns an error if repaired arguments need more repairs.
func (p *proof) checkRepairedOnce(arguments []byte) error {
	object, _, err := coerce.DecodeObject(arguments)
	if err != nil {
		return err
	}
	repaired, _ := coerce.Repair(&p.tool, object)
	if _, again := coerce.Repair(&p.tool, repaired); len(again) > 0 {
		return fmt.Errorf("%q is repaired twice: %s", arguments, again[0])
	}
	return nil
}

// checkDefaults returns an error if a default in the schema is refused.
func (p *proof) checkDefaults() error {
	var schema struct {
		Properties map[string]struct {
			Default json.RawMessage `json:"default"`
		} `json:"properties"`
	}
	if err := json.Unmarshal([]byte(p.tool.InputSchema), &schema); err != nil {
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
		for _, problem := range coerce.Problems(&p.tool, object) {
			if !problem.Relation && (problem.Path == name || strings.HasPrefix(problem.Path, name+".") || strings.HasPrefix(problem.Path, name+"[")) {
				return fmt.Errorf("the default of %s: %s", name, problem.Message)
			}
		}
	}
	return nil
}
