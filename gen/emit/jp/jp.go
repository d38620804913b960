// Package jp emits what makes tools known to JP (https://jp.computer): a
// configuration of each, the skills that switch them on, and a Go package that holds
// both, for a program that puts them into a workspace.
package jp

import (
	"slices"

	"github.com/convtools/convtools/gen/emit"
	"github.com/convtools/convtools/gen/emit/jp/internal/files"
	"github.com/convtools/convtools/gen/emit/jp/internal/skill"
	"github.com/convtools/convtools/gen/emit/jp/internal/tools"
	"github.com/convtools/convtools/gen/ir"
)

// Target is this package's.
func Target() emit.Target {
	to := tools.Lowering()
	return emit.Target{Name: to.Name, Settings: true, Lower: &to, Package: files.Package, One: tools.File, Emit: Emit}
}

// Emit returns the configurations, the skills and jpfiles/jpfiles.go.
func Emit(c *ir.Contract, _ emit.Schemas) ([]emit.File, error) {
	definitions, err := tools.Emit(c)
	if err != nil {
		return nil, err
	}
	held := slices.Concat(definitions, skill.Emit(c))
	return append(held, files.Emit(c, held)), nil
}
