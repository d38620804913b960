// Package spec reads tools.toml and the spec files it names. It is strict about
// form: every key is known and spelt exactly, every value has its type. What
// the values mean is judged by package check.
//
// It reports everything it finds at once, and it never decides anything on
// behalf of a spec: an absent key stays absent.
package spec

import "github.com/convtools/convtools/runtime/base/tomlpos"

// Field is a value of a spec with the place it was written at.
type Field[T any] struct {
	Value T
	Set   bool
	At    Place
}

// Place is a position in a file: the file, and the path of a key or a value.
type Place struct {
	File *File
	Path tomlpos.Path
}

// File is one TOML file as read.
type File struct {
	Name   string // slash-separated, relative to the project
	Source []byte
	// Broken marks a file with errors of form: something that is
	// not there may have been meant to be.
	Broken bool
	index  *tomlpos.Index
}

// Project is tools.toml with all the specs it names.
type Project struct {
	File    *File
	Module  Field[string]
	Specs   Field[[]string]
	CLIs    []CLI // sorted by name
	Go      GoTarget
	JP      JPTarget
	Sources []*File // every file read, tools.toml first
	Tools   []*Tool // sorted by file name
}

// CLI is one [cli.NAME] table.
type CLI struct {
	Name    string
	At      Place
	Command Field[[]string]
	Builtin Field[bool]
	Env     Field[string]
}

// GoTarget is [targets.go].
type GoTarget struct {
	Dir Field[string]
}

// JPTarget is [targets.jp].
type JPTarget struct {
	Tools   Field[string]
	Command Field[string]
	Skills  []Skill
}

// Skill is one [[targets.jp.skills]] table.
type Skill struct {
	At      Place
	File    Field[string]
	Tag     Field[string]
	Title   Field[string]
	Content Field[string]
	Tools   Field[[]string]
}

// Tool is one spec file.
type Tool struct {
	File        *File
	Name        Field[string]
	Summary     Field[string]
	Description Field[string]
	Effect      Field[string]
	Enable      Field[string]
	Run         Field[string]
	Handler     Field[string]
	Answer      Field[string]
	MaxChars    Field[int64] // of a text answer; an envelope has its own
	Params      []Param      // in document order
	Rules       []Rule
	Command     *Command
	Envelope    *Envelope // nil where there is none, as with a text answer
	Examples    []Example
}

// Param is one [parameters.NAME] table.
type Param struct {
	Name     string
	At       Place
	Summary  Field[string]
	Type     Field[string]
	Required Field[bool]
	Default  Field[any]
	Repairs  Field[[]string]
	// OneOrMany reports whether one item is accepted in the place of an array.
	OneOrMany Field[bool]
	Items     *Constraints
	ItemsAt   Place
	Constraints
}

// Constraints are the keys that narrow a value.
type Constraints struct {
	Minimum, Maximum     Field[int64]
	MinLength, MaxLength Field[int64]
	MinItems, MaxItems   Field[int64]
	Enum                 Field[[]string]
	Pattern              Field[string]
	PatternSays          Field[string]
	NotBlank             Field[bool]
	SingleLine           Field[bool]
}

// Rule is one [[rules]] table.
type Rule struct {
	At        Place
	Exclusive Field[[]string]
}

// Command is the [command] table.
type Command struct {
	At     Place
	CLI    Field[string]
	OKExit Field[[]int64]
	Args   []Arg
	ArgsAt Place
}

// Arg is one entry of command.args: a string, or a table with one of flag and
// repeat.
type Arg struct {
	At      Place
	Literal Field[string]
	Flag    Field[string]
	Repeat  Field[string]
	When    Field[string]
	Unless  Field[string]
}

// Envelope is the [envelope] table.
type Envelope struct {
	At       Place
	Root     Field[string]
	MaxChars Field[int64]
	Elements []Element
}

// Element is one [[envelope.elements]] table.
type Element struct {
	At         Place
	Name       Field[string]
	Summary    Field[string]
	Body       Field[string]
	From       Field[string]
	TextFrom   Field[string]
	Separator  Field[string]
	Beside     Field[bool]
	Attributes []Attribute
	Children   Field[[]string]
}

// Attribute is one entry of an element's attributes.
type Attribute struct {
	At       Place
	Name     Field[string]
	Type     Field[string]
	Presence Field[string]
	Summary  Field[string]
	From     Field[string]
	Param    Field[string]
	Fixed    Field[string]
}

// Example is one [[examples]] table.
type Example struct {
	At        Place
	Summary   Field[string]
	Arguments Field[map[string]any]
}
