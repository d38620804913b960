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
	top    map[string]any
	index  *tomlpos.Index
	below  map[string][]string // the keys of a table, by its path, in the order of the file
}

// place leads to a value in a document: names of keys, and indexes of elements.
type place []any

func (p place) add(step any) place { return append(slices.Clip(p), step) }

// String is what a table is called in messages, and by [Problem.Tables].
func (p place) String() string {
	var names []string
	for _, step := range p {
		names = append(names, fmt.Sprint(step))
	}
	return strings.Join(names, ".")
}

// read reads the user's file, which the user may have linked to anywhere.
func read(path string) ([]byte, error) {
	if _, err := os.Lstat(path); err != nil {
		return nil, err
	}
	src, err := safefile.Read(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("it is a link to a file that does not exist")
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
		return nil, errors.New("it is a link to a file that does not exist")
	case err != nil && info.Mode()&fs.ModeSymlink != 0 && !errors.Is(err, safefile.ErrNotRegular):
		return nil, errors.New("it is a link that cannot be followed inside its directory")
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
	d := &document{config: c, name: name, from: from, below: map[string][]string{}}
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
	if at, problem := d.decode(strings.TrimPrefix(string(src), "\ufeff")); problem != "" {
		d.wrong(all, Position{name, at}, "", "%s", problem)
		return nil
	}
	return d
}

// decode decodes a text, or says what keeps it from being decoded and where.
func (d *document) decode(src string) (at diag.Span, problem string) {
	place := func(offset int) diag.Span { return diag.NewSource([]byte(src)).Span(offset, offset) }
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
	meta, err := toml.Decode(src, &d.top)
	var parse toml.ParseError
	switch {
	case errors.As(err, &parse):
		at := parse.Position.Start
		for at > 0 && at < len(src) && !utf8.RuneStart(src[at]) {
			at-- // The decoder may mean the middle of a character.
		}
		return place(at), text.Cut(text.Cell(strings.TrimSuffix(parse.Message, ".")), 300)
	case err != nil:
		return diag.Span{}, text.Quote(err.Error())
	}
	seen := map[string]bool{}
	for _, key := range meta.Keys() {
		for i := range key {
			if name := pathOf([]string(key[:i+1])); !seen[name] {
				seen[name] = true
				around := pathOf([]string(key[:i]))
				d.below[around] = append(d.below[around], key[i])
			}
		}
	}
	return diag.Span{}, ""
}

// pathOf is a path as the key of a map.
func pathOf(path any) string { return fmt.Sprintf("%q", path) }

// names returns the keys of a table, in the order of the file.
func (d *document) names(at place) []string { return d.below[pathOf([]any(at))] }

// at returns where a key, or an element of an array, stands; or else what is nearest around it.
func (d *document) at(at place) Position {
	for p := tomlpos.Path(at); len(p) > 0; p = p[:len(p)-1] {
		span, ok := d.index.Key(p)
		if _, elem := p[len(p)-1].(int); elem && !ok {
			span, ok = d.index.Value(p)
		}
		if ok {
			return Position{d.name, span}
		}
	}
	return Position{File: d.name}
}

// get returns what is at a place, and reports what is no table around it.
func (d *document) get(at ...any) (value any, ok bool) {
	value = d.top
	for i, step := range at {
		table, ok := d.table(value, at[:i])
		if !ok {
			return nil, false
		}
		if value, ok = table[step.(string)]; !ok {
			return nil, false
		}
	}
	return value, true
}

// tables returns the names of what is in the table at a place.
func (d *document) tables(at ...any) []string {
	if value, ok := d.get(at...); ok {
		if _, ok = d.table(value, at); ok {
			return d.names(at)
		}
	}
	return nil
}

// table returns a value as a table, and reports what is none.
func (d *document) table(value any, at place) (map[string]any, bool) {
	table, ok := value.(map[string]any)
	if !ok {
		d.wrongType(at, "a table", value)
	}
	return table, ok
}

// take decodes what is at a place, and reports whether there is anything and it is as it should be. Of a struct, keys
// without a field are wrong; those of [stores] are left to who knows the kinds of stores.
func (d *document) take(to any, at ...any) bool {
	if len(d.config.Problems) > maxProblems {
		return false
	}
	value, ok := d.get(at...)
	return ok && d.fill(reflect.ValueOf(to).Elem(), value, at)
}

// fill decodes a value, of the kinds that tables here have.
func (d *document) fill(to reflect.Value, value any, at place) bool {
	switch to.Interface().(type) {
	case string, bool:
		if is := reflect.ValueOf(value); is.Kind() == to.Kind() {
			to.Set(is)
			return true
		}
		return d.wrongType(at, map[reflect.Kind]string{reflect.String: "a string", reflect.Bool: "a boolean"}[to.Kind()], value)
	case int, int64:
		n, ok := value.(int64)
		to.SetInt(n)
		return ok || d.wrongType(at, "an integer", value)
	case time.Duration:
		written, _ := value.(string)
		n, err := time.ParseDuration(written)
		to.SetInt(int64(n))
		return err == nil || d.wrongType(at, `a duration, as "30s"`, value)
	case []string:
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
	table, ok := d.table(value, at)
	switch {
	case !ok:
		return false
	case to.Kind() == reflect.Struct:
		return d.fillStruct(to, table, at)
	case to.Type().Elem().Kind() == reflect.Interface:
		to.Set(reflect.ValueOf(table))
		return true
	}
	to.Set(reflect.MakeMap(to.Type()))
	for _, name := range d.names(at) {
		item := reflect.New(to.Type().Elem()).Elem()
		ok = d.fill(item, table[name], at.add(name)) && ok
		to.SetMapIndex(reflect.ValueOf(name), item)
	}
	return ok
}

func (d *document) fillStruct(to reflect.Value, table map[string]any, at place) bool {
	fields := fields(to.Type())
	whole := true
	for _, name := range d.names(at) {
		if i := slices.Index(fields, name); i >= 0 {
			whole = d.fill(to.Field(i), table[name], at.add(name)) && whole
		} else if at[0] != "stores" {
			d.unknown(at.add(name), slices.Sorted(slices.Values(fields)))
			whole = false
		}
	}
	return whole
}

// fields returns the keys of the fields of a struct; all of them, or those at the beginning, have one.
func fields(t reflect.Type) (names []string) {
	for i := range t.NumField() {
		if name := t.Field(i).Tag.Get("toml"); name != "-" {
			names = append(names, name)
		}
	}
	return names
}

// wrongType reports a value of another type than wanted.
func (d *document) wrongType(at place, want string, value any) bool {
	is := map[string]string{
		"string": "a string", "bool": "a boolean", "int64": "an integer", "float64": "a float", "time.Time": "a datetime",
		"[]interface {}": "an array", "[]map[string]interface {}": "an array of tables", "map[string]interface {}": "a table",
	}[fmt.Sprintf("%T", value)]
	d.wrong(unit(at), d.at(at), "", "%s has to be %s, not %s", inTable(at), want, is)
	return false
}

// unit returns the name of what is used as a whole or not at all, and has what is at a place.
func unit(at place) []string {
	depth := 1
	switch at[0] {
	case "kb":
		depth = 3
	case "model", "mcp":
		depth = 2
	}
	return []string{at[:min(depth, len(at))].String()}
}

// inTable names a key, and the table that it is in.
func inTable(key place) string {
	last := len(key) - 1
	name := text.Quote(fmt.Sprint(key[last]))
	if last > 0 {
		name += " in " + header(key[:last])
	}
	return name
}

// header is the header of a table, for messages.
func header(at place) string {
	return "[" + text.Line(text.Cut(at.String(), 90)) + "]"
}

// paths returns absolute paths for those that are written at a place, and reports what is none.
func (d *document) paths(written []string, at ...any) []string {
	var all []string
	for i, w := range written {
		path, ok := Expand(w, d.config.Home)
		if !ok || strings.ContainsRune(w, 0) {
			d.wrong(unit(at), d.at(place(at).add(i)), "write a path that begins with / or ~/",
				"%s in %s of [%s] is not an absolute path", text.Quote(w), place(at[1:]), at[0])
			continue
		}
		all = append(all, path)
	}
	return all
}
