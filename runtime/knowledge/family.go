package knowledge

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/convtools/convtools/generated/knowledge"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/base/workspace"
	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/process"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/toolset"
)

// Family returns the family of the tool learn. Its commands for people are in package knowledgecli.
func Family(host *toolset.Host) toolset.Family {
	f := &family{host: host}
	learn := []string{knowledge.LearnTool().Name}
	pattern := PatternFlag(host, &f.opts)
	pattern.Tools, pattern.OneProject = learn, "a topic"
	return toolset.Family{
		Name:     "knowledge",
		Declared: func() []contract.Tool { return []contract.Tool{knowledge.LearnTool()} },
		Offered:  f.offered,
		Call: func(ctx context.Context, call contract.Call) (string, error) {
			return knowledge.Call(ctx, f, call)
		},
		Version:      f.version,
		Instructions: f.instructions,
		Prompt:       f.prompt,
		Arguments:    f.arguments,
		Examples:     []string{"learn topic=project 'subjects=guides/**' subjects=style"},
		Resources:    []toolset.Resources{f.resources()},
		Checks:       f.checks,
		Pages:        []toolset.Page{f.page()},
		Flags: []toolset.Flag{pattern, {
			Name: "prompt-injected", Usage: "do not offer again what the system prompt has", Tools: learn, Switch: true,
			Set: func(value string) (err error) {
				f.opts.Injected, err = strconv.ParseBool(value)
				return err
			},
			Serving: `With --prompt-injected, what topics have learned is taken to be in the system
prompt, as convtools knowledge prompt prints it; without, it is recommended.`,
			Advice: f.injectedAdvice,
		}},
		Project: f.project,
	}
}

// project returns the root of the project that a directory is in. dir is the working directory if it is empty, and may
// be the id of a JP workspace. The error is that dir does not exist, or that it is in no project.
func (f *family) project(dir string) (string, error) {
	dir = locate(dir, f.host.Getenv)
	if _, err := os.Stat(dir); dir != "" && err != nil { // it has no project, even if a directory above it has
		return "", err
	}
	root, ok := workspace.Find(dir)
	if !ok {
		return "", errors.New("there is no configuration of a knowledge base at or above the directory")
	}
	return root, nil
}

// PatternFlag returns the flag -k, which adds its value to the patterns in opts.
func PatternFlag(host *toolset.Host, opts *Options) toolset.Flag {
	return toolset.Flag{
		Name: "knowledge", Shorthand: "k", Usage: "take `TOPIC/GLOB` for learned too; can be repeated",
		Set: func(value string) error { opts.Patterns = append(opts.Patterns, value); return nil },
		Check: func() error {
			_, err := OpenFor(host, "", *opts)
			return err
		},
		Complete: func(ctx context.Context, prefix string) []string {
			if b, err := OpenFor(host, "", *opts); err == nil {
				return b.CompletePath(ctx, prefix)
			}
			return nil
		},
	}
}

// OpenFor opens the knowledge base of the project that dir is in. dir is the host's directory if it is empty, and may
// be the id of a JP workspace. Errors are those of [Open].
func OpenFor(host *toolset.Host, dir string, opts Options) (*Base, error) {
	if dir == "" {
		dir = host.Dir
	}
	opts.Getenv = host.Getenv
	return Open(locate(dir, host.Getenv), opts)
}

// locate returns dirOrID, or the root of the JP workspace with this id if there is no file with this name.
func locate(dirOrID string, getenv func(string) string) string {
	if _, err := os.Stat(dirOrID); err != nil && dirOrID != "" {
		if w, err := jp.Open(jp.Options{Dir: dirOrID, Getenv: getenv}); err == nil {
			return w.Root()
		}
	}
	return dirOrID
}

// family answers for every project that a host names.
type family struct {
	host *toolset.Host
	opts Options // set by flags
}

func (f *family) open(dir string) (*Base, error) { return OpenFor(f.host, dir, f.opts) }

// offered returns the tool learn, with the topics in its description, or no tool if no topic is offered. If the
// knowledge base cannot be opened, it returns the tool all the same, because the answer of the tool says why.
func (f *family) offered(ctx context.Context) []contract.Tool {
	tool := knowledge.LearnTool()
	b, err := f.open("")
	if err != nil {
		tool.Description += "\n\nNothing can be learned at the moment: the configuration of the knowledge base has errors. The user can see them with: convtools knowledge check"
		return []contract.Tool{tool}
	}
	if tool, ok := b.Describe(ctx, tool, MCPDescription); ok {
		return []contract.Tool{tool}
	}
	return nil
}

// Learn returns the answer of the tool learn for the workspace that the call comes from. It warns once of each key of
// the configuration that nothing reads. The error is that of [openError] or of [Base.Learn].
func (f *family) Learn(ctx context.Context, call contract.Call, p knowledge.LearnParams) (string, error) {
	b, err := f.open(call.Context.Dir)
	if err != nil {
		return "", openError(err)
	}
	for _, sentence := range b.Unread() {
		f.host.WarnOnce(sentence)
	}
	return b.Learn(ctx, p.Topic, p.Subjects, call.Notes)
}

// openError returns an error of [Open] as a [contract.Error] for the caller of a tool, who can only tell the user.
func openError(err error) error {
	var configError *config.Error
	if errors.As(err, &configError) {
		return &contract.Error{Message: "Nothing can be learned until the user has corrected the configuration of the knowledge base: " + err.Error(), Err: err}
	}
	return &contract.Error{Message: "Nothing can be learned: the directory that the call comes from cannot be read (" + cause(err) + ").", Err: err}
}

// instructions returns what a host tells the model about the tool learn, or "" if the tool is not offered.
func (f *family) instructions(ctx context.Context, _ contract.Context) string {
	if len(f.offered(ctx)) == 0 {
		return ""
	}
	return "There is knowledge that people have written down for this workspace. The description of learn names its topics: learn with a topic lists the topic's subjects, and with subjects loads them. Learn what concerns your task before you begin with it."
}

// prompt returns [Base.Section] of a project. It returns "" after an error, which checks report.
func (f *family) prompt(ctx context.Context, where contract.Context) string {
	b, err := f.open(where.Dir)
	if err != nil {
		return ""
	}
	section, _, _ := b.Section(ctx)
	return section
}

// arguments returns the completions of prefix, the beginning of an argument of learn or of a variable in the template
// of addresses. For "topic" they are ids of topics. For any other argument they are subjects of the topic in given,
// which has the other arguments; without a topic there are none.
func (f *family) arguments(ctx context.Context, _, argument, prefix string, given map[string]string) (names []string) {
	b, err := f.open("")
	switch {
	case err != nil:
		return nil // a call returns the error
	case argument == "topic":
		return b.CompleteTopic(ctx, prefix)
	}
	topic := given["topic"] + "/" // with no topic, CompletePath returns nothing
	for _, path := range b.CompletePath(ctx, topic+prefix) {
		names = append(names, strings.TrimPrefix(path, topic))
	}
	return names
}

// version returns a value that changes with the configuration and the names of subjects, but not with their content.
func (f *family) version(ctx context.Context) string {
	b, err := f.open("")
	if err != nil {
		return err.Error()
	}
	hash := sha256.New()
	for t := range b.scans(ctx) {
		fmt.Fprintf(hash, "%q%q%q%v", t.ID, t.Title, t.Introduction, t.broken)
		for _, s := range t.tree.Visible {
			fmt.Fprintf(hash, "%q%v", s.Name, s.Learned)
		}
	}
	return string(hash.Sum(nil))
}

// injectedAdvice returns sentences about how to put the section into the system prompt of a host, which may be JP.
func (f *family) injectedAdvice(jp bool) []string {
	prompt := []string{"convtools", "knowledge", "prompt"}
	for _, pattern := range f.opts.Patterns {
		prompt = append(prompt, "-k", pattern)
	}
	command := process.JoinCommand(prompt...)
	if jp {
		return []string{
			"Write the section, now and after every change of what is learned: " + command + " --format jp > .jp/config/knowledge-section.json",
			"Use it: jp query --cfg knowledge-section --cfg skill/knowledge …",
		}
	}
	return []string{"Put what this prints into the system prompt, now and after every change of what is learned: " + command}
}

// checks returns one check: a problem with the topics that cannot be learned, or the numbers of topics and subjects.
func (f *family) checks(ctx context.Context) []toolset.Check {
	result := func(status toolset.Status, fix, detail string) []toolset.Check {
		return []toolset.Check{{Name: "knowledge", Status: status, Fix: fix, Detail: detail}}
	}
	const fix = "convtools knowledge check"
	b, err := f.open("")
	if _, ok := errors.AsType[*config.Error](err); ok {
		return result(toolset.Problem, fix, "nothing can be learned: "+err.Error())
	} else if err != nil {
		return result(toolset.Off, "", "there is no workspace to have it")
	}
	count, unusable := 0, b.broken()
	for t := range b.scans(ctx) {
		if t.broken != nil {
			unusable = append(unusable, t.broken.Error())
		}
		for _, s := range t.tree.Subjects {
			if !s.Disabled {
				count++
			}
		}
	}
	switch {
	case len(unusable) > 0:
		return result(toolset.Problem, fix, strings.Join(unusable, "; "))
	case len(b.topics) == 0:
		return result(toolset.Off, "", "no topic is configured")
	}
	return result(toolset.OK, "", text.Count(len(b.topics), "topic", "topics")+", "+text.Count(count, "subject", "subjects"))
}
