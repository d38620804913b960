package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/convtools/convtools/runtime/base/diag"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/base/tomlpos"
)

// maxFile is the greatest length of a file in bytes. Finding a column takes time in the length of a line.
const maxFile = 64 << 10

// File is a configuration file.
type File struct {
	Name    string // in messages
	Dir     string // the base of relative paths
	Root    string // of the project; empty for the user's file
	Trusted bool   // it is the user's own, or of a project that the user trusts

	config *Config
	meta   toml.MetaData
	index  *tomlpos.Index
	top    values
	keys   map[string][]string // of each table, in the order of the file, see [File.keysOf]
}

// values are the values of a table, by their keys.
type values = map[string]toml.Primitive

// place is the path of a value in a file.
type place = tomlpos.Path

// dotted returns a path as [Problem.Tables] has it.
func dotted(at place) string {
	var names []string
	for _, step := range at {
		names = append(names, fmt.Sprint(step))
	}
	return strings.Join(names, ".")
}

// decode decodes the content of the file at a path; err is the error of reading it. It returns false if there is no file,
// or if it cannot be used. The latter disables every table that the file may have.
func (f *File) decode(path string, src []byte, err error) bool {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		if _, gone := os.Lstat(path); gone != nil {
			return false
		}
		err = errors.New("it is a link to a file that does not exist") // its settings may exclude conversations
	}
	problem := Problem{diag.Diagnostic{File: f.Name}, []string{everything}}
	if f.Name == topicsFile {
		problem.Tables = []string{"kb"}
	}
	if pathError, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathError.Err
	}
	if err != nil {
		problem.Message = "the file cannot be read: " + text.Cell(err.Error())
	} else if problem.Span, problem.Message = f.parse(strings.TrimPrefix(string(src), "\ufeff")); problem.Message == "" {
		return true
	}
	f.config.Add(problem)
	return false
}

// parse parses a text. It returns why and where that fails; the problem is empty if it does not.
func (f *File) parse(src string) (at diag.Span, problem string) {
	f.index = tomlpos.Scan([]byte(src))
	if at, deep := f.index.Deep(); deep {
		return at, "this is nested too deeply"
	}
	var err error
	if f.meta, err = toml.Decode(src, &f.top); err != nil {
		parse, _ := errors.AsType[toml.ParseError](err)
		message := cmp.Or(strings.TrimSuffix(parse.Message, "."), err.Error())
		start := min(max(parse.Position.Start, 0), len(src))
		offset := len(strings.ToValidUTF8(src[:start], "")) // it may be in the middle of a character
		return diag.NewSource([]byte(src)).Span(offset, offset), text.Cut(text.Cell(message), 300)
	}
	f.keys = map[string][]string{}
	for _, key := range f.meta.Keys() {
		for i, name := range key {
			if table := fmt.Sprintf("%q", []string(key[:i])); !slices.Contains(f.keys[table], name) {
				f.keys[table] = append(f.keys[table], name)
			}
		}
	}
	return diag.Span{}, ""
}

// keysOf returns the keys of a table, in the order of the file.
func (f *File) keysOf(at place) []string { return f.keys[fmt.Sprintf("%q", []any(at))] }

// at returns the position of a key or of an element of an array. If that is not known, it returns the nearest known
// position around it.
func (f *File) at(at place) diag.Diagnostic {
	span, ok := f.index.Key(at)
	if !ok {
		span = f.index.Lookup(at)
	}
	return diag.Diagnostic{File: f.Name, Span: span}
}

// table returns the table at a place, and its keys in the order of the file. Both are nil if there is none among the values
// of the table around it. It reports a value there that is not a table.
func (f *File) table(around values, at ...any) (table values, keys []string) {
	value, ok := around[at[len(at)-1].(string)]
	if !ok || !f.value(value, &table, at) {
		return nil, nil
	}
	return table, f.keysOf(at)
}

// take decodes the table at a place, as [File.table] does, into the fields with tags of the struct that to points to. A key
// without a field is a problem, except in [stores]: there it is a kind of store.
func (f *File) take(to any, around values, at ...any) {
	fields := map[string]reflect.Value{}
	for field, value := range reflect.ValueOf(to).Elem().Fields() {
		if key := field.Tag.Get("toml"); key != "" {
			fields[key] = value
		}
	}
	table, given := f.table(around, at...)
	for _, name := range given {
		key := place(at).Key(name)
		field, known := fields[name]
		switch {
		case known:
			f.value(table[name], field.Addr().Interface(), key)
		case at[0] == "stores":
			on := false
			f.value(table[name], &on, key)
			f.config.Stores.Kinds[name] = on
		default:
			f.unknown(key, slices.Sorted(maps.Keys(fields)))
		}
	}
}

// value decodes a value into the variable that to points to. It reports whether the value has the type of the variable.
func (f *File) value(value toml.Primitive, to any, at place) bool {
	err := f.meta.PrimitiveDecode(value, to)
	result, ok := reflect.ValueOf(to).Elem(), err == nil
	switch {
	case result.Kind() == reflect.Map && result.IsNil():
		ok = false // for a value that is no table, the decoder has no error
	case result.Type() == reflect.TypeFor[time.Duration](): // the decoder takes an integer for nanoseconds
		ok = ok && f.meta.PrimitiveDecode(value, new(string)) == nil
	}
	if !ok {
		result.SetZero() // it may have a part of the value
		expected := map[string]string{
			"string": "a string", "bool": "a boolean", "int": "an integer", "int64": "an integer",
			"[]string": "an array of strings", "map[string]string": "a table of strings",
			"map[string][]string": "a table of arrays of strings", "time.Duration": `a duration, as "30s"`,
		}[result.Type().String()]
		f.wrong(at, "", "%s has to be %s", inTable(at), cmp.Or(expected, "a table"))
	}
	return ok
}

// paths returns the absolute paths among some paths of a list, with ~/ expanded. It reports a problem for each
// other path. at are the keys of the list.
func (f *File) paths(written []string, at ...any) []string {
	var all []string
	for i, w := range written {
		path, ok := Expand(w, f.config.Home)
		if !ok || strings.ContainsRune(w, 0) {
			f.wrong(place(at).Elem(i), "write a path that begins with / or ~/",
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
