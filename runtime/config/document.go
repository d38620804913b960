package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/BurntSushi/toml"

	"github.com/convtools/convtools/runtime/base/diag"
	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/base/tomlpos"
)

// Bounds on one file, which is written by hand. For each key the decoder takes
// time in the square of its depth, and for finding columns in the square of a line.
const (
	maxFile  = 1 << 20  // bytes
	maxLine  = 32 << 10 // bytes
	maxDepth = 16       // tables around a value
)

// document is a file that could be decoded.
type document struct {
	config *Config
	name   string // as positions have it
	from   *Source
	meta   toml.MetaData
	tables map[string]map[string]toml.Primitive // by their paths, joined
	index  *tomlpos.Index
	below  map[string][]string // the keys of a table, in the order of the file
}

var (
	errLink     = errors.New("it is a link that cannot be followed inside its directory")
	errDangling = errors.New("it is a link to a file that does not exist")
)

// read reads the user's file, which the user may have linked to anywhere.
func read(path string) ([]byte, error) {
	if _, err := os.Lstat(path); err != nil {
		return nil, err
	}
	src, err := safefile.Read(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errDangling
	}
	return src, err
}

// readIn reads a file of a project. It may be no link out of its directory, and that no
// link out of the project: who made the project does not choose what is read.
func readIn(root, name string, getenv func(string) string) ([]byte, error) {
	dir, err := OpenDir(root, path.Dir(name), getenv)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	info, err := dir.Lstat(path.Base(name))
	if err != nil {
		return nil, err
	}
	src, err := safefile.ReadIn(dir, path.Base(name), maxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errDangling
	case err != nil && info.Mode()&fs.ModeSymlink != 0 && !errors.Is(err, safefile.ErrNotRegular):
		return nil, errLink
	}
	return src, err
}

// open reads and decodes a file. It returns nil where there is none, and where it cannot be
// used, which disables all that it may be about.
func (c *Config) open(from *Source, name string, read func() ([]byte, error)) *document {
	src, err := read()
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	c.Files = append(c.Files, name)
	d := &document{config: c, name: name, from: from}
	all := []string{everything}
	if name == topicsFile {
		all = []string{"kb"}
	}
	if err != nil {
		hint := ""
		var pathError *fs.PathError
		var outside *OutsideError
		switch {
		case errors.As(err, &pathError):
			err = pathError.Err
		case errors.As(err, &outside):
			hint = outside.Hint()
			err = fmt.Errorf("%s is a link out of the project", outside.Path) // models are not told where to
		}
		d.wrong(all, Position{File: name}, hint, "the file cannot be read: %s", text.Cell(err.Error()))
		return nil
	}
	at, problem := d.decode(strings.TrimPrefix(string(src), "\ufeff"))
	if problem != "" {
		d.wrong(all, Position{name, at}, "", "%s", problem)
		return nil
	}
	return d
}

// decode decodes a text, or says what keeps it from being decoded and where.
func (d *document) decode(src string) (at diag.Span, problem string) {
	place := func(offset int) diag.Span { return diag.NewSource([]byte(src)).Span(offset, offset) }
	if at := text.Invalid(src); at >= 0 {
		return place(at), "this is not valid UTF-8"
	}
	offset := 0
	for line := range strings.Lines(src) {
		if len(line) > maxLine {
			return place(offset), fmt.Sprintf("the line has more than %d bytes", maxLine)
		}
		offset += len(line)
	}
	d.index = tomlpos.ScanNames([]byte(src), maxDepth)
	if at, deep := d.index.Deep(); deep {
		return at, fmt.Sprintf("this is nested too deeply: there may be %d tables around a value", maxDepth)
	}
	var err error
	var top map[string]toml.Primitive
	if d.meta, err = toml.Decode(src, &top); err != nil {
		var parse toml.ParseError
		if !errors.As(err, &parse) {
			return diag.Span{}, text.Quote(err.Error())
		}
		at := parse.Position.Start
		for at > 0 && at < len(src) && !utf8.RuneStart(src[at]) {
			at-- // The decoder may mean the middle of a character.
		}
		return place(at), text.Cut(text.Cell(strings.TrimSuffix(parse.Message, ".")), 300)
	}
	d.tables = map[string]map[string]toml.Primitive{"": top}
	d.below = map[string][]string{}
	seen := map[string]bool{}
	for _, key := range d.meta.Keys() {
		for i := range key {
			if name := join(key[:i+1]); !seen[name] {
				seen[name] = true
				d.below[join(key[:i])] = append(d.below[join(key[:i])], key[i])
			}
		}
	}
	return diag.Span{}, ""
}

func join(path []string) string { return strings.Join(path, "\x00") }

// names returns the keys of a table, in the order of the file.
func (d *document) names(path ...string) []string { return d.below[join(path)] }

// at returns where a key, or an element of an array, stands; or else what is nearest around it.
func (d *document) at(path ...any) Position {
	var p tomlpos.Path
	for _, step := range path {
		switch step := step.(type) {
		case string:
			p = p.Key(step)
		case int:
			p = p.Elem(step)
		}
	}
	for ; len(p) > 0; p = p[:len(p)-1] {
		if span, ok := d.index.Key(p); ok {
			return Position{d.name, span}
		}
		if _, elem := path[len(p)-1].(int); elem {
			if span, ok := d.index.Value(p); ok {
				return Position{d.name, span}
			}
		}
	}
	return Position{File: d.name}
}

func steps(path []string) []any {
	var all []any
	for _, name := range path {
		all = append(all, name)
	}
	return all
}

// decode decodes what is at a path, and reports whether there is anything and it is as it should be. Of a struct, keys
// without a field are wrong; those of [stores] are left to who knows the kinds of stores.
func decode[T any](d *document, to *T, path ...string) bool {
	if len(d.config.Problems) > maxProblems || !d.meta.IsDefined(path...) || !d.areTables(path[:len(path)-1]) {
		return false
	}
	v := reflect.ValueOf(to).Elem()
	if v.Kind() != reflect.Struct {
		return d.value(v, path)
	}
	if !d.areTables(path) {
		return false
	}
	fields := tomlFields[T]()
	whole := true
	for _, name := range d.names(path...) {
		if i, ok := fields[name]; ok {
			whole = d.value(v.Field(i), append(slices.Clip(path), name)) && whole
		} else if path[0] != "stores" {
			d.unknown(path, name, slices.Sorted(maps.Keys(fields)))
			whole = false
		}
	}
	return whole
}

// value decodes a value, and reports what has another type. The decoder passes over what is no table where one has to be.
func (d *document) value(to reflect.Value, path []string) bool {
	if to.Kind() == reflect.Map && !d.areTables(path) {
		return false
	}
	if err := d.meta.PrimitiveDecode(d.table(path[:len(path)-1])[path[len(path)-1]], to.Addr().Interface()); err != nil {
		to.SetZero()
		d.wrongType(path, err)
		return false
	}
	return true
}

// table returns what is in a table.
func (d *document) table(path []string) map[string]toml.Primitive {
	table, ok := d.tables[join(path)]
	if !ok {
		last := len(path) - 1
		_ = d.meta.PrimitiveDecode(d.table(path[:last])[path[last]], &table) // it is a table
		d.tables[join(path)] = table
	}
	return table
}

// areTables reports whether what is at a path, and all around it, is a table, and what is none. The decoder does not:
// for a map it passes over what is no table.
func (d *document) areTables(path []string) bool {
	for i := range path {
		at := path[:i+1]
		if kind := d.meta.Type(at...); kind != "Hash" && kind != "" { // a table without a header has none
			d.wrong(unit(at), d.at(steps(at)...), "", "%s has to be a table, not %s", inTable(at), article(strings.ToLower(kind)))
			return false
		}
	}
	return true
}

// tomlFields returns the keys that a struct has fields for, and the index of each field.
func tomlFields[T any]() map[string]int {
	t := reflect.TypeFor[T]()
	fields := map[string]int{}
	for i := range t.NumField() {
		if name := t.Field(i).Tag.Get("toml"); name != "" && name != "-" {
			fields[name] = i
		}
	}
	return fields
}

// wrongType reports a value that the decoder refuses.
func (d *document) wrongType(path []string, err error) {
	var is, want string
	var parse toml.ParseError
	problem := err.Error()
	if errors.As(err, &parse) {
		problem = parse.Message
	} else if _, after, ok := strings.Cut(problem, "): "); ok { // what is before is the place
		problem = after
	}
	if _, err := fmt.Sscanf(problem, "incompatible types: TOML value has type %s destination has type %s", &is, &want); err == nil {
		is = strings.TrimSuffix(is, ";")
		problem = fmt.Sprintf("has to be %s, not %s", article(want), article(is))
		if want == "slice" || d.meta.Type(path...) == "Array" && is != "[]any" {
			problem = "has to be an array of strings" // as all arrays are
		}
	}
	d.wrong(unit(path), d.at(steps(path)...), "", "%s %s", inTable(path), problem)
}

// article puts an article before the name of a type, as the decoder has it.
func article(kind string) string {
	names := map[string]string{"[]any": "array", "map[string]any": "table", "hash": "table", "int64": "integer", "bool": "boolean", "float64": "float", "arrayhash": "array of tables"}
	kind = cmp.Or(names[kind], kind)
	if strings.ContainsAny(kind[:1], "aeio") {
		return "an " + kind
	}
	return "a " + kind
}

// name is what a table is called in messages, and by [Problem.Tables].
func name(path []string) string { return strings.Join(path, ".") }

// unit returns the name of what is used as a whole or not at all, and has what is at a path.
func unit(path []string) []string {
	depth := 1
	switch path[0] {
	case "kb":
		depth = 3
	case "model", "mcp":
		depth = 2
	}
	return []string{name(path[:min(depth, len(path))])}
}

// inTable names a key, and the table that it is in.
func inTable(key []string) string {
	last := len(key) - 1
	if last == 0 {
		return text.Quote(key[0])
	}
	return text.Quote(key[last]) + " in " + header(key[:last])
}

// header is the header of a table, for messages.
func header(path []string) string {
	return "[" + text.Line(text.Cut(name(path), 90)) + "]"
}

// paths returns absolute paths for those that are written at a path, and reports what is none.
func (d *document) paths(written []string, at ...string) []string {
	var all []string
	for i, w := range written {
		path, ok := Expand(w, d.config.Home)
		if !ok || strings.ContainsRune(w, 0) {
			d.wrong(unit(at), d.at(append(steps(at), i)...), "write a path that begins with / or ~/",
				"%s in %s of [%s] is not an absolute path", text.Quote(w), name(at[1:]), at[0])
			continue
		}
		all = append(all, path)
	}
	return all
}
