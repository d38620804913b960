package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/process"
)

// maxPrinted is how many characters of the output of one command a host shows an
// assistant: what goes beyond it is cut off and costs nothing.
const maxPrinted = 30_000

// shell is an assistant with nothing but a shell in the folder of the files. It
// works as follows; where there is a choice, the one that is cheaper for it.
//
//   - Once for each workspace it looks at the folder (ls), looks at how one file
//     begins (2,000 characters), and writes a script that decodes base64 and
//     writes each conversation as text, an event after the other under a line with
//     its number, turn and kind. The script prints nothing.
//   - For each search of a question it runs rg -n -i -o '.{0,200}word.{0,200}' over
//     these texts, archived ones too; with ids, over those conversations only.
//   - For each list it runs ls, and where it is one of requests, it prints the
//     first 120 characters of each request with its number.
//   - For each read it prints the event with the one before and the one after it, and
//     of a request the answer too, in full; without an event the whole turn, or the last requests and what followed,
//     or the conversation; without what include leaves out. It always goes to
//     the right place at once, whether or not an earlier output shows it.
//   - An output of more than 30,000 characters is cut there.
type shell struct {
	ripgrep  string
	dir      string // of the texts
	recorded []recorded
	learned  cost
}

func newShell(ripgrep, workspace, dir string, conversations []recorded) (*shell, error) {
	s := &shell{ripgrep: ripgrep, dir: dir, recorded: conversations}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making a directory: %w", err)
	}
	for _, c := range conversations {
		if err := os.WriteFile(filepath.Join(dir, c.id+".txt"), []byte(c.print(c.events)), 0o600); err != nil {
			return nil, fmt.Errorf("writing decoded text: %w", err)
		}
	}
	const begin = 2000
	listed := utf8.RuneCountInString(s.list(map[string]any{}))
	s.learned = cost{calls: 3, chars: listed + begin, found: true}
	return s, nil
}

// find makes the calls of a question as a shell does.
func (s *shell) find(ctx context.Context, q question) (cost, error) {
	return peer(q, s.recorded, func(c call, of *recorded, at int) ([]string, error) {
		switch {
		case c.List != nil:
			return []string{s.list(c.List)}, nil
		case c.Grep != nil:
			out, err := s.grep(ctx, c.Grep, of)
			return []string{out}, err
		}
		return []string{of.print(of.read(c.Read, at))}, nil
	})
}

// list prints what there is: the names of the folders, or how requests begin.
func (s *shell) list(arguments map[string]any) string {
	contains, _ := arguments["title_contains"].(string)
	archived, _ := arguments["archived"].(bool)
	outline, _ := arguments["outline"].(bool)
	var b strings.Builder
	for _, c := range s.recorded {
		if c.archived != archived || !strings.Contains(strings.ToLower(c.title), strings.ToLower(contains)) {
			continue
		}
		b.WriteString(c.dir + "\n")
		if !outline {
			continue
		}
		for i, e := range c.events {
			if e.who == "user" {
				fmt.Fprintf(&b, "%d %.120s\n", i+1, spaced(e.text))
			}
		}
	}
	return b.String()
}

// grep searches all texts, and with ids only one.
func (s *shell) grep(ctx context.Context, arguments map[string]any, of *recorded) (string, error) {
	pattern, _ := arguments["pattern"].(string)
	args := []string{"--sort=path", "-n", "-o", ".{0,200}" + regexp.QuoteMeta(pattern) + ".{0,200}"}
	if ignore, ok := arguments["ignore_case"].(bool); !ok || ignore {
		args = append(args, "-i")
	}
	for i := range s.recorded {
		c := &s.recorded[i]
		if arguments["ids"] == nil || c == of {
			args = append(args, c.id+".txt")
		}
	}
	result, err := process.Exec{}.Run(ctx, process.Command{Path: s.ripgrep, Args: args, Dir: s.dir})
	switch {
	case err != nil:
		return "", fmt.Errorf("running rg: %w", err)
	case result.ExitCode > 1:
		return "", fmt.Errorf("running rg: exit code %d: %s", result.ExitCode, result.Stderr)
	}
	return string(result.Stdout), nil
}

// read returns what a call reads of a conversation: an event with the one before
// and the one after it, and of a request the answer; the turn of an event; the
// last turns; or everything.
func (c *recorded) read(arguments map[string]any, at int) []event {
	included, _ := arguments["include"].([]any)
	last, isLast := arguments["last"].(int64)
	final := c.events[len(c.events)-1].turn
	answer := -1
	if c.events[at].who == "user" {
		for i := at + 1; i < len(c.events) && c.events[i].who != "user"; i++ {
			if c.events[i].who == "assistant" {
				answer = i
			}
		}
	}
	var events []event
	for i, e := range c.events {
		switch {
		case len(included) > 0 && !slices.Contains(included, any(e.kind())) && !slices.Contains(included, any(e.spoken())):
		case arguments["event"] != nil && (i < at-1 || i > at+1) && i != answer:
		case arguments["turn"] != nil && e.turn != c.events[at].turn:
		case isLast && e.turn <= final-int(last):
		default:
			events = append(events, e)
		}
	}
	return events
}

// spoken returns what include calls the sides of a conversation.
func (e event) spoken() string {
	return map[string]string{"user": "requests", "assistant": "answers"}[e.who]
}

// kind returns what include calls an event.
func (e event) kind() string {
	switch e.who {
	case "user", "assistant":
		return "chat"
	case "reasoning":
		return "reasoning"
	case "tool_call_request":
		return "tool_calls"
	case "tool_call_response":
		return "tool_results"
	}
	return "inquiries"
}

func (c *recorded) print(events []event) string {
	var b strings.Builder
	for i, e := range events {
		fmt.Fprintf(&b, "[%d] turn %d %s\n%s\n", i+1, e.turn, e.who, e.text)
	}
	return b.String()
}

// place returns the conversation and the event that have the text of At: those that
// answer the question rather than others. Of a title, the event is the first.
func place(conversations []recorded, c call, q question) (*recorded, int) {
	for _, answering := range []bool{true, false} {
		for i := range conversations {
			of := &conversations[i]
			if answering != slices.ContainsFunc(q.Answers, func(s sentence) bool { return s.In == of.id }) {
				continue
			}
			if spaced(of.title) == spaced(c.At) {
				return of, 0
			}
			for at, e := range of.events {
				if strings.Contains(spaced(e.text), spaced(c.At)) {
					return of, at
				}
			}
		}
	}
	return nil, 0
}

// peer makes the calls of a question as a peer does, each of them with one or more
// outputs, until the answers are in view or there is nothing more to try.
func peer(q question, conversations []recorded, do func(c call, of *recorded, at int) ([]string, error)) (cost, error) {
	var total cost
	missing := slices.Clone(q.Answers)
	for _, c := range q.Calls {
		of, at := place(conversations, c, q)
		if of == nil && c.At != "" {
			return total, fmt.Errorf("no conversation has %q", c.At)
		}
		outputs, err := do(c, of, at)
		if err != nil {
			return total, err
		}
		for _, out := range outputs {
			if characters := []rune(out); len(characters) > maxPrinted {
				out = string(characters[:maxPrinted])
			}
			total.calls++
			total.chars += utf8.RuneCountInString(out)
			missing = slices.DeleteFunc(missing, func(s sentence) bool { return strings.Contains(spaced(out), spaced(s.Says)) })
			total.found = len(missing) == 0 && (len(q.Answers) > 0 || out == "")
			if total.found {
				return total, nil
			}
		}
	}
	return total, nil
}
