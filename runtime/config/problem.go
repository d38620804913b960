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

// Problem is an error in a configuration file.
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
	message := Position{p.File, p.Span}.String() + ": " + p.Message
	if p.Hint != "" {
		message += "; " + p.Hint
	}
	return message
}

// Disables reports whether a table cannot be used because of the problem.
func (p Problem) Disables(table string) bool {
	return slices.ContainsFunc(p.Tables, func(t string) bool {
		return t == everything || t == table || strings.HasPrefix(table, t+".")
	})
}

// Position is a place in a file, or the file as a whole if Line is 0.
type Position struct {
	// File is relative to the root, with slashes. The name of the user's file begins with "~/" if it is in the home
	// directory, and is absolute otherwise. File is empty for a problem that is in no file.
	File string
	diag.Span
}

// String returns the position in one line, as compilers write it.
func (p Position) String() string {
	return text.Cell(diag.Diagnostic{File: p.File, Span: p.Span}.Place())
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
	const most = 8
	var all []string
	for i, p := range problems {
		if i == most {
			return append(all, fmt.Sprintf("%d more like these", len(problems)-most))
		}
		all = append(all, p.Error())
	}
	return all
}

// Wrong returns an [*Error] with the problems that disable a table, or nil.
func (c *Config) Wrong(table string) error {
	problems := c.without(func(p Problem) bool { return !p.Disables(table) })
	if len(problems) == 0 {
		return nil
	}
	return &Error{problems}
}

// Unread returns the problems that disable nothing.
func (c *Config) Unread() []Problem {
	return c.without(func(p Problem) bool { return p.Tables != nil })
}

func (c *Config) without(other func(Problem) bool) []Problem {
	return slices.DeleteFunc(slices.Clone(c.Problems), other)
}

// maxProblems is the number of problems that are kept. Its threat is a hostile file that fills the memory with errors.
const maxProblems = 100

// Rule is the id of the findings of this package.
const Rule = "KC001"

// Add adds a problem that a reader of the configuration has found.
func (c *Config) Add(p Problem) {
	switch n := len(c.Problems); {
	case n > maxProblems:
		return
	case n == maxProblems:
		p.Tables, p.Message, p.Hint, p.Rule = []string{everything}, "there are more problems than are read", "correct the others first", Rule
	}
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
		c.user.wrong(unit(here), c.user.at(here), hint, "%s", problem)
	}
}

// wrong adds a problem that disables tables; a problem without tables is a warning.
func (d *document) wrong(tables []string, at Position, hint, format string, args ...any) {
	d.config.Add(Problem{diag.Diagnostic{File: at.File, Span: at.Span, Rule: Rule, Message: fmt.Sprintf(format, args...), Hint: hint}, tables})
}

// checkTables reports the keys at the top of a file that are not tables which that file can have.
func (d *document) checkTables(names ...string) {
	if d.from.Root == "" {
		names = append(names, "index", "recall", "stores", "trust")
	}
	for _, key := range d.names(nil) {
		if !slices.Contains(names, key) {
			d.unknown(place{key}, names)
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
	d.wrong(tables, d.at(key), hint, "unknown key %s", inTable(key))
}

// mayExclude reports whether an unknown key, or a key below it, may be meant to keep conversations from being read. A list
// or false at the top of a file can have no other meaning.
func (d *document) mayExclude(key place) bool {
	name := key[len(key)-1].(string)
	if near.Name(name, []string{"stores", "exclude", "off"}) != "" || strings.HasPrefix(strings.ToLower(name), "exclu") {
		return true
	}
	if _, isList := d.top[name].([]any); len(key) == 1 && (isList || d.top[name] == false) {
		return true
	}
	return slices.ContainsFunc(d.names(key), func(below string) bool { return d.mayExclude(key.Key(below)) })
}
