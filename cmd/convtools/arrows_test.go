package main_test

import (
	"bytes"
	"encoding/json"
	"errors"
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

// arrow says what packages may import, apart from the standard library: packages
// of this module and of others. A name that ends in /... stands for a folder and
// all below it; a package is bound by the first arrow it fits.
type arrow struct {
	from []string
	to   []string
	why  string
}

func arrows() []arrow {
	return []arrow{
		{
			from: []string{"gen/..."},
			to: []string{
				"gen/...", "runtime/base/...", "github.com/BurntSushi/toml", "github.com/bmatcuk/doublestar/v4",
				"github.com/dave/jennifer/jen", "github.com/santhosh-tekuri/jsonschema/v5", "github.com/google/go-cmp/cmp",
			},
			why: "the generator has to build while its output is missing or broken, and nothing it needs may reach a binary that answers calls",
		},
		{
			from: []string{"generated"},
			to:   []string{"generated/...", "runtime/contract"},
			why:  "the dispatcher hands calls to the families and does no work of its own",
		},
		{
			from: []string{"generated/..."},
			to:   []string{"runtime/contract", "runtime/coerce", "runtime/envelope"},
			why:  "generated code stands on three small packages, so that it can be used by other programs too",
		},
		{
			from: []string{"runtime/base/..."},
			to:   []string{"runtime/base/...", "github.com/google/go-cmp/cmp"},
			why:  "the ground floor stands on the standard library alone",
		},
		{
			from: []string{"runtime/contract", "runtime/coerce"},
			to:   []string{"runtime/base/..."},
			why:  "everybody who uses generated code takes them along",
		},
		{
			from: []string{"runtime/envelope"},
			to:   []string{"runtime/contract", "runtime/base/..."},
			why:  "whoever uses generated code takes it along",
		},
		{
			from: []string{"runtime/process"},
			to:   []string{"runtime/contract", "runtime/base/...", "golang.org/x/sys/windows"},
			why:  "it runs programs and knows nothing of conversations; Windows has no other way to end a group of processes",
		},
		{
			from: []string{"cmd/convtools/internal/clients"},
			to:   []string{"runtime/...", "generated/...", "github.com/mark3labs/mcp-go/...", "github.com/google/go-cmp/cmp", "golang.org/x/sys/unix"},
			why:  "real clients are linked into the program that tries them, and nowhere else",
		},
		{
			from: []string{"cmd/convtools/internal/bench/..."},
			to:   []string{"runtime/...", "generated/...", "github.com/modelcontextprotocol/go-sdk/..."},
			why:  "peers are linked into the program that measures them, and nowhere else",
		},
		{
			from: []string{"runtime/store/jp/jptest/..."},
			to:   []string{"runtime/..."},
			why:  "samples for tests need no library",
		},
		{
			from: []string{"runtime/mcpserver"},
			to:   []string{"runtime/...", "generated/...", "github.com/modelcontextprotocol/go-sdk/..."},
			why:  "the protocol is the SDK's business, and the SDK is this package's alone",
		},
		{
			from: []string{"runtime/install/..."},
			to: []string{
				"runtime/...", "generated/...", "github.com/BurntSushi/toml", "github.com/tailscale/hujson", "github.com/rogpeppe/go-internal/diff",
			},
			why: "other programs' configuration files are parsed here alone",
		},
		{
			from: []string{"runtime/trust"},
			to:   []string{"github.com/BurntSushi/toml"},
			why:  "stores and families ask it, so it stands below them; the user's configuration is TOML",
		},
		{
			from: []string{"runtime/knowledge/knowledgecli"},
			to:   []string{"runtime/...", "generated/...", "github.com/spf13/cobra"},
			why:  "commands for people parse a command line and print, and nothing else",
		},
		{
			from: []string{"runtime/knowledge/..."},
			to:   []string{"runtime/...", "generated/...", "github.com/BurntSushi/toml", "github.com/bmatcuk/doublestar/v4"},
			why:  "its configuration is TOML and its patterns are doublestar's; command lines and protocols are other packages' business",
		},
		{
			from: []string{"runtime/..."},
			to:   []string{"runtime/...", "generated/...", "github.com/spf13/cobra", "github.com/spf13/pflag"},
			why:  "what answers calls does not know how its code was made",
		},
		{
			from: []string{"cmd/convgen"},
			to:   []string{"gen/...", "runtime/base/..."},
			why:  "it has to build while generated code does not",
		},
		{
			from: []string{"cmd/convtools"},
			to:   []string{"runtime/...", "generated/...", "github.com/spf13/cobra", "github.com/spf13/pflag", "golang.org/x/term"},
			why:  "it is started for every call: whatever it links costs each of them",
		},
	}
}

// notLinked is what the binary that answers calls must not hold, not even
// through others.
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
			packages := goList(t, system, "../../...")
			if len(packages) < 30 {
				t.Fatalf("go list lists %d packages", len(packages))
			}
			for _, p := range packages {
				for _, problem := range against(p.ImportPath, p.Imports) {
					t.Error(problem)
				}
			}
			var linked []string
			for _, p := range goList(t, system, "-deps", ".") {
				linked = append(linked, p.ImportPath)
			}
			if !slices.Contains(linked, module+"/runtime/contract") {
				t.Fatalf("go list -deps lists %d packages, without those of this module", len(linked))
			}
			for _, problem := range unwanted(linked) {
				t.Error(problem)
			}
		})
	}
}

// against returns what is wrong with the imports of a package.
func against(name string, imports []string) []string {
	name = strings.TrimPrefix(name, module+"/")
	for _, a := range arrows() {
		if !slices.ContainsFunc(a.from, func(pattern string) bool { return fits(name, pattern) }) {
			continue
		}
		var problems []string
		for _, to := range imports {
			short := strings.TrimPrefix(to, module+"/")
			standard := short == to && !strings.Contains(strings.Split(to, "/")[0], ".")
			if !standard && !slices.ContainsFunc(a.to, func(pattern string) bool { return fits(short, pattern) }) {
				problems = append(problems, name+" may not import "+short+": "+a.why)
			}
		}
		return problems
	}
	return []string{"nothing says what " + name + " may import: add it to arrows"}
}

func unwanted(linked []string) []string {
	var problems []string
	for _, name := range linked {
		for pattern, why := range notLinked() {
			if fits(name, pattern) {
				problems = append(problems, "convtools links "+name+": "+why)
			}
		}
	}
	return problems
}

func fits(name, pattern string) bool {
	dir, below := strings.CutSuffix(pattern, "/...")
	return name == dir || below && strings.HasPrefix(name, dir+"/")
}

// listed is what go list says of a package.
type listed struct {
	ImportPath string
	Imports    []string
	Error      *struct{ Err string }
}

// goList runs go list without a network. A module that only another system
// needs may never have been downloaded: then its packages are listed by name,
// and what they import is not.
func goList(t *testing.T, system string, args ...string) []listed {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-e", "-json=ImportPath,Imports,Error"}, args...)...)
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

// The arrows hold only as long as a package that goes against them is found.
func TestArrowsFindWhatGoesAgainstThem(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, to string
		ok       bool
	}{
		{"gen/plan", module + "/gen/check", true},
		{"gen/plan", module + "/runtime/contract", false},
		{"gen/plan", module + "/generated", false},
		{"gen/emit/jp", "net/http", true},
		{"generated", module + "/generated/conversation", true},
		{"generated", module + "/runtime/recall", false},
		{"generated/conversation", module + "/runtime/coerce", true},
		{"generated/conversation", module + "/generated", false},
		{"generated/conversation", "github.com/spf13/cobra", false},
		{"runtime/contract", "encoding/json", true},
		{"runtime/contract", module + "/runtime/coerce", false},
		{"runtime/process", "golang.org/x/sys/windows", true},
		{"runtime/process", "golang.org/x/sys/unix", false},
		{"runtime/knowledge/match", "github.com/bmatcuk/doublestar/v4", true},
		{"runtime/knowledge", "github.com/spf13/cobra", false},
		{"runtime/knowledge/subjects", "github.com/modelcontextprotocol/go-sdk/mcp", false},
		{"runtime/recall", "github.com/BurntSushi/toml", false},
		{"runtime/recall", module + "/generated/conversation", true},
		{"runtime/recall", module + "/cmd/convtools", false},
		{"runtime/recall", module + "/gen/ir", false},
		{"cmd/convgen", module + "/generated", false},
		{"cmd/convtools", module + "/gen/ir", false},
		{"cmd/other", "fmt", false},
	} {
		problems := against(module+"/"+tc.name, []string{tc.to})
		if tc.ok != (len(problems) == 0) {
			t.Errorf("%s imports %s: %v", tc.name, tc.to, problems)
		}
	}
	var found []string
	for _, name := range []string{"fmt", "net", module + "/gen", module + "/generated", module + "/gen/ir", "github.com/santhosh-tekuri/jsonschema/v5"} {
		if len(unwanted([]string{name})) > 0 {
			found = append(found, name)
		}
	}
	want := []string{module + "/gen", module + "/gen/ir", "github.com/santhosh-tekuri/jsonschema/v5"}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("not to be linked (-want +found):\n%s", diff)
	}
}
