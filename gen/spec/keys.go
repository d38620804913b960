package spec

import "github.com/convtools/convtools/gen/ir"

// Type is what a key holds.
type Type string

// The types.
const (
	TextKey    Type = "text"
	IntegerKey Type = "integer"
	NumberKey  Type = "number"
	BooleanKey Type = "boolean"
	TextsKey   Type = "texts"    // an array of strings
	NumbersKey Type = "integers" // an array of integers
	AnyKey     Type = "any"
	TableKey   Type = "table"     // one table of the kind
	TablesKey  Type = "tables"    // an array of tables of the kind
	NamedKey   Type = "named"     // tables of the kind under free names
	WordsKey   Type = "words"     // a string, or an array of strings
	ArgsKey    Type = "args"      // an array of strings and tables of the kind
	VarsKey    Type = "variables" // strings under free names
)

// Key is one key of a table of a spec or of tools.toml.
type Key struct {
	Name     string
	Type     Type
	Kind     string // of the tables it holds
	Required bool
	Values   []string // the values there are, where they are a list
	Doc      string   // one sentence without a full stop
}

// The kinds of the two files.
const (
	ProjectKind = "project" // tools.toml
	ToolKind    = "tool"    // a spec
)

// Keys returns the keys of every kind of table, in the order they are best written.
// The loader reads these keys and no others, which a test holds against it; the schema
// for editors and the reference are made from them.
func Keys() map[string][]Key {
	presence := Key{Name: "presence", Type: TextKey, Values: []string{"always", "optional", "nullable"}, Doc: "When it is written: always, which is the default; optional: left out when empty; nullable: null, or left out of an envelope, when there is none"}
	key := Key{Name: "key", Type: TextKey, Doc: "The member whose value tells the variants of an object apart"}
	kinds := []string{string(ir.String), string(ir.Integer), string(ir.Number), string(ir.Boolean), string(ir.Array), string(ir.Object)}
	holds := func(items, members, variants string) []Key {
		return []Key{
			{Name: "items", Type: TableKey, Kind: items, Doc: "What every item of an array is; strings where it is left out"},
			key,
			{Name: "members", Type: NamedKey, Kind: members, Doc: "The members of an object, which has no others"},
			{Name: "variants", Type: NamedKey, Kind: variants, Doc: "The forms of an object, by the value of its key, each with the members it adds"},
		}
	}
	var constraints []Key
	for _, c := range ir.ConstraintTable() {
		k := Key{Name: c.Key, Type: map[ir.Form]Type{ir.Flag: BooleanKey, ir.List: TextsKey, ir.Text: TextKey, ir.Remark: TextKey}[c.Form], Doc: c.Doc}
		switch {
		case k.Type == "" && c.Unit != "":
			k.Type = IntegerKey
		case k.Type == "":
			k.Type = NumberKey
		}
		if c.Key == "format" {
			for _, f := range ir.Formats() {
				k.Values = append(k.Values, f.Name)
			}
		}
		constraints = append(constraints, k)
	}
	nullable := Key{Name: "nullable", Type: BooleanKey, Doc: "Whether the value may be null, which is then not the same as leaving it out"}
	itemType := Key{Name: "type", Type: TextKey, Values: kinds, Doc: "The type; string where it is left out"}
	itemSummary := Key{Name: "summary", Type: TextKey, Doc: "What an item is, in a line"}
	summary := Key{Name: "summary", Type: TextKey, Required: true, Doc: "What it is, in one line without a full stop"}
	valueType := Key{Name: "type", Type: TextKey, Required: true, Values: kinds, Doc: "The type"}
	parameter := join(
		[]Key{
			valueType, summary,
			{Name: "required", Type: BooleanKey, Doc: "Whether it has to be given"},
			{Name: "default", Type: AnyKey, Doc: "The value where none is given, of the type: a scalar or an array of them"},
			nullable,
		},
		constraints,
		[]Key{
			{Name: "one_or_many", Type: BooleanKey, Doc: "Whether one string does in the place of an array of strings"},
			{Name: "repairs", Type: TextsKey, Values: []string{"from_string", "from_integer", "from_scalar", "clamp", "spelling"}, Doc: "What is put right in arguments, and told: a value in a string, digits for a string, one value for an array, a number over the maximum, the case of an enum's values"},
			{Name: "clamp", Type: NumbersKey, Doc: "With the repair clamp, in the place of minimum and maximum: the least and the greatest number that counts. No other is refused, and the schema shows neither"},
		},
		holds("items", "members", "variants"),
	)
	field := join([]Key{valueType, summary, presence}, holds("result items", "result members", "result variants"))
	keys := map[string][]Key{
		ProjectKind: {
			{Name: "module", Type: TextKey, Doc: "The Go module, as in go.mod, where Go is generated"},
			{Name: "specs", Type: TextsKey, Required: true, Doc: "Patterns of the specs, relative, such as specs/**/*.toml"},
			{Name: "accepted", Type: TablesKey, Kind: "accepted", Doc: "Changes of the contract that break callers and are meant"},
			{Name: "cli", Type: NamedKey, Kind: "cli", Doc: "Command lines that specs may run"},
			{Name: "targets", Type: TableKey, Kind: "targets", Doc: "What is generated, and where"},
		},
		"accepted": {
			{Name: "rule", Type: TextKey, Required: true, Doc: "The rule of the change, as convgen breaking shows it"},
			{Name: "subject", Type: TextKey, Required: true, Doc: "What it is about, as convgen breaking shows it"},
			{Name: "reason", Type: TextKey, Required: true, Doc: "Who has to do what, and why it is worth it"},
			{Name: "version", Type: TextKey, Required: true, Doc: "The version that has the change first"},
		},
		"cli": {
			{Name: "command", Type: TextsKey, Required: true, Doc: "The program and its first words; what a spec says follows"},
			{Name: "end_of_options", Type: WordsKey, Doc: "The argument behind which this program takes nothing for an option, such as --, or several. Not every program has one: find, sqlite3 and jq 1.6 read on"},
			{Name: "env", Type: TextKey, Doc: "The environment variable that names another program"},
			{Name: "pass_env", Type: TextsKey, Doc: "Environment variables that the program gets besides those that name folders, the language and the time zone, such as GH_TOKEN, or AWS_* for all that begin so"},
		},
		"targets": {
			{Name: "only", Type: TextsKey, Doc: "Which of the targets without a table are made: schema, mcp, openai, responses, anthropic, docs; all where it is left out"},
			{Name: "go", Type: TableKey, Kind: "go", Doc: "The Go code, and all else that is generated; convgen serve needs none"},
			{Name: "jp", Type: TableKey, Kind: "jp", Doc: "The files of JP; none where the table is left out"},
		},
		"go": {{Name: "dir", Type: TextKey, Required: true, Doc: "The folder of everything that is generated, such as generated"}},
		"jp": {
			{Name: "tools", Type: TextKey, Required: true, Doc: "The folder of the tools' definitions, such as .jp/mcp/tools"},
			{Name: "command", Type: TextKey, Required: true, Doc: "The command line with which JP calls a tool; {{context}} and {{tool}} in it are the call"},
			{Name: "skills", Type: TablesKey, Kind: "skills", Doc: "Files that switch tools on and instruct the assistant about them"},
		},
		"skills": {
			{Name: "file", Type: TextKey, Required: true, Doc: "Where the skill goes: a .toml file"},
			{Name: "tag", Type: TextKey, Required: true, Doc: "The tag of its section in the prompt"},
			{Name: "title", Type: TextKey, Required: true, Doc: "Its title"},
			{Name: "content", Type: TextKey, Required: true, Doc: "When to use the tools, and how"},
			{Name: "tools", Type: TextsKey, Required: true, Doc: "The tools it switches on"},
		},
		ToolKind: {
			{Name: "name", Type: TextKey, Required: true, Doc: "The name: snake_case, or two such names with a dot between them"},
			{Name: "aliases", Type: TablesKey, Kind: "aliases", Doc: "Former names, which still work"},
			{Name: "summary", Type: TextKey, Required: true, Doc: "What the tool does, in one line without a full stop"},
			{Name: "description", Type: TextKey, Required: true, Doc: "What it does, when to use it, and what it returns, in paragraphs"},
			{Name: "effect", Type: TextKey, Required: true, Values: []string{"read", "write"}, Doc: "Whether it changes anything"},
			{Name: "open_world", Type: BooleanKey, Doc: "Whether a tool that reads reaches beyond this machine"},
			{Name: "handler", Type: TextKey, Values: []string{"command", "go"}, Doc: "Who does the work: the command, which is the default, or a method in Go"},
			{Name: "answer", Type: TextKey, Values: []string{"envelope", "text", "json"}, Doc: "The form of the answer; an envelope where it is left out"},
			{Name: "structured", Type: BooleanKey, Doc: "Whether hosts get an answer in JSON as structured content too"},
			{Name: "max_chars", Type: IntegerKey, Doc: "Most characters of an answer; 20000 of a command's where it is left out"},
			{Name: "narrow", Type: TextKey, Doc: "The parameter that asks for less, which an answer names that is cut"},
			{Name: "parameters", Type: NamedKey, Kind: "parameters", Doc: "What the tool takes, in the order it is shown in"},
			{Name: "rules", Type: TablesKey, Kind: "rules", Doc: "Relations between parameters"},
			{Name: "command", Type: TableKey, Kind: "command", Doc: "The command line that does the work"},
			{Name: "envelope", Type: TableKey, Kind: "envelope", Doc: "The shape of an answer in XML; where it is left out, it is the text that the command prints, and notes"},
			{Name: "result", Type: TableKey, Kind: "result", Doc: "The fields of an answer in JSON"},
			{Name: "examples", Type: TablesKey, Kind: "examples", Doc: "Calls that a reader can copy"},
			{Name: "targets", Type: TableKey, Kind: "tool targets", Doc: "What one target alone has to know of the tool"},
		},
		"tool targets": {{Name: "jp", Type: TableKey, Kind: "tool jp", Doc: "JP"}},
		"tool jp": {
			{Name: "enable", Type: TextKey, Values: []string{"on", "off", "always", "explicit"}, Doc: "When the tool is switched on; explicit where it is left out"},
			{Name: "run", Type: TextKey, Values: []string{"ask", "unattended", "edit", "skip"}, Doc: "Whether a person is asked; where it is left out, a tool that reads runs unattended"},
		},
		"aliases": {
			{Name: "name", Type: TextKey, Required: true, Doc: "The former name"},
			{Name: "until", Type: TextKey, Required: true, Doc: "The last day on which it works for sure, as YYYY-MM-DD"},
		},
		"parameters": parameter,
		"members":    parameter,
		"items":      join([]Key{itemType, itemSummary, nullable}, constraints, holds("items", "members", "variants")),
		"variants":   {{Name: "summary", Type: TextKey, Required: true, Doc: "What the variant is"}, {Name: "members", Type: NamedKey, Kind: "members", Doc: "The members it adds to the key"}},
		"rules": {
			{Name: "exclusive", Type: TextsKey, Doc: "At most one of these parameters is given"},
			{Name: "at_least_one", Type: TextsKey, Doc: "One or more of these are given"},
			{Name: "exactly_one", Type: TextsKey, Doc: "One of these is given, and no other"},
			{Name: "given", Type: TextKey, Doc: "Where this parameter is given, those of requires are too"},
			{Name: "requires", Type: TextsKey, Doc: "What has to be given together with given"},
		},
		"command": {
			{Name: "cli", Type: TextKey, Required: true, Doc: "The command line, as tools.toml names it"},
			{Name: "ok_exit", Type: NumbersKey, Doc: "Exit codes of an answer; 0 where they are left out"},
			{Name: "empty_exit", Type: NumbersKey, Doc: "Exit codes of an answer without records, whatever is printed"},
			{Name: "failures", Type: TablesKey, Kind: "failures", Doc: "What other exit codes mean"},
			{Name: "stdin", Type: TextKey, Doc: "The standard input: text with {parameter} in it, or one that is an array or an object, as JSON; none where a parameter is not given"},
			{Name: "env", Type: VarsKey, Doc: "Environment variables and their values: text with {parameter} in it; a variable is left out where a parameter is not given"},
			{Name: "dir", Type: TextKey, Doc: "The working directory, below the directory that the call comes from"},
			{Name: "timeout", Type: IntegerKey, Doc: "How many seconds the command may run; 30 where it is left out"},
			{Name: "output", Type: TableKey, Kind: "output", Doc: "How the command prints its records. Where it is left out: a text without an envelope, JSON with answer = \"json\", and else a JSON array, or an object with one in data"},
			{Name: "args", Type: ArgsKey, Kind: "args", Required: true, Doc: "The arguments: text with {parameter} in it, where {{ and }} are braces, or tables. A value at the beginning of an argument must not begin with a hyphen, unless an option or the end of options stands before it"},
		},
		"failures": {
			{Name: "exit", Type: NumbersKey, Required: true, Doc: "The exit codes"},
			{Name: "reason", Type: TextKey, Required: true, Doc: "What went wrong, and what to do about it, in a sentence each"},
			{Name: "caller", Type: BooleanKey, Doc: "Whether another call can put it right"},
			{Name: "transient", Type: BooleanKey, Doc: "Whether the same call may work later"},
		},
		"output": {
			{Name: "form", Type: TextKey, Required: true, Values: []string{"json", "json_object", "json_lines", "delimited", "regexp", "text"}, Doc: "How records are printed: an array in JSON, one object in JSON, a JSON value on each line, text with separators, lines that a pattern takes apart, or one record with the whole text"},
			{Name: "path", Type: TextKey, Doc: "json and json_object: what leads to the records, such as data.items, pages[].items for those of every page, or 0.items for those of the first"},
			{Name: "may_be_absent", Type: BooleanKey, Doc: "json and json_object: whether no output at all, and null or nothing at the path, are no records and no mistake"},
			{Name: "fields", Type: TextsKey, Doc: "delimited: the fields of a record, in their order; without them a record is a text"},
			{Name: "separator", Type: TextKey, Doc: "delimited: what stands between fields; a tab where it is left out"},
			{Name: "end", Type: TextKey, Doc: "delimited: what ends a record; a line break where it is left out"},
			{Name: "pattern", Type: TextKey, Doc: "regexp: the pattern of a line, whose named groups are the fields"},
			{Name: "skip", Type: TextKey, Doc: "delimited and regexp: the pattern of records that are none, such as headings"},
		},
		"args": {
			{Name: "option", Type: WordsKey, Doc: "What stands before the value, as an argument of its own, or several, such as -e, or [\"--arg\", \"name\"]; without a value, it stands alone"},
			{Name: "value", Type: TextKey, Doc: "The argument: text with {parameter} in it. It is left out, with its option, where a parameter is not given, and repeated for each item of an array"},
			{Name: "when", Type: TextKey, Doc: "The boolean parameter that has to be true for it"},
			{Name: "unless", Type: TextKey, Doc: "The boolean parameter that has to be false for it"},
			{Name: "empty", Type: BooleanKey, Doc: "Whether a value in it may be empty, which is refused else"},
		},
		"envelope": {
			{Name: "root", Type: TextKey, Required: true, Doc: "The element that holds all others"},
			{Name: "max_chars", Type: IntegerKey, Doc: "Most characters of an answer"},
			{Name: "elements", Type: TablesKey, Kind: "elements", Required: true, Doc: "The elements"},
		},
		"elements": {
			{Name: "name", Type: TextKey, Required: true, Doc: "The name of the element"},
			{Name: "summary", Type: TextKey, Doc: "What it is, in a line"},
			{Name: "body", Type: TextKey, Values: []string{"inline", "lines", "block", "json"}, Doc: "What stands in it: text on one line, the same with its line breaks, text verbatim, or JSON"},
			{Name: "from", Type: TextKey, Values: []string{"records"}, Doc: "records: there is one for each record of the command"},
			{Name: "text_from", Type: TextKey, Doc: "The key of the record that fills the body; within JSON also a path, such as author.name, or labels[].name for an element that repeats"},
			{Name: "separator", Type: TextKey, Doc: "An empty element that is written before this one on demand"},
			{Name: "beside", Type: BooleanKey, Doc: "Whether it stands on the line of what is before it"},
			{Name: "attributes", Type: TablesKey, Kind: "attributes", Doc: "Its attributes, in their order"},
			{Name: "children", Type: TextsKey, Doc: "Its children, in their order: name, name? for one or none, name* for any number"},
		},
		"attributes": {
			{Name: "name", Type: TextKey, Required: true, Doc: "The name of the attribute"},
			{Name: "type", Type: TextKey, Required: true, Values: []string{"string", "integer", "boolean", "time"}, Doc: "The type"},
			presence, summary,
			{Name: "from", Type: TextKey, Doc: "The key of the record that fills it, or within JSON a path such as author.name; count is the number of records"},
			{Name: "param", Type: TextKey, Doc: "The parameter it repeats"},
			{Name: "fixed", Type: TextKey, Doc: "A constant"},
		},
		"result": {
			{Name: "plain", Type: BooleanKey, Doc: "Whether a success is its fields alone, without ok"},
			{Name: "codes", Type: TextsKey, Doc: "The codes of failures, beyond those that every tool has"},
			{Name: "fields", Type: NamedKey, Kind: "fields", Doc: "The fields of a success, in their order"},
		},
		"fields":          field,
		"result members":  field,
		"result items":    join([]Key{itemType, itemSummary, nullable}, holds("result items", "result members", "result variants")),
		"result variants": {{Name: "summary", Type: TextKey, Required: true, Doc: "What the variant is"}, {Name: "members", Type: NamedKey, Kind: "result members", Doc: "The members it adds to the key"}},
		"examples": {
			{Name: "summary", Type: TextKey, Required: true, Doc: "What the call is for, in a line"},
			{Name: "arguments", Type: TableKey, Required: true, Doc: "The arguments"},
		},
	}
	return keys
}

func join(lists ...[]Key) []Key {
	var all []Key
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}
