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
	File   *File
	Module Field[string]
	Specs  Field[[]string]
	CLIs   []CLI // sorted by name
	// Accepted are the changes of the contract that break callers and are meant.
	Accepted []Accepted
	Go       GoTarget
	JP       JPTarget
	Only     Field[[]string] // the targets without settings that are made; all where it is not set
	Sources  []*File         // every file read, tools.toml first
	Tools    []*Tool         // sorted by file name
}

// Accepted is one [[accepted]] table.
type Accepted struct {
	At      Place
	Rule    Field[string]
	Subject Field[string]
	Reason  Field[string]
	Version Field[string]
}

// CLI is one [cli.NAME] table.
type CLI struct {
	Name    string
	At      Place
	Command Field[[]string]
	// EndOfOptions are the arguments behind which the program takes nothing for an option.
	EndOfOptions Field[[]string]
	Env          Field[string]
	PassEnv      Field[[]string]
}

// GoTarget is [targets.go].
type GoTarget struct {
	Dir Field[string]
}

// JPTarget is [targets.jp].
type JPTarget struct {
	Set     bool // the table is there
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
	Aliases     []Alias
	Summary     Field[string]
	Description Field[string]
	Effect      Field[string]
	JP          JPTool
	Handler     Field[string]
	OpenWorld   Field[bool]
	Answer      Field[string]
	Structured  Field[bool]
	MaxChars    Field[int64]
	Narrow      Field[string]
	Params      []Param // in document order
	Rules       []Rule
	Command     *Command
	Envelope    *Envelope // nil where there is none, as with a text answer
	Result      *Result   // of an answer in JSON; nil where there is none
	Examples    []Example
}

// JPTool is the table [targets.jp] of a spec.
type JPTool struct {
	Enable Field[string]
	Run    Field[string]
}

// Alias is one [[aliases]] table.
type Alias struct {
	At    Place
	Name  Field[string]
	Until Field[string]
}

// Param is one [parameters.NAME] table, a member of an object, or what an array
// says about its items.
type Param struct {
	Name        string
	At          Place
	Summary     Field[string]
	Type        Field[string]
	Required    Field[bool]
	Nullable    Field[bool]
	OfResult    bool          // it is what a tool returns, and not what it takes
	Presence    Field[string] // of a field of a result
	Default     Field[any]
	Repairs     Field[[]string]
	Clamp       Field[[]int64]
	OneOrMany   Field[bool] // one item is accepted in the place of an array
	Constraints map[string]Field[any]
	Items       *Param
	Members     []Param // in document order
	MembersAt   Place
	Key         Field[string]
	Variants    []Variant // in document order
}

// Variant is one table among the variants of an object.
type Variant struct {
	Value   string
	At      Place
	Summary Field[string]
	Members []Param
}

// Rule is one [[rules]] table.
type Rule struct {
	At         Place
	Exclusive  Field[[]string]
	AtLeastOne Field[[]string]
	ExactlyOne Field[[]string]
	Given      Field[string]
	Requires   Field[[]string]
}

// Command is the [command] table.
type Command struct {
	At        Place
	CLI       Field[string]
	OKExit    Field[[]int64]
	EmptyExit Field[[]int64]
	Failures  []ExitFailure
	Output    *Output
	Args      []Arg
	ArgsAt    Place
	Stdin     Field[string]
	Env       []Variable // in document order
	Dir       Field[string]
	Timeout   Field[int64]
}

// ExitFailure is one [[command.failures]] table.
type ExitFailure struct {
	At        Place
	Exit      Field[[]int64]
	Reason    Field[string]
	Caller    Field[bool]
	Transient Field[bool]
}

// Variable is one entry of command.env.
type Variable struct {
	Name  string
	At    Place
	Value Field[string]
}

// Output is the [command.output] table.
type Output struct {
	At          Place
	Form        Field[string]
	Path        Field[string]
	MayBeAbsent Field[bool]
	Fields      Field[[]string]
	Separator   Field[string]
	End         Field[string]
	Pattern     Field[string]
	Skip        Field[string]
}

// Arg is one entry of command.args: a string, which is its value, or a table with
// an option, a value, or both.
type Arg struct {
	At     Place
	Option Field[[]string]
	Value  Field[string]
	When   Field[string]
	Unless Field[string]
	Empty  Field[bool]
}

// Envelope is the [envelope] table.
type Envelope struct {
	At       Place
	Root     Field[string]
	MaxChars Field[int64]
	Elements []Element
}

// Result is the [result] table.
type Result struct {
	At     Place
	Plain  Field[bool]
	Fields []Param // in document order
	Codes  Field[[]string]
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
