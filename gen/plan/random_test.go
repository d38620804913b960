package plan_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/convtools/convtools/gen/plan"
	"github.com/convtools/convtools/runtime/base/cases"
)

// TestCheckedSpecsAreEmitted generates random projects from few words, so that names clash in many ways. Every
// emitter must accept a project that the checker accepts, and Go must compile its output: the checker chooses names,
// and emitters only use them.
func TestCheckedSpecsAreEmitted(t *testing.T) {
	t.Parallel()
	projects := cases.Of(100)
	const compiled = 3
	accepted := 0
	rules := map[string]int{}
	module := t.TempDir()
	for seed := range uint64(projects) {
		r := random{rand.New(rand.NewPCG(seed, 1))}
		project := r.project()
		result, err := plan.Generate(project)
		if err != nil {
			t.Fatalf("seed %d: the checker lets something pass that an emitter refuses: %v\n%s", seed, err, dump(project))
		}
		for _, d := range result.Diags {
			rules[d.Rule]++
		}
		if result.Diags.HasErrors() {
			continue
		}
		accepted++
		if err := errors.Join(isGo(result.Files), isData(result.Files)); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, dump(project))
		}
		for _, file := range result.Files {
			if path.Ext(file.Path) != ".go" && !strings.HasPrefix(file.Path, "generated/jpfiles/") || accepted > compiled {
				continue
			}
			writeGo(t, module, int(seed), file.Path, file.Data)
		}
	}
	t.Logf("%d of %d projects are accepted; the others break %v", accepted, projects, rules)
	if accepted < projects/20 || rules["CT026"] < projects/20 {
		t.Errorf("too few projects are accepted, or too few have names that clash, to prove anything")
	}
	writeModule(t, module, "example.com/notes")
	runGo(t, module, "vet", "./...")
}

func dump(project fstest.MapFS) string {
	var b strings.Builder
	for _, name := range sortedNames(project) {
		fmt.Fprintf(&b, "-- %s --\n%s", name, project[name].Data)
	}
	return b.String()
}

// random makes random specs.
type random struct{ *rand.Rand }

func (r random) pick(words ...string) string { return words[r.IntN(len(words))] }

// chance returns true in so many percent of calls.
func (r random) chance(percent int) bool { return r.IntN(100) < percent }

// name returns a snake_case name of words that have a meaning in generated code.
func (r random) name() string {
	words := []string{
		"list", "params", "tool", "max", "chars", "args", "cli", "exit", "ok", "order", "maximum", "envelope", "text", "append",
		"bytes", "new", "call", "handler", "id", "ids", "json", "gap", "before", "count", "coerce", "validate", "err", "type", "string",
	}
	name := r.pick(words...)
	for r.chance(45) {
		name += "_" + r.pick(words...)
	}
	return name
}

func (r random) project() fstest.MapFS {
	project := fstest.MapFS{"tools.toml": {Data: []byte(projectTOML)}}
	for range 1 + r.IntN(2) {
		folder := r.pick("notes", "list", "contract", "context", "envelope", "coerce", "strconv", "my_notes", "cli", "sync")
		for range 1 + r.IntN(3) {
			tool := r.name()
			if r.chance(80) {
				tool = folder + "_" + tool
			}
			project[fmt.Sprintf("specs/%s/%s.toml", folder, r.name())] = &fstest.MapFile{Data: []byte(r.tool(tool))}
		}
	}
	return project
}

// tool returns the spec of a tool with random parameters and, if its answer is one, a random envelope.
func (r random) tool(name string) string {
	var b strings.Builder
	handler, answer := r.pick("command", "go"), "envelope"
	if r.chance(25) {
		answer = "text"
	}
	fmt.Fprintf(&b, "name = %q\nsummary = \"A tool\"\ndescription = \"A tool.\"\neffect = \"read\"\nhandler = %q\nanswer = %q\n", name, handler, answer)
	var args, scalars []string // arguments of the command, and names of parameters with one value
	seen := map[string]bool{}
	for range r.IntN(4) {
		p := r.name()
		if seen[p] {
			continue
		}
		seen[p] = true
		fmt.Fprintf(&b, "\n[parameters.%s]\nsummary = \"A parameter\"\n", p)
		word := fmt.Sprintf("\"--%s={%s}\"", p, p)
		scalar := true
		switch r.IntN(10) {
		case 0:
			fmt.Fprintf(&b, "type = \"integer\"\nmaximum = 9\nrepairs = [\"from_string\", \"clamp\"]\n%s", r.pick("", "default = 3\n"))
		case 1:
			fmt.Fprintf(&b, "type = \"boolean\"\n%s", r.pick("", "default = true\n"))
		case 2:
			fmt.Fprintf(&b, "type = \"string\"\nenum = [%q, %q]\nrepairs = [\"spelling\"]\n", r.name(), r.pick("by-day", "by_day", "By Day", "!", "maximum"))
		case 3:
			fmt.Fprintf(&b, "type = \"array\"\nitems = { enum = [%q, \"other\"] }\n%s", r.name(), r.pick("", "default = [\"other\"]\n"))
			word, scalar = fmt.Sprintf("{ option = \"--%s\", value = \"{%s}\", empty = true }", p, p), false
		case 4:
			fmt.Fprintf(&b, "type = \"string\"\npattern = %q\npattern_says = \"be a name\"\n", r.pick("^[a-z]+$", "^[a-z]{1,9}$", "^(a|b)$", `^[^\\u0000]$`, "^a|b$"))
		case 5:
			fmt.Fprintf(&b, "type = \"array\"\none_or_many = true\n%s%s", r.pick("", "max_items = 3\n"),
				r.pick("items = { pattern = \"^[a-z]+$\", pattern_says = \"be a name\" }\n", "items = { single_line = true }\n", "items = { enum = [\"a\", \"max\"] }\n"))
			word, scalar = fmt.Sprintf("{ option = \"--%s\", value = \"{%s}\", empty = true }", p, p), false
		case 6:
			fmt.Fprintf(&b, "type = \"object\"\n%s", r.pick("", "nullable = true\n"))
			r.members(&b, "parameters."+p, 2)
			word = ""
		case 7:
			fmt.Fprintf(&b, "type = \"array\"\n%s\n[parameters.%s.items]\ntype = \"object\"\nkey = %q\n", r.pick("", "repairs = [\"from_scalar\", \"from_string\"]\n"), p, r.name())
			for _, variant := range []string{r.name(), r.name()} {
				fmt.Fprintf(&b, "\n[parameters.%s.items.variants.%s]\nsummary = \"A variant\"\n", p, variant)
				r.members(&b, "parameters."+p+".items.variants."+variant, 1)
			}
			word = ""
		case 8:
			nullable := r.pick("true", "false")
			fmt.Fprintf(&b, "type = \"array\"\nnullable = %s\nitems = { type = %q, nullable = %s }\n", r.pick("true", "false"), r.pick("integer", "number", "boolean"), nullable)
			if word = ""; nullable == "false" {
				word, scalar = fmt.Sprintf("{ option = \"--%s\", value = \"{%s}\", empty = true }", p, p), false
			}
		case 9:
			fmt.Fprintf(&b, "type = \"number\"\n%s", r.pick("", "default = 0.5\n", "nullable = true\n", "required = true\n"))
		}
		if word != "" {
			args = append(args, word)
		}
		if word != "" && scalar {
			scalars = append(scalars, p)
		}
	}
	if handler == "command" {
		fmt.Fprintf(&b, "\n[command]\ncli = \"notes\"\nargs = [\"list\", %s]\n", strings.Join(args, ", "))
		r.surroundings(&b, scalars)
	}
	if answer == "envelope" {
		r.envelope(&b, name, handler)
	}
	return b.String()
}

// surroundings writes a command's folder, environment and standard input.
func (r random) surroundings(b *strings.Builder, scalars []string) {
	if len(scalars) > 0 && r.chance(50) {
		fmt.Fprintf(b, "stdin = \"%s{%s}\"\n", r.pick("", "text: "), r.pick(scalars...))
	}
	if len(scalars) > 0 && r.chance(50) {
		fmt.Fprintf(b, "env = { A = \"b\", %s = \"%s{%s}\" }\n", r.pick("NAME", "err", "args"), r.pick("", "v"), r.pick(scalars...))
	}
	fmt.Fprint(b, r.pick("", "dir = \"docs\"\n", "timeout = 5\n"), r.pick("", "ok_exit = [0, 3]\n"), r.pick("", "empty_exit = [1]\n", "empty_exit = [0]\n"))
	fmt.Fprint(b, r.pick("", "", "[[command.failures]]\nexit = [4, 5]\nreason = \"No \\\"store\\\"\"\ncaller = true\n"))
}

// members writes the members of an object; some of them are objects.
func (r random) members(b *strings.Builder, path string, depth int) {
	seen := map[string]bool{}
	for range r.IntN(4) {
		m := r.name()
		if seen[m] {
			continue
		}
		seen[m] = true
		fmt.Fprintf(b, "\n[%s.members.%s]\nsummary = \"A member\"\n%s", path, m, r.pick("", "required = true\n", "nullable = true\n"))
		switch r.IntN(4) {
		case 0:
			fmt.Fprintf(b, "type = \"integer\"\nmaximum = 9\n")
		case 1:
			fmt.Fprintf(b, "type = \"string\"\n%s", r.pick("enum = [\"max\", \"by-day\"]\nrepairs = [\"spelling\"]\n", "format = \"date\"\n", "pattern = \"^(a|b)+$\"\npattern_says = \"be a name\"\n"))
		case 2:
			fmt.Fprintf(b, "type = \"array\"\nitems = { type = \"array\", items = { type = \"integer\" } }\n")
		case 3:
			if depth == 0 {
				fmt.Fprintf(b, "type = \"boolean\"\n")
				continue
			}
			fmt.Fprintf(b, "type = \"object\"\n")
			r.members(b, path+".members."+m, depth-1)
		}
	}
}

// envelope writes an envelope with one element for each record.
func (r random) envelope(b *strings.Builder, tool, handler string) {
	record := r.name()
	rootAttributes := ""
	if r.chance(50) {
		rootAttributes = fmt.Sprintf("{ name = %q, type = \"integer\", from = \"count\", summary = \"How many\" }", r.pick("count", r.name()))
	}
	fmt.Fprintf(b, "\n[envelope]\nroot = %q\n%s", tool, r.pick("", "max_chars = 5000\n"))
	fmt.Fprintf(b, "\n[[envelope.elements]]\nname = %q\nchildren = [%q, \"note*\"]\nattributes = [%s]\n", tool, record+"*", rootAttributes)
	var attributes, children []string
	for range r.IntN(4) {
		attributes = append(attributes, fmt.Sprintf("{ name = %q, type = %q, presence = %q, from = %q, summary = \"A thing\" }",
			r.name(), r.pick("string", "integer", "boolean", "time"), r.pick("always", "optional", "nullable"), r.name()+r.pick("", "", ".name", ".0.text")))
	}
	body, bodies := "", ""
	if r.chance(40) {
		child := r.name()
		children = append(children, fmt.Sprintf("%q", child+r.pick("", "?", "*")))
		bodies = fmt.Sprintf("\n[[envelope.elements]]\nname = %q\nbody = %q\ntext_from = %q\n", child, r.pick("inline", "lines", "block", "json"), r.name())
	} else {
		body = fmt.Sprintf("body = \"inline\"\ntext_from = %q\n", r.name())
	}
	if handler == "go" && r.chance(50) {
		body += fmt.Sprintf("separator = %q\n", r.name())
	}
	if r.chance(30) {
		body += "beside = true\n"
	}
	fmt.Fprintf(b, "\n[[envelope.elements]]\nname = %q\nfrom = \"records\"\n%sattributes = [%s]\nchildren = [%s]\n%s",
		record, body, strings.Join(attributes, ", "), strings.Join(children, ", "), bodies)
	fmt.Fprint(b, "\n[[envelope.elements]]\nname = \"note\"\nbody = \"inline\"\n")
}

func sortedNames(project fstest.MapFS) []string {
	return slices.Sorted(maps.Keys(project))
}

// writeGo writes a file of the module example.com/notes. Each project is a folder of one module, so that one run
// compiles all of them.
func writeGo(t *testing.T, module string, project int, name string, data []byte) {
	t.Helper()
	name = filepath.Join(module, fmt.Sprintf("p%d", project), filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(data), `"example.com/notes/`, fmt.Sprintf(`"example.com/notes/p%d/`, project))
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// writeModule makes dir the root of a module with the given name. The module uses this repository in place.
func writeModule(t *testing.T, dir, name string) {
	t.Helper()
	here, err := filepath.Abs(repository)
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(here, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(mod), "module github.com/convtools/convtools", "module "+name, 1) +
		"\nrequire github.com/convtools/convtools v0.0.0\n\nreplace github.com/convtools/convtools => " + here + "\n"
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	sum, err := os.ReadFile(filepath.Join(here, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go.sum"), sum, 0o644); err != nil {
		t.Fatal(err)
	}
}

// runGo runs the go command offline in a directory. With -trimpath, it compiles no package again because the
// directory is another in each run.
func runGo(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod -trimpath", "GOPROXY=off", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}
