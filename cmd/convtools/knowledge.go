package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/generated"
	learning "github.com/convtools/convtools/generated/knowledge"
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
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return cmd.Help()
		},
	}
	cmd.AddCommand(a.knowledgeLsCommand(), a.knowledgeShowCommand(), a.knowledgeCheckCommand(), a.knowledgeNewCommand(), a.knowledgePromptCommand())
	return cmd
}

// knowledgeFlags gives a command the flags that say how the learn tool is used.
func (a *app) knowledgeFlags(cmd *cobra.Command) {
	a.patternFlag(cmd)
	cmd.Flags().BoolVar(&a.knowledge.Injected, "prompt-injected", false, "do not offer again what the system prompt has")
}

// patternFlag gives a command the flag that adds to what is learned.
func (a *app) patternFlag(cmd *cobra.Command) {
	// A glob may have commas in it.
	cmd.Flags().StringArrayVarP(&a.knowledge.Patterns, "knowledge", "k", nil, "take `TOPIC/GLOB` for learned too; can be repeated")
	completes := func(cmd *cobra.Command, _ []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return a.completeSubjectPath(cmd.Context(), word)
	}
	_ = cmd.RegisterFlagCompletionFunc("knowledge", completes) // fails only for a flag that is not there
}

// openKnowledge opens the knowledge base of the workspace that the command line
// names.
func (a *app) openKnowledge() (*knowledge.Base, error) {
	return knowledge.Open(a.located(a.workspace), a.knowledgeOptions())
}

func (a *app) knowledgeOptions() knowledge.Options {
	opts := a.knowledge
	opts.Getenv = a.getenv
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
	if w, err := jp.Open(jp.Options{Dir: dir, Getenv: a.getenv}); err == nil {
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

// offeredTools returns the tools that an assistant in this workspace is offered,
// sorted by name. learn is described by the topics there are, and left out where
// there is nothing to learn. A knowledge base that cannot be used is no reason to
// leave it out: nobody would find out why.
func (a *app) offeredTools(ctx context.Context) []contract.Tool {
	var offered []contract.Tool
	for _, tool := range generated.Tools() {
		ok := true
		if tool.Name == learnName() {
			tool, ok = a.describeLearn(ctx, tool)
		}
		if ok {
			offered = append(offered, tool)
		}
	}
	return offered
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

// toolNamed returns the tool of that name, whether it is offered here or not: who
// calls it by name is told why it cannot help.
func toolNamed(name string) (contract.Tool, error) {
	if tool, ok := generated.Lookup(name); ok {
		return tool, nil
	}
	var names []string
	for _, t := range generated.Tools() {
		names = append(names, t.Name)
	}
	return contract.Tool{}, &usageError{err: contract.UnknownTool(name, names)}
}

// reportFindings writes what is wrong with a configuration to standard error, and
// returns the exit code: flags that are wrong are wrong use.
func (a *app) reportFindings(findings []knowledge.Finding) int {
	for _, f := range findings {
		fmt.Fprintf(a.stderr, "%s: %s%s [%s]\n", f.Severity, place(f), envelope.SanitizeLine(f.Message), f.Rule)
		if f.Hint != "" {
			fmt.Fprintf(a.stderr, "hint: %s\n", envelope.SanitizeLine(f.Hint))
		}
	}
	if wrongUse(findings) {
		return exitUsage
	}
	return exitFailed
}

// wrongUse says that only flags are to blame.
func wrongUse(findings []knowledge.Finding) bool {
	for _, f := range findings {
		if f.Severity == knowledge.SeverityError && f.Path != "-k" {
			return false
		}
	}
	return true
}

// place is where a finding is, to stand before it.
func place(f knowledge.Finding) string {
	if f.Path == "" {
		return ""
	}
	at := envelope.SanitizeLine(f.Path)
	for _, n := range []int{f.Line, f.Column} {
		if n > 0 {
			at += ":" + strconv.Itoa(n)
		}
	}
	return at + ": "
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
		return "", "", &usageError{err: errors.New(cmd.Name() + " needs a topic and a subject, as in: " + cmd.CommandPath() + " project/style")}
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

// completeLearn completes the values of learn's arguments. args are those before
// the word: the topic is among them where subjects can be completed.
func (a *app) completeLearn(ctx context.Context, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	const noFiles = cobra.ShellCompDirectiveNoFileComp
	b, err := a.openKnowledge()
	if err != nil {
		return nil, noFiles
	}
	key, value, _ := strings.Cut(word, "=")
	var values []string
	switch key {
	case "topic":
		values = b.CompleteTopic(value)
	case "subjects":
		for _, arg := range args {
			if topic, ok := strings.CutPrefix(arg, "topic="); ok {
				values, err = b.CompleteSubject(ctx, topic, value)
			}
		}
	}
	if err != nil {
		return nil, noFiles
	}
	var completions []cobra.Completion
	for _, v := range values {
		completions = append(completions, key+"="+envelope.SanitizeLine(v))
	}
	return completions, noFiles
}
