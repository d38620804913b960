package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
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

// served serves the specs of a project as tools, without Go: package commandline interprets each tool's table. It
// reads the specs again when they change.
type served struct {
	dir    string // the folder with tools.toml
	stderr io.Writer
	// unattended is true if the calls come from a host that may have an old list of tools and runs reading tools
	// without asking the user.
	unattended bool

	mu      sync.Mutex
	version string
	tools   map[string]servedTool // by file name of the spec
	wrong   map[string]string     // by file name with a mistake: the name of the tool, or ""
	reading []string              // names of the tools that were listed as reading and approved
	runner  *commandline.Runner
	jpFiles []contract.File // definitions of the tools for JP
}

type servedTool struct {
	*commandline.Tool
	runner   *commandline.Runner // has the command lines at the time the tool was read
	examples []string            // the arguments of each example
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

// load reads the specs if they have changed. It prints mistakes to standard error. A spec with a mistake keeps its
// previous tool.
func (s *served) load() {
	s.mu.Lock()
	defer s.mu.Unlock()
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return // the folder may come back soon
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
	_ = diagprint.Text(s.stderr, diags, func(name string) []byte { return sources[name] }) // this error cannot be reported anywhere
	s.wrong = wrongFiles(project, diags)
	if _, wrong := s.wrong[spec.ProjectFile]; wrong {
		if s.tools != nil {
			fmt.Fprintf(s.stderr, "%s is wrong: all tools stay as they were before\n", spec.ProjectFile)
		}
		return
	}
	s.jpFiles = jpFiles(checked)
	tools, runner := map[string]servedTool{}, commandline.New(checked.CLIs)
	runner.Dir = s.dir
	for name := range sources {
		_, wrong := s.wrong[name]
		if before, was := s.tools[name]; was && wrong {
			fmt.Fprintf(s.stderr, "%s is wrong: %s stays as it was before\n", name, before.Name)
			tools[name] = before
		}
	}
	for _, t := range checked.Tools() {
		_, wrong := s.wrong[t.Source]
		switch {
		case wrong:
		case t.Command == nil:
			fmt.Fprintf(s.stderr, "%s: %s has a handler in Go, and is not served from its spec\n", t.Source, t.Name)
		default:
			tools[t.Source] = servedTool{table.Command(t, schema.Compact(t)), runner, arguments(t)}
		}
	}
	s.tools, s.runner = tools, runner
}

// wrongFiles returns the files with errors, and the names of their tools.
func wrongFiles(project *spec.Project, diags diag.List) map[string]string {
	wrong := map[string]string{}
	for _, d := range diags {
		if d.Severity == diag.Error {
			wrong[d.File] = ""
		}
	}
	for _, t := range project.Tools {
		if _, is := wrong[t.File.Name]; is {
			wrong[t.File.Name] = t.Name.Value
		}
	}
	return wrong
}

// mistakes returns an error that names the wrong specs, whose tools were not tried or listed, or nil if there are
// none.
func (s *served) mistakes(done string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	files := slices.Sorted(maps.Keys(s.wrong))
	_, all := s.wrong[spec.ProjectFile]
	switch {
	case all:
		return fmt.Errorf("%s is wrong: no tools were %s", spec.ProjectFile, done)
	case len(files) == 1:
		return fmt.Errorf("1 spec is wrong, and its tool was not %s: %s", done, files[0])
	case len(files) > 1:
		return fmt.Errorf("%d specs are wrong, and their tools were not %s: %s", len(files), done, strings.Join(files, ", "))
	}
	return nil
}

// jpFiles returns the JP definitions of the tools that are served from their specs.
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

// arguments returns the arguments of a tool's examples, or {} if it has no examples and no required parameter.
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

// sorted returns the tools sorted by name.
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

// described returns the tools as hosts see them. A tool with an unapproved command is listed as writing, so that
// editing a spec cannot make a host run a command without asking.
func (s *served) described() []contract.Tool {
	approved := readApproved(s.dir)
	var reading []string
	var list []contract.Tool
	for _, t := range s.sorted() {
		described := t.Tool.Tool
		switch {
		case !slices.Contains(approved, t.fingerprint()):
			described.Effect, described.OpenWorld = string(ir.Write), true
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

// fingerprint returns the name of a tool and a hash of its command, effect and parameters.
func (t *servedTool) fingerprint() string {
	line, _ := t.runner.Lines.Lookup(t.Command.Line)
	text, _ := json.Marshal([]any{t.Name, t.Effect, t.OpenWorld, line, t.Command, t.Parameters}) // this data always encodes
	sum := sha256.Sum256(text)
	return t.Name + " " + hex.EncodeToString(sum[:])
}

// call answers a call. A host with an old list of tools may run a changed tool without asking, because it was listed
// as reading. Such a tool runs only if its command is approved.
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

// unasked reports whether a tool may run without the user being asked: it was listed as reading under one of its
// current or former names.
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
	programs := family.Checks
	family.Checks = func(ctx context.Context) []toolset.Check {
		checks := programs(ctx)
		if err := s.mistakes("served"); err != nil {
			checks = append(checks, toolset.Check{Name: "specs", Status: toolset.Problem, Detail: err.Error(), Fix: "see convgen generate -check"})
		}
		return checks
	}
	family.Version = func(context.Context) string {
		s.load()
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.version + strings.Join(readApproved(s.dir), "")
	}
	return family
}

// hosted runs a command that programs built from specs have too, for the specs of this folder.
func hosted(args []string, stdout, stderr io.Writer) int {
	name := args[0]
	options := args[1:]
	if end := slices.Index(options, "--"); end >= 0 {
		options = options[:end]
	}
	help := slices.Contains(options, "--help") || slices.Contains(options, "-h")
	if args[0] == "serve" {
		args = append([]string{"mcp"}, args[1:]...)
	}
	dir, err := findProject(workspace(args))
	switch {
	case help: // needs no project
		stderr = io.Discard
	case err != nil && name == "jp-tool":
		return noProject(stdout)
	case err != nil:
		fmt.Fprintf(stderr, "convgen %s: %v\n", name, err)
		return exitWrong
	}
	if args[0] == "install" && workspace(args) == "" && !help {
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
	if help || code != exitOK {
		return code
	}
	if err := s.mistakes("listed"); err != nil && name == "tools" {
		fmt.Fprintf(stderr, "convgen tools: %v\n", err)
		return exitWrong
	}
	if name == "install" {
		// By installing the folder, the user approves its commands.
		if err := s.approve(io.Discard); err != nil {
			fmt.Fprintf(stderr, "convgen install: %v\n", err)
			return exitWrong
		}
	}
	return code
}

// noProject writes an outcome for JP, which always reads one.
func noProject(stdout io.Writer) int {
	outcome := contract.OutcomeOf("", &contract.Error{
		Message: "There is no " + spec.ProjectFile + " in the root of the project or above it, so there are no tools. The user can write one with: convgen init",
	})
	_ = json.NewEncoder(stdout).Encode(outcome) // this error cannot be reported anywhere
	return exitOK
}

// entry returns the name under which hosts register a folder. It contains the name of the folder.
func entry(dir string) string {
	name := regexp.MustCompile(`[^a-z0-9]`).ReplaceAllString(strings.ToLower(filepath.Base(dir)), "-")
	return strings.TrimRight("convgen-"+name, "-")
}

// workspace returns the folder that the arguments name, or "". It runs before the arguments are parsed, because the
// tools depend on the folder.
func workspace(args []string) string {
	if args[0] == "jp-tool" && len(args) > 1 {
		var where struct{ Root string }
		_ = json.Unmarshal([]byte(args[1]), &where) // invalid JSON leaves Root empty
		if info, err := os.Stat(where.Root); err != nil || !info.IsDir() {
			return "" // Root may be the id of a workspace
		}
		return where.Root
	}
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

// try runs the examples of one tool, or of all reading tools, and prints the answers.
func try(args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("try", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	if err := parse(flags, args, 1); err != nil {
		return err
	}
	dir, err := findProject("")
	if err != nil {
		return misuse{message: err.Error()}
	}
	s := &served{dir: dir, stderr: stderr}
	s.load()
	if len(args) == 1 {
		if err := s.known(args[0]); err != nil {
			return err
		}
	}
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
				var toolErr *contract.Error
				if errors.As(err, &toolErr) {
					answer = "FAILED: " + toolErr.ForPerson()
				}
			}
			fmt.Fprintf(stdout, "%s\n\n", answer)
		}
	}
	mistakes := s.mistakes("tried")
	if len(args) == 1 { // mistakes in other specs do not matter
		mistakes = nil
	}
	switch {
	case tried == 0 && mistakes == nil:
		return errors.New("there is no tool to try\nhint: an [[examples]] table in a spec is a call to try")
	case failed > 0:
		return errors.Join(fmt.Errorf("%d of %d calls gave no answer", failed, tried), mistakes)
	}
	return mistakes
}

// known returns nil if a tool has that name, and an error with the reason otherwise.
func (s *served) known(name string) error {
	var names []string
	for _, t := range s.sorted() {
		if t.AnswersTo(name) {
			return nil
		}
		names = append(names, t.Name)
	}
	for file, wrong := range s.wrong {
		if wrong != "" && (wrong == name || ir.Flat(wrong) == name) {
			return fmt.Errorf("the spec of %s is wrong, as said above: %s", name, file)
		}
	}
	return errors.Join(contract.UnknownTool(name, names), s.mistakes("tried"))
}
