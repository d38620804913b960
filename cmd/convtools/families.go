package main

import (
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

// families is the one list of tool families: each with its tools and, where it has
// commands for people, those.
func families(host *toolset.Host) []toolset.Family {
	recalled := recall.Family(host, "CONVTOOLS_CLI", process.Exec{})
	families := []toolset.Family{
		with(recalled, host, conversationcli.Command, conversationcli.Stores, conversationcli.Import, conversationcli.Search(&recalled), conversationcli.Recall(&recalled),
			conversationcli.Blame, conversationcli.How(&recalled), conversationcli.Resume(&recalled), conversationcli.Forget, conversationcli.StartHook),
		with(knowledge.Family(host), host, knowledgecli.Command),
	}
	conv := tools.Family(host, families...)
	all := append(families[:len(families):len(families)], conv)
	conv.Commands = func() []*cobra.Command { return append(command.Commands(host, families...), web.Command(host, all...)) }
	return append(families, conv)
}

// with gives a family commands for people. Such commands print, which a family
// does not, so they are a package of their own.
func with(f toolset.Family, host *toolset.Host, commands ...func(*toolset.Host) *cobra.Command) toolset.Family {
	f.Commands = func() []*cobra.Command {
		var all []*cobra.Command
		for _, command := range commands {
			all = append(all, command(host))
		}
		return all
	}
	return f
}
