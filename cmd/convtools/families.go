package main

import (
	"context"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/generated"
	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/convcli"
	"github.com/convtools/convtools/runtime/knowledge"
	"github.com/convtools/convtools/runtime/knowledge/knowledgecli"
	"github.com/convtools/convtools/runtime/process"
	"github.com/convtools/convtools/runtime/program"
	"github.com/convtools/convtools/runtime/recall"
	"github.com/convtools/convtools/runtime/toolset"
	"github.com/convtools/convtools/runtime/transcript"
	"github.com/convtools/convtools/runtime/workspace"
)

// app is what is not yet a package of its own.
type app struct {
	host      *toolset.Host
	knowledge knowledge.Options // --knowledge and --prompt-injected
	person    bool              // a person calls tools
}

// families returns the families of this program.
func families(a *app) []toolset.Family {
	return []toolset.Family{a.conversationFamily(), a.knowledgeFamily()}
}

func (a *app) conversationFamily() toolset.Family {
	programs := a.programs()
	family := toolset.Family{
		Name: "conversation",
		Declared: func() []contract.Tool {
			return []contract.Tool{conversation.GrepTool(), conversation.ListTool(), conversation.ReadTool()}
		},
		Call: func(ctx context.Context, call contract.Call) (string, error) {
			tools := recall.New(programs)
			if a.person && !call.Context.InConversation {
				tools = tools.ShowPaths()
			}
			return conversation.Call(ctx, tools, call)
		},
		Examples: []string{
			"conversation_list limit=5",
			"conversation_grep pattern=retry scopes=user,assistant",
			`conversation_read '{"id": "jp-c17737387251", "turn": 2}'`,
		},
		CheckConversationID: func(id string) error {
			_, err := transcript.ParseID(id)
			return err
		},
		Checks: conversationChecks{a.host, programs}.all,
		Project: func(dir string) (string, error) {
			w, err := workspace.Open(workspace.Options{Dir: dir, Getenv: a.host.Getenv})
			if err != nil {
				return "", err
			}
			return w.Root(), nil
		},
		Commands: func() []*cobra.Command {
			cmd := convcli.Command(a.conversationEnv())
			for _, below := range cmd.Commands() {
				if below.Name() == "grep" {
					below.PreRunE = func(cmd *cobra.Command, _ []string) error {
						if a.host.ConversationID == "" {
							return nil
						}
						return cmd.Flags().Set("exclude-id", a.host.ConversationID)
					}
				}
			}
			return []*cobra.Command{cmd}
		},
	}
	conversationResources{a.host, programs, family.Call}.add(&family)
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

// conversationEnv is what the conversation command line runs in.
func (a *app) conversationEnv() convcli.Env {
	return convcli.Env{
		Stdin: a.host.Stdin, Stdout: a.host.Stdout, Stderr: a.host.Stderr,
		IsTerminal: a.host.Terminal, Width: a.host.Width, Getenv: a.host.Getenv,
	}
}

// programs finds the command lines that tools run.
func (a *app) programs() *program.Programs {
	return &program.Programs{
		Getenv: a.host.Getenv,
		Runner: process.Exec{},
		Lookup: func(name string) (program.Spec, bool) {
			cli, ok := generated.LookupCLI(name)
			spec := program.Spec{Command: cli.Command, Env: cli.Env}
			if cli.Builtin && name == conversation.ListCLI {
				spec.Builtin = a.builtin
			}
			return spec, ok
		},
	}
}

// builtin serves the conversation command line in this process.
func (a *app) builtin(ctx context.Context, dir string, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	env := convcli.Env{Stdin: stdin, Stdout: stdout, Stderr: stderr, Getenv: a.host.Getenv, Workspace: dir}
	return convcli.Run(ctx, env, args)
}

// openKnowledge opens the knowledge base of the workspace that the command line
// names.
func (a *app) openKnowledge() (*knowledge.Base, error) {
	return knowledge.OpenFor(a.host, "", a.knowledge)
}

// located returns the directory that dir stands for, which may be a workspace's id.
func (a *app) located(dir string) string {
	if _, err := os.Stat(dir); dir == "" || err == nil {
		return dir
	}
	if w, err := workspace.Open(workspace.Options{Dir: dir, Getenv: a.host.Getenv}); err == nil {
		return w.Root()
	}
	return dir
}
