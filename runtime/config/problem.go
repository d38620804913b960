package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/base/diag"
	"github.com/convtools/convtools/runtime/base/near"
	"github.com/convtools/convtools/runtime/base/text"
)

// Problem is an error in a configuration file. File is relative to the project's root, with slashes, or is the user's.
type Problem struct {
	diag.Diagnostic
	// Tables are the names of the tables that the problem disables, such as stores or kb.topic.notes. The tables inside
	// them are disabled too: they cannot be used. A problem without tables is a warning about a key that nothing reads.
	Tables []string
}

// everything is the name for all tables of a file that could not be read.
const everything = "*"

// Error returns the problem in one line, with its position and its hint.
func (p Problem) Error() string {
	return strings.TrimSuffix(text.Cell(p.Place())+": "+p.Message+"; "+p.Hint, "; ")
}

// Disables reports whether a table cannot be used because of the problem.
func (p Problem) Disables(table string) bool {
	return slices.ContainsFunc(p.Tables, func(disabled string) bool {
		return disabled == everything || disabled == table || strings.HasPrefix(table, disabled+".")
	})
}

// Error is the error for tables that cannot be used.
type Error struct{ Problems []Problem }

func (e *Error) Error() string { return strings.Join(Sentences(e.Problems), "; ") }

// Diagnostics returns the problems for a command that prints a line for each.
func (e *Error) Diagnostics() (list diag.List) {
	for _, p := range e.Problems {
		list = append(list, p.Diagnostic)
	}
	return list
}

// Sentences returns a sentence for each of the first eight problems, and one with the number of further problems.
func Sentences(problems []Problem) []string {
	const most = 8
	var sentences []string
	for _, p := range problems[:min(most, len(problems))] {
		sentences = append(sentences, p.Error())
	}
	if further := len(problems) - most; further > 0 {
		sentences = append(sentences, fmt.Sprintf("%d more like these", further))
	}
	return sentences
}

// Wrong returns an [*Error] with the problems that disable a table, or nil.
func (c *Config) Wrong(table string) error {
	disabling := slices.DeleteFunc(slices.Clone(c.Problems), func(p Problem) bool { return !p.Disables(table) })
	if len(disabling) == 0 {
		return nil
	}
	return &Error{disabling}
}

// Unread returns the problems that disable nothing.
func (c *Config) Unread() []Problem {
	return slices.DeleteFunc(slices.Clone(c.Problems), func(p Problem) bool { return p.Tables != nil })
}

// Rule is the id of the findings of this package.
const Rule = "KC001"

// Add adds a problem to Problems. Its rule is [Rule] if it has none. A problem without tables is a warning.
func (c *Config) Add(p Problem) {
	p.Rule = cmp.Or(p.Rule, Rule)
	if p.Tables == nil {
		p.Severity = diag.Warning
	}
	c.Problems = append(c.Problems, p)
}

// Judge adds a problem with the value at a place in the user's file.
func (c *Config) Judge(problem, hint string, keyPath ...any) {
	c.user.addProblem(keyPath, hint, "%s", problem)
}

// Judge adds a problem with the table t, [kind.NAME]. The sentence says what is wrong with t, such as "has no address".
// Judge does nothing if the sentence is empty, or if another problem disables t already.
func (t Table[T]) Judge(kind, sentence string) {
	table := kind + "." + t.Name
	if isUsable := t.File.config.Wrong(table) == nil; isUsable && sentence != "" {
		t.File.addProblem(place{kind, t.Name}, "", "[%s] %s", table, sentence)
	}
}

// addProblem adds a problem with the value at a place. The problem disables the table around the value.
func (f *File) addProblem(keyPath place, hint, format string, args ...any) {
	problem := f.position(keyPath)
	problem.Hint, problem.Message = hint, fmt.Sprintf(format, args...)
	f.config.Add(Problem{problem, disabledTables(keyPath)})
}

// addUnknownKey adds a problem with a key that nothing reads. known are the keys that the table with key may have. The
// problem disables the tables that the key was probably meant for, because they lack a setting now. The table stores is
// among them if the key may be meant to exclude conversations.
func (f *File) addUnknownKey(key place, known []string) {
	tables, hint := probableTables(key, known)
	isProjects := f.Root != "" // f is a file of the project, not the user's
	owner := cmp.Or(f.config.UserFile, "the user's own configuration")
	mayExclude := f.mayExclude(key)
	switch {
	case mayExclude && isProjects: // no file of a project may have [stores]
		hint = "what is read of stores of conversations is for the user to say, in " + owner + "; a file called .convtools-exclude excludes this project"
		tables = append(tables, "stores")
	case mayExclude && !slices.Contains(tables, "stores"): // the key is outside of [stores]
		hint, tables = "write it below [stores]", append(tables, "stores")
	case isProjects && near.Name(key[len(key)-1].(string), []string{"trust"}) != "": // a name like trust
		hint = "whom to trust is for the user to say, in " + owner
	}
	problem := f.position(key)
	problem.Hint, problem.Message = hint, "unknown key "+inTable(key)
	f.config.Add(Problem{problem, tables})
}

// probableTables returns the tables that an unknown key disables: the table that the key is in or, for a key outside of
// all tables, the table whose name the author probably meant. hint is advice about the key.
func probableTables(key place, known []string) (tables []string, hint string) {
	name := key[len(key)-1].(string)
	meant := near.Name(name, known)
	isInTable := len(key) > 1
	switch {
	case isInTable && meant != "":
		return disabledTables(key[:len(key)-1]), "did you mean " + text.Quote(meant) + "?"
	case isInTable:
		return disabledTables(key[:len(key)-1]), "known here: " + strings.Join(known, ", ")
	case name == "topic":
		return []string{"kb"}, "topics stand under [kb.topic.<id>]"
	case meant == "model" || meant == "mcp": // each [model.NAME] or [mcp.NAME] can be used without the others
		return nil, "did you mean [" + meant + "]?"
	case meant != "":
		return []string{meant}, "did you mean [" + meant + "]?"
	}
	return nil, "known here: " + strings.Join(known, ", ")
}

// mayExclude reports whether an unknown key, or a key below it, may be meant to exclude conversations from being read.
func (f *File) mayExclude(key place) bool {
	name := key[len(key)-1].(string)
	byName := near.Name(name, []string{"stores", "exclude", "off"}) != "" || strings.HasPrefix(strings.ToLower(name), "exclu")
	// All known keys outside of tables are tables: an array or a boolean there is probably meant for [stores].
	byType := len(key) == 1 && slices.Contains([]string{"Array", "Bool"}, f.meta.Type(name))
	return byName || byType || slices.ContainsFunc(f.keysOf(key), func(below string) bool { return f.mayExclude(key.Key(below)) })
}
