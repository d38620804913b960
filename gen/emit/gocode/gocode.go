// Package gocode emits the Go code of a contract: for every tool its description for the runtime and the types that
// its handler uses; for every family the interface that its handlers implement; and one dispatcher over all families.
//
// The output does nothing at package init. Text from specs only becomes comments, through the one comment writer
// here, or string literals; it must never become code. Package check ensures that identifiers are valid and distinct.
//
// The package renders files in memory. It never reads or writes files.
package gocode

import (
	"errors"
	"slices"
	"strings"

	"github.com/convtools/convtools/gen/emit"
	"github.com/convtools/convtools/gen/internal/parallel"
	"github.com/convtools/convtools/gen/ir"
)

// Emit returns the Go files of a contract, sorted by path. schemas returns a tool's input schema on one line of JSON.
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
	files, errs := make([]emit.File, len(jobs)), make([]error, len(jobs))
	parallel.Each(len(jobs), func(i int) { files[i], errs[i] = jobs[i]() })
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	slices.SortFunc(files, func(a, b emit.File) int { return strings.Compare(a.Path, b.Path) })
	return files, nil
}

// generator holds the input that all files share.
type generator struct {
	contract *ir.Contract
	schemas  func(*ir.Tool) string
}
