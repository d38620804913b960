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

// maxFile is the greatest length of a file in bytes: the time to find a column grows with the length of the line.
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
	top    values              // of the table around all others
	keys   map[string][]string // of each table, in the order of the file, see [File.keysOf]
}

// values are the values of a table, by their keys.
type values = map[string]toml.Primitive

// place is the path of a value in a file.
type place = tomlpos.Path

// dotted returns a path as [Problem.Tables] has it.
func dotted(keyPath place) string {
	var names []string
	for _, step := range keyPath {
		names = append(names, fmt.Sprint(step))
	}
	return strings.Join(names, ".")
}

// load parses the file at path and returns true if the file can be used. src and readErr are from reading the file. If
// the file exists but cannot be used, load adds a problem, which disables all tables that the file may have.
func (f *File) load(path string, src []byte, readErr error) bool {
	if errors.Is(readErr, fs.ErrNotExist) || errors.Is(readErr, syscall.ENOTDIR) {
		if _, err := os.Lstat(path); err != nil {
			return false // there is no file, and no link either
		}
		readErr = errors.New("it is a link to a file that does not exist") // a problem: the file may name conversations to exclude
	}
	problem := Problem{diag.Diagnostic{File: f.Name}, []string{everything}}
	if f.Name == topicsFile {
		problem.Tables = []string{"kb"} // the file has no other table
	}
	if pathError, ok := errors.AsType[*fs.PathError](readErr); ok {
		readErr = pathError.Err // without the path
	}
	if readErr != nil {
		problem.Message = "the file cannot be read: " + text.Cell(readErr.Error())
	} else {
		problem.Span, problem.Message = f.parse(strings.TrimPrefix(string(src), "\ufeff"))
	}
	if problem.Message == "" {
		return true
	}
	f.config.Add(problem)
	return false
}

// parse sets the index, the values and the keys of f from src. It returns why src is not valid and where, or "".
func (f *File) parse(src string) (span diag.Span, problem string) {
	f.index = tomlpos.Scan([]byte(src))
	if span, isDeep := f.index.Deep(); isDeep {
		return span, "this is nested too deeply"
	}
	var err error
	if f.meta, err = toml.Decode(src, &f.top); err != nil {
		parse, _ := errors.AsType[toml.ParseError](err)
		message := cmp.Or(strings.TrimSuffix(parse.Message, "."), err.Error())
		start := min(max(parse.Position.Start, 0), len(src))
		offset := len(strings.ToValidUTF8(src[:start], "")) // start may be inside a character: its first bytes do not count
		return diag.NewSource([]byte(src)).Span(offset, offset), text.Cut(text.Cell(message), 300)
	}
	f.keys = map[string][]string{} // by the path of the table, in quotes because names may have dots
	for _, key := range f.meta.Keys() {
		for i, name := range key { // of a.b.c: a is a key of the outermost table, b of the table a, c of the table a.b
			table := fmt.Sprintf("%q", []string(key[:i]))
			if !slices.Contains(f.keys[table], name) {
				f.keys[table] = append(f.keys[table], name)
			}
		}
	}
	return diag.Span{}, ""
}

// keysOf returns the keys of a table, in the order of the file.
func (f *File) keysOf(keyPath place) []string { return f.keys[fmt.Sprintf("%q", []any(keyPath))] }

// position returns the position of a key or of an element of an array, or else the nearest known position around it.
func (f *File) position(keyPath place) diag.Diagnostic {
	span, ok := f.index.Key(keyPath)
	if !ok {
		span = f.index.Lookup(keyPath)
	}
	return diag.Diagnostic{File: f.Name, Span: span}
}

// table returns the table at a place, and its keys in the order of the file. outer has the values of the enclosing
// table. The results are nil if there is no value at the place, or if the value is not a table, which is a problem.
func (f *File) table(outer values, keyPath ...any) (table values, keys []string) {
	value, ok := outer[keyPath[len(keyPath)-1].(string)]
	if !ok || !f.decodeValue(value, &table, keyPath) {
		return nil, nil
	}
	return table, f.keysOf(keyPath)
}

// decodeTable decodes the table at the path keyPath into the struct that result points to: each key into the field with
// the key in its tag toml. outer has the values of the enclosing table. A key without a field is a problem, except in
// the table [stores]: there the key is a kind of store, and its value is put into Stores.Kinds.
func (f *File) decodeTable(result any, outer values, keyPath ...any) {
	fields := map[string]reflect.Value{}
	for field, value := range reflect.ValueOf(result).Elem().Fields() {
		if key := field.Tag.Get("toml"); key != "" {
			fields[key] = value
		}
	}
	table, names := f.table(outer, keyPath...)
	for _, name := range names {
		key := place(keyPath).Key(name)
		field, known := fields[name]
		switch {
		case known:
			f.decodeValue(table[name], field.Addr().Interface(), key)
		case keyPath[0] == "stores":
			isRead := false
			f.decodeValue(table[name], &isRead, key)
			f.config.Stores.Kinds[name] = isRead
		default:
			f.addUnknownKey(key, slices.Sorted(maps.Keys(fields)))
		}
	}
}

// decodeValue decodes the value at the path keyPath into the variable that result points to. If the types of value and
// variable differ, that is a problem, the variable becomes zero, and decodeValue returns false.
func (f *File) decodeValue(value toml.Primitive, result any, keyPath place) bool {
	err := f.meta.PrimitiveDecode(value, result)
	variable := reflect.ValueOf(result).Elem()
	// The decoder has no error for a map that is no table, which is nil then, nor for a duration that is a number.
	isNilMap := variable.Kind() == reflect.Map && variable.IsNil()
	isNumber := variable.Type() == reflect.TypeFor[time.Duration]() && f.meta.PrimitiveDecode(value, new(string)) != nil
	if err == nil && !isNilMap && !isNumber {
		return true
	}
	variable.SetZero() // it may have a part of the value
	expected := map[string]string{
		"string": "a string", "bool": "a boolean", "int": "an integer", "int64": "an integer",
		"[]string": "an array of strings", "map[string]string": "a table of strings",
		"map[string][]string": "a table of arrays of strings", "time.Duration": `a duration, as "30s"`,
	}[variable.Type().String()]
	f.addProblem(keyPath, "", "%s has to be %s", inTable(keyPath), cmp.Or(expected, "a table"))
	return false
}

// absolutePaths returns the absolute paths in a list at keyPath, with ~/ expanded. Other elements are problems.
func (f *File) absolutePaths(list []string, keyPath ...any) []string {
	var paths []string
	for i, written := range list {
		path, isAbsolute := Expand(written, f.config.Home)
		if !isAbsolute || strings.ContainsRune(written, 0) {
			f.addProblem(place(keyPath).Elem(i), "write a path that begins with / or ~/",
				"%s in %s of [%s] is not an absolute path", text.Quote(written), dotted(keyPath[1:]), keyPath[0])
			continue
		}
		paths = append(paths, path)
	}
	return paths
}

// disabledTables returns a list with the one table that a problem at a place disables: the smallest table around the
// place that is used as a whole or not at all, such as kb.topic.notes.
func disabledTables(keyPath place) []string {
	// The length of the table's path: [kb.topic.ID], [model.NAME] and [mcp.NAME] are used one by one, others as a whole.
	steps := cmp.Or(map[any]int{"kb": 3, "model": 2, "mcp": 2}[keyPath[0]], 1)
	return []string{dotted(keyPath[:min(steps, len(keyPath))])}
}

// inTable returns the name of a key for messages: `"a" in [b.c]`, or `"a"` for a key outside of all tables.
func inTable(key place) string {
	last := len(key) - 1
	name := text.Quote(fmt.Sprint(key[last]))
	if last > 0 {
		name += " in [" + text.Line(text.Cut(dotted(key[:last]), 90)) + "]"
	}
	return name
}
