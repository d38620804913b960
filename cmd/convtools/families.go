package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/generated"
	"github.com/convtools/convtools/generated/conversation"
	learning "github.com/convtools/convtools/generated/knowledge"
	"github.com/convtools/convtools/runtime/base/diag"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/convcli"
	"github.com/convtools/convtools/runtime/knowledge"
	"github.com/convtools/convtools/runtime/process"
	"github.com/convtools/convtools/runtime/program"
	"github.com/convtools/convtools/runtime/recall"
	"github.com/convtools/convtools/runtime/toolset"
	"github.com/convtools/convtools/runtime/transcript"
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
	return toolset.Family{
		Name: "conversation",
		Declared: func() []contract.Tool {
			return []contract.Tool{conversation.GrepTool(), conversation.ListTool(), conversation.ReadTool()}
		},
		Call: func(ctx context.Context, call contract.Call) (string, error) {
			tools := recall.New(programs)
			if a.person {
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
}

func (a *app) knowledgeFamily() toolset.Family {
	tools := []string{learnName()}
	return toolset.Family{
		Name:         "knowledge",
		Declared:     func() []contract.Tool { return []contract.Tool{learning.LearnTool()} },
		Offered:      a.offeredLearn,
		OfferedWhere: "where there is something to learn",
		Call: func(ctx context.Context, call contract.Call) (string, error) {
			return learning.Call(ctx, learner{a, knowledge.NewHandler(a.knowledgeOptions())}, call)
		},
		Arguments: a.completeLearn,
		Examples:  []string{"learn topic=project 'subjects=guides/**' subjects=style"},
		Flags: []toolset.Flag{
			{
				Name: "knowledge", Shorthand: "k", Usage: "take `TOPIC/GLOB` for learned too; can be repeated",
				Example: "project/style/**", Tools: tools, OneProject: true,
				Set: func(pattern string) error {
					a.knowledge.Patterns = append(a.knowledge.Patterns, pattern)
					return nil
				},
				Check: func() error {
					_, err := a.openKnowledge()
					return err
				},
				Complete: func(ctx context.Context, word string) []string {
					values, _ := a.completeSubjectPath(ctx, word)
					return values
				},
			},
			{
				Name: "prompt-injected", Usage: "do not offer again what the system prompt has", Switch: true, Tools: tools,
				Set: func(value string) error {
					a.knowledge.Injected = value == "true"
					return nil
				},
			},
		},
		Commands: func() []*cobra.Command { return []*cobra.Command{a.knowledgeCommand()} },
	}
}

// findings is what is wrong with the configuration of the knowledge base.
type findings struct {
	error
	list []knowledge.Finding
}

func (f findings) Diagnostics() diag.List {
	var list diag.List
	for _, one := range f.list {
		d := diag.Diagnostic{File: one.Path, Span: diag.Span{Line: one.Line, Col: one.Column}, Rule: one.Rule, Message: one.Message, Hint: one.Hint}
		if one.Severity == knowledge.SeverityWarning {
			d.Severity = diag.Warning
		}
		list = append(list, d)
	}
	return list
}

func (f findings) Unwrap() error { return f.error }

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
