package main

import (
	"context"
	"errors"
	"github.com/convtools/convtools/runtime/base/diag"
	"github.com/convtools/convtools/runtime/cli"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/envelope"
	"github.com/convtools/convtools/runtime/knowledge"
	"github.com/convtools/convtools/runtime/store/jp"
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
	knowledge.PatternFlag(a.host, &a.knowledge).AddToCommand(cmd)
}

// openKnowledge opens the knowledge base of the workspace that the command line
// names.
func (a *app) openKnowledge() (*knowledge.Base, error) {
	return knowledge.OpenFor(a.host, "", a.knowledge)
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
	if w, err := jp.Open(jp.Options{Dir: dir, Getenv: a.host.Getenv}); err == nil {
		return w.Root()
	}
	return dir
}

// wrongUse says that only flags are to blame.
func wrongUse(findings []knowledge.Finding) bool {
	for _, f := range findings {
		if f.Severity == diag.Error && f.File != "-k" {
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
