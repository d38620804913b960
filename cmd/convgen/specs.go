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
	"github.com/convtools/convtools/gen/emit/jp"
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
	reading []string              // names that were offered as approved tools that read
	runner  *commandline.Runner
	jpFiles []contract.File // that make the tools known to JP
}

type servedTool struct {
	*commandline.Tool
	runner   *commandline.Runner // with the command lines there were when the tool was read
	examples []string            // arguments
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
	checked, more := check.Check(project)
	diags = append(diags, more...)
	_ = diagprint.Text(s.stderr, diags, func(name string) []byte { return sources[name] }) // there is nowhere else to say so
	wrong := map[string]bool{}
	for _, d := range diags {
		wrong[d.File] = wrong[d.File] || d.Severity == diag.Error
	}
	if wrong[spec.ProjectFile] {
		return
	}
	s.jpFiles = jpFiles(checked)
	tools, runner := map[string]servedTool{}, commandline.New(checked.CLIs)
	for name := range sources {
		if before, was := s.tools[name]; was && wrong[name] {
			tools[name] = before
		}
	}
	for _, t := range checked.Tools() {
		switch {
		case wrong[t.Source]:
		case t.Command == nil:
			fmt.Fprintf(s.stderr, "%s: %s has a handler in Go, and is not served from its spec\n", t.Source, t.Name)
		default:
			tools[t.Source] = servedTool{table.Command(t, schema.Compact(t)), runner, arguments(t)}
		}
	}
	s.tools, s.runner = tools, runner
}

// jpFiles are the definitions for JP of the tools that are served from their specs.
func jpFiles(c *ir.Contract) []contract.File {
	c.Targets.JPTools, c.Targets.JPCommand = ".jp/mcp/tools", "convgen jp-tool {{context}} {{tool}}"
	definitions := jp.Tools(c)
	var files []contract.File
	for i, t := range c.Tools() {
		if t.Command != nil {
			files = append(files, contract.File{Path: definitions[i].Path, Text: string(definitions[i].Data)})
		}
	}
	return files
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
	var reading []string
	var list []contract.Tool
	for _, t := range s.sorted() {
		described := t.Tool.Tool
		switch {
		case !slices.Contains(approved, t.fingerprint()):
			described.Effect, described.Hints = string(ir.Write), contract.Hints{Destructive: true, OpenWorld: true}
			described.Description += "\n\nThe user has not approved what this tool runs, which is new or has changed. convgen approve does so."
		case t.Effect == string(ir.Read):
			reading = append(reading, t.Name)
		}
		list = append(list, described)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range reading {
		if !slices.Contains(s.reading, name) {
			s.reading = append(s.reading, name)
		}
	}
	return list
}

// fingerprint is a hash of what a tool runs, and how it is offered.
func (t *servedTool) fingerprint() string {
	line, _ := t.runner.Lines.Lookup(t.Command.Line)
	text, _ := json.Marshal([]any{t.Name, t.Effect, t.Hints, line, t.Command, t.Parameters}) // data that always encodes
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// call answers a call. A host may still take for reading what has changed since it got
// the list of tools, and run it without asking: then only what was approved runs.
func (s *served) call(ctx context.Context, call contract.Call) (string, error) {
	var names []string
	for _, t := range s.sorted() {
		if !t.AnswersTo(call.Tool) {
			names = append(names, t.Name)
			continue
		}
		if s.unasked(&t, call.Tool) && !slices.Contains(readApproved(s.dir), t.fingerprint()) {
			return "", &contract.Error{Message: "The user has not approved what " + t.Name + " runs, which is new or has changed. They do so with: convgen approve"}
		}
		call.Context.Dir = cmp.Or(call.Context.Dir, s.dir)
		return t.runner.Call(ctx, t.Tool, call)
	}
	return "", contract.UnknownTool(call.Tool, names)
}

// unasked reports whether a tool, called by one of its names, may run without the user
// being asked: it was offered as reading, by any of the names that it has or had.
func (s *served) unasked(t *servedTool, name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.unattended || slices.ContainsFunc(s.reading, func(read string) bool {
		return t.AnswersTo(read) || read == name || ir.Flat(read) == name
	})
}

// family returns the specs as a family of tools.
func (s *served) family(host *toolset.Host) toolset.Family {
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
	if args[0] == "install" && workspace(args) == "" {
		args = slices.Insert(slices.Clone(args), 1, "--workspace", dir)
	}
	s := &served{dir: dir, stderr: stderr, unattended: args[0] == "jp-tool"}
	s.load()
	program := app.Program{
		Name: "convgen", Version: "0.1.0", Short: "Tools of the specs in this folder",
		DirUsage: "serve the specs of `DIR`, where tools.toml is or above it",
		Families: func(host *toolset.Host) []toolset.Family { return []toolset.Family{s.family(host)} },
		JPFiles:  s.jpFiles,
	}
	host := app.NewHost()
	host.Stdout, host.Stderr, host.Entry = stdout, stderr, entry(dir)
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

// entry is the name that hosts know the tools of a folder by: each folder has its own.
func entry(dir string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		}
		return '-'
	}, strings.ToLower(filepath.Base(dir)))
	return strings.TrimRight("convgen-"+name, "-")
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
func try(args []string, stdout, stderr io.Writer) error {
	if len(args) > 1 {
		return misuse{message: "it takes the name of one tool, or none for all that read"}
	}
	dir, err := findProject("")
	if err != nil {
		return misuse{message: err.Error()}
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
		return errors.New("there is no tool to try\nhint: an [[examples]] table in a spec is a call to try")
	case failed > 0:
		return fmt.Errorf("%d of %d calls gave no answer", failed, tried)
	}
	return nil
}
