package main

import (
	"context"
	"errors"
	"github.com/convtools/convtools/runtime/cli"
	"os"
	"strings"

	"github.com/spf13/cobra"

	learning "github.com/convtools/convtools/generated/knowledge"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/envelope"
	"github.com/convtools/convtools/runtime/knowledge"
	"github.com/convtools/convtools/runtime/workspace"
)

func (a *app) knowledgeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "knowledge",
		Aliases: []string{"kb"},
		Short:   "Show, check and extend the knowledge base",
		Long: `Shows, checks and extends what assistants can learn about a project: topics,
which are directories of files, and subjects, which are those files. A topic is
a table in convtools.toml:

  [kb.topic.project]
  subjects = "docs/knowledge"`,
		Example: `  convtools knowledge ls
  convtools knowledge check`,
	}
	return cli.Group(cmd, a.knowledgeLsCommand(), a.knowledgeShowCommand(), a.knowledgeCheckCommand(), a.knowledgeNewCommand(), a.knowledgePromptCommand())
}

// patternFlag gives a command the flag that adds to what is learned.
func (a *app) patternFlag(cmd *cobra.Command) {
	for _, f := range a.knowledgeFamily().Flags {
		if f.Name == "knowledge" {
			f.AddToCommand(cmd)
		}
	}
}

// openKnowledge opens the knowledge base of the workspace that the command line
// names.
func (a *app) openKnowledge() (*knowledge.Base, error) {
	base, err := knowledge.Open(a.located(a.host.Dir), a.knowledgeOptions())
	if list, ok := knowledge.ConfigFindings(err); ok {
		return nil, findings{err, list}
	}
	return base, err
}

func (a *app) knowledgeOptions() knowledge.Options {
	opts := a.knowledge
	opts.Getenv = a.host.Getenv
	return opts
}

// located returns the directory that dir stands for, which may be a workspace's
// id, as everywhere. What is neither is left to whoever opens it.
func (a *app) located(dir string) string {
	if dir == "" {
		return dir
	}
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	if w, err := workspace.Open(workspace.Options{Dir: dir, Getenv: a.host.Getenv}); err == nil {
		return w.Root()
	}
	return dir
}

// learner answers the learn tool for calls from workspaces that are named by
// their id, too.
type learner struct {
	app     *app
	handler *knowledge.Handler
}

func (l learner) Learn(ctx context.Context, call contract.Call, p learning.LearnParams) (string, error) {
	call.Context.Dir = l.app.located(call.Context.Dir)
	return l.handler.Learn(ctx, call, p)
}

// offeredLearn describes learn by the topics there are, and leaves it out where
// there is nothing to learn. A knowledge base that cannot be used is no reason to
// leave it out: nobody would find out why.
func (a *app) offeredLearn(ctx context.Context) []contract.Tool {
	tool, ok := a.describeLearn(ctx, learning.LearnTool())
	if !ok {
		return nil
	}
	return []contract.Tool{tool}
}

func (a *app) describeLearn(ctx context.Context, tool contract.Tool) (contract.Tool, bool) {
	b, err := a.openKnowledge()
	if err != nil {
		tool.Description += "\n\nNothing can be learned at the moment: the configuration of the knowledge base has errors. The user can see them with: convtools knowledge check"
		return tool, true
	}
	tool, ok, _ := b.Describe(ctx, tool, knowledge.MCPDescription) // Directories that cannot be read are found by check and by doctor.
	return tool, ok
}

func learnName() string { return learning.LearnTool().Name }

// wrongUse says that only flags are to blame.
func wrongUse(findings []knowledge.Finding) bool {
	for _, f := range findings {
		if f.Severity == knowledge.SeverityError && f.Path != "-k" {
			return false
		}
	}
	return true
}

// forPeople has an error of the learn tool name the command that helps a person.
func forPeople(err error) error {
	var failure *contract.Error
	if !errors.As(err, &failure) {
		return err
	}
	said := *failure
	if before, after, ok := strings.Cut(said.Message, "Call learn with topic "); ok {
		id, _, _ := strings.Cut(strings.TrimPrefix(after, `"`), `"`)
		said.Message = before + "See its subjects with: convtools knowledge ls " + id
	}
	said.Message = strings.Replace(said.Message, "The user has to create", "Create", 1)
	return &said
}

// subjectArgs reads TOPIC/SLUG, or the two as arguments of their own. An id has
// no slash, and a title that has one can stand alone as an argument.
func subjectArgs(cmd *cobra.Command, args []string) (topic, subject string, err error) {
	switch len(args) {
	case 1:
		topic, subject, _ = strings.Cut(args[0], "/")
	case 2:
		topic, subject = args[0], args[1]
	}
	if strings.TrimSpace(topic) == "" || strings.TrimSpace(subject) == "" {
		return "", "", cli.Usage(errors.New(cmd.Name() + " needs a topic and a subject, as in: " + cmd.CommandPath() + " project/style"))
	}
	return topic, subject, nil
}

// completeSubjectPath completes TOPIC/SLUG.
func (a *app) completeSubjectPath(ctx context.Context, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	const noFiles = cobra.ShellCompDirectiveNoFileComp
	b, err := a.openKnowledge()
	if err != nil {
		return nil, noFiles
	}
	id, slug, ok := strings.Cut(word, "/")
	if !ok {
		var ids []cobra.Completion
		for _, id := range b.CompleteTopic(word) {
			ids = append(ids, id+"/")
		}
		return ids, noFiles | cobra.ShellCompDirectiveNoSpace
	}
	names, err := b.CompleteSubject(ctx, id, slug)
	if err != nil {
		return nil, noFiles
	}
	var paths []cobra.Completion
	for _, name := range names {
		paths = append(paths, id+"/"+envelope.SanitizeLine(name))
	}
	return paths, noFiles
}

// completeTopics completes the ids of topics, for the first argument.
func (a *app) completeTopics(_ *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	b, err := a.openKnowledge()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return b.CompleteTopic(word), cobra.ShellCompDirectiveNoFileComp
}

// completeLearn completes the values of learn's arguments. The topic is among the
// given ones where subjects can be completed.
func (a *app) completeLearn(ctx context.Context, _, argument, prefix string, given map[string]string) []string {
	b, err := a.openKnowledge()
	if err != nil {
		return nil
	}
	var values []string
	switch argument {
	case "topic":
		values = b.CompleteTopic(prefix)
	case "subjects":
		values, err = b.CompleteSubject(ctx, given["topic"], prefix)
	}
	if err != nil {
		return nil
	}
	for i, v := range values {
		values[i] = envelope.SanitizeLine(v)
	}
	return values
}
