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

// served serves the specs of a project as tools, without generated Go code: package commandline interprets the table of
// each tool. load reads the specs again when they have changed.
type served struct {
	dir    string // the folder with tools.toml
	stderr io.Writer
	// unattended is true for a host that may have an old list of tools and runs reading tools without asking.
	unattended bool

	mu      sync.Mutex
	version string                // a hash of all specs
	tools   map[string]servedTool // by file name of the spec
	wrong   map[string]string     // for each file with a mistake, by its name: the name of its tool, or ""
	reading []string              // names of the tools that a host was told only read; see descriptions
	runner  *commandline.Runner
	jpFiles []contract.File // definitions of the tools for JP
}

// servedTool is a tool as its spec was when it was last without a mistake.
type servedTool struct {
	*commandline.Tool
	runner   *commandline.Runner // has the command lines at the time the tool was read
	examples []string            // the arguments of each example
}

// findProject returns the nearest folder with tools.toml: dir, or one above it. An empty dir is the working directory.
func findProject(dir string) (string, error) {
	from, err := filepath.Abs(cmp.Or(dir, "."))
	if err != nil {
		return "", fmt.Errorf("finding the project: %w", err)
	}
	for folder := from; ; folder = filepath.Dir(folder) {
		if info, err := os.Stat(filepath.Join(folder, spec.ProjectFile)); err == nil && info.Mode().IsRegular() {
			return folder, nil
		}
		if folder == filepath.Dir(folder) { // the root of the file system
			return "", fmt.Errorf("there is no %s in %s or above it: convgen init writes one", spec.ProjectFile, from)
		}
	}
}

// load reads the specs and, if they have changed since the last call, serves them. It prints mistakes to stderr. A spec
// with a mistake keeps its previous tool, and a mistake in tools.toml keeps all previous tools.
func (s *served) load() {
	s.mu.Lock()
	defer s.mu.Unlock()
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return // the folder may come back soon
	}
	defer root.Close()
	project, diags := spec.Load(root.FS())
	hash := sha256.New()
	sources := map[string][]byte{}
	for _, file := range project.Sources {
		sources[file.Name] = file.Source
		fmt.Fprintf(hash, "%q%q", file.Name, file.Source)
	}
	version := hex.EncodeToString(hash.Sum(nil))
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
	s.jpFiles = jpDefinitions(checked)
	tools, runner := map[string]servedTool{}, commandline.New(checked.CLIs)
	runner.Dir = s.dir
	for name := range sources {
		_, wrong := s.wrong[name]
		if before, exists := s.tools[name]; exists && wrong {
			fmt.Fprintf(s.stderr, "%s is wrong: %s stays as it was before\n", name, before.Name)
			tools[name] = before
		}
	}
	for _, t := range checked.Tools() {
		_, wrong := s.wrong[t.Source]
		switch {
		case wrong: // its previous tool, if there is one, is in tools already
		case t.Command == nil:
			fmt.Fprintf(s.stderr, "%s: %s has a handler in Go, and is not served from its spec\n", t.Source, t.Name)
		default:
			tools[t.Source] = servedTool{table.Command(t, schema.Compact(t)), runner, exampleArguments(t)}
		}
	}
	s.tools, s.runner = tools, runner
}

// wrongFiles returns the files with an error. A key is the name of such a file, and its value is the name of the tool
// that the file declares, or "" if no name could be read.
func wrongFiles(project *spec.Project, diags diag.List) map[string]string {
	wrong := map[string]string{}
	for _, d := range diags {
		if d.Severity == diag.Error {
			wrong[d.File] = ""
		}
	}
	for _, t := range project.Tools {
		if _, isWrong := wrong[t.File.Name]; isWrong {
			wrong[t.File.Name] = t.Name.Value
		}
	}
	return wrong
}

// mistakesError returns an error that names the specs with mistakes, or nil if there are none. done completes "their
// tools were not …", such as "served".
func (s *served) mistakesError(done string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	files := slices.Sorted(maps.Keys(s.wrong))
	_, projectIsWrong := s.wrong[spec.ProjectFile]
	switch {
	case projectIsWrong:
		return fmt.Errorf("%s is wrong: no tools were %s", spec.ProjectFile, done)
	case len(files) == 1:
		return fmt.Errorf("1 spec is wrong, and its tool was not %s: %s", done, files[0])
	case len(files) > 1:
		return fmt.Errorf("%d specs are wrong, and their tools were not %s: %s", len(files), done, strings.Join(files, ", "))
	}
	return nil
}

// jpDefinitions sets the JP target of c, and returns the JP definitions of the tools that are served from their specs.
func jpDefinitions(c *ir.Contract) []contract.File {
	c.Targets.JPTools, c.Targets.JPCommand = ".jp/mcp/tools", "convgen jp-tool {{context}} {{tool}}"
	definitions := jp.Tools(c) // in the order of c.Tools
	var files []contract.File
	for i, t := range c.Tools() {
		if t.Command != nil {
			files = append(files, contract.File{Path: definitions[i].Path, Text: string(definitions[i].Data)})
		}
	}
	return files
}

// exampleArguments returns the arguments of each example of a tool. Without examples it returns {} if no parameter is
// required, and nil otherwise.
func exampleArguments(t *ir.Tool) []string {
	var list []string
	for _, e := range t.Examples {
		list = append(list, e.Arguments)
	}
	needsArguments := slices.ContainsFunc(t.Params, func(p ir.Param) bool { return p.Required })
	if list == nil && !needsArguments {
		list = []string{"{}"}
	}
	return list
}

// sorted returns the tools sorted by name.
func (s *served) sorted() []servedTool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.SortedFunc(maps.Values(s.tools), func(a, b servedTool) int { return strings.Compare(a.Name, b.Name) })
}

// descriptions returns the tools as hosts see them. A tool with an unapproved command is described as writing, so that
// editing a spec cannot make a host run a command without asking. descriptions adds the names of the tools that it
// describes as reading to s.reading, because a host may from then on run these without asking; see mayRunUnasked.
func (s *served) descriptions() []contract.Tool {
	approved := readApprovals()[s.dir]
	var reading []string
	var list []contract.Tool
	for _, t := range s.sorted() {
		description := t.Tool.Tool
		switch {
		case !slices.Contains(approved, t.fingerprint()):
			description.Effect, description.OpenWorld = string(ir.Write), true
			description.Description += "\n\nThe user has not approved what this tool runs, which is new or has changed. convgen approve does so."
		case t.Effect == string(ir.Read):
			reading = append(reading, t.Name)
		}
		list = append(list, description)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reading = slices.Compact(slices.Sorted(slices.Values(append(s.reading, reading...)))) // each name once
	return list
}

// fingerprint returns the name of a tool and a hash of its command, effect and parameters.
func (t *servedTool) fingerprint() string {
	line, _ := t.runner.Lines.Lookup(t.Command.Line)
	text, _ := json.Marshal([]any{t.Name, t.Effect, t.OpenWorld, line, t.Command, t.Parameters}) // this data always encodes
	sum := sha256.Sum256(text)
	return t.Name + " " + hex.EncodeToString(sum[:])
}

// call answers a call. A host may have an old list, in which a tool that has changed is still described as reading, and
// run the tool without asking the user. So a tool that may run unasked runs only if its command is approved.
func (s *served) call(ctx context.Context, call contract.Call) (string, error) {
	var names []string
	for _, t := range s.sorted() {
		if !t.AnswersTo(call.Tool) {
			names = append(names, t.Name)
			continue
		}
		if s.mayRunUnasked(&t, call.Tool) && !slices.Contains(readApprovals()[s.dir], t.fingerprint()) {
			return "", &contract.Error{Message: "The user has not approved what " + t.Name + " runs, which is new or has changed. They do so with: convgen approve"}
		}
		call.Context.Dir = cmp.Or(call.Context.Dir, s.dir)
		return t.runner.Call(ctx, t.Tool, call)
	}
	return "", contract.UnknownTool(call.Tool, names)
}

// mayRunUnasked reports whether a host may run a tool without asking the user. An unattended host may run any tool. Any
// other host may run the tool if it was told that the tool only reads: s.reading, the names of such tools, contains a
// name of the tool, or name, which is the name in the call.
func (s *served) mayRunUnasked(t *servedTool, name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.unattended || slices.ContainsFunc(s.reading, func(reading string) bool {
		return t.AnswersTo(reading) || reading == name || ir.Flat(reading) == name // a flat name has no dot
	})
}

// family returns the specs as a family of tools. Its Version loads the specs, and changes with them and the approvals.
func (s *served) family(host *toolset.Host) toolset.Family {
	family := app.Declared(s.descriptions(), s.call, s.runner)(host)[0] // it returns one family
	family.Name = "specs"
	family.Declared = s.descriptions
	checkPrograms := family.Checks
	family.Checks = func(ctx context.Context) []toolset.Check {
		checks := checkPrograms(ctx)
		if err := s.mistakesError("served"); err != nil {
			checks = append(checks, toolset.Check{Name: "specs", Status: toolset.Problem, Detail: err.Error(), Fix: "see convgen generate -check"})
		}
		return checks
	}
	family.Version = func(context.Context) string {
		s.load()
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.version + strings.Join(readApprovals()[s.dir], "")
	}
	return family
}

// runHosted runs a command such as call or install, which every program built from specs has. It runs the command for
// the tools of the specs in a project: the project that args name, or else the nearest one. It returns the exit code.
func runHosted(args []string, stdout, stderr io.Writer) int {
	name := args[0] // as the user wrote it
	options := args[1:]
	if end := slices.Index(options, "--"); end >= 0 {
		options = options[:end]
	}
	help := slices.Contains(options, "--help") || slices.Contains(options, "-h")
	if name == "serve" { // programs built from specs call it mcp
		args = append([]string{"mcp"}, args[1:]...)
	}
	dir, err := findProject(workspace(args))
	switch {
	case help: // it needs no project, so mistakes in the specs do not matter
		stderr = io.Discard
	case err != nil && name == "jp-tool":
		return reportNoProject(stdout)
	case err != nil:
		fmt.Fprintf(stderr, "convgen %s: %v\n", name, err)
		return exitWrong
	}
	if name == "install" && workspace(args) == "" && !help {
		args = slices.Insert(slices.Clone(args), 1, "--workspace", dir)
	}
	s := &served{dir: dir, stderr: stderr, unattended: name == "jp-tool"}
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
	if err := s.mistakesError("listed"); err != nil && name == "tools" {
		fmt.Fprintf(stderr, "convgen tools: %v\n", err)
		return exitWrong
	}
	if name == "install" {
		// A user who installs the tools of a folder approves the commands that they run.
		if err := s.approve(io.Discard); err != nil {
			fmt.Fprintf(stderr, "convgen install: %v\n", err)
			return exitWrong
		}
	}
	return code
}

// reportNoProject tells JP, which always reads an outcome, that there is no tools.toml.
func reportNoProject(stdout io.Writer) int {
	outcome := contract.OutcomeOf("", &contract.Error{
		Message: "There is no " + spec.ProjectFile + " in the root of the project or above it, so there are no tools. The user can write one with: convgen init",
	})
	_ = json.NewEncoder(stdout).Encode(outcome) // this error cannot be reported anywhere
	return exitOK
}

// entry returns the name under which hosts register a folder: "convgen-" and the name of the folder, with hyphens for
// other characters than letters and digits.
func entry(dir string) string {
	name := regexp.MustCompile(`[^a-z0-9]`).ReplaceAllString(strings.ToLower(filepath.Base(dir)), "-")
	return strings.TrimRight("convgen-"+name, "-")
}

// workspace returns the folder that the arguments name, or "" if they name none. It runs before the arguments are
// parsed, because the tools depend on the folder.
func workspace(args []string) string {
	if args[0] == "jp-tool" && len(args) > 1 {
		var jpContext struct{ Root string }
		_ = json.Unmarshal([]byte(args[1]), &jpContext) // invalid JSON leaves Root empty
		if info, err := os.Stat(jpContext.Root); err != nil || !info.IsDir() {
			return "" // Root may be the id of a workspace
		}
		return jpContext.Root
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

// try runs the examples of the tool that args names, or of all tools that only read, and prints the answers. It returns
// an error if no example ran or a call failed. If args names no tool, a mistake in any spec is also an error.
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
		if err := s.checkTool(args[0]); err != nil {
			return err
		}
	}
	tried, failed := 0, 0
	for _, t := range s.sorted() {
		chosen := t.Effect == string(ir.Read)
		if len(args) == 1 {
			chosen = t.AnswersTo(args[0])
		}
		if !chosen {
			continue
		}
		for _, arguments := range t.examples {
			tried++
			fmt.Fprintf(stdout, "%s %s\n", t.Name, arguments)
			answer, err := s.call(context.Background(), contract.Call{Tool: t.Name, Arguments: []byte(arguments)})
			if err != nil {
				failed++
				answer = "FAILED: " + errorText(err)
			}
			fmt.Fprintf(stdout, "%s\n\n", answer)
		}
	}
	var mistakes error
	if len(args) == 0 { // if one tool was named, mistakes in other specs do not matter
		mistakes = s.mistakesError("tried")
	}
	switch {
	case tried == 0 && mistakes == nil:
		return errors.New("there is no tool to try\nhint: an [[examples]] table in a spec is a call to try")
	case failed > 0:
		return errors.Join(fmt.Errorf("%d of %d calls gave no answer", failed, tried), mistakes)
	}
	return mistakes
}

// errorText returns the text of the error of a call for a person.
func errorText(err error) string {
	var toolErr *contract.Error
	if errors.As(err, &toolErr) {
		return toolErr.ForPerson()
	}
	return err.Error()
}

// checkTool returns nil if a tool has the name. If the spec of the named tool has a mistake, the error names that spec.
// If no spec declares the tool, the error says so, and lists every spec with a mistake.
func (s *served) checkTool(name string) error {
	var names []string
	for _, t := range s.sorted() {
		if t.AnswersTo(name) {
			return nil
		}
		names = append(names, t.Name)
	}
	for file, tool := range s.wrong { // the specs with mistakes, which load has printed
		if tool != "" && (tool == name || ir.Flat(tool) == name) { // "" is a name that could not be read
			return fmt.Errorf("the spec of %s is wrong, as said above: %s", name, file)
		}
	}
	return errors.Join(contract.UnknownTool(name, names), s.mistakesError("tried")) // "… their tools were not tried"
}
