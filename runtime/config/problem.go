package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/base/diag"
	"github.com/convtools/convtools/runtime/base/near"
	"github.com/convtools/convtools/runtime/base/text"
)

// Problem is something that is wrong in a configuration file.
type Problem struct {
	diag.Diagnostic
	// Tables are the names of those that it disables, as stores or kb.topic.notes, with the tables in them. Without
	// any, it is about what nothing reads.
	Tables []string
}

// everything stands for all tables: the file as a whole could not be read.
const everything = "*"

// Error returns the problem in one line, with its place and what to do about it.
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

// Position is a place in a file, or the file as a whole when Line is 0.
type Position struct {
	// File is relative to the root, with slashes. The user's file begins with "~/"
	// when it is in the home directory and is absolute otherwise. It is empty for what no
	// file is to blame for.
	File string
	diag.Span
}

// String returns the position the way compilers write it, on one line.
func (p Position) String() string {
	return text.Cell(diag.Diagnostic{File: p.File, Span: p.Span}.Place())
}

// Error is the error for tables that cannot be used.
type Error struct{ Problems []Problem }

func (e *Error) Error() string { return strings.Join(Sentences(e.Problems), "; ") }

// Diagnostics returns every problem, for who writes a line for each.
func (e *Error) Diagnostics() (list diag.List) {
	for _, p := range e.Problems {
		list = append(list, p.Diagnostic)
	}
	return list
}

// Sentences returns the first of some problems, a sentence each, and how many more there are: a file may be anybody's.
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

// Wrong returns why a table cannot be used, or nil. The error is an [*Error].
func (c *Config) Wrong(table string) error {
	var e Error
	for _, p := range c.Problems {
		if p.Disables(table) {
			e.Problems = append(e.Problems, p)
		}
	}
	if e.Problems == nil {
		return nil
	}
	return &e
}

// Unread returns the problems with what nothing reads.
func (c *Config) Unread() []Problem {
	var all []Problem
	for _, p := range c.Problems {
		if p.Tables == nil {
			all = append(all, p)
		}
	}
	return all
}

// maxProblems is how many problems are told apart: a hostile file must not fill the memory with its errors.
const maxProblems = 100

// Rule is the id of the findings of this package.
const Rule = "KC001"

// Add adds what a reader finds wrong.
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

// Judge adds what a reader of the user's file finds wrong with a value there. Without a file there is nothing to judge.
func (c *Config) Judge(problem, hint string, at ...string) {
	if c.user != nil {
		var here place
		for _, name := range at {
			here = here.add(name)
		}
		c.user.wrong(unit(here), c.user.at(here), hint, "%s", problem)
	}
}

// wrong reports what disables tables; none of them make it a warning.
func (d *document) wrong(tables []string, at Position, hint, format string, args ...any) {
	d.config.Add(Problem{diag.Diagnostic{File: at.File, Span: at.Span, Rule: Rule, Message: fmt.Sprintf(format, args...), Hint: hint}, tables})
}

// known reports the keys at the top of a file that are none of some names, or of those that only the user's file has.
func (d *document) known(names ...string) {
	if d.from.Root == "" {
		names = append(names, "index", "recall", "stores", "trust")
	}
	for _, key := range d.names(nil) {
		if !slices.Contains(names, key) {
			d.unknown(place{key}, names)
		}
	}
}

// unknown reports a key that nothing reads. At the top, it disables a table that it is near to and that restricts: a
// limit or an exclusion may be meant.
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
		if meant != "model" && meant != "mcp" && meant != "trust" && meant != "recall" {
			tables = []string{meant}
		}
	case d.from.Root != "" && near.Name(name, []string{"trust"}) != "":
		hint = "whom to trust is the user's to say" + d.config.usersOwn(": it is read from ", " alone")
	}
	if restricts := d.restricts(key); restricts != "" {
		tables, hint = append(tables, "stores"), restricts
	}
	d.wrong(tables, d.at(key), hint, "unknown key %s", inTable(key))
}

// usersOwn names the user's file between two texts, or says whose it is.
func (c *Config) usersOwn(before, after string) string {
	if c.UserFile == "" {
		return ", in their own configuration file"
	}
	return before + c.UserFile + after
}

// restricts returns what to do about an unknown key where it, or one below it, may be meant to keep conversations from
// being read.
func (d *document) restricts(key place) string {
	if d.from.Root != "" {
		if d.meant(key, "stores", "index", "exclude", "off") == "" {
			return ""
		}
		return "what is read of stores of conversations is the user's to say" + d.config.usersOwn(", in ", "") + "; a file called .convtools-exclude excludes this project"
	}
	switch meant := d.meant(key, "stores", "trust", "exclude", "off"); meant {
	case "":
		return ""
	case "stores", "trust":
		return "did you mean [" + meant + "]?"
	}
	return "write it below [stores]"
}

// meant returns the name, of some that restrict, that a key or one below it may stand for. At the top, what is false or
// a list can be meant for nothing else.
func (d *document) meant(key place, names ...string) string {
	last := key[len(key)-1].(string)
	if name := near.Name(last, names); name != "" {
		return name
	}
	switch is := d.top[last].(type) {
	case []any:
		if len(key) == 1 {
			return "exclude"
		}
	case bool:
		if len(key) == 1 && !is {
			return "exclude"
		}
	}
	if strings.HasPrefix(strings.ToLower(last), "exclu") {
		return "exclude"
	}
	for _, below := range d.names(key) {
		if name := d.meant(key.add(below), names...); name != "" {
			return name
		}
	}
	return ""
}

// Wrong is the error for a table of the file whose values cannot be used as they are; the sentence says why.
func (s *Source) Wrong(table []string, sentence string) error {
	p := Problem{Tables: []string{strings.Join(table, ".")}}
	p.File, p.Message = s.Name, "["+p.Tables[0]+"] "+sentence
	return &Error{[]Problem{p}}
}
