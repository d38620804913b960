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

// Problem is an error in a configuration file. A file is named relative to the root, with slashes, and the user's file as in
// [UserFile].
type Problem struct {
	diag.Diagnostic
	// Tables are the names of the tables that cannot be used because of it, such as stores or kb.topic.notes. The
	// tables in them cannot be used either. A problem without tables is a warning about a key that nothing reads.
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
	return slices.ContainsFunc(p.Tables, func(t string) bool {
		return t == everything || t == table || strings.HasPrefix(table, t+".")
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

// Sentences returns the first eight problems, a sentence each, and the number of the others: a file may have any number.
func Sentences(problems []Problem) []string {
	var all []string
	for i, p := range problems {
		if i == 8 {
			return append(all, fmt.Sprintf("%d more like these", len(problems)-i))
		}
		all = append(all, p.Error())
	}
	return all
}

// Wrong returns an [*Error] with the problems that disable a table, or nil.
func (c *Config) Wrong(table string) error {
	if problems := c.problems(func(p Problem) bool { return p.Disables(table) }); len(problems) > 0 {
		return &Error{problems}
	}
	return nil
}

// Unread returns the problems that disable nothing.
func (c *Config) Unread() []Problem {
	return c.problems(func(p Problem) bool { return p.Tables == nil })
}

func (c *Config) problems(which func(Problem) bool) []Problem {
	return slices.DeleteFunc(slices.Clone(c.Problems), func(p Problem) bool { return !which(p) })
}

// Rule is the id of the findings of this package.
const Rule = "KC001"

// Add adds a problem that a reader of the configuration has found.
func (c *Config) Add(p Problem) {
	if p.Tables == nil {
		p.Severity = diag.Warning
	}
	c.Problems = append(c.Problems, p)
}

// Judge adds a problem with a value in the user's file. It does nothing if there is no such file.
func (c *Config) Judge(problem, hint string, at ...string) {
	if c.user != nil {
		var here place
		for _, name := range at {
			here = here.Key(name)
		}
		c.user.wrong(here, hint, "%s", problem)
	}
}

// wrong adds a problem with the value at a place, which disables the table around it.
func (d *document) wrong(at place, hint, format string, args ...any) {
	d.add(unit(at), d.at(at), hint, fmt.Sprintf(format, args...))
}

// add adds a problem that disables tables; a problem without tables is a warning.
func (d *document) add(tables []string, at diag.Diagnostic, hint, message string) {
	at.Rule, at.Hint, at.Message = Rule, hint, message
	d.config.Add(Problem{at, tables})
}

// JudgeTable adds that a table cannot be used, unless it has a problem already or the sentence about it is empty.
func (c *Config) JudgeTable(from *Source, table, sentence string) {
	if sentence != "" && c.Wrong(table) == nil {
		c.Add(Problem{diag.Diagnostic{File: from.Name, Rule: Rule, Message: "[" + table + "] " + sentence}, []string{table}})
	}
}

// checkTables removes and reports the keys at the top of a file that are not tables which that file can have.
func (d *document) checkTables() {
	names := []string{"kb", "mcp", "model", "session"}
	switch {
	case d.name == topicsFile:
		names = names[:1]
	case d.from.Root == "":
		names = append(names, "index", "recall", "stores", "trust")
	}
	for _, key := range d.keysOf(nil) {
		if !slices.Contains(names, key) {
			d.unknown(place{key}, names)
			delete(d.top, key)
		}
	}
}

// unknown reports a key that nothing reads, with the name that was probably meant. It disables the table that it is in or
// that was meant, and reading conversations if it may exclude some of them.
func (d *document) unknown(key place, known []string) {
	var tables []string
	name := key[len(key)-1].(string)
	hint, meant := "known here: "+strings.Join(known, ", "), near.Name(name, known)
	switch {
	case len(key) > 1:
		tables = unit(key[:len(key)-1])
		if meant != "" {
			hint = "did you mean " + text.Quote(meant) + "?"
		}
	case name == "topic":
		hint, tables = "topics stand under [kb.topic.<id>]", []string{"kb"}
	case meant != "":
		hint = "did you mean [" + meant + "]?"
		if meant != "model" && meant != "mcp" { // other models and servers can be used
			tables = []string{meant}
		}
	}
	owner := cmp.Or(d.config.UserFile, "the user's own configuration")
	switch excludes := d.mayExclude(key); {
	case excludes && d.from.Root != "":
		hint = "what is read of stores of conversations is for the user to say, in " + owner + "; a file called .convtools-exclude excludes this project"
		tables = append(tables, "stores")
	case excludes && !slices.Contains(tables, "stores"):
		hint, tables = "write it below [stores]", append(tables, "stores")
	case d.from.Root != "" && near.Name(name, []string{"trust"}) != "":
		hint = "whom to trust is for the user to say, in " + owner
	}
	d.add(tables, d.at(key), hint, "unknown key "+inTable(key))
}

// mayExclude reports whether an unknown key, or a key below it, may be meant to keep conversations from being read. A list
// or false at the top of a file can have no other meaning.
func (d *document) mayExclude(key place) bool {
	name := key[len(key)-1].(string)
	if near.Name(name, []string{"stores", "exclude", "off"}) != "" || strings.HasPrefix(strings.ToLower(name), "exclu") {
		return true
	}
	if len(key) == 1 {
		var value any
		_ = d.meta.PrimitiveDecode(d.top[name], &value) // any value is one
		if _, isList := value.([]any); isList || value == false {
			return true
		}
	}
	return slices.ContainsFunc(d.keysOf(key), func(below string) bool { return d.mayExclude(key.Key(below)) })
}
