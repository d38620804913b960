package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/BurntSushi/toml"

	"github.com/convtools/convtools/runtime/base/diag"
	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/base/tomlpos"
)

// maxFile is the greatest length of a file in bytes. Finding a column takes time in the length of a line.
const maxFile = 64 << 10

// document is a decoded file.
type document struct {
	config *Config
	name   string // in positions
	from   *Source
	top    map[string]any
	index  *tomlpos.Index
	keys   []toml.Key // in the order of the file
}

// place is the path of a value in a document.
type place = tomlpos.Path

// dotted returns a path as [Problem.Tables] has it.
func dotted(at place) string {
	var names []string
	for _, step := range at {
		names = append(names, fmt.Sprint(step))
	}
	return strings.Join(names, ".")
}

// read reads the user's file, which may be a link to anywhere.
func read(path string) ([]byte, error) {
	if _, err := os.Lstat(path); err != nil {
		return nil, err
	}
	src, err := safefile.Read(path, maxFile)
	return src, dangling(err)
}

// readIn reads a file of a project. The file may not be a link out of its directory, and the directory may not be a
// link out of the project: the author of the project does not choose which files are read.
func readIn(root, name string, getenv func(string) string) ([]byte, error) {
	dir, err := OpenDir(root, path.Dir(name), getenv)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	if _, err := dir.Lstat(path.Base(name)); err != nil {
		return nil, err
	}
	src, err := safefile.ReadIn(dir, path.Base(name), maxFile)
	return src, dangling(err)
}

// dangling replaces the error for a link without a target, which must not pass for a file that is not there: its
// settings may exclude conversations.
func dangling(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("it is a link to a file that does not exist")
	}
	return err
}

// open reads and decodes a file. It returns nil where there is none. A file that cannot be used disables every table
// that it may have, and open returns nil too.
func (c *Config) open(from *Source, name string, read func() ([]byte, error)) *document {
	src, err := read()
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	d := &document{config: c, name: name, from: from}
	tables := []string{everything}
	if name == topicsFile {
		tables = []string{"kb"}
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
			err = fmt.Errorf("%s is a link out of the project", outside.Path) // models must not learn the target
		}
		d.wrong(tables, Position{File: name}, hint, "the file cannot be read: %s", text.Cell(err.Error()))
		return nil
	}
	if at, problem := d.decode(strings.TrimPrefix(string(src), "\ufeff")); problem != "" {
		d.wrong(tables, Position{name, at}, "", "%s", problem)
		return nil
	}
	return d
}

// decode decodes a text. It returns why and where that fails; the problem is empty if it does not.
func (d *document) decode(src string) (at diag.Span, problem string) {
	d.index = tomlpos.Scan([]byte(src))
	if at, deep := d.index.Deep(); deep {
		return at, "this is nested too deeply"
	}
	meta, err := toml.Decode(src, &d.top)
	var parse toml.ParseError
	switch {
	case errors.As(err, &parse):
		at := parse.Position.Start
		for at > 0 && at < len(src) && !utf8.RuneStart(src[at]) {
			at-- // the decoder may mean the middle of a character
		}
		return diag.NewSource([]byte(src)).Span(at, at), text.Cut(text.Cell(strings.TrimSuffix(parse.Message, ".")), 300)
	case err != nil:
		return diag.Span{}, text.Quote(err.Error())
	}
	d.keys = meta.Keys()
	return diag.Span{}, ""
}

// names returns the keys of a table, in the order of the file.
func (d *document) names(at place) (names []string) {
	for _, key := range d.keys {
		inside := len(key) > len(at)
		for i := 0; inside && i < len(at); i++ {
			inside = at[i] == any(key[i])
		}
		if inside && !slices.Contains(names, key[len(at)]) {
			names = append(names, key[len(at)])
		}
	}
	return names
}

// at returns the position of a key or of an element of an array. If that is not known, it returns the nearest known position
// around it.
func (d *document) at(at place) Position {
	for ; len(at) > 0; at = at[:len(at)-1] {
		span, ok := d.index.Key(at)
		if _, element := at[len(at)-1].(int); element && !ok {
			span, ok = d.index.Value(at)
		}
		if ok {
			return Position{d.name, span}
		}
	}
	return Position{File: d.name}
}

// tables returns the keys of the table at a place. It reports a value there that is not a table.
func (d *document) tables(at ...any) []string {
	if _, ok := d.get(place(at).Key("")); ok {
		return d.names(at)
	}
	return nil
}

// get returns the value at a place, and reports whether the tables around it are there. A value in place of one of them is
// a problem.
func (d *document) get(at place) (value any, ok bool) {
	value = d.top
	for i, step := range at {
		table, isTable := value.(map[string]any)
		switch {
		case value == nil:
			return nil, false
		case !isTable:
			return nil, d.wrongType(at[:i], "a table", value)
		}
		value = table[step.(string)]
	}
	return value, true
}

// take decodes the value at a place into the variable that to points to. It reports whether there is a value and it is
// valid. A key without a field in a struct is a problem, except in [stores], whose kinds of stores other packages know.
func (d *document) take(to any, at ...any) bool {
	if len(d.config.Problems) > maxProblems {
		return false
	}
	value, _ := d.get(at)
	return value != nil && d.fill(reflect.ValueOf(to).Elem(), value, at)
}

// fill decodes a value of one of the types that the tables have.
func (d *document) fill(to reflect.Value, value any, at place) bool {
	is, want := reflect.ValueOf(value), "an integer"
	switch to.Kind() {
	case reflect.Struct, reflect.Map:
		table, ok := value.(map[string]any)
		if !ok {
			return d.wrongType(at, "a table", value)
		}
		return d.fillTable(to, table, at)
	case reflect.Slice:
		return d.fillStrings(to, value, at)
	case reflect.String:
		want = "a string"
	case reflect.Bool:
		want = "a boolean"
	}
	if to.Type() == reflect.TypeFor[time.Duration]() {
		duration, err := time.ParseDuration(fmt.Sprint(value))
		if is, want = reflect.ValueOf(duration), `a duration, as "30s"`; err != nil {
			return d.wrongType(at, want, value)
		}
	}
	if is.Kind() != to.Kind() && to.Kind() != reflect.Interface && !(is.CanInt() && to.CanInt()) {
		return d.wrongType(at, want, value)
	}
	to.Set(is.Convert(to.Type()))
	return true
}

func (d *document) fillStrings(to reflect.Value, value any, at place) bool {
	items, ok := value.([]any)
	list := make([]string, len(items))
	for i, item := range items {
		text, isText := item.(string)
		list[i], ok = text, ok && isText
	}
	if !ok {
		d.wrong(unit(at), d.at(at), "", "%s has to be an array of strings", inTable(at))
		return false
	}
	to.Set(reflect.ValueOf(list))
	return true
}

// fillTable decodes a table into a struct or a map.
func (d *document) fillTable(to reflect.Value, table map[string]any, at place) bool {
	ok, isMap, known := true, to.Kind() == reflect.Map, []string(nil)
	if isMap {
		to.Set(reflect.MakeMap(to.Type()))
	} else {
		known = fields(to.Type())
	}
	for _, name := range d.names(at) {
		switch i := slices.Index(known, name); {
		case isMap:
			item := reflect.New(to.Type().Elem()).Elem()
			ok = d.fill(item, table[name], at.Key(name)) && ok
			to.SetMapIndex(reflect.ValueOf(name), item)
		case i >= 0:
			ok = d.fill(to.Field(i), table[name], at.Key(name)) && ok
		case at[0] != "stores":
			d.unknown(at.Key(name), slices.Sorted(slices.Values(known)))
			ok = false
		}
	}
	return ok
}

// fields returns the keys of the fields of a struct. Fields without a key come after all others.
func fields(t reflect.Type) (names []string) {
	for i := range t.NumField() {
		if name := t.Field(i).Tag.Get("toml"); name != "-" {
			names = append(names, name)
		}
	}
	return names
}

// wrongType reports a value that has another type than wanted. It returns false.
func (d *document) wrongType(at place, want string, value any) bool {
	is := map[string]string{
		"string": "a string", "bool": "a boolean", "int64": "an integer", "float64": "a float", "time.Time": "a datetime",
		"[]interface {}": "an array", "[]map[string]interface {}": "an array of tables", "map[string]interface {}": "a table",
	}[fmt.Sprintf("%T", value)]
	d.wrong(unit(at), d.at(at), "", "%s has to be %s, not %s", inTable(at), want, is)
	return false
}

// paths returns the absolute paths that are written at a place. It reports the others.
func (d *document) paths(written []string, at ...any) []string {
	var all []string
	for i, w := range written {
		path, ok := Expand(w, d.config.Home)
		if !ok || strings.ContainsRune(w, 0) {
			d.wrong(unit(at), d.at(place(at).Elem(i)), "write a path that begins with / or ~/",
				"%s in %s of [%s] is not an absolute path", text.Quote(w), dotted(at[1:]), at[0])
			continue
		}
		all = append(all, path)
	}
	return all
}

// unit returns the name of the table around a place that is used as a whole or not at all.
func unit(at place) []string {
	depth := map[any]int{"kb": 3, "model": 2, "mcp": 2}[at[0]]
	return []string{dotted(at[:min(max(depth, 1), len(at))])}
}

// inTable returns the name of a key and the header of its table, for messages.
func inTable(key place) string {
	last := len(key) - 1
	name := text.Quote(fmt.Sprint(key[last]))
	if last > 0 {
		name += " in [" + text.Line(text.Cut(dotted(key[:last]), 90)) + "]"
	}
	return name
}
