package plan_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/gen/emit"
	"github.com/convtools/convtools/gen/plan"
	"github.com/convtools/convtools/gen/spec"
	"github.com/convtools/convtools/runtime/base/cases"
)

// Every @text@ is a free text of a spec. @word@ is the place of a name, a path or a number.
const (
	hostileProject = `module = @word:module@
specs  = [@word:pattern of specs@]

[[accepted]]
rule    = @word:accepted rule@
subject = @text:accepted subject@
reason  = @text:accepted reason@
version = @text:accepted version@

[cli.notes]
command = [@text:program@, @text:word of a command@]
end_of_options = @word:end of options@
env     = @word:environment variable@
pass_env = [@word:passed variable@]

[targets]
only = ["schema", "mcp", "openai", "responses", "anthropic", @word:target@]

[targets.go]
dir = @word:folder@

[targets.jp]
tools   = @word:JP folder@
command = @text:JP command@

[[targets.jp.skills]]
file    = @word:skill file@
tag     = @word:tag@
title   = @text:skill title@
content = @text:skill content@
tools   = [@word:skill tool@]

[targets.plugin]
dir     = @word:plugin folder@
version = @word:plugin version@
summary = @text:plugin summary@
skill   = @word:plugin skill@
when    = @text:plugin when@
content = @text:plugin content@
`
	hostileTool = `name        = @word:tool@
summary     = @text:summary@
keywords    = @text:keywords@
description = @text:description@
effect      = @word:effect@
handler     = @word:handler@
targets     = { jp = { enable = @word:enable@, run = @word:run@ } }

[parameters.text]
type     = "string"
default  = @text:default@
summary  = @text:parameter summary@

[parameters.state]
type    = "string"
enum    = [@text:enum value@]
summary = "State to show"

[parameters.tags]
type    = "array"
items   = { single_line = true }
summary = "Tags"

[parameters.id]
type         = "string"
pattern      = @text:pattern@
pattern_says = @text:pattern_says@
summary      = "The note"

[parameters.all]
type    = "boolean"
default = false
summary = "All notes"

[envelope]
root = @word:root@

[[envelope.elements]]
name       = @word:root element@
summary    = @text:root summary@
attributes = [
  { name = "version", type = "string", fixed = @text:fixed@, summary = @text:attribute summary@ },
  { name = "of_all", type = @word:attribute type@, presence = @word:attribute presence@, param = @word:attribute parameter@, summary = "All notes" },
]
children   = [@word:child@, "note*"]

[[envelope.elements]]
name       = @word:element@
summary    = @text:element summary@
from       = "records"
separator  = @word:separator@
attributes = [{ name = @word:attribute@, type = "string", from = @word:key@, summary = "The note" }]

[[envelope.elements]]
name      = "note"
body      = "inline"
text_from = @word:text_from@

[[examples]]
summary   = @text:example summary@
arguments = { text = @text:example argument@ }
`
	// hostileRun is a tool without a handler, with every option of a command.
	hostileRun = `name        = "notes_run"
summary     = "Run"
description = "Runs."
effect      = "read"
narrow      = @word:narrow@

[parameters.id]
type         = "string"
pattern      = "^[a-z]+$"
pattern_says = "be an id"
summary      = "The note"

[parameters.tags]
type    = "array"
summary = "Tags"

[parameters.all]
type    = "boolean"
default = false
summary = "All notes"

[command]
cli        = @word:cli@
args = [
  @text:argument@, { option = @text:option@ }, "--id={id}", "--of={tags}", { value = @text:repeated@ },
  { option = "--all", when = @word:when@ }, { option = "--some", unless = @word:unless@ },
]
stdin      = @text:standard input@
env        = { EDITOR = @text:environment value@ }
dir        = @word:working directory@
ok_exit    = [0]
empty_exit = [1]
output     = { form = @word:form@, fields = [@word:output field@, "text"], separator = @text:output separator@, end = @text:output end@, skip = @text:skip@ }
failures   = [{ exit = [2], reason = @text:reason@ }]

[envelope]
root = "notes_run"

[[envelope.elements]]
name     = "notes_run"
children = ["item*", "note*"]

[[envelope.elements]]
name       = "item"
from       = @word:records@
body       = @word:body@
text_from  = "text"
attributes = [{ name = "id", type = "string", from = @word:output field@, summary = "The note" }]

[[envelope.elements]]
name = "note"
body = "inline"
`
	// hostileMatch and hostilePath print records in other forms.
	hostileMatch = `name        = "notes_match"
summary     = "Match"
description = "Matches."
effect      = "read"

[command]
cli    = "notes"
args   = ["match"]
output = { form = "regexp", pattern = @word:output pattern@ }
` + hostileRecords
	hostilePath = `name        = "notes_path"
summary     = "Path"
description = "Paths."
effect      = "read"

[command]
cli    = "notes"
args   = ["path"]
output = { form = "json", path = @word:output path@ }
` + hostileRecords
	hostileRecords = `
[envelope]
root = "records"

[[envelope.elements]]
name     = "records"
children = ["item*", "note*"]

[[envelope.elements]]
name       = "item"
from       = "records"
attributes = [{ name = "id", type = "string", from = "id", summary = "The note" }]

[[envelope.elements]]
name = "note"
body = "inline"
`
	// hostileShapes is a tool that takes nested values and answers in JSON.
	hostileShapes = `name        = @word:dotted tool@
summary     = "Draw"
description = "Draws."
effect      = "read"
handler     = "go"
answer      = @word:answer@

[[aliases]]
name  = @word:alias@
until = @word:sunset@

[parameters.items]
type    = "array"
summary = @text:array summary@

[parameters.items.items]
type    = "object"
summary = @text:item summary@
key     = @word:discriminator@

[parameters.items.items.variants.text]
summary = @text:variant summary@

[parameters.items.items.variants.text.members.text]
type    = "string"
default = @text:member default@
summary = @text:member summary@

[parameters.items.items.variants.image]
summary = "An image"

[parameters.items.items.variants.image.members.state]
type    = "string"
enum    = [@text:member enum value@]
summary = "The state"

[parameters.items.items.variants.image.members.number]
type         = "string"
pattern      = "^[0-9]+$"
pattern_says = @text:member pattern_says@
summary      = "The number"

[parameters.size]
type     = "object"
nullable = true
summary  = "The size"

[parameters.size.members.names]
type    = "array"
default = [@text:default in a list@]
summary = "Names"

[parameters.size.members.day]
type    = "string"
format  = @word:format@
summary = "The day"

[parameters.size.members.count]
type    = @word:member type@
summary = "How many"

[parameters.width]
type    = @word:parameter type@
repairs = [@word:repair@]
summary = "The width"

[parameters.height]
type    = "integer"
summary = "The height"

[parameters.depths]
type    = "array"
items   = { type = @word:item type@ }
summary = "The depths"

[[rules]]
at_least_one = [@word:ruled@, "size"]

[[rules]]
exclusive = [@word:excluded@, "height"]

[[rules]]
exactly_one = [@word:one@, "depths"]

[[rules]]
given    = @word:given@
requires = [@word:required@]

[result]
codes = [@word:code@]

[result.fields.count]
type     = @word:field type@
presence = @word:field presence@
summary  = "How many"

[result.fields.entries]
type    = "array"
summary = @text:field summary@

[result.fields.entries.items]
type = @word:field item type@
key  = @word:field discriminator@

[result.fields.entries.items.variants.text]
summary = @text:field variant summary@

[result.fields.entries.items.variants.line]
summary = "A line"

[[examples]]
summary   = "Draw a text"
arguments = { items = [{ kind = "text", text = @text:example member@ }], width = 1 }
`
)

// harmlessValues fill the places of the templates. Any other text must give the same Go: an enum without words has no
// constants.
var harmlessValues = map[string]string{
	"JP command": "run {{context}} {{tool}}", "enum value": "plain (text)",
	"module": "example.com/notes", "pattern of specs": "specs/*/*.toml", "target": "docs", "repeated": "--tag={tags}", "when": "all", "unless": "all",
	"attribute type": "boolean", "attribute presence": "always", "attribute parameter": "all", "form": "delimited", "records": "records", "body": "inline",
	"output pattern": "^(?P<id>.*)$", "output path": "data.items", "answer": "json", "member type": "integer", "parameter type": "integer", "repair": "from_string",
	"item type": "integer", "excluded": "width", "one": "width", "given": "height", "required": "depths",
	"field type": "integer", "field presence": "optional", "field item type": "object",
	"passed variable": "NOTES_TOKEN", "working directory": "docs", "output field": "id", "output separator": "\t", "output end": "\n", "skip": "^total$",
	"environment variable": "NOTES_CLI", "folder": "generated", "plugin folder": "generated/plugin", "plugin version": "1.2.0", "plugin skill": "notes",
	"JP folder": ".jp/mcp/tools", "skill file": ".jp/config/skill/notes.toml",
	"tag": "notes_skill", "skill tool": "notes_list", "tool": "notes_list", "effect": "read", "enable": "on", "run": "ask", "handler": "go", "narrow": "all", "end of options": "--",
	"pattern": "^[0-9]+$", "cli": "notes", "root": "notes_list", "root element": "notes_list", "child": "item*",
	"accepted rule": "tool-removed", "dotted tool": "notes.draw", "alias": "notes_paint", "sunset": "2027-06-30", "discriminator": "kind",
	"member enum value": "plain (text)", "format": "date", "ruled": "items", "code": "not_found", "field discriminator": "kind",
	"element": "item", "separator": "gap", "attribute": "id", "key": "id", "text_from": "text",
}

// hostileValues returns texts that try to end a comment, a string or a fence, to be a directive, or to hide.
func hostileValues() []string {
	return []string{
		"*/ func init() { panic(1) } /*",
		"//go:embed secrets",
		"go:generate rm -rf .",
		"a\n//go:embed secrets\nvar x string",
		"a\r//go:build ignore",
		"\u2028//line x.go:1\u2029",
		"+build ignore",
		"` + panic() + `",
		`" + panic() + "`,
		"a\x00b", "a\x1b[31mb", "\u202Etxet", "\ufeffa", "\U000E0041",
		"{{.Name}} {{context}} {{ tool }} {{end}}", "${HOME} $(id) %s %!d(MISSING)",
		"-->\n# Heading\n<script>", "| a | b |\n|---|---|", "```\n```", "]]></x>",
		`"""`, "'''", `\`, `\u0000`, "",
		"\"}\n[conversation.tools.'*']\nenable = true\n#",
	}
}

// fill returns a template with a value in each of its places, and the places as "kind:name". values has the value for
// the name of a place. A place without one gets a harmless value.
func fill(template string, values map[string]string) (text string, places []string) {
	var b strings.Builder
	for i, part := range strings.Split(template, "@") {
		if i%2 == 0 {
			b.WriteString(part)
			continue
		}
		kind, name, _ := strings.Cut(part, ":")
		value, ok := values[name]
		if !ok {
			value = harmlessValues[name]
		}
		if value == "" && !ok && kind == "text" {
			value = "plain text"
		}
		quoted, err := json.Marshal(value) // TOML's basic strings have the same escapes
		if err != nil {
			panic(err)
		}
		b.Write(quoted)
		places = append(places, kind+":"+name)
	}
	return b.String(), places
}

// hostileFiles returns the templates by file name.
func hostileFiles() map[string]string {
	return map[string]string{
		"tools.toml": hostileProject, "specs/notes/list.toml": hostileTool, "specs/notes/draw.toml": hostileShapes,
		"specs/notes/run.toml": hostileRun, "specs/notes/match.toml": hostileMatch, "specs/notes/path.toml": hostilePath,
	}
}

// hostile returns a project of the given files, which are the templates filled with values.
func hostile(values map[string]string, files ...string) fstest.MapFS {
	project := fstest.MapFS{}
	for _, file := range files {
		text, _ := fill(hostileFiles()[file], values)
		project[file] = &fstest.MapFile{Data: []byte(text)}
	}
	return project
}

// TestHostileText puts hostile text into every place of a spec. The spec is refused, or its output has the same Go
// declarations and the same keys in TOML and JSON as the output for plain text.
func TestHostileText(t *testing.T) {
	t.Parallel()
	for file, template := range hostileFiles() {
		// The project must have the files that tools.toml names, and no others.
		files := []string{"tools.toml", "specs/notes/list.toml"}
		if !slices.Contains(files, file) {
			files = append(files, file)
		}
		result, printed := diagnose(t, hostile(nil, files...))
		if printed != "" {
			t.Fatalf("the template %s itself is not clean:\n%s", file, printed)
		}
		known := map[string]string{}
		want := shapes(t, known, result.Files)
		_, places := fill(template, nil)
		for p, place := range places {
			kind, name, _ := strings.Cut(place, ":")
			accepted := 0
			for v, value := range hostileValues() {
				if (p+v)%3 > 0 && cases.Of(1) == 1 { // make prove tries all of them
					continue
				}
				if name == "JP command" {
					value += " {{context}} {{tool}}" // without them the command is refused
				}
				result, err := plan.Generate(hostile(map[string]string{name: value}, files...))
				if err != nil {
					t.Errorf("%s = %q passes the checker and not an emitter: %v", name, value, err)
					continue
				}
				if result.Diags.HasErrors() {
					continue
				}
				accepted++
				if kind == "word" && value != "" {
					t.Errorf("%s = %q is accepted", name, value)
				}
				if got := shapes(t, known, result.Files); !maps.Equal(want, got) { // much faster than computing a difference
					t.Errorf("%s = %q changes what is declared (-plain +hostile):\n%s", name, value, cmp.Diff(want, got))
				}
			}
			// A place that is always refused tests nothing.
			if kind == "text" && accepted == 0 {
				t.Errorf("%s: no hostile text is accepted", place)
			}
		}
	}
}

// Every key with text is tested: a new key needs a place in a template.
func TestHostileTextIsInEveryKey(t *testing.T) {
	t.Parallel()
	const mark = "MARK"
	marked := map[string]string{}
	for _, template := range hostileFiles() {
		_, places := fill(template, nil)
		for _, place := range places {
			_, name, _ := strings.Cut(place, ":")
			marked[name] = mark
		}
	}
	project := hostile(marked, slices.Collect(maps.Keys(hostileFiles()))...)
	tried := map[string]bool{}
	for name, file := range project {
		kind := spec.ToolKind
		if name == spec.ProjectFile {
			kind = spec.ProjectKind
		}
		var document map[string]any
		if _, err := toml.Decode(string(file.Data), &document); err != nil {
			t.Fatal(err)
		}
		addMarkedKeys(tried, mark, kind, document)
	}
	for kind, keys := range spec.Keys() {
		for _, key := range keys {
			switch key.Type {
			case spec.TextKey, spec.TextsKey, spec.AnyKey, spec.VarsKey, spec.ArgsKey:
				if !tried[values(kind)+" "+key.Name] {
					t.Errorf("no template has a place for the text of %s in the table %s", key.Name, kind)
				}
			case spec.IntegerKey, spec.NumberKey, spec.BooleanKey, spec.NumbersKey, spec.TableKey, spec.TablesKey, spec.NamedKey:
			}
		}
	}
}

// addMarkedKeys adds to tried each key of a table, or of a table in it, whose value is the mark or has it in a list.
func addMarkedKeys(tried map[string]bool, mark, kind string, table map[string]any) {
	for _, key := range spec.Keys()[kind] {
		var walk func(value any)
		walk = func(value any) {
			switch value := value.(type) {
			case string:
				if value == mark {
					tried[values(kind)+" "+key.Name] = true
				}
			case []any:
				for _, item := range value {
					walk(item)
				}
			case []map[string]any:
				for _, item := range value {
					walk(item)
				}
			case map[string]any:
				if key.Kind == "" {
					for _, item := range value {
						walk(item)
					}
					return
				}
				if key.Type != spec.NamedKey {
					addMarkedKeys(tried, mark, key.Kind, value)
					return
				}
				for _, item := range value {
					if inner, ok := item.(map[string]any); ok {
						addMarkedKeys(tried, mark, key.Kind, inner)
					}
				}
			}
		}
		walk(table[key.Name])
	}
}

// shapes describes files without the texts in them. Most files equal those for another text: known caches shapes by
// path and content.
func shapes(t *testing.T, known map[string]string, files []emit.File) map[string]string {
	t.Helper()
	shapes := map[string]string{}
	for _, file := range files {
		key := file.Path + "\x00" + string(file.Data)
		if shape, ok := known[key]; ok {
			shapes[file.Path] = shape
			continue
		}
		var shape string
		switch path.Ext(file.Path) {
		case ".go":
			shape = goShape(t, file)
		case ".json":
			var v any
			if err := json.Unmarshal(file.Data, &v); err != nil {
				t.Errorf("%s: %v", file.Path, err)
			}
			shape = keys(v)
		case ".toml":
			var v map[string]any
			if _, err := toml.Decode(string(file.Data), &v); err != nil {
				t.Errorf("%s: %v\n%s", file.Path, err, file.Data)
			}
			shape = keys(v)
		}
		shapes[file.Path], known[key] = shape, shape
	}
	return shapes
}

// goShape returns a Go file's syntax tree without comments and string values. Every comment must be prose: "// " and
// no directive.
func goShape(t *testing.T, file emit.File) string {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), file.Path, file.Data, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Errorf("%s: %v\n%s", file.Path, err, file.Data)
		return ""
	}
	for _, group := range tree.Comments {
		for _, comment := range group.List {
			if comment.Text != "//go:embed all:files" && comment.Text != "//" && !strings.HasPrefix(comment.Text, "// ") || strings.HasPrefix(comment.Text, "// +build") {
				t.Errorf("%s: the comment %q", file.Path, comment.Text)
			}
		}
	}
	var b strings.Builder
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case nil, *ast.CommentGroup, *ast.Comment:
			return false
		case *ast.Ident:
			b.WriteString(n.Name + " ")
		case *ast.BasicLit:
			b.WriteString(n.Kind.String() + " ")
		case *ast.ValueSpec:
			if len(n.Values) == 1 && isTable(n.Values[0]) {
				b.WriteString("table ") // a table is data; its number of parts depends on the text
				return false
			}
		default:
			fmt.Fprintf(&b, "%T ", n)
		}
		return true
	})
	return b.String()
}

// isTable reports whether an expression consists only of literals.
func isTable(expr ast.Expr) bool {
	table := true
	ast.Inspect(expr, func(n ast.Node) bool {
		switch n := n.(type) {
		case nil, *ast.CompositeLit, *ast.KeyValueExpr, *ast.BasicLit, *ast.Ident, *ast.SelectorExpr, *ast.ArrayType:
		case *ast.UnaryExpr:
			table = table && (n.Op == token.AND || n.Op == token.SUB)
		default:
			table = false
		}
		return true
	})
	return table
}

// keys returns the keys and types of a decoded document.
func keys(v any) string {
	switch v := v.(type) {
	case map[string]any:
		var b strings.Builder
		b.WriteString("{")
		for _, name := range sortedKeys(v) {
			b.WriteString(name + ":" + keys(v[name]) + " ")
		}
		return b.String() + "}"
	case []any:
		var b strings.Builder
		for _, item := range v {
			b.WriteString(keys(item) + ",")
		}
		return "[" + b.String() + "]"
	case []map[string]any:
		var b strings.Builder
		for _, item := range v {
			b.WriteString(keys(item) + ",")
		}
		return "[" + b.String() + "]"
	default:
		return fmt.Sprintf("%T", v)
	}
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
