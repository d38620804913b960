package plan_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Keywords of Go and names in generated code are allowed as names of objects, members, variants, fields, attributes
// and folders. The output compiles.
func TestNamesOfGo(t *testing.T) {
	t.Parallel()
	words := []string{
		"args", "params", "tool", "result", "envelope", "max_chars", "handler", "call", "code", "codes", "key", "name",
		"type", "func", "string", "error", "nil", "len", "any", "init", "main", "range", "select", "interface",
		"h", "cli", "ctx_2", "p", "append", "bytes", "text", "coerce", "validate", "new", "context", "contract", "time", "json",
	}
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("tools.toml", "module = \"example.com/words\"\nspecs = [\"specs/*/*.toml\"]\n[cli.cli]\ncommand = [\"cli\"]\n[targets]\nonly = []\n[targets.go]\ndir = \"generated\"\n")
	tool := func(family, name, answer string) string {
		return fmt.Sprintf("name = %q\nsummary = \"Words\"\ndescription = \"Words.\"\neffect = \"read\"\nhandler = \"go\"\n%s\n", family+"_"+name, answer)
	}
	object := func(table, word string) string {
		of := "[" + table + "." + word
		return of + "]\ntype = \"object\"\nkey = \"kind\"\nsummary = \"W\"\n" +
			of + ".variants." + word + "]\nsummary = \"V\"\n" +
			of + ".variants." + word + ".members." + word + "]\ntype = \"array\"\nsummary = \"M\"\nitems = { type = \"object\", members = { " + word + " = { type = \"boolean\", summary = \"I\" } } }\n" +
			of + ".variants.kind]\nsummary = \"O\"\n"
	}
	var parameters, fields, attributes strings.Builder
	for _, word := range words {
		parameters.WriteString(object("parameters", word))
		fields.WriteString(object("result.fields", word))
		fmt.Fprintf(&attributes, "[[envelope.elements.attributes]]\nname = %q\ntype = \"string\"\nsummary = \"W\"\n", word)
	}
	parameters.WriteString("[parameters.state]\ntype = \"string\"\nenum = [\"Params\", \"Tool\", \"tool\"]\ndefault = \"tool\"\nsummary = \"W\"\n")
	write("specs/words/take.toml", tool("words", "take", "answer = \"text\"\nmax_chars = 5000\n")+parameters.String())
	write("specs/words/give.toml", tool("words", "give", "answer = \"json\"\n")+
		"[result]\ncodes = [\"params\", \"tool\"]\n"+strings.NewReplacer("[result.fields.code]", "[result.fields.code_2]", "[result.fields.code.", "[result.fields.code_2.").Replace(fields.String()))
	write("specs/words/show.toml", tool("words", "show", "")+"[envelope]\nroot = \"show\"\n[[envelope.elements]]\nname = \"show\"\n"+attributes.String())
	for _, family := range []string{"call", "h", "cli", "ctx", "p", "context", "contract", "commandline", "envelope", "time", "handlers", "fmt"} {
		write("specs/"+family+"/run.toml", strings.Replace(tool(family, "run", ""), `handler = "go"`, "", 1)+"[command]\ncli = \"cli\"\nargs = [\"x\"]\n")
		envelope := "[envelope]\nroot = \"take\"\n[[envelope.elements]]\nname = \"take\"\nattributes = [{ name = \"at\", type = \"time\", summary = \"When\" }]\n"
		write("specs/"+family+"/take.toml", tool(family, "take", "")+envelope)
	}
	generate(t, dir)
	writeModule(t, dir, "example.com/words")
	runGo(t, dir, "vet", "./...")
}
