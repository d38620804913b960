package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/model/modeltest"
)

// task is sessions of an agent, in a file of testdata/tasks.
type task struct {
	ToolSearch bool      `toml:"tool_search"` // the model has to search for tools
	StartHook  bool      `toml:"start_hook"`  // it is installed too
	Sessions   []session `toml:"session"`
	// Files are the texts of files in the project, by their names. In an argument of a call, {{project}} is the path of
	// the project.
	Files    map[string]string
	Recorded []recorded // what convtools lists afterwards, if the agent has a history
}

// session is a question to an agent and the work of its model.
type session struct {
	Question, Reply string
	Again           bool     // goes on with the session before
	Args            []string // more arguments of the agent
	Inner           string   // the reply of a sub-agent, which is not told the question
	Started         []string // the titles that the start hook tells, the newest first; none if it is silent
	// Workspace runs the agent in the sample workspace, where its model has to see our tools and instructions, and the
	// answers of the command line. Otherwise it runs in an empty project.
	Workspace bool
	Calls     []plannedCall `toml:"call"`
}

// plannedCall is a call of a model. An argument or a part $name stands for an attribute
// or a member of that name: the first one in the latest answer that has one.
type plannedCall struct {
	Tool         string
	Arguments    map[string]any
	Shows, Lacks []string // parts that the answer must have, and must not have
}

// readTOML decodes a file of testdata. An unknown key is an error.
func (l *lab) readTOML(into any, elem ...string) error {
	meta, err := toml.DecodeFile(l.testdata(elem...), into)
	if err != nil {
		return err
	}
	for _, key := range meta.Undecoded() {
		if !slices.Contains(key, "arguments") { // whose members are any
			return fmt.Errorf("%s: unknown key %v", elem, key)
		}
	}
	return nil
}

// do has the agent do a task, and checks what its model saw and, if it has a history, what convtools reads of it.
func (w *worker) do(ctx context.Context, t task) error {
	for name, content := range t.Files {
		if err := os.WriteFile(filepath.Join(w.project, name), []byte(content), 0o600); err != nil {
			return fmt.Errorf("preparing the project: %w", err)
		}
	}
	for i, s := range t.Sessions {
		err := w.doSession(ctx, s)
		if err == nil && t.StartHook {
			err = w.checkStarted(s)
		}
		if err != nil {
			return fmt.Errorf("session %d: %w", i+1, err)
		}
	}
	if w.History == "" {
		return nil
	}
	return errors.Join(w.checkRecorded(ctx, t.Recorded), w.keep(ctx))
}

// doSession has the agent answer the question of a session, and checks the answers that
// its model saw. In the sample workspace it also checks the tools and instructions.
func (w *worker) doSession(ctx context.Context, s session) error {
	var made []call // the calls so far, with their arguments resolved
	answers, err := w.ask(ctx, s, func(earlier []string) (c call, more bool, err error) {
		if len(earlier) == len(s.Calls) {
			return call{}, false, nil
		}
		c, err = w.resolveCall(s.Calls[len(earlier)], earlier)
		made = append(made[:len(earlier)], c) // an agent may send a request again
		return c, true, err
	})
	if err != nil {
		return err
	}
	if len(answers) != len(s.Calls) {
		return fmt.Errorf("the model saw %d answers, want %d", len(answers), len(s.Calls))
	}
	var errs []error
	for i, planned := range s.Calls {
		err := planned.check(answers[i], answers[:i])
		if err == nil && s.Workspace {
			err = w.checkPrinted(ctx, made[i], answers[i])
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("call %d, of %s: %w", i+1, planned.Tool, err))
		}
	}
	if s.Workspace {
		errs = append(errs, w.checkOffered(ctx))
	}
	return errors.Join(errs...)
}

// resolveCall returns a planned call with its arguments resolved from the earlier answers.
func (w *worker) resolveCall(planned plannedCall, earlier []string) (call, error) {
	c := call{planned.Tool, map[string]any{}}
	var errs []error
	for name, value := range planned.Arguments {
		if s, isString := value.(string); isString {
			value = strings.ReplaceAll(s, "{{project}}", w.project)
		}
		resolved, err := resolve(value, earlier)
		c.Arguments[name], errs = resolved, append(errs, err)
	}
	return c, errors.Join(errs...)
}

// resolve replaces a reference such as "$id". It looks for id="text" or "id": "text" in the answers, the latest first,
// and returns the text, or the integer that the text is. If no answer has the name, it returns an error. A value that is
// no reference is returned as it is.
func resolve(value any, answers []string) (any, error) {
	s, _ := value.(string)
	name, isReference := strings.CutPrefix(s, "$")
	if !isReference {
		return value, nil
	}
	member := regexp.MustCompile(`\b` + name + `"?[=:] ?"([^"]*)"`)
	for _, answer := range slices.Backward(answers) {
		if found := member.FindStringSubmatch(answer); found != nil {
			if n, err := strconv.Atoi(found[1]); err == nil {
				return n, nil
			}
			return found[1], nil
		}
	}
	return nil, fmt.Errorf("no answer has %s: %.500q", name, answers)
}

// check returns an error if an answer lacks a part of Shows or has one of Lacks. A $name
// in a part is resolved from the earlier answers.
func (c plannedCall) check(answer string, earlier []string) error {
	for i, part := range slices.Concat(c.Shows, c.Lacks) {
		resolved, err := resolve(part, earlier)
		if err != nil {
			return err
		}
		want := i < len(c.Shows) // the part is one of Shows
		if strings.Contains(answer, fmt.Sprint(resolved)) != want {
			return fmt.Errorf("the answer has %q: %t, want %t:\n%.2000s", resolved, !want, want, answer)
		}
	}
	return nil
}

// currentNote matches a note about the current conversation.
var currentNote = regexp.MustCompile(`(?m)^ *<note>(Left out: the current conversation, |Which conversation this is cannot be told, ).*\n`)

// checkPrinted returns an error if the answer to a call differs from the answer of convtools jp-tool to the same call. It
// ignores the note about the current conversation, which only a server adds.
func (w *worker) checkPrinted(ctx context.Context, c call, answer string) error {
	want, _, err := w.lab.answer(ctx, c)
	if err != nil {
		return err
	}
	if diff := cmp.Diff(want, currentNote.ReplaceAllString(answer, "")); diff != "" {
		return fmt.Errorf("the answer is not that of the command line (-want +got):\n%s", diff)
	}
	return nil
}

// checkOffered compares the tools and instructions that the model sees with those of convtools.
func (w *worker) checkOffered(ctx context.Context) error {
	exchanges := w.model.Exchanges()
	// A request for a title has no tools. The model has also answered a task, whose request has tools.
	first := exchanges[slices.IndexFunc(exchanges, func(e modeltest.Exchange) bool { return len(e.Tools) > 0 })]
	var errs []error
	for _, tool := range w.tools {
		offered, ok := w.tool(first.Tools, tool.Name)
		if !ok || offered.Description != tool.Description {
			errs = append(errs, fmt.Errorf("the model is not offered %s as it is described: %q", tool.Name, offered.Description))
			continue
		}
		if err := checkParameters(tool.InputSchema, offered.Parameters); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", tool.Name, err))
		}
	}
	results, err := typescript("v1")(ctx, w.lab, target{Era: legacy, Command: w.serverCommand()}, []request{{Method: "initialize"}})
	if err != nil {
		return err
	}
	// Agents indent the instructions. The body is JSON.
	seen := joinWords(strings.ReplaceAll(string(first.Body), `\n`, " "))
	for paragraph := range strings.SplitSeq(results[0].Instructions, "\n\n") {
		isSeen := strings.Contains(seen, joinWords(strings.ReplaceAll(paragraph, `"`, `\"`)))
		// The agent's server names the agent's conversation here. The server started above has no conversation to name.
		mayDiffer := strings.Contains(paragraph, "conversation you are in")
		if !isSeen && !mayDiffer {
			errs = append(errs, fmt.Errorf("the model does not see of the instructions: %s", paragraph))
		}
	}
	return errors.Join(errs...)
}

// joinWords joins the words of a text with single spaces.
func joinWords(s string) string { return strings.Join(strings.Fields(s), " ") }

// checkParameters compares the parameters that a model sees with those of a schema: names, types, descriptions and
// allowed values, and which are required. Agents leave out other keywords.
func checkParameters(want, got []byte) error {
	type parameters struct {
		Properties map[string]map[string]any
		Required   []string
	}
	var w, g parameters
	if err := errors.Join(json.Unmarshal(want, &w), json.Unmarshal(got, &g)); err != nil {
		return fmt.Errorf("reading the schemas: %w", err)
	}
	omitted := []string{"default", "minLength", "maxLength", "minimum", "maximum", "pattern", "format", "maxItems", "minItems", "uniqueItems"}
	ignore := cmp.FilterPath(func(path cmp.Path) bool {
		key, ok := path.Last().(cmp.MapIndex)
		return ok && slices.Contains(omitted, key.Key().String())
	}, cmp.Ignore())
	if diff := cmp.Diff(w, g, ignore); diff != "" {
		return fmt.Errorf("the model sees other parameters (-want +got):\n%s", diff)
	}
	return nil
}
