package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/knowledge"
	"github.com/convtools/convtools/runtime/knowledge/knowledgecli"
	"github.com/convtools/convtools/runtime/process"
	"github.com/convtools/convtools/runtime/recall"
	"github.com/convtools/convtools/runtime/recall/conversationcli"
	"github.com/convtools/convtools/runtime/session/command"
	"github.com/convtools/convtools/runtime/session/tools"
	"github.com/convtools/convtools/runtime/toolset"
	"github.com/convtools/convtools/runtime/web"
)

// families returns all tool families. Each has its tools and, if it has commands for people, these commands.
func families(host *toolset.Host) []toolset.Family {
	// CONVTOOLS_CLI is the variable with which a user names another program to get conversations from.
	recallFamily := recall.Family(host, "CONVTOOLS_CLI", process.Exec{})
	families := []toolset.Family{
		withCommands(recallFamily, host, conversationcli.Command, conversationcli.Stores, conversationcli.Import, conversationcli.Search(&recallFamily), conversationcli.Recall(&recallFamily),
			conversationcli.Blame, conversationcli.How(&recallFamily), conversationcli.Resume(&recallFamily), conversationcli.Forget, conversationcli.StartHook),
		withCommands(knowledge.Family(host), host, knowledgecli.Command),
	}
	conv := tools.Family(host, families...)
	all := slices.Concat(families, []toolset.Family{conv}) // for the pages of web, which need no commands
	conv.Commands = func() []*cobra.Command { return append(command.Commands(host, families...), web.Command(host, all...)) }
	return append(families, conv)
}

// withCommands returns a family with commands for people. They are in packages of
// their own, because they print, and a family does not.
func withCommands(f toolset.Family, host *toolset.Host, newCommands ...func(*toolset.Host) *cobra.Command) toolset.Family {
	f.Commands = func() []*cobra.Command {
		var commands []*cobra.Command
		for _, newCommand := range newCommands {
			commands = append(commands, newCommand(host))
		}
		return commands
	}
	return f
}
