package check

// Rule is one kind of mistake in a spec. An id never changes and is never reused.
type Rule struct {
	ID  string
	Doc string // the requirement and its reason
}

// Rules returns every rule of the loader and the checker, sorted by id.
func Rules() []Rule {
	return []Rule{
		{"CT001", "A tool's name is snake_case, or two such names with a dot between them, at most 50 characters, and unique. Clients put a prefix before it and cut or refuse names over 64 characters. What stands behind the folder's name becomes a Go file, so it cannot end like one with a meaning of its own, such as _test or _windows, nor be a device to Windows, such as con or nul."},
		{"CT002", "A key that chooses from a list holds one of the values on it."},
		{"CT003", "A summary or title is one line of at most 120 characters (160 for parameters, elements and attributes) without a final period: it is shown in lists and tables."},
		{"CT004", "A description is plain text of at most 2,048 characters: clients cut longer ones without a word. The text of a skill may have 8,192."},
		{"CT005", "A parameter's name is snake_case, at most 40 characters, and is not one that hosts use themselves."},
		{"CT006", "A constraint belongs to the type of its value: a boolean has no minimum, only an array has items, only an array of strings takes one_or_many, and only an object has members, or a key with variants."},
		{"CT007", "Bounds leave room for a value and are numbers every JSON reader keeps exact: a minimum is not above its maximum, an integer has whole bounds, a length is not negative, and one item is enough and not too much where one_or_many takes it. max_chars is at least 1,000, an exit code at most 255."},
		{"CT008", "A default satisfies the parameter's own constraints and has its type, as a call with it is judged. Scalars and arrays of scalars can have one: an object's members have their own."},
		{"CT009", "A required parameter has no default: one of the two is a mistake."},
		{"CT010", "An enum lists at least one value, none twice, none empty or with blanks around it, and nothing else narrows the value."},
		{"CT011", "A pattern is valid RE2, means the same in ECMA-262, because clients and we both check it, and says in words what it asks for."},
		{"CT012", "A repair fits the parameter: clamp needs a maximum, or clamp = [least, greatest], spelling an enum, from_scalar an array that does not take one item anyway (one_or_many)."},
		{"CT013", "A rule demands one thing of parameters of the tool, each named once, none of which always has a value: exclusive (at most one is given), at_least_one, exactly_one, or that given requires others."},
		{"CT014", "A command runs a command line that tools.toml declares with a program, and with proper names for the environment variable that chooses another and for those that it gets. An end of options begins with a hyphen."},
		{"CT015", "A placeholder names a parameter of the tool, or ctx.conversation_id. Braces that are none are written twice: {{ and }}."},
		{"CT016", "A value never chooses an option: text before it that begins with a hyphen is an option of one letter, such as -L, one whose value has begun, such as -DNAME=, or a long name that ends with =. What a spec lists, and digits, may follow other text. A value that begins an argument is refused in a call where it begins with a hyphen, unless an option or the declared end of options stands before it."},
		{"CT017", "An argument is text with values in it, or a table with an option, a value, or both. Each is repeated for the items of one array. when and unless name boolean parameters that always have a value. Objects, and arrays of anything but scalars, go to standard input alone, as JSON."},
		{"CT018", "No argument and no variable of the environment is empty or holds a NUL. Values are held to it in a call; that one may be empty is for the argument to say."},
		{"CT019", "Every element of an envelope is declared once and used; children name declared elements; nothing contains itself."},
		{"CT020", "Names of elements and attributes are snake_case, unique within their parent, and do not begin with xml; untrusted is written by the generator. Folders of specs, command lines and tags have proper names too, and a folder is no device to Windows, such as con or nul."},
		{"CT021", "A value's source exists: param names a parameter that always has a value and fits the type; from and text_from name keys of the command's JSON, each read once in an element; a fixed value is text."},
		{"CT022", "A body and children exclude each other; an element has one or the other, or nothing."},
		{"CT023", "A tool says how it works: handler = \"go\", or a command whose records, their number and notes fill the whole answer."},
		{"CT024", "An example's arguments are those of a call that the tool accepts, its rules included."},
		{"CT025", "A tool with a required parameter has an example: corrected calls take their values from it."},
		{"CT026", "Names stay distinct as Go identifiers, packages and files."},
		{"CT027", "A path of a target is relative, clean, and inside the project, and no part of it is a device to Windows, such as con or nul; Go code goes where the go command finds it, a skill into a .toml file of its own."},
		{"CT028", "A skill names tools that exist, each once."},
		{"CT029", "Every target can take the tool: its name and its description, with what was lowered into it, are within the target's limits."},
		{"CT030", "The command of the JP target passes on {{context}} and {{tool}}, in which JP hands over a call, and is one line."},
		{"CT031", "An answer is an envelope; what a command prints in JSON, with answer = \"json\"; or what a handler in Go makes, with answer = \"text\", or answer = \"json\" and a [result]. Only an envelope has the table [envelope], max_chars is there once, narrow names a parameter of a tool with a command, and structured is of an answer in JSON."},
		{"CT032", "An object has members, or a key and two variants or more, each with the members it adds to the key. Values stand at most four levels inside of one another."},
		{"CT033", "A format is the whole form of a string: of the other constraints only max_length goes with it."},
		{"CT034", "Every name that a tool can be called by is a name of that tool alone: its own, the one without a dot that some hosts ask for, the group before the dot, and former names."},
		{"CT035", "An alias has a former name of the tool, and the day until which it works at least, as YYYY-MM-DD."},
		{"CT036", "The fields of a result have names of their own: ok, code, reason and notes are written by the generator, and so are the codes invalid_arguments, too_large and failed. Codes are snake_case and distinct."},
		{"CT037", "A change that breaks callers is accepted by its rule and its subject, as convgen breaking shows them, with a reason and the version that has it first."},
		{"CT038", "What a command prints has the keys of its form: path and may_be_absent are of JSON, fields, separator and end are of delimited, pattern with named groups is of regexp, and skip is of both. Records that are no JSON have the fields that from and text_from name, and no lists. An answer in JSON is of a form of JSON."},
		{"CT039", "What a command has around it is for its spec to say: a folder below the one that a call comes from, a time of 1 to 3,600 seconds, and environment variables. Of callers only what an enum, a pattern or a format bounds gets into the environment: programs run what some variables name."},
		{"CT040", "Every exit code means one thing: an answer (ok_exit), an answer without records (empty_exit), or a failure, whose reason says in a line what went wrong and what to do about it."},
		{"CT041", "Every parameter of a command tool is used: in an argument, in a condition of one, in a variable of the environment, in the standard input, or in the answer. What a caller gives is never passed over."},
		{"SP001", "The file is valid TOML and UTF-8, and not nested beyond reason."},
		{"SP002", "Every key is known, and spelt exactly as documented."},
		{"SP003", "Every value has the type its key asks for."},
		{"SP004", "Every required key is there."},
		{"SP006", "Every pattern in specs is relative and matches files that can be read, of at most 256 KiB, and not tools.toml itself."},
	}
}
