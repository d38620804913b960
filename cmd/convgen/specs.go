package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/convtools/convtools/gen/check"
	"github.com/convtools/convtools/gen/diagprint"
	"github.com/convtools/convtools/gen/emit/schema"
	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/spec"
	"github.com/convtools/convtools/gen/table"
	"github.com/convtools/convtools/runtime/app"
	"github.com/convtools/convtools/runtime/base/diag"
	"github.com/convtools/convtools/runtime/commandline"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/toolset"
)

// served is the specs of a project as tools, without Go: each is the table that package
// commandline interprets. It reads them again when they change.
type served struct {
	dir    string // where tools.toml is
	stderr io.Writer
	// unattended is set where calls come from a host that knows the tools of an earlier
	// time, and runs those that read without asking the user.
	unattended bool

	mu      sync.Mutex
	version string
	tools   map[string]servedTool // by the file of the spec
	reading map[string]bool       // names that were offered as approved tools that read
	runner  *commandline.Runner
}

type servedTool struct {
	*commandline.Tool
	examples []string // arguments
}

// findProject returns the folder with tools.toml at or above a folder.
func findProject(dir string) (string, error) {
	from, err := filepath.Abs(cmp.Or(dir, "."))
	if err != nil {
		return "", fmt.Errorf("finding the project: %w", err)
	}
	for at := from; ; at = filepath.Dir(at) {
		if info, err := os.Stat(filepath.Join(at, spec.ProjectFile)); err == nil && info.Mode().IsRegular() {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("there is no %s in %s or above it: convgen init writes one", spec.ProjectFile, from)
		}
	}
}

// load reads the specs where they have changed. What is wrong with them is named on
// standard error, and of a spec that is wrong the tool before it stays.
func (s *served) load() {
	s.mu.Lock()
	defer s.mu.Unlock()
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return // it may be back in a moment
	}
	defer root.Close()
	project, diags := spec.Load(root.FS())
	sum := sha256.New()
	sources := map[string][]byte{}
	for _, file := range project.Sources {
		sources[file.Name] = file.Source
		fmt.Fprintf(sum, "%q%q", file.Name, file.Source)
	}
	version := hex.EncodeToString(sum.Sum(nil))
	if version == s.version {
		return
	}
	s.version = version
	contract, more := check.Check(project)
	diags = append(diags, more...)
	_ = diagprint.Text(s.stderr, diags, func(name string) []byte { return sources[name] }) // there is nowhere else to say so
	wrong := map[string]bool{}
	for _, d := range diags {
		wrong[d.File] = wrong[d.File] || d.Severity == diag.Error
	}
	if wrong[spec.ProjectFile] {
		return
	}
	tools := map[string]servedTool{}
	for name := range sources {
		if before, was := s.tools[name]; was && wrong[name] {
			tools[name] = before
		}
	}
	for _, t := range contract.Tools() {
		switch {
		case wrong[t.Source]:
		case t.Command == nil:
			fmt.Fprintf(s.stderr, "%s: %s has a handler in Go, and is not served from its spec\n", t.Source, t.Name)
		default:
			tools[t.Source] = servedTool{table.Command(t, schema.Compact(t)), arguments(t)}
		}
	}
	s.tools, s.runner = tools, commandline.New(contract.CLIs)
}

// arguments are those of the examples of a tool; none where a call needs none.
func arguments(t *ir.Tool) []string {
	var list []string
	for _, e := range t.Examples {
		list = append(list, e.Arguments)
	}
	if list == nil && !slices.ContainsFunc(t.Params, func(p ir.Param) bool { return p.Required }) {
		list = []string{"{}"}
	}
	return list
}

// sorted returns the tools, by name.
func (s *served) sorted() []servedTool {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]servedTool, 0, len(s.tools))
	for _, t := range s.tools {
		list = append(list, t)
	}
	slices.SortFunc(list, func(a, b servedTool) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// described returns the tools as hosts get to see them. One whose command line the user
// has not approved is offered as writing: who can edit a spec must not gain a command.
func (s *served) described() []contract.Tool {
	approved := readApproved(s.dir)
	reading := map[string]bool{}
	var list []contract.Tool
	for _, t := range s.sorted() {
		described := t.Tool.Tool
		if slices.Contains(approved, s.fingerprint(t.Tool)) {
			reading[t.Name] = t.Effect == string(ir.Read)
		} else {
			described.Effect, described.Hints = string(ir.Write), contract.Hints{Destructive: true, OpenWorld: true}
			described.Description += "\n\nThe user has not approved what this tool runs, which is new or has changed. convgen approve does so."
		}
		list = append(list, described)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, was := range s.reading {
		reading[name] = reading[name] || was
	}
	s.reading = reading
	return list
}

// fingerprint is a hash of what a tool runs, and how it is offered.
func (s *served) fingerprint(t *commandline.Tool) string {
	s.mu.Lock()
	line, _ := s.runner.Lines.Lookup(t.Command.Line)
	s.mu.Unlock()
	text, _ := json.Marshal([]any{t.Name, t.Effect, t.Hints, line, t.Command, t.Parameters}) // data that always encodes
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// call answers a call. A host may still take for reading what has changed since it got
// the list of tools, and run it without asking: then only what was approved runs.
func (s *served) call(ctx context.Context, call contract.Call) (string, error) {
	var names []string
	for _, t := range s.sorted() {
		if t.AnswersTo(call.Tool) {
			if call.Context.Dir == "" {
				call.Context.Dir = s.dir
			}
			s.mu.Lock()
			runner, attended := s.runner, !s.unattended && !s.reading[call.Tool]
			s.mu.Unlock()
			if !attended && !slices.Contains(readApproved(s.dir), s.fingerprint(t.Tool)) {
				return "", &contract.Error{Message: "The user has not approved what " + t.Name + " runs, which is new or has changed. They do so with: convgen approve"}
			}
			return runner.Call(ctx, t.Tool, call)
		}
		names = append(names, t.Name)
	}
	return "", contract.UnknownTool(call.Tool, names)
}

// family returns the specs as a family of tools.
func (s *served) family(host *toolset.Host) toolset.Family {
	s.load()
	runner := s.runner
	family := app.Declared(s.described(), s.call, runner)(host)[0]
	family.Name = "specs"
	family.Declared = s.described
	family.Version = func(context.Context) string {
		s.load()
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.version + strings.Join(readApproved(s.dir), "")
	}
	return family
}

// hosted runs a command that the built program of a project has too, over its specs.
func hosted(args []string, stdout, stderr io.Writer) int {
	if args[0] == "serve" {
		args = append([]string{"mcp"}, args[1:]...)
	}
	dir, err := findProject(workspace(args))
	if err != nil {
		fmt.Fprintf(stderr, "convgen %s: %v\n", args[0], err)
		return exitWrong
	}
	s := &served{dir: dir, stderr: stderr, unattended: args[0] == "jp-tool"}
	program := app.Program{
		Name: "convgen", Version: "0.1.0", Short: "Tools of the specs in this folder",
		DirUsage: "serve the specs of `DIR`, where tools.toml is or above it",
		Families: func(host *toolset.Host) []toolset.Family { return []toolset.Family{s.family(host)} },
	}
	host := app.NewHost()
	host.Stdout, host.Stderr = stdout, stderr
	code := program.Run(host, args)
	if code == exitOK && args[0] == "install" {
		// Whoever registers the folder has chosen what it runs.
		if err := s.approve(io.Discard); err != nil {
			fmt.Fprintf(stderr, "convgen install: %v\n", err)
			return exitWrong
		}
	}
	return code
}

// workspace is the folder that the arguments name, before anything else reads them: which
// tools there are depends on it.
func workspace(args []string) string {
	for i, arg := range args {
		if value, ok := strings.CutPrefix(arg, "--workspace="); ok {
			return value
		}
		if (arg == "--workspace" || arg == "-w") && i+1 < len(args) {
			return args[i+1]
		}
	}
	return ""
}

// try runs the examples of all tools that read, or of one tool, and shows the answers.
func try(args []string, stdout, stderr io.Writer) int {
	dir, err := findProject("")
	if err == nil && len(args) > 1 {
		err = errors.New("it takes the name of one tool, or none for all that read")
	}
	if err != nil {
		fmt.Fprintf(stderr, "convgen try: %v\n", err)
		return exitUsage
	}
	s := &served{dir: dir, stderr: stderr}
	s.load()
	tried, failed := 0, 0
	for _, t := range s.sorted() {
		if len(args) == 0 && t.Effect != string(ir.Read) || len(args) == 1 && !t.AnswersTo(args[0]) {
			continue
		}
		for _, arguments := range t.examples {
			tried++
			fmt.Fprintf(stdout, "%s %s\n", t.Name, arguments)
			answer, err := s.call(context.Background(), contract.Call{Tool: t.Name, Arguments: []byte(arguments)})
			if err != nil {
				failed++
				answer = "FAILED: " + err.Error()
			}
			fmt.Fprintf(stdout, "%s\n\n", answer)
		}
	}
	switch {
	case tried == 0:
		fmt.Fprintln(stderr, "convgen try: there is no tool to try\nhint: an [[examples]] table in a spec is a call to try")
		return exitWrong
	case failed > 0:
		fmt.Fprintf(stderr, "convgen try: %d of %d calls gave no answer\n", failed, tried)
		return exitWrong
	}
	return exitOK
}
