// Package settings reads what the user says about stores of conversations: the tables
// [stores], [index] and [recall] of the user's own configuration file. No other file says anything: a
// project does not choose what is read on its user's machine.
//
// It only reads. What may restrict, and it cannot make sense of, is an error, wherever it
// stands in the file: conversations that the user may have excluded are better not looked
// up. That goes for the file of a project too: whoever wrote it meant to exclude something.
package settings

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/bmatcuk/doublestar/v4"

	"github.com/convtools/convtools/runtime/base/near"
	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/base/workspace"
	"github.com/convtools/convtools/runtime/trust"
)

// Table is the name of the table that the settings stand in, IndexTable of the one on indexes,
// and RecallTable of the one on how questions are answered.
const (
	Table       = "stores"
	IndexTable  = "index"
	RecallTable = "recall"
)

// maxFile is the size in bytes of the largest configuration file that is read.
const maxFile = 1 << 20

// Settings is what the user says about stores.
type Settings struct {
	// File is what the file is called in messages; empty where there is none.
	File string
	// Off are the kinds of stores that are not read, and On those that the user asks for
	// by name.
	Off, On []string
	// Exclude are the absolute paths of directories of which, and of all below which, no
	// conversations are read. Some are patterns too: those of Patterns, which are as package
	// doublestar has them, with slashes.
	Exclude, Patterns []string
	// Directories are, by kind of store, the absolute paths of directories in which
	// conversations are looked for too, each as the one that the program itself uses; of JP
	// they are workspaces.
	Directories map[string][]string
	// NoIndex is set where no index is kept, and none used.
	NoIndex bool
	// Language is that of the stems of words; empty where none is named.
	Language string
	// Warnings are about what the file says and nothing reads, a sentence each. Nothing of
	// it restricts.
	Warnings []string
}

// Missing returns those of Exclude that are not there; of a pattern, the directory that it
// begins with.
func (s *Settings) Missing() []string {
	var missing []string
	for _, dir := range s.Exclude {
		_, err := os.Stat(dir)
		if err != nil && strings.ContainsAny(dir, metaCharacters) {
			base, _ := doublestar.SplitPattern(filepath.ToSlash(dir))
			_, err = os.Stat(filepath.FromSlash(base + "/"))
		}
		if errors.Is(err, fs.ErrNotExist) {
			missing = append(missing, dir)
		}
	}
	return missing
}

// metaCharacters are those that make a pattern of a path.
const metaCharacters = "*?[{"

// Error is the error for settings that cannot be used.
type Error struct {
	File     string // what the file is called in messages
	Table    string // that the problems are of; empty for [Table]
	Project  bool   // the file is the project's, in which no settings belong
	Problems []string
	Err      error // where the file cannot be read or is no TOML; else nil
}

func (e *Error) Error() string {
	what := strings.Join(few(e.Problems), "; ")
	if e.Err != nil {
		what = e.Err.Error()
	}
	if e.Project {
		return fmt.Sprintf("%s of this project: %s", e.File, what)
	}
	return fmt.Sprintf("reading [%s] of %s: %s", cmp.Or(e.Table, Table), e.File, what)
}

func (e *Error) Unwrap() error { return e.Err }

// Read reads the settings. Without a file there are none. kinds are the names of all
// kinds of stores, and languages those of all languages. The error is an [*Error].
func Read(getenv func(string) string, kinds, languages []string) (Settings, error) {
	path, name, ok := trust.UserFile(getenv)
	if !ok {
		return Settings{}, nil
	}
	src, err := safefile.Read(path, maxFile)
	file, err := decode(path, src, err)
	if err != nil {
		return Settings{}, &Error{File: name, Err: err}
	}
	if file == nil {
		return Settings{}, nil
	}
	r := reader{home: trust.Home(getenv), kinds: kinds}
	_, problems := trust.Parse(file, r.home)
	r.problems = sentences(append(trust.Misplaced(file, kinds), problems...))
	s := r.settings(file)
	s.File, s.NoIndex = name, r.noIndex(file)
	if len(r.problems) > 0 {
		return Settings{}, &Error{File: name, Problems: r.problems}
	}
	if s.Language = r.language(file, languages); len(r.problems) > 0 {
		return Settings{}, &Error{File: name, Table: RecallTable, Problems: r.problems}
	}
	for _, warning := range few(append(r.warnings, sentences(trust.Unread(file, false))...)) {
		s.Warnings = append(s.Warnings, name+": "+warning)
	}
	return s, nil
}

// CheckProject looks whether the configuration file of the project that a directory is in has
// anything that may be meant to restrict what is read, which is an [*Error]. The warnings are as
// in [Settings].
func CheckProject(dir string, getenv func(string) string) (warnings []string, err error) {
	root, ok := workspace.Find(dir)
	if !ok {
		return nil, nil
	}
	src, err := readIn(root)
	file, err := decode(filepath.Join(root, workspace.ConfigFile), src, err)
	if err != nil {
		return nil, &Error{File: workspace.ConfigFile, Project: true, Err: err}
	}
	if problems := trust.MisplacedInProject(file, getenv); len(problems) > 0 {
		return nil, &Error{File: workspace.ConfigFile, Project: true, Problems: sentences(problems)}
	}
	for _, warning := range few(sentences(trust.Unread(file, true))) {
		warnings = append(warnings, workspace.ConfigFile+": "+warning)
	}
	return warnings, nil
}

// readIn reads the configuration file of a project, through links inside of it alone.
func readIn(root string) ([]byte, error) {
	dir, err := safefile.OpenDir(root)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return safefile.ReadIn(dir, workspace.ConfigFile, maxFile)
}

// decode decodes the file at a path, unless err is why it cannot be read. It returns nil where
// there is no file.
func decode(path string, src []byte, err error) (file map[string]any, _ error) {
	if errors.Is(err, fs.ErrNotExist) {
		if _, missing := os.Lstat(path); missing != nil {
			return nil, nil
		}
		err = errDangling
	}
	if err != nil {
		return nil, err
	}
	file = map[string]any{}
	_, err = toml.Decode(strings.TrimPrefix(string(src), "\ufeff"), &file)
	return file, err
}

// few returns the first of some sentences about a file, which may be anybody's, and how many more there are.
func few(all []string) []string {
	const most = 8
	if len(all) <= most {
		return all
	}
	return append(slices.Clone(all[:most]), fmt.Sprintf("%d more like these", len(all)-most))
}

// sentences are what is wrong, and how to put it right.
func sentences(problems []trust.Problem) []string {
	var all []string
	for i := range problems {
		all = append(all, problems[i].Error())
	}
	return all
}

var errDangling = errors.New("it is a link to a file that does not exist")

// reader reads a decoded file.
type reader struct {
	home     string
	kinds    []string
	problems []string
	warnings []string
}

func (r *reader) wrong(format string, args ...any) {
	r.problems = append(r.problems, fmt.Sprintf(format, args...))
}

// table returns a table and its keys, sorted.
func (r *reader) table(in map[string]any, key, want string) (table map[string]any, keys []string) {
	value, ok := in[key]
	table, isTable := value.(map[string]any)
	if ok && !isTable {
		r.wrong("%s must be a table%s", key, want)
	}
	return table, slices.Sorted(maps.Keys(table))
}

// flag returns a value that is true or false.
func (r *reader) flag(name string, value any) bool {
	on, ok := value.(bool)
	if !ok {
		r.wrong("%s must be true or false", name)
	}
	return on
}

// meant is a hint at what may be meant with a name that is none of those that are known.
func meant(name string, known []string) string {
	if near := near.Name(name, known); near != "" {
		return "did you mean " + text.Quote(near) + "?"
	}
	return "known here: " + strings.Join(known, ", ")
}

func (r *reader) settings(file map[string]any) Settings {
	var s Settings
	table, keys := r.table(file, Table, "")
	for _, key := range keys {
		switch value := table[key]; {
		case key == "off":
			off := r.texts(key, value)
			for _, kind := range off {
				r.kind(key, kind)
			}
			s.Off = append(s.Off, off...)
		case key == "exclude":
			s.Exclude, s.Patterns = r.paths(key, value), r.patterns(key, value)
		case key == "directories":
			s.Directories = r.directories(table)
		case !slices.Contains(r.kinds, key):
			r.wrong("unknown key %s; %s", text.Quote(key), meant(key, append([]string{"directories", "exclude", "off"}, r.kinds...)))
		case r.flag(key, value):
			s.On = append(s.On, key)
		default:
			s.Off = append(s.Off, key)
		}
	}
	for _, kind := range s.On {
		if slices.Contains(s.Off, kind) {
			r.wrong("%s is true, and in off; remove one of them", kind)
		}
	}
	return s
}

// noIndex reads the table on indexes. Where it has a key that is not known, none is kept.
func (r *reader) noIndex(file map[string]any) (off bool) {
	table, keys := r.table(file, IndexTable, "")
	for _, key := range keys {
		if key == "off" {
			off = r.flag("off in "+IndexTable, table[key]) || off
			continue
		}
		off = true
		r.warnings = append(r.warnings, fmt.Sprintf("unknown key %s in [%s], so that no index is kept; known here: off", text.Quote(key), IndexTable))
	}
	return off
}

// language reads the table on how questions are answered.
func (r *reader) language(file map[string]any, languages []string) (name string) {
	table, keys := r.table(file, RecallTable, "")
	for _, key := range keys {
		if key != "language" {
			r.warnings = append(r.warnings, fmt.Sprintf("unknown key %s in [%s], which is not read; known here: language", text.Quote(key), RecallTable))
			continue
		}
		var isText bool
		known := "known here: " + strings.Join(languages, ", ")
		if name, isText = table[key].(string); !isText {
			r.wrong("language must be a string; %s", known)
		} else if !slices.Contains(languages, name) {
			if near.Name(name, languages) != "" {
				known = meant(name, languages) + " " + known
			}
			r.wrong("unknown language %s; %s", text.Quote(name), known)
		}
	}
	return name
}

func (r *reader) directories(stores map[string]any) map[string][]string {
	const key = "directories"
	found := map[string][]string{}
	table, kinds := r.table(stores, key, " of arrays, by kind of store")
	for _, kind := range kinds {
		r.kind(key, kind)
		found[kind] = r.paths(key+"."+kind, table[kind])
	}
	return found
}

// kind demands that a name is that of a kind of store.
func (r *reader) kind(key, name string) {
	if !slices.Contains(r.kinds, name) {
		r.wrong("unknown store %s in %s; %s", text.Quote(name), key, meant(name, r.kinds))
	}
}

func (r *reader) texts(key string, value any) []string {
	items, ok := value.([]any)
	texts := make([]string, len(items))
	for i, item := range items {
		var isText bool
		texts[i], isText = item.(string)
		ok = ok && isText
	}
	if !ok {
		r.wrong("%s must be an array of strings", key)
		return nil
	}
	return texts
}

func (r *reader) paths(key string, value any) []string {
	paths := r.texts(key, value)
	for i, path := range paths {
		expanded, ok := trust.Expand(path, r.home)
		if !ok || strings.ContainsRune(path, 0) {
			r.wrong("%s in %s is not an absolute path; write one that begins with / or ~/", text.Quote(path), key)
		}
		paths[i] = expanded
	}
	return paths
}

// patterns returns those of some paths that are patterns. Each is one of a path as well: a
// directory may be called [a].
func (r *reader) patterns(key string, value any) []string {
	var patterns []string
	items, _ := value.([]any) // what is wrong with it was said of the paths
	for _, item := range items {
		written, _ := item.(string)
		if !strings.ContainsAny(written, metaCharacters) {
			continue
		}
		pattern := filepath.ToSlash(written)
		if below, ok := strings.CutPrefix(written, "~/"); ok {
			pattern = trust.QuotePattern(r.home) + "/" + filepath.ToSlash(below)
		}
		switch {
		case slices.Contains(strings.Split(pattern, "/"), ".."):
			r.wrong("%s in %s has \"..\", which a pattern cannot have; write the path without it", text.Quote(written), key)
		case !doublestar.ValidatePattern(pattern):
			r.wrong(`%s in %s is no valid pattern: a [ or { is not closed, or it ends in \; write \[ for a bracket`, text.Quote(written), key)
		default:
			patterns = append(patterns, path.Clean(pattern))
		}
	}
	return patterns
}
