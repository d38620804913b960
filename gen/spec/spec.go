// Package spec reads tools.toml and the spec files that it names. It is strict about form: every key is known and
// spelt exactly, and every value has the right type. Package check judges the meaning of values.
//
// It reports all problems at once, and never fills in a default: an absent key stays absent.
package spec

import "slices"

// Project is tools.toml with all the specs that it names.
//
// The struct tags of this type and of the types below are the only definition of the keys. The decoder follows them,
// and the schema for editors and the reference are generated from them:
//
//	key     the name
//	doc     its meaning: one sentence without a full stop
//	need    whether it is required: yes, or the roles in which it is; see [Param]
//	values  the allowed values, if they are a list
//	what    the name of its tables in messages: "a rule" in an array, "the parameter" under a name
//	form    its form, if the Go type does not determine it
//	kind    the kind of its tables, if it is not the name of the key
//	in      the roles that have it; default: all
type Project struct {
	File     *File
	At       Place
	Module   Field[string]   `key:"module" doc:"The Go module, as in go.mod, if Go is generated"`
	Specs    Field[[]string] `key:"specs" need:"yes" doc:"Patterns of the spec files, relative to the project, such as specs/**/*.toml"`
	Accepted []Accepted      `key:"accepted" what:"an accepted change" doc:"Breaking changes of the contract that are intended"`
	CLIs     []CLI           `key:"cli" form:"named" what:"the command line" doc:"Command lines that specs may run"`
	Targets  `key:"targets" doc:"What is generated, and where"`
	Sources  []*File // every file that was read, tools.toml first
	Tools    []*Tool // sorted by file name
}

// Accepted is one [[accepted]] table.
type Accepted struct {
	At      Place
	Rule    Field[string] `key:"rule" need:"yes" doc:"The rule of the change, as convgen breaking shows it"`
	Subject Field[string] `key:"subject" need:"yes" doc:"The item that changed, as convgen breaking shows it"`
	Reason  Field[string] `key:"reason" need:"yes" doc:"Who must do what, and why it is worth it"`
	Version Field[string] `key:"version" need:"yes" doc:"The first version with the change"`
}

// CLI is one [cli.NAME] table.
type CLI struct {
	Name         string
	At           Place
	Command      Field[[]string] `key:"command" need:"yes" doc:"The program and its first arguments; the arguments of a spec follow"`
	EndOfOptions Field[[]string] `key:"end_of_options" form:"words" doc:"The argument, or several, after which this program reads no options, such as --. Some programs have none: find, sqlite3 and jq 1.6 still read options"`
	Env          Field[string]   `key:"env" doc:"The environment variable that can name another program"`
	PassEnv      Field[[]string] `key:"pass_env" doc:"Environment variables that the program gets beside those for folders, the language and the time zone, such as GH_TOKEN, or AWS_* for all with that prefix"`
}

// Targets is [targets] of tools.toml.
type Targets struct {
	Only   Field[[]string] `key:"only" doc:"The generated targets without a table: schema, mcp, openai, responses, anthropic, docs; default: all"`
	Go     GoTarget        `key:"go" what:"targets.go" doc:"The Go code and all other generated files; convgen serve needs none"`
	JP     JPTarget        `key:"jp" what:"targets.jp" doc:"The files of JP; without this table there are none"`
	Plugin PluginTarget    `key:"plugin" what:"targets.plugin" doc:"A plugin of Claude Code and Codex, an extension of Gemini CLI and a manifest for Claude Desktop, of a program with the command mcp; without this table there are none"`
}

// PluginTarget is [targets.plugin].
type PluginTarget struct {
	At      Place
	Dir     Field[string] `key:"dir" need:"yes" doc:"The folder of the plugin, such as generated/plugin"`
	Version Field[string] `key:"version" need:"yes" doc:"The version of the plugin, such as 1.2.0"`
	Summary Field[string] `key:"summary" need:"yes" doc:"What the plugin is for, in one line without a full stop"`
	Skill   Field[string] `key:"skill" need:"yes" doc:"The name of its skill: lower-case letters, digits and hyphens"`
	When    Field[string] `key:"when" need:"yes" doc:"When an assistant has to load the skill, in one line without a full stop"`
	Content Field[string] `key:"content" need:"yes" doc:"How to use the tools"`
}

// GoTarget is [targets.go].
type GoTarget struct {
	At  Place
	Dir Field[string] `key:"dir" need:"yes" doc:"The folder of all generated files, such as generated"`
}

// JPTarget is [targets.jp].
type JPTarget struct {
	At      Place
	Tools   Field[string] `key:"tools" need:"yes" doc:"The folder of the tools' definitions, such as .jp/mcp/tools"`
	Command Field[string] `key:"command" need:"yes" doc:"The command line with which JP calls a tool; {{context}} and {{tool}} in it become the call"`
	Skills  []Skill       `key:"skills" what:"a skill" doc:"Files that enable tools and instruct the assistant about them"`
}

// Skill is one [[targets.jp.skills]] table.
type Skill struct {
	At      Place
	File    Field[string]   `key:"file" need:"yes" doc:"The file of the skill, which ends in .toml"`
	Tag     Field[string]   `key:"tag" need:"yes" doc:"The tag of its section in the prompt"`
	Title   Field[string]   `key:"title" need:"yes" doc:"Its title"`
	Content Field[string]   `key:"content" need:"yes" doc:"When to use the tools, and how"`
	Tools   Field[[]string] `key:"tools" need:"yes" doc:"The tools it enables"`
}

// Tool is one spec file.
type Tool struct {
	File        *File
	At          Place
	Name        Field[string] `key:"name" need:"yes" doc:"The name: snake_case, or two such names joined by a dot"`
	Aliases     []Alias       `key:"aliases" what:"an alias" doc:"Former names, which still work"`
	Summary     Field[string] `key:"summary" need:"yes" doc:"What the tool does, in one line without a full stop"`
	Description Field[string] `key:"description" need:"yes" doc:"What it does, when to use it, and what it returns, in paragraphs"`
	Keywords    Field[string] `key:"keywords" doc:"Words that a model would search for, for hosts with a search for tools"`
	Effect      Field[string] `key:"effect" need:"yes" values:"read write" doc:"Whether the tool changes anything"`
	OpenWorld   Field[bool]   `key:"open_world" doc:"Whether a reading tool reaches beyond this machine"`
	Handler     Field[string] `key:"handler" values:"command go" doc:"What does the work: the command, which is the default, or a method in Go"`
	Answer      Field[string] `key:"answer" values:"envelope text json" doc:"The form of the answer; default: an envelope"`
	Structured  Field[bool]   `key:"structured" doc:"Whether hosts get an answer in JSON as structured content too"`
	MaxChars    Field[int64]  `key:"max_chars" doc:"Most characters of an answer; 20000 of a command's where it is left out"`
	Narrow      Field[string] `key:"narrow" doc:"The parameter with which callers ask for less; a shortened answer names it"`
	Params      []Param       `key:"parameters" form:"named" what:"the parameter" doc:"The parameters, in the order in which they are shown"`
	Rules       []Rule        `key:"rules" what:"a rule" doc:"Relations between parameters"`
	Command     *Command      `key:"command" doc:"The command line that does the work"`
	Envelope    *Envelope     `key:"envelope" doc:"The form of an answer in XML; default for a command: the text that it prints, and notes"`
	Result      *Result       `key:"result" doc:"The fields of an answer in JSON"`
	Examples    []Example     `key:"examples" what:"an example" doc:"Calls that a reader can copy"`
	ToolTargets `key:"targets" kind:"tool targets" doc:"Settings for one target"`
}

// ToolTargets is the [targets] table of a spec.
type ToolTargets struct {
	JP JPTool `key:"jp" kind:"tool jp" what:"targets.jp" doc:"JP"`
}

// JPTool is the [targets.jp] table of a spec.
type JPTool struct {
	Enable Field[string] `key:"enable" values:"on off always explicit" doc:"When the tool is enabled; default: explicit"`
	Run    Field[string] `key:"run" values:"ask unattended edit skip" doc:"Whether a person is asked first; by default a reading tool runs unattended"`
}

// Alias is one [[aliases]] table.
type Alias struct {
	At    Place
	Name  Field[string] `key:"name" need:"yes" doc:"The former name"`
	Until Field[string] `key:"until" need:"yes" doc:"The last day on which it must work, as YYYY-MM-DD"`
}

// Param is one [parameters.NAME] table, a member of an object, or the description of an array's items. It has one of
// five roles: parameter, member (of an object in a parameter), field (of a result), item and fielditem (the items of
// an array in a parameter or in a field). The summary of a member is optional.
type Param struct {
	Name        string
	At          Place
	OfResult    bool                  // the tool returns it; otherwise the tool takes it
	Type        Field[string]         `key:"type" need:"parameter member field" values:"string integer number boolean array object" doc:"The type; default for items: string"`
	Summary     Field[string]         `key:"summary" need:"parameter field" doc:"Its meaning, in one line without a full stop"`
	Required    Field[bool]           `key:"required" in:"parameter member" doc:"Whether it must be given"`
	Default     Field[any]            `key:"default" in:"parameter member" doc:"The value if none is given: a scalar or an array of scalars, of the type"`
	Nullable    Field[bool]           `key:"nullable" in:"parameter member item fielditem" doc:"Whether the value may be null, which then differs from leaving it out"`
	Presence    Field[string]         `key:"presence" in:"field" values:"always optional nullable" doc:"When it is written: always, which is the default; optional: omitted when empty; nullable: null, or omitted from an envelope, when there is none"`
	Constraints map[string]Field[any] `key:"constraints" in:"parameter member item"` // by key of [ir.ConstraintTable]
	OneOrMany   Field[bool]           `key:"one_or_many" in:"parameter member" doc:"Whether one string is accepted instead of an array of strings"`
	Repairs     Field[[]string]       `key:"repairs" in:"parameter member" values:"from_string from_integer from_scalar clamp spelling" doc:"What is corrected in arguments, with a note: a value in a string, digits for a string, one value for an array, a number over the maximum, the case of an enum's values"`
	Clamp       Field[[]int64]        `key:"clamp" in:"parameter member" doc:"With the repair clamp, instead of minimum and maximum: the least and the greatest effective number. Other numbers are changed to them, and the schema shows neither"`
	Items       *Param                `key:"items" doc:"The type and constraints of the items of an array; default: strings"`
	Key         Field[string]         `key:"key" doc:"The member whose value selects the variant of an object"`
	Members     []Param               `key:"members" form:"named" what:"the member" doc:"The members of an object, which may have no others"`
	Variants    []Variant             `key:"variants" form:"named" what:"the variant" doc:"The forms of an object, by the value of its key, each with its further members"`
}

// Variant is one variant of an object. Its name is the value of the key member.
type Variant struct {
	Name    string
	At      Place
	Summary Field[string] `key:"summary" need:"yes" doc:"The meaning of the variant"`
	Members []Param       `key:"members" form:"named" what:"the member" doc:"Its members beside the key"`
}

// Rule is one [[rules]] table.
type Rule struct {
	At         Place
	Exclusive  Field[[]string] `key:"exclusive" doc:"At most one of these parameters is given"`
	AtLeastOne Field[[]string] `key:"at_least_one" doc:"One or more of these are given"`
	ExactlyOne Field[[]string] `key:"exactly_one" doc:"One of these is given, and no other"`
	Given      Field[string]   `key:"given" doc:"If this parameter is given, those of requires must be too"`
	Requires   Field[[]string] `key:"requires" doc:"The parameters that must be given together with given"`
}

// Command is the [command] table.
type Command struct {
	At        Place
	CLI       Field[string]  `key:"cli" need:"yes" doc:"The command line, by its name in tools.toml"`
	OKExit    Field[[]int64] `key:"ok_exit" doc:"Exit codes of an answer; default: 0"`
	EmptyExit Field[[]int64] `key:"empty_exit" doc:"Exit codes of an answer without records, whatever the output is"`
	Failures  []ExitFailure  `key:"failures" what:"a failure" doc:"The meanings of other exit codes"`
	Stdin     Field[string]  `key:"stdin" doc:"The standard input: text with {parameter} in it, or one parameter that is an array or an object, as JSON; none if a parameter is not given"`
	Env       []Variable     `key:"env" doc:"Environment variables and their values: text with {parameter} in it; a variable is omitted if a parameter is not given"`
	Dir       Field[string]  `key:"dir" doc:"The working directory, below the directory that the call comes from"`
	Timeout   Field[int64]   `key:"timeout" doc:"The maximum time of the command in seconds; default: 30"`
	Output    *Output        `key:"output" doc:"How the command prints its records; default: text without an envelope, JSON with answer = \"json\", and otherwise a JSON array, or an object with one in data"`
	Args      []Arg          `key:"args" need:"yes" what:"an argument" doc:"The arguments: text with {parameter} in it, where {{ and }} are braces, or tables. A value at the beginning of an argument must not begin with a hyphen, unless an option or the end of options comes before it"`
}

// ExitFailure is one [[command.failures]] table.
type ExitFailure struct {
	At        Place
	Exit      Field[[]int64] `key:"exit" need:"yes" doc:"The exit codes"`
	Reason    Field[string]  `key:"reason" need:"yes" doc:"What went wrong, and what to do about it, in a sentence each"`
	Caller    Field[bool]    `key:"caller" doc:"Whether another call can succeed"`
	Transient Field[bool]    `key:"transient" doc:"Whether the same call may work later"`
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
	Form        Field[string]   `key:"form" need:"yes" values:"json json_object json_lines delimited regexp text" doc:"The form of the records: a JSON array, one JSON object, a JSON value on each line, text with separators, lines that a pattern matches, or one record with the whole text"`
	Path        Field[string]   `key:"path" doc:"json and json_object: the path to the records, such as data.items, pages[].items for every page, or 0.items for the first"`
	MayBeAbsent Field[bool]     `key:"may_be_absent" doc:"json and json_object: whether no output, and null or nothing at the path, mean no records instead of a failure"`
	Fields      Field[[]string] `key:"fields" doc:"delimited: the fields of a record, in their order; without them a record is a text"`
	Separator   Field[string]   `key:"separator" doc:"delimited: the separator of fields; default: a tab"`
	End         Field[string]   `key:"end" doc:"delimited: the end of a record; default: a line break"`
	Pattern     Field[string]   `key:"pattern" doc:"regexp: the pattern of a line, with a named group for each field"`
	Skip        Field[string]   `key:"skip" doc:"delimited and regexp: the pattern of output to skip, such as headings"`
}

// Arg is one entry of command.args: a string, which is its value, or a table with an option, a value or both.
type Arg struct {
	At     Place
	Option Field[[]string] `key:"option" form:"words" doc:"One or several arguments before the value, such as -e, or [\"--arg\", \"name\"]; without a value they are passed alone"`
	Value  Field[string]   `key:"value" doc:"The argument: text with {parameter} in it. It is omitted, with its option, if a parameter is not given, and repeated for each item of an array"`
	When   Field[string]   `key:"when" doc:"The boolean parameter that must be true for it"`
	Unless Field[string]   `key:"unless" doc:"The boolean parameter that must be false for it"`
	Empty  Field[bool]     `key:"empty" doc:"Whether a value in it may be empty; otherwise an empty value is refused"`
}

// Envelope is the [envelope] table.
type Envelope struct {
	At       Place
	Root     Field[string] `key:"root" need:"yes" doc:"The element that contains all others"`
	MaxChars Field[int64]  `key:"max_chars" doc:"The maximum length of an answer in characters"`
	Elements []Element     `key:"elements" need:"yes" what:"an element" doc:"The elements"`
}

// Element returns the first element with the given name, or nil.
func (e *Envelope) Element(name string) *Element {
	if e == nil {
		return nil
	}
	i := slices.IndexFunc(e.Elements, func(element Element) bool { return element.Name.Set && element.Name.Value == name })
	if i < 0 {
		return nil
	}
	return &e.Elements[i]
}

// Element is one [[envelope.elements]] table.
type Element struct {
	At         Place
	Name       Field[string]   `key:"name" need:"yes" doc:"The name of the element"`
	Summary    Field[string]   `key:"summary" doc:"Its meaning, in one line"`
	Body       Field[string]   `key:"body" values:"inline lines block json" doc:"Its content: text on one line, text with its line breaks, text verbatim, or JSON"`
	From       Field[string]   `key:"from" values:"records" doc:"records: the element is written once for each record of the command"`
	TextFrom   Field[string]   `key:"text_from" doc:"The key of the record that fills the body; in JSON also a path, such as author.name, or labels[].name for a repeated element"`
	Separator  Field[string]   `key:"separator" doc:"An empty element that can be written before this one"`
	Beside     Field[bool]     `key:"beside" doc:"Whether it is on the line of the element before it"`
	Attributes []Attribute     `key:"attributes" what:"an attribute" doc:"Its attributes, in their order"`
	Children   Field[[]string] `key:"children" doc:"Its children, in their order: name, name? for one or none, name* for any number"`
}

// Attribute is one entry of an element's attributes.
type Attribute struct {
	At       Place
	Name     Field[string] `key:"name" need:"yes" doc:"The name of the attribute"`
	Type     Field[string] `key:"type" need:"yes" values:"string integer boolean time" doc:"The type"`
	Presence Field[string] `key:"presence" values:"always optional nullable" doc:"When it is written: always, which is the default; optional: omitted when empty; nullable: null, or omitted from an envelope, when there is none"`
	Summary  Field[string] `key:"summary" need:"yes" doc:"Its meaning, in one line without a full stop"`
	From     Field[string] `key:"from" doc:"The key of the record that fills it, or in JSON a path such as author.name; count is the number of records"`
	Param    Field[string] `key:"param" doc:"The parameter it repeats"`
	Fixed    Field[string] `key:"fixed" doc:"A constant"`
}

// Result is the [result] table.
type Result struct {
	At     Place
	Plain  Field[bool]     `key:"plain" doc:"Whether a success has only its fields, without ok"`
	Codes  Field[[]string] `key:"codes" doc:"The codes of failures, beside those that every tool has"`
	Fields []Param         `key:"fields" form:"named" what:"the field" doc:"The fields of a success, in their order"`
}

// Example is one [[examples]] table.
type Example struct {
	At        Place
	Summary   Field[string]         `key:"summary" need:"yes" doc:"The purpose of the call, in one line"`
	Arguments Field[map[string]any] `key:"arguments" need:"yes" doc:"The arguments"`
}
