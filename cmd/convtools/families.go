package main

import (
	"github.com/spf13/cobra"

	"github.com/convtools/convtools/generated"
	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/knowledge"
	"github.com/convtools/convtools/runtime/knowledge/knowledgecli"
	"github.com/convtools/convtools/runtime/process"
	"github.com/convtools/convtools/runtime/recall"
	"github.com/convtools/convtools/runtime/recall/conversationcli"
	"github.com/convtools/convtools/runtime/toolset"
)

// app is what is not yet a package of its own.
type app struct {
	host      *toolset.Host
	knowledge knowledge.Options // --knowledge and --prompt-injected
}

// families returns the families of this program.
func families(a *app) []toolset.Family {
	return []toolset.Family{a.conversationFamily(), a.knowledgeFamily()}
}

func (a *app) conversationFamily() toolset.Family {
	cli, _ := generated.LookupCLI(conversation.ListCLI)
	family := recall.Family(a.host, cli.Env, process.Exec{})
	family.Commands = func() []*cobra.Command { return []*cobra.Command{conversationcli.Command(a.host)} }
	return family
}

func (a *app) knowledgeFamily() toolset.Family {
	family := knowledge.Family(a.host)
	family.OfferedWhere = "where there is something to learn"
	family.Examples = []string{"learn topic=project 'subjects=guides/**' subjects=style"}
	family.Flags[0].Example = "project/style/**"
	family.Commands = func() []*cobra.Command { return []*cobra.Command{knowledgecli.Command(a.host)} }
	return family
}

// readKnowledgeFlags takes from the flags of families those of the knowledge base.
func (a *app) readKnowledgeFlags(registry *toolset.Registry, cmd *cobra.Command) {
	words := registry.Given(cmd.Flags())
	for i, word := range words {
		switch word {
		case "-k":
			a.knowledge.Patterns = append(a.knowledge.Patterns, words[i+1])
		case "--prompt-injected":
			a.knowledge.Injected = true
		}
	}
}

// openKnowledge opens the knowledge base of the workspace that the command line
// names.
func (a *app) openKnowledge() (*knowledge.Base, error) {
	return knowledge.OpenFor(a.host, "", a.knowledge)
}
