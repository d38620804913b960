// Command convtools gives an assistant its conversations and what its project
// knows: over MCP, as local tools of JP, through convtools call, and as a command
// line for people.
//
// This package only describes the program and lists its tool families, in
// families.go. Package app runs the program.
package main

import (
	"github.com/convtools/convtools/generated/jpfiles"
	"github.com/convtools/convtools/runtime/app"
)

// version is the version of this tree. A release is built with that of its tag.
var version = "0.1.0"

func main() { app.Main(convtools()) }

// convtools describes this program to package app.
func convtools() app.Program {
	return app.Program{
		Name: "convtools", Title: "Conversations and knowledge", Version: version,
		Short:             "Conversations and knowledge for assistants",
		Long:              "Gives assistants their past conversations and what their project knows.",
		DirUsage:          "the workspace at or above `DIR`, or with that id",
		ConversationUsage: "the conversation with this `ID` calls: leave it out", // answers then leave out the caller's own conversation
		Families:          families,
		JPFiles:           jpfiles.Files(),
	}
}
