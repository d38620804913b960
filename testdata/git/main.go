// Command gittools serves the tools in specs to assistants: gittools help says how.
package main

import (
	"github.com/convtools/convtools/runtime/app"
	"github.com/convtools/convtools/runtime/commandline"

	"example.com/gittools/generated"
	"example.com/gittools/generated/jpfiles"
)

//go:generate go run github.com/convtools/convtools/cmd/convgen generate

func main() {
	runner := commandline.New(generated.CommandLines())
	app.Main(app.Program{
		Name: "gittools", Version: "0.1.0",
		Families: app.Declared(generated.Tools(), generated.NewHandlers(runner).Call, runner),
		JPFiles:  jpfiles.Files(),
	})
}
