package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// The budget for what packages allocate before main runs. Hosts start this
// program for every tool call, so whatever is set up at package level is paid
// for each time, wanted or not. Bytes stand in for time, which no test can
// assert: they are nearly the same in every run.
const (
	// initTotal leaves room above the 546 kB that were measured, most of it
	// goldmark's and the MCP SDK's, but not for one more library that prepares
	// tables.
	initTotal = 542 << 10
	// initDependency is what a package that is not named below may take. A few
	// compiled regular expressions take more.
	initDependency = 4 << 10
)

// initAllowed returns the packages that may take more, and how much. Our own
// packages take nothing at all.
func initAllowed() map[string]int {
	return map[string]int{
		"unicode": 12 << 10, // maps of scripts and categories, which regexp/syntax looks up by name
		"github.com/google/jsonschema-go/jsonschema": 96 << 10, // through the MCP SDK: the types it knows, by reflection
		"encoding/gob": 32 << 10, // through the MCP SDK: types of its own wire format
		"github.com/modelcontextprotocol/go-sdk/mcp":     10 << 10,  // methods and the types of their parameters
		"vendor/golang.org/x/net/http2/hpack":            9 << 10,   // through net/http: the static table
		"github.com/klauspost/compress/internal/snapref": 10 << 10,  // through klauspost/compress/zstd: a table for the checksums of another form
		"github.com/dustin/go-humanize":                  10 << 10,  // through modernc.org/sqlite: powers of units, of which nothing is used
		"encoding/xml":                                   20 << 10,  // through jackc/pgx/v5: names of entities in HTML, of which nothing is used
		"golang.org/x/text/internal/language":            6 << 10,   // through jackc/pgx/v5: tags of languages, for the form of passwords
		"net/http":                                       6 << 10,   // status texts, header names
		"compress/flate":                                 6 << 10,   // through net/http: fixed Huffman codes
		"github.com/BurntSushi/toml/internal":            6 << 10,   // time zones, for reading configuration files of clients
		"html/template":                                  20 << 10,  // for the page in a browser: which attributes are addresses
		"github.com/yuin/goldmark":                       16 << 10,  // for the page too, as all of goldmark: 0.4 ms
		"github.com/yuin/goldmark/util":                  140 << 10, // names of entities, folds of letters
		"github.com/yuin/goldmark/parser":                112 << 10, // expressions for blocks of HTML
		"github.com/yuin/goldmark/renderer/html":         20 << 10,  // attributes of elements
	}
}

func TestStartBudget(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("on Windows, golang.org/x/sys makes a record for every system call at package level")
	}
	total := 0
	for pkg, size := range initSizes(t) {
		total += size
		limit := initDependency
		if allowed, ok := initAllowed()[pkg]; ok {
			limit = allowed
		}
		if pkg == "main" || strings.HasPrefix(pkg, "github.com/convtools/convtools/") {
			limit = 0
		}
		if size > limit {
			t.Errorf("package %s allocates %d bytes when the program starts, at most %d allowed: move the work to where it is needed", pkg, size, limit)
		}
	}
	if total > initTotal {
		t.Errorf("packages allocate %d bytes when the program starts, at most %d allowed", total, initTotal)
	}
}

// initSizes builds the program, runs it, and returns how many bytes each package
// allocated on the heap before main ran.
func initSizes(t *testing.T) map[string]int {
	t.Helper()
	goCommand, err := exec.LookPath("go")
	if err != nil {
		t.Skip("the go command is not in PATH")
	}
	binary := filepath.Join(t.TempDir(), "convtools")
	build := exec.Command(goCommand, "build", "-ldflags=-s -w", "-o", binary, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building convtools: %v\n%s", err, out)
	}
	var stdout, stderr bytes.Buffer
	start := exec.Command(binary, "version")
	// The first package that reads a variable allocates a map of all variables, and
	// packages read the rules of the local time zone. Neither may depend on the machine.
	start.Env = []string{"GODEBUG=inittrace=1", "TZ=UTC"}
	start.Stdout, start.Stderr = &stdout, &stderr
	if err := start.Run(); err != nil {
		t.Fatalf("convtools version: %v\n%s", err, &stderr)
	}
	if !strings.HasPrefix(stdout.String(), "convtools ") {
		t.Errorf("convtools version printed %q", &stdout)
	}
	// The format is documented in package runtime:
	// init unicode @0.82 ms, 0.044 ms clock, 11400 bytes, 16 allocs
	line := regexp.MustCompile(`(?m)^init (\S+) @.* clock, (\d+) bytes, \d+ allocs$`)
	sizes := map[string]int{}
	for _, match := range line.FindAllStringSubmatch(stderr.String(), -1) {
		size, err := strconv.Atoi(match[2])
		if err != nil {
			t.Fatalf("reading %q: %v", match[0], err)
		}
		sizes[match[1]] += size
	}
	if _, ok := sizes["runtime"]; !ok {
		t.Fatalf("the Go runtime reported no initialization in the documented form:\n%s", &stderr)
	}
	return sizes
}
