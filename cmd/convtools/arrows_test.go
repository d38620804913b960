package main_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const module = "github.com/convtools/convtools"

// floor is one of the four floors of runtime, with the names of the packages on it.
// A name also stands for the packages below its folder that have no name of their own.
type floor struct {
	name  string
	names []string
}

// floors is the whole of runtime, from top to bottom. A package imports from its
// own floor, as far as its arrow goes, and from those below.
func floors() []floor {
	return []floor{
		{"fronts", []string{"app", "cli", "cli/program", "doctor", "install", "jptool", "knowledge/knowledgecli", "mcpserver", "recall/conversationcli", "session/command", "web"}},
		{"families", []string{"knowledge", "recall", "session", "toolset", "web/document"}},
		{"domain", []string{"config", "conversations", "index", "model", "store", "store/command", "transcript"}},
		{"ground", []string{"base", "coerce", "commandline", "configedit", "contract", "envelope", "process"}},
	}
}

// arrow says which packages of this module and of others the packages in from may
// import, beside the standard library and their own folder. A name that ends in /...
// stands for a folder and all below it. Only the first arrow from a package counts.
type arrow struct {
	from []string
	to   []string
	why  string
}

// arrows returns all arrows. A package needs an arrow.
func arrows() []arrow {
	const (
		cobra = "github.com/spf13/cobra"
		pflag = "github.com/spf13/pflag"
		toml  = "github.com/BurntSushi/toml"
	)
	ground := []string{"runtime/base/...", "runtime/coerce", "runtime/commandline", "runtime/contract", "runtime/envelope", "runtime/process"}
	domain := []string{"runtime/conversations/...", "runtime/model/...", "runtime/store/...", "runtime/transcript", "runtime/config"}
	list := func(groups ...any) []string {
		var names []string
		for _, group := range groups {
			switch group := group.(type) {
			case string:
				names = append(names, group)
			case []string:
				names = append(names, group...)
			}
		}
		return names
	}
	return []arrow{
		{
			from: list("gen/..."),
			to: list("gen/...", "runtime/base/...", "runtime/coerce", "runtime/commandline", "runtime/contract", "testdata/specs", toml, "github.com/bmatcuk/doublestar/v4", "github.com/dave/jennifer/jen",
				"github.com/google/go-cmp/cmp", "github.com/rogpeppe/go-internal/diff", "github.com/rogpeppe/go-internal/txtar"),
			why: "the generator has to build while its output is missing or broken, and nothing it needs may reach a binary that answers calls; the tables it makes are those that the runtime works with",
		},
		{
			from: list("generated"),
			to:   list("generated/...", "runtime/contract"),
			why:  "the dispatcher hands calls to the families and does no work of its own",
		},
		{
			from: list("generated/..."),
			to:   list("runtime/contract", "runtime/coerce/...", "runtime/envelope", "runtime/commandline"),
			why:  "generated code stands on few small packages, so that other programs can use it too",
		},

		// The ground floor: the standard library, and what that lacks: a parser, and a table of Unicode.
		{
			from: list("runtime/base/..."),
			to:   list("runtime/base/...", "github.com/pelletier/go-toml/v2/unstable", "golang.org/x/text/width"),
			why:  "everything stands on it, the generator too",
		},
		{
			from: list("runtime/contract"),
			to:   list("runtime/base/..."),
			why:  "whoever uses generated code takes it along",
		},
		{
			from: list("runtime/coerce/...", "runtime/envelope"),
			to:   list("runtime/base/...", "runtime/coerce/...", "runtime/contract"),
			why:  "whoever uses generated code takes it along",
		},
		{
			from: list("runtime/commandline"),
			to:   list("runtime/base/...", "runtime/coerce", "runtime/contract", "runtime/envelope", "runtime/process"),
			why:  "it interprets tools whose work is a command line, from a generated table or a spec as it stands",
		},
		{
			from: list("runtime/process/..."),
			to:   list("runtime/base/...", "golang.org/x/sys/unix", "golang.org/x/sys/windows"),
			why:  "it runs programs, whatever they are for; Windows has no other way to end a group of processes, and package syscall no names of signals",
		},

		// The domain: conversations, whoever recorded them. No tool, no front, no
		// command line.
		{
			from: list("runtime/transcript"),
			to:   list("runtime/base/..."),
			why:  "it is true of every store, and of the format of none",
		},
		{
			from: list("runtime/configedit"),
			to:   list("runtime/base/...", toml, "github.com/tailscale/hujson"),
			why:  "it edits the text of a file, and knows no key of it",
		},
		{
			from: list("runtime/config"),
			to:   list("runtime/base/...", "runtime/configedit", toml, "github.com/bmatcuk/doublestar/v4"),
			why:  "stores and families ask it, so it stands below them; it is of TOML, and says in patterns what is excluded",
		},
		{
			from: list("runtime/store/jp/jptest/..."),
			why:  "samples are written without the code that they test",
		},
		{
			from: list("runtime/store/project"),
			to:   list("runtime/base/...", "runtime/config", "github.com/bmatcuk/doublestar/v4"),
			why:  "which directories are excluded is said in patterns; it reads no conversation",
		},
		{
			from: list("runtime/store/internal/sqlitefile"),
			to:   list("runtime/base/...", "runtime/store", "modernc.org/sqlite/...", "modernc.org/libc"),
			why:  "databases are opened in one place, which sees to it that nothing is written",
		},
		{
			from: list("runtime/store/archive"),
			to:   list("runtime/base/...", "runtime/store", "runtime/store/internal/...", "runtime/transcript", "runtime/config", "modernc.org/sqlite"),
			why:  "the archive is written too, and is the program's own: SQLite does that",
		},
		{
			from: list("runtime/store/postgres", "runtime/store/postgres/postgrestest"),
			to:   list("runtime/base/...", "runtime/store", "runtime/store/archive", "runtime/store/chatgpt", "runtime/store/internal/...", "runtime/transcript", "github.com/jackc/pgx/v5/..."),
			why:  "the archive on a server is asked in PostgreSQL's protocol, which nothing else speaks",
		},
		{
			from: list("runtime/store/codex", "runtime/store/internal/messagedb"),
			to:   list("runtime/base/...", "runtime/store/...", "runtime/transcript", "runtime/config", "github.com/klauspost/compress/zstd"),
			why:  "Codex compresses what has not been used for a week, and Zed and OpenClaw what is in their databases; no other store has to decompress anything",
		},
		{
			from: list("runtime/store/jp"),
			to:   list("runtime/base/...", "runtime/store/...", "runtime/transcript", "runtime/config", toml, "golang.org/x/sys/unix", "golang.org/x/sys/windows"),
			why:  "JP's configuration is TOML, and a conversation that is recorded as JP's begins with it",
		},
		{
			from: list("runtime/store/command"),
			to:   list("runtime/base/...", "runtime/process", "runtime/store/...", "runtime/transcript"),
			why:  "the one place with a child's command line, JSON and complaints in it",
		},
		{
			from: list("runtime/store/..."),
			to:   list("runtime/base/...", "runtime/store/...", "runtime/transcript", "runtime/config", "golang.org/x/sync/errgroup", "golang.org/x/sync/semaphore", "golang.org/x/sys/unix", "golang.org/x/sys/windows"),
			why:  "a store reads one format, thousands of files of it; no tool and no front asks one",
		},
		{
			from: list("runtime/index", "runtime/index/terms"),
			to:   list("runtime/base/...", "runtime/index/terms", "github.com/blevesearch/snowballstem", "github.com/blevesearch/snowballstem/..."),
			why:  "it finds texts, whoever said them; files of it are mapped",
		},
		{
			from: list("runtime/conversations/..."),
			to:   list("runtime/base/...", "runtime/index", "runtime/index/terms", "runtime/store/...", "runtime/transcript", "runtime/config", "github.com/bmatcuk/doublestar/v4"),
			why:  "typed in, typed out: no flag, no argument, no tool, and JSON only in what an index is told to keep",
		},

		{
			from: list("runtime/model"),
			to:   list("runtime/base/text"),
			why:  "it is what models are asked and answer, in the words of no provider",
		},
		{
			from: list("runtime/model/modeltest"),
			why:  "a provider for tests is written without the code that they test",
		},
		{
			from: list("runtime/model/program"),
			to:   list("runtime/base/...", "runtime/model", "runtime/config", "runtime/process"),
			why:  "it is how a model that is a command is run",
		},
		{
			from: list("runtime/model/script"),
			to:   list("runtime/base/...", "runtime/model", toml),
			why:  "scripts are TOML",
		},
		{
			from: list("runtime/model/configured"),
			to:   list("runtime/base/...", "runtime/model/...", "runtime/process", "runtime/config"),
			why:  "it opens what the configuration names, and keys may come from a command",
		},
		{
			from: list("runtime/model/..."),
			to:   list("runtime/base/...", "runtime/model", "runtime/config"),
			why:  "a model is asked and answers; what conversations and tools are for, it does not know",
		},

		// The families, and what a family is.
		{
			from: list("runtime/toolset"),
			to:   list("runtime/base/...", "runtime/contract", cobra, pflag),
			why:  "families and fronts see each other through it alone; commands are cobra's",
		},
		{
			from: list("runtime/recall/conversationcli/..."),
			to:   list("runtime/web/document", "runtime/cli", "runtime/toolset", "runtime/contract", "runtime/base/...", "runtime/process", domain, cobra, pflag),
			why:  "the commands for people are flags and printing over a source, or over what the tools of their family answer; git says when a line came, and programs go on with their sessions",
		},
		{
			from: list("runtime/recall"),
			to:   list("runtime/toolset", "generated/conversation", domain, ground),
			why:  "a family has the code that is generated for it, and no other family's",
		},
		{
			from: list("runtime/knowledge/knowledgecli"),
			to:   list("runtime/cli", "runtime/toolset", "runtime/knowledge/...", "generated/knowledge", ground, cobra, pflag),
			why:  "the commands for people parse a command line and print, and nothing else",
		},
		{
			from: list("runtime/knowledge/..."),
			to:   list("runtime/toolset", "generated/knowledge", domain, ground, toml, "github.com/bmatcuk/doublestar/v4", "github.com/goccy/go-yaml/...", "golang.org/x/text/unicode/norm"),
			why:  "its configuration is TOML, front matter YAML, subjects are asked for in patterns, and names are compared in one Unicode form; command lines and protocols are other packages' business",
		},

		{
			from: list("runtime/session"),
			to:   list("runtime/base/text", "runtime/model", "generated/conv"),
			why:  "it decides what happens in a session from what it is given: no clock, no file, no protocol; of models it has the items of a history, of the specs the answers of the tools",
		},
		{
			from: list("runtime/session/log"),
			to:   list("runtime/session", "runtime/model", "runtime/base/..."),
			why:  "it keeps what the core decides, whatever that is",
		},
		{
			from: list("runtime/session/engine"),
			to:   list("runtime/session", "runtime/session/log", "runtime/model", "runtime/base/..."),
			why:  "it asks models and runs tools, and knows none of them",
		},
		{
			from: list("runtime/session/tools"),
			to: list("runtime/toolset", "runtime/session/...", "generated/conv", "runtime/model", "runtime/model/configured", "runtime/store/...", "runtime/transcript",
				"runtime/config", ground, "github.com/google/uuid", "github.com/modelcontextprotocol/go-sdk/mcp"),
			why: "it is the family, within sessions and for programs outside; the client's side of MCP is the SDK's business, and which provider a model has is not its own",
		},
		{
			from: list("runtime/session/command"),
			to:   list("runtime/cli", "runtime/toolset", "runtime/session/...", domain, ground, cobra, pflag),
			why:  "the commands for people parse a command line and print what happens in a session",
		},

		// The fronts: they serve any family and know none by name.
		{
			from: list("runtime/cli"),
			to:   list("runtime/base/...", "runtime/contract", cobra, pflag, "golang.org/x/term"),
			why:  "one output policy for every command, a family's own too, so it knows neither families nor toolset; only people are asked",
		},
		{
			from: list("runtime/cli/program", "runtime/jptool"),
			to:   list("runtime/cli", "runtime/toolset", ground, cobra, pflag),
			why:  "what a family offers comes from the registry",
		},
		{
			from: list("runtime/mcpserver/..."),
			to:   list("runtime/cli", "runtime/toolset", ground, cobra, pflag, "github.com/modelcontextprotocol/go-sdk/..."),
			why:  "the protocol is the SDK's business, and the SDK is this package's alone, with the JSON that it reads: two readers would disagree",
		},
		{
			from: list("runtime/install/..."),
			to: list("runtime/cli", "runtime/toolset", "runtime/configedit", ground, cobra, pflag,
				"github.com/rogpeppe/go-internal/diff", "golang.org/x/sys/unix", "golang.org/x/sys/windows"),
			why: "which hosts there are, and what each wants in its configuration, is known here alone",
		},
		{
			from: list("runtime/web"),
			to:   list("runtime/cli", "runtime/toolset", "runtime/web/document", domain, ground, cobra, pflag),
			why:  "it shows conversations, and of families what they offer in a registry",
		},
		{
			from: list("runtime/web/document"),
			to:   list("runtime/base/...", "runtime/conversations", "runtime/store/toolcall", "runtime/transcript", "github.com/yuin/goldmark/...", "github.com/rogpeppe/go-internal/diff"),
			why:  "it turns events that its caller has read into HTML and Markdown",
		},
		{
			from: list("runtime/app"),
			to: list("runtime/cli/...", "runtime/doctor", "runtime/install/...", "runtime/jptool", "runtime/mcpserver/...", "runtime/toolset",
				"runtime/commandline", "runtime/contract", "runtime/process", cobra, "golang.org/x/term"),
			why: "every front at once, for a main to be ten lines",
		},
		{
			from: list("runtime/doctor"),
			to:   list("runtime/cli", "runtime/toolset", "runtime/install", ground, cobra, pflag, "github.com/modelcontextprotocol/go-sdk/mcp"),
			why:  "what is registered with which host is for install to say, and how to talk to it for the SDK's client",
		},

		{
			from: list("cmd/convgen"),
			to:   list("gen/...", "runtime/base/...", "runtime/app", "runtime/commandline", "runtime/contract", "runtime/process", "runtime/toolset"),
			why:  "it serves specs as they are, with every front and no family, and has to build while generated code does not",
		},
		{
			from: list("cmd/convtools"),
			to:   list("runtime/...", "generated/...", cobra, pflag),
			why:  "it wires, and is started for every call: whatever it links costs each of them",
		},
	}
}

// notLinked returns the packages that convtools must not link, not even through
// others, with the reasons.
func notLinked() map[string]string {
	return map[string]string{
		module + "/gen/...":                         "the generator is for whoever builds the binary",
		"github.com/dave/jennifer/...":              "code is written while generating",
		"github.com/santhosh-tekuri/jsonschema/...": "it compiles every metaschema when a program starts, whether or not it is used",
		"testing/...":                               "it registers flags",
	}
}

func TestImportArrows(t *testing.T) {
	t.Parallel()
	for _, system := range []string{"linux", "darwin", "windows"} {
		t.Run(system, func(t *testing.T) {
			t.Parallel()
			imports := map[string][]string{}
			for _, p := range goList(t, system, "-deps", "../../...") {
				imports[p.ImportPath] = p.Imports
				if p.DepOnly {
					continue
				}
				for _, problem := range importProblems(p.ImportPath, p.Imports) {
					t.Error(problem)
				}
			}
			linked := []string{module + "/cmd/convtools"}
			for i := 0; i < len(linked); i++ {
				for _, to := range imports[linked[i]] {
					if !slices.Contains(linked, to) {
						linked = append(linked, to)
					}
				}
			}
			if !slices.Contains(linked, module+"/runtime/contract") {
				t.Fatalf("%d of %d packages are linked, without those of this module", len(linked), len(imports))
			}
			for _, problem := range linkProblems(linked) {
				t.Error(problem)
			}
		})
	}
}

// importProblems returns the imports of a package that go to a floor above, and those
// that its arrow does not allow. It is a problem too if no arrow is for the package.
func importProblems(name string, imports []string) []string {
	name = strings.TrimPrefix(name, module+"/")
	var problems []string
	for _, to := range imports {
		if short := strings.TrimPrefix(to, module+"/"); isUpward(name, short) {
			problems = append(problems, name+" may not import "+short+", which stands on a floor above it")
		}
	}
	for _, a := range arrows() {
		if !slices.ContainsFunc(a.from, func(pattern string) bool { return matches(name, pattern) }) {
			continue
		}
		for _, to := range imports {
			short := strings.TrimPrefix(to, module+"/")
			standard := short == to && !strings.Contains(strings.Split(to, "/")[0], ".")
			allowed := slices.ContainsFunc(a.to, func(pattern string) bool { return matches(short, pattern) })
			if !standard && !allowed && !matches(short, ownFolder(name)+"/...") {
				problems = append(problems, name+" may not import "+short+": "+a.why)
			}
		}
		return problems
	}
	return append(problems, "no arrow is for "+name+": add one")
}

// isUpward reports whether an import goes to a floor above.
func isUpward(from, to string) bool {
	_, fromFloor := floorOf(from)
	_, toFloor := floorOf(to)
	return fromFloor >= 0 && toFloor >= 0 && toFloor < fromFloor
}

// floorOf returns the name that stands for a package on its floor, and the number
// of the floor, counted from the top. The number is -1 if the package is on none.
func floorOf(pkg string) (name string, number int) {
	number = -1
	rest, ok := strings.CutPrefix(pkg, "runtime/")
	if !ok {
		return "", number
	}
	for i, f := range floors() {
		for _, n := range f.names {
			if matches(rest, n+"/...") && len(n) > len(name) { // the longest name counts
				name, number = n, i
			}
		}
	}
	return name, number
}

// ownFolder returns the folder of the room that a package is in: the package may import
// every package of that folder. A package of base may import only those in its own folder.
func ownFolder(pkg string) string {
	if name, number := floorOf(pkg); number >= 0 && name != "base" {
		return "runtime/" + name
	}
	return pkg
}

// linkProblems returns the linked packages that [notLinked] names.
func linkProblems(linked []string) []string {
	var problems []string
	for _, name := range linked {
		for pattern, why := range notLinked() {
			if matches(name, pattern) {
				problems = append(problems, "convtools links "+name+": "+why)
			}
		}
	}
	return problems
}

// matches reports whether the name of a package matches a pattern, which may end in /...
func matches(name, pattern string) bool {
	dir, below := strings.CutSuffix(pattern, "/...")
	return name == dir || below && strings.HasPrefix(name, dir+"/")
}

// listed is what go list prints of a package.
type listed struct {
	ImportPath string
	Imports    []string
	DepOnly    bool // it is listed because another package imports it
	Error      *struct{ Err string }
}

// goList returns what go list prints for a system, without a network. A module that
// only another system needs may never have been downloaded. Then its packages are
// in the list, but their imports are not.
func goList(t *testing.T, system string, args ...string) []listed {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-e", "-json=ImportPath,Imports,DepOnly,Error"}, args...)...)
	cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH=amd64", "CGO_ENABLED=0", "GOPROXY=off")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, &stderr)
	}
	var packages []listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages
		}
		if err != nil {
			t.Fatalf("%s: %v", cmd, err)
		}
		ours := p.ImportPath == module || strings.HasPrefix(p.ImportPath, module+"/")
		if p.Error != nil && (ours || system == runtime.GOOS) {
			t.Errorf("%s: %s: %s", system, p.ImportPath, p.Error.Err)
		}
		packages = append(packages, p)
	}
}

// The picture of imports in CONTRIBUTING.md is what go list prints of runtime,
// on all systems together. UPDATE_GOLDEN=1 draws it anew.
func TestPictureOfImports(t *testing.T) {
	t.Parallel()
	const file, begin, end = "../../CONTRIBUTING.md", "<!-- imports: TestPictureOfImports -->\n```\n", "```\n<!-- imports end -->\n"
	imports := map[string][]string{}
	for _, system := range []string{"linux", "darwin", "windows"} {
		for _, p := range goList(t, system, "../../runtime/...") {
			imports[p.ImportPath] = append(imports[p.ImportPath], p.Imports...)
		}
	}
	want, unplaced := picture(imports)
	if len(unplaced) > 0 {
		t.Errorf("on no floor: %v", unplaced)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(data), "\r\n", "\n")
	before, rest, ok := strings.Cut(text, begin)
	got, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no picture between %q and %q", file, begin, end)
	}
	if os.Getenv("UPDATE_GOLDEN") == "1" && got != want {
		if err := os.WriteFile(file, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		got = want
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the picture in %s (-go list +CONTRIBUTING):\n%s", file, diff)
	}
}

// picture draws the floors, with what each name imports from its own floor and
// from those below. It also returns the packages that are on no floor.
func picture(imports map[string][]string) (drawn string, unplaced []string) {
	imported := map[string]map[string]bool{} // the names that each name imports
	for from, tos := range imports {
		name, number := floorOf(strings.TrimPrefix(from, module+"/"))
		if number < 0 {
			unplaced = append(unplaced, from)
			continue
		}
		if imported[name] == nil {
			imported[name] = map[string]bool{}
		}
		for _, to := range tos {
			if other, number := floorOf(strings.TrimPrefix(to, module+"/")); number >= 0 && other != name {
				imported[name][other] = true
			}
		}
	}
	var b strings.Builder
	for i, f := range floors() {
		if i > 0 {
			b.WriteByte('\n')
		}
		label := f.name
		for _, name := range f.names {
			if imported[name] == nil {
				continue
			}
			var below []string
			for _, g := range floors() {
				for _, other := range g.names {
					if imported[name][other] {
						below = append(below, other)
					}
				}
			}
			line := fmt.Sprintf("%-9s %-23s %s", label, name, strings.Join(below, " "))
			b.WriteString(strings.TrimRight(line, " ") + "\n")
			label = ""
		}
	}
	slices.Sort(unplaced)
	return b.String(), unplaced
}

// The checks of this file find imports that an arrow does not allow, and packages that must not be linked.
func TestArrowsFindViolations(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, to string
		ok       bool
	}{
		{"gen/plan", module + "/gen/check", true},
		{"gen/plan", module + "/runtime/base/diag", true},
		{"gen/plan", module + "/runtime/contract", true},
		{"gen/plan", module + "/generated", false},
		{"gen/emit/jp", "net/http", true},
		{"generated", module + "/generated/conversation", true},
		{"generated", module + "/runtime/recall", false},
		{"generated/conversation", module + "/runtime/coerce", true},
		{"generated/conversation", module + "/generated", false},
		{"generated/conversation", "github.com/spf13/cobra", false},
		{"runtime/base/text", "golang.org/x/text/unicode/norm", false},
		{"runtime/base/diag", module + "/runtime/base/text", true},
		{"runtime/base/diag", module + "/runtime/contract", false},
		{"runtime/contract", "encoding/json", true},
		{"runtime/contract", module + "/runtime/coerce", false},
		{"runtime/process", "golang.org/x/sys/windows", true},
		{"runtime/process", "golang.org/x/sys/unix", true},
		{"runtime/transcript", module + "/runtime/store", false},
		{"runtime/store/jp", module + "/runtime/transcript", true},
		{"runtime/store/jp", module + "/runtime/conversations", false},
		{"runtime/store/jp", module + "/runtime/store/internal/jpevents", true},
		{"runtime/conversations", module + "/runtime/store/jp", true},
		{"runtime/conversations", module + "/generated/conversation", false},
		{"runtime/conversations", module + "/runtime/recall", false},
		{"runtime/conversations", "github.com/spf13/cobra", false},
		{"runtime/conversations", module + "/runtime/process", false},
		{"runtime/store/command", module + "/runtime/process", true},
		{"runtime/knowledge/subjects", "golang.org/x/text/unicode/norm", true},
		{"runtime/knowledge/subjects", "github.com/bmatcuk/doublestar/v4", true},
		{"runtime/knowledge", module + "/runtime/knowledge/subjects", true},
		{"runtime/knowledge", module + "/generated/conversation", false},
		{"runtime/knowledge", module + "/runtime/recall", false},
		{"runtime/knowledge", module + "/runtime/cli", false},
		{"runtime/knowledge", "github.com/spf13/cobra", false},
		{"runtime/knowledge/subjects", "github.com/modelcontextprotocol/go-sdk/mcp", false},
		{"runtime/recall", "github.com/BurntSushi/toml", false},
		{"runtime/recall", module + "/generated/conversation", true},
		{"runtime/recall", module + "/runtime/recall/conversationcli", false},
		{"runtime/recall", module + "/cmd/convtools", false},
		{"runtime/recall", module + "/gen/ir", false},
		{"runtime/recall/conversationcli", module + "/runtime/cli", true},
		{"runtime/cli", module + "/runtime/toolset", false},
		{"runtime/cli/program", module + "/runtime/toolset", true},
		{"runtime/jptool", module + "/runtime/mcpserver", false},
		{"runtime/mcpserver", module + "/runtime/toolset", true},
		{"runtime/mcpserver", module + "/generated/conversation", false},
		{"runtime/mcpserver", module + "/runtime/knowledge", false},
		{"runtime/install", module + "/runtime/recall", false},
		{"runtime/doctor", module + "/runtime/install", true},
		{"runtime/install", module + "/runtime/doctor", false},
		{"cmd/convgen", module + "/generated", false},
		{"cmd/convtools", module + "/gen/ir", false},
		{"cmd/other", "fmt", false},
		{"runtime/other", "fmt", false},
	} {
		problems := importProblems(module+"/"+tc.name, []string{tc.to})
		if tc.ok != (len(problems) == 0) {
			t.Errorf("%s imports %s: %v", tc.name, tc.to, problems)
		}
	}
	var found []string
	for _, name := range []string{"fmt", "net", module + "/gen", module + "/generated", module + "/gen/ir", "github.com/santhosh-tekuri/jsonschema/v5"} {
		if len(linkProblems([]string{name})) > 0 {
			found = append(found, name)
		}
	}
	want := []string{module + "/gen", module + "/gen/ir", "github.com/santhosh-tekuri/jsonschema/v5"}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("not to be linked (-want +got):\n%s", diff)
	}
}

func TestPicture(t *testing.T) {
	t.Parallel()
	got, unplaced := picture(map[string][]string{
		module + "/runtime/mcpserver": {module + "/runtime/base/text", module + "/runtime/toolset", module + "/runtime/cli"},
		module + "/runtime/toolset":   {module + "/runtime/contract"},
		module + "/runtime/base/text": {"fmt"},
		module + "/runtime/other":     nil,
	})
	want := `fronts    mcpserver               cli toolset base

families  toolset                 contract


ground    base
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("picture (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{module + "/runtime/other"}, unplaced); diff != "" {
		t.Errorf("on no floor (-want +got):\n%s", diff)
	}
}
