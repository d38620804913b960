package config

import (
	"cmp"
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
	meta   toml.MetaData
	index  *tomlpos.Index
	top    values
	keys   map[string][]string // of each table, in the order of the file, see [document.keysOf]
}

// values are the values of a table, by their keys.
type values = map[string]toml.Primitive

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

// readIn reads a file of a project. The file may not be a link out of its directory, and the directory may not be a
// link out of the project: the author of the project does not choose which files are read.
func readIn(root, name string, getenv func(string) string) ([]byte, error) {
	dir, err := OpenDir(root, path.Dir(name), getenv)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return safefile.ReadIn(dir, path.Base(name), maxFile)
}

// decode decodes the content of the file at a path; err is that of reading it. It returns nil if there is no file. A
// file that cannot be used disables every table that it may have, and decode returns nil too.
func (c *Config) decode(from *Source, name, path string, src []byte, err error) *document {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		if _, gone := os.Lstat(path); gone != nil {
			return nil
		}
		err = errors.New("it is a link to a file that does not exist") // its settings may exclude conversations
	}
	d := &document{config: c, name: name, from: from}
	tables, at := []string{everything}, diag.Diagnostic{File: name}
	if name == topicsFile {
		tables = []string{"kb"}
	}
	problem := ""
	if err == nil {
		at.Span, problem = d.parse(strings.TrimPrefix(string(src), "\ufeff"))
	} else {
		if pathError, ok := errors.AsType[*fs.PathError](err); ok {
			err = pathError.Err
		}
		problem = "the file cannot be read: " + text.Cell(err.Error())
	}
	if problem != "" {
		d.add(tables, at, "", problem)
		return nil
	}
	return d
}

// parse parses a text. It returns why and where that fails; the problem is empty if it does not.
func (d *document) parse(src string) (at diag.Span, problem string) {
	d.index = tomlpos.Scan([]byte(src))
	if at, deep := d.index.Deep(); deep {
		return at, "this is nested too deeply"
	}
	var err error
	d.meta, err = toml.Decode(src, &d.top)
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
	d.keys = map[string][]string{}
	for _, key := range d.meta.Keys() {
		for i, name := range key {
			if table := fmt.Sprintf("%q", []string(key[:i])); !slices.Contains(d.keys[table], name) {
				d.keys[table] = append(d.keys[table], name)
			}
		}
	}
	return diag.Span{}, ""
}

// keysOf returns the keys of a table, in the order of the file.
func (d *document) keysOf(at place) []string { return d.keys[fmt.Sprintf("%q", []any(at))] }

// at returns the position of a key or of an element of an array. If that is not known, it returns the nearest known position
// around it.
func (d *document) at(at place) diag.Diagnostic {
	for ; len(at) > 0; at = at[:len(at)-1] {
		span, ok := d.index.Key(at)
		if !ok {
			span, ok = d.index.Value(at) // an element of an array
		}
		if ok {
			return diag.Diagnostic{File: d.name, Span: span}
		}
	}
	return diag.Diagnostic{File: d.name}
}

// table returns the table at a place, and its keys in the order of the file. Both are nil if there is none among the values
// of the table around it. It reports a value there that is not a table.
func (d *document) table(around values, at ...any) (table values, keys []string) {
	value, ok := around[at[len(at)-1].(string)]
	if !ok || !d.value(value, &table, at) {
		return nil, nil
	}
	return table, d.keysOf(at)
}

// take decodes the table at a place, as [document.table] does, into the struct that to points to. It reports whether there
// is one and it is valid. A key without a field is a problem, except in [stores]: there it is a kind of store.
func (d *document) take(to any, around values, at ...any) bool {
	table, given := d.table(around, at...)
	fields, ok := reflect.ValueOf(to).Elem(), table != nil
	known := keys(fields.Type())
	for _, name := range given {
		i, key := slices.Index(known, name), place(at).Key(name)
		switch {
		case i >= 0:
			ok = d.value(table[name], fields.Field(i).Addr().Interface(), key) && ok
		case at[0] == "stores":
			on := false
			ok = d.value(table[name], &on, key) && ok
			d.config.Stores.Kinds[name] = on
		default:
			d.unknown(key, slices.Sorted(slices.Values(known)))
			ok = false
		}
	}
	return ok
}

// keys returns the keys of the fields of a struct. Fields without a key come after all others.
func keys(t reflect.Type) (keys []string) {
	for i := range t.NumField() {
		if key := t.Field(i).Tag.Get("toml"); key != "-" {
			keys = append(keys, key)
		}
	}
	return keys
}

// value decodes a value into the variable that to points to. It reports whether the value has the type of the variable.
func (d *document) value(value toml.Primitive, to any, at place) bool {
	err := d.meta.PrimitiveDecode(value, to)
	result, ok := reflect.ValueOf(to).Elem(), err == nil
	switch {
	case result.Kind() == reflect.Map && result.IsNil():
		ok = false // for a value that is no table, the decoder has no error
	case result.Type() == reflect.TypeFor[time.Duration](): // the decoder takes an integer for nanoseconds
		ok = ok && d.meta.PrimitiveDecode(value, new(string)) == nil
	}
	if !ok {
		result.SetZero() // it may have a part of the value
		want := map[string]string{
			"string": "a string", "bool": "a boolean", "int": "an integer", "int64": "an integer",
			"[]string": "an array of strings", "map[string]string": "a table of strings",
			"map[string][]string": "a table of arrays of strings", "time.Duration": `a duration, as "30s"`,
		}[result.Type().String()]
		d.wrong(at, "", "%s has to be %s", inTable(at), cmp.Or(want, "a table"))
	}
	return ok
}

// paths returns the absolute paths among some paths of a list, with ~/ expanded. It reports a problem for each
// other path. at are the keys of the list.
func (d *document) paths(written []string, at ...any) []string {
	var all []string
	for i, w := range written {
		path, ok := Expand(w, d.config.Home)
		if !ok || strings.ContainsRune(w, 0) {
			d.wrong(place(at).Elem(i), "write a path that begins with / or ~/",
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
