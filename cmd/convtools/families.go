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
	"github.com/convtools/convtools/runtime/knowledge"
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
	family.Commands = func() []*cobra.Command {
		cmd := conversationcli.Command(a.conversationEnv())
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
	}
	return family
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
				Example: "project/style/**", Tools: tools, OneProject: "a topic",
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
func (a *app) conversationEnv() conversationcli.Env {
	return conversationcli.Env{
		Stdin: a.host.Stdin, Stdout: a.host.Stdout, Stderr: a.host.Stderr,
		IsTerminal: a.host.Terminal, Width: a.host.Width, Getenv: a.host.Getenv,
	}
}
