package check

import (
	"fmt"
	"go/build"
	"go/token"
	"go/types"
	"io"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/spec"
)

// The maximum lengths of names, in bytes.
const (
	longestTool  = 50
	longestOther = 40 // parameters, elements, attributes, folders, command lines
	longestTag   = 64
)

// nameHint returns the hint for a name that [isSnake] or [isMarkup] refuses: the first reason that applies.
func nameHint(name string, longest int) string {
	if len(name) > longest {
		return fmt.Sprintf("it has %d characters; %d are allowed", len(name), longest)
	}
	if strings.HasPrefix(name, "xml") {
		return "XML keeps names that begin with xml for itself"
	}
	return "use lower-case letters, digits and _, beginning with a letter"
}

// isToolName reports whether s is a snake_case name, or two joined by a dot.
func isToolName(s string) bool {
	before, after, dotted := strings.Cut(s, ".")
	return len(s) <= longestTool && isSnake(before, longestTool) && (!dotted || isSnake(after, longestTool))
}

// isSnake reports whether s is a snake_case name of at most longest bytes: it begins with a letter, and consists of
// words of lower-case letters and digits with one underscore between two words.
func isSnake(s string, longest int) bool {
	for word := range strings.SplitSeq(s, "_") {
		if word == "" || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
			return false
		}
	}
	return len(s) <= longest && 'a' <= s[0] && s[0] <= 'z'
}

// isMarkup reports whether s can name an element or an attribute. XML reserves names that begin with xml.
func isMarkup(s string) bool { return isSnake(s, longestOther) && !strings.HasPrefix(s, "xml") }

// isTag reports whether s can be the tag of a skill's section.
func isTag(s string) bool {
	return len(s) <= longestTag && regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`).MatchString(s)
}

// isVariable reports whether s can name the environment variable of a command line: it is upper-case.
func isVariable(s string) bool { return regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`).MatchString(s) }

// isEnvName reports whether s can name an environment variable.
func isEnvName(s string) bool { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`).MatchString(s) }

// isKey reports whether s can be the key of a JSON object in a struct tag.
func isKey(s string) bool {
	const first = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"
	return s != "" && strings.Contains(first, s[:1]) && strings.Trim(s, first+".-") == ""
}

// plural returns the plural of an element's name. It names the field that holds many such elements.
func plural(name string) string {
	switch {
	case strings.HasSuffix(name, "s"), strings.HasSuffix(name, "x"), strings.HasSuffix(name, "ch"), strings.HasSuffix(name, "sh"):
		return name + "es"
	case strings.HasSuffix(name, "y") && len(name) > 1 && !strings.ContainsRune("aeiou", rune(name[len(name)-2])): // a consonant and y
		return name[:len(name)-1] + "ies"
	default:
		return name + "s"
	}
}

// singular returns a name for one item of an array with the given name. It replaces the ending of a plural: Tries
// becomes Try. A name without such an ending, such as List or Address, gets the suffix Item.
func singular(name string) string {
	for _, ending := range []struct{ many, one string }{{"ies", "y"}, {"sses", "ss"}, {"xes", "x"}, {"ches", "ch"}, {"shes", "sh"}, {"ss", "ssItem"}, {"s", ""}} {
		if stem, ok := strings.CutSuffix(name, ending.many); ok && stem != "" {
			return stem + ending.one
		}
	}
	return name + "Item"
}

// family returns the name of the folder of a spec, and whether a Go package can have it; if not, it reports that.
func (c *checker) family(t *spec.Tool) (string, bool) {
	name := path.Base(path.Dir(t.File.Name))
	pkg := strings.ReplaceAll(name, "_", "")
	why := ""
	switch {
	case !isSnake(name, longestOther):
		why = "is not a snake_case name"
	case token.IsKeyword(pkg), types.Universe.Lookup(pkg) != nil,
		slices.Contains([]string{"main", "internal", "vendor", "testdata"}, pkg):
		why = "means something else in Go"
	case windowsDevice(name) != "":
		why = "is a device to Windows"
	default:
		return name, true
	}
	c.reportf(t.Name.At, "CT020", "the folder of a spec names the Go package of its tools", "the folder %q of this spec %s", name, why)
	return name, false
}

// toolName reports a tool whose name is invalid, or from which an invalid file name or Go identifier would be made.
// short is the part after the folder: specs/note/list.toml declares note_list, which becomes list.go and List.
func (c *checker) toolName(t *spec.Tool, short string) {
	name := t.Name.Value
	switch {
	case !t.Name.Set:
	case !isToolName(name):
		c.reportf(t.Name.At, "CT001", nameHint(name, longestTool), "%q is not a tool name", name)
	case !isSnake(short, longestTool):
		c.reportf(t.Name.At, "CT001", nameHint(short, longestTool), "%q, the part of the tool's name after its folder, is not a name", short)
	case !isGoFile(short + ".go"):
		c.reportf(t.Name.At, "CT001", "", "the go command gives a file %s.go a meaning of its own", short)
	case windowsDevice(short) != "" || windowsDevice(name) != "":
		c.reportf(t.Name.At, "CT001", "", "files of %s have a name that Windows keeps for a device", name)
	}
}

// isGoFile reports whether the go command compiles a file of that name on every platform and outside tests.
func isGoFile(name string) bool {
	if strings.HasSuffix(name, "_test.go") {
		return false
	}
	// nowhere is not a real platform, so a file for certain platforms, such as list_windows.go, does not match.
	nowhere := build.Context{GOOS: "nowhere", GOARCH: "nothing", Compiler: "gc", OpenFile: func(string) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader("package p\n")), nil
	}}
	matches, err := nowhere.MatchFile(".", name)
	return err == nil && matches
}

// declare returns a Go name that is still free in the tool: name, with ending appended as often as needed. It records
// that the Go name is taken by owner, a description such as "the tool note_list".
func (c *checker) declare(name, ending, owner string) string {
	for c.declared[name] != "" {
		name += ending
	}
	c.declared[name] = owner
	return name
}

// declareTool empties c.declared, and adds the Go names that every tool with t's form of answer has.
func (c *checker) declareTool(t *ir.Tool) {
	c.declared = map[string]string{}
	endings := []string{"Tool", "Params", "MaxChars"}
	switch t.Answer {
	case ir.EnvelopeAnswer:
		endings = append(endings, "Envelope")
		c.declare("New"+t.GoName+"Envelope", "", "the tool "+t.Name)
	case ir.JSONAnswer:
		endings = append(endings, "Result")
	}
	for _, ending := range endings {
		c.declare(t.GoName+ending, "", "the tool "+t.Name)
	}
}

// familyNames reports clashes of names in the Go package of a family: two tools with one Go name, a tool with the file
// name of the family's own file, and a tool that needs a declaration whose Go name is declared already.
func (c *checker) familyNames(family *ir.Family) {
	owner := map[string]string{"Handler": "the handler interface", "Call": "the dispatcher"} // by Go name
	tools := map[string]string{}                                                             // by Go name: the name of the tool
	for i := range family.Tools {
		t := &family.Tools[i]
		place := c.specs[t.Source].Name.At
		if before, taken := tools[t.GoName]; taken {
			c.reportf(place, "CT026", "rename one of them", "%s and %s have the same Go name %s", before, t.Name, t.GoName)
			continue
		}
		tools[t.GoName] = t.Name
		if t.Short == family.Package {
			c.reportf(place, "CT026", "give the tool another name, such as "+family.Name+"_list", "%s would be written to %s.go, which is the family's own file", t.Name, t.Short)
		}
		declared := c.names[t.Source]
		for _, name := range slices.Sorted(maps.Keys(declared)) {
			if before, taken := owner[name]; taken {
				c.reportf(place, "CT026", "rename one of them", "%s needs the Go name %s, which %s has already", declared[name], name, before)
			} else {
				owner[name] = declared[name]
			}
		}
	}
}
