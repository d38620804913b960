// Package gocode emits the Go of a contract: for every tool its description, as the
// runtime reads it, and the types that a handler works with; for every family the interface
// its handlers implement, and one dispatcher over all of them.
//
// The output does nothing at package init. Text from specs only ever becomes comments, through
// the one comment writer here, and string literals; it never becomes code.
// Identifiers come from the model: that they are Go's and distinct is what
// gen/check is for.
//
// The package renders files in memory. It never reads or writes a disk.
package gocode

import (
	"errors"
	"slices"
	"strings"

	"github.com/convtools/convtools/gen/emit"
	"github.com/convtools/convtools/gen/internal/parallel"
	"github.com/convtools/convtools/gen/ir"
)

// Emit returns the Go files of a contract, sorted by path. schemas gives the
// JSON Schema of a tool's arguments as text on one line.
func Emit(c *ir.Contract, schemas func(*ir.Tool) string) ([]emit.File, error) {
	g := &generator{contract: c, schemas: schemas}
	jobs := []func() (emit.File, error){g.dispatch}
	for i := range c.Families {
		family := &c.Families[i]
		for j := range family.Tools {
			jobs = append(jobs, func() (emit.File, error) { return g.tool(family, &family.Tools[j]) })
		}
		jobs = append(jobs, func() (emit.File, error) { return g.family(family) })
	}
	files, problems := make([]emit.File, len(jobs)), make([]error, len(jobs))
	parallel.Each(len(jobs), func(i int) { files[i], problems[i] = jobs[i]() })
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	slices.SortFunc(files, func(a, b emit.File) int { return strings.Compare(a.Path, b.Path) })
	return files, nil
}

// generator holds what all files have in common.
type generator struct {
	contract *ir.Contract
	schemas  func(*ir.Tool) string
}
