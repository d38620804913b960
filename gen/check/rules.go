package check

// Rule is one kind of mistake in a spec. An id never changes and is never reused.
type Rule struct {
	ID  string
	Doc string // the requirement and its reason
}

// Rules returns every rule of the loader and the checker, sorted by id.
func Rules() []Rule {
	return []Rule{
		{"CT001", "A tool's name is snake_case, or two such names with a dot between them, at most 50 characters, and unique. Clients put a prefix before it and cut or refuse names over 64 characters. The part after the folder's name is the name of a Go file, so it must not end in a suffix with a meaning, such as _test or _windows, and must not be a device of Windows, such as con or nul."},
		{"CT002", "A key that chooses from a list holds one of the values on it."},
		{"CT003", "A summary or title is one line of at most 120 characters (160 for parameters, elements and attributes) without a final period: it is shown in lists and tables."},
		{"CT004", "A description is plain text of at most 2,048 characters: clients cut longer ones silently. The text of a skill may have 8,192."},
		{"CT005", "A parameter's name is snake_case, at most 40 characters, and is not one that hosts use themselves."},
		{"CT006", "A constraint belongs to the type of its value: a boolean has no minimum, only an array has items, only an array of strings takes one_or_many, and only an object has members, or a key with variants."},
		{"CT007", "Bounds leave room for a value and are numbers every JSON reader keeps exact: a minimum is not above its maximum, an integer has whole bounds, a length is not negative, and one item is enough and not too much where one_or_many takes it. max_chars is at least 1,000, an exit code at most 255."},
		{"CT008", "A default has the type of its parameter and satisfies its constraints, as a value in a call must. Scalars and arrays of scalars can have one: an object's members have their own."},
		{"CT009", "A required parameter has no default: one of the two is a mistake."},
		{"CT010", "An enum lists at least one value, none twice, none empty or with blanks around it, and nothing else narrows the value."},
		{"CT011", "A pattern is valid RE2 and means the same in ECMA-262, because both clients and the program check it. pattern_says puts it in words."},
		{"CT012", "A repair fits the parameter: clamp needs a maximum, or clamp = [least, greatest], spelling an enum, from_scalar an array that does not take one item anyway (one_or_many)."},
		{"CT013", "A rule makes one demand on parameters of the tool. It names each once, and none that always has a value. The demands are: exclusive (at most one is given), at_least_one, exactly_one, or that given requires others."},
		{"CT014", "A command runs a command line of tools.toml, which has a program and valid names of environment variables. An end of options begins with a hyphen."},
		{"CT015", "A placeholder names a parameter of the tool, or ctx.conversation_id. A brace that is part of the text is written twice: {{ or }}."},
		{"CT016", "A value never chooses an option. If the text before it begins with a hyphen, that text is an option of one letter, such as -L, an option whose value has begun, such as -DNAME=, or a long option that ends with =. Digits and values of an enum may follow other text. A call is refused if its value begins an argument and begins with a hyphen, unless an option or the declared end of options comes before it."},
		{"CT017", "An argument is text with values in it, or a table with an option, a value, or both. Each is repeated for the items of one array. when and unless name boolean parameters that always have a value. Objects, and arrays of anything but scalars, go to standard input alone, as JSON."},
		{"CT018", "No argument and no environment variable is empty or contains a NUL. This holds for the values of calls too; empty = true permits it in an argument."},
		{"CT019", "Every element of an envelope is declared once and used; children name declared elements; nothing contains itself."},
		{"CT020", "Names of elements and attributes are snake_case, unique within their parent, and do not begin with xml; untrusted is written by the generator. Folders of specs, command lines and tags have such names too, and a folder is not a device of Windows, such as con or nul."},
		{"CT021", "A value's source exists: param names a parameter that always has a value and fits the type; from and text_from name keys of the command's JSON, each read once in an element; a fixed value is text."},
		{"CT022", "A body and children exclude each other; an element has one or the other, or nothing."},
		{"CT023", "A tool says how it works: handler = \"go\", or a command whose records, their number and notes fill the whole answer."},
		{"CT024", "The tool accepts the arguments of an example, by its rules too."},
		{"CT025", "A tool with a required parameter has an example: corrected calls have their values from it."},
		{"CT026", "Names stay distinct as Go identifiers, packages and files."},
		{"CT027", "A path of a target is relative, clean, and inside the project, and no part of it is a device of Windows, such as con or nul. Go code is in a folder that the go command reads, and a skill is a .toml file of its own."},
		{"CT028", "A skill names tools that exist, each once."},
		{"CT029", "Every target can take the tool: its name and its description, with what was lowered into it, keep to the target's limits."},
		{"CT030", "The command of the JP target has {{context}} and {{tool}}, which JP replaces by the call, and is one line."},
		{"CT031", "An answer is an envelope; what a command prints in JSON, with answer = \"json\"; or what a handler in Go makes, with answer = \"text\", or answer = \"json\" and a [result]. Only an envelope has the table [envelope], max_chars is there once, narrow names a parameter of a tool with a command, and structured is of an answer in JSON."},
		{"CT032", "An object has members, or a key and two variants or more, each with the members it adds to the key. Values are nested at most four levels deep."},
		{"CT033", "A format is the whole form of a string: of the other constraints only max_length goes with it."},
		{"CT034", "No two tools share a name: their own names, the names without a dot that some hosts need, the groups before the dot, and former names."},
		{"CT035", "An alias has a former name of the tool, and the last day on which it must work, as YYYY-MM-DD."},
		{"CT036", "The fields of a result have names of their own: ok, code, reason and notes are written by the generator, and so are the codes invalid_arguments, too_large and failed. Codes are snake_case and distinct."},
		{"CT037", "A change that breaks callers is accepted by its rule and its subject, as convgen breaking shows them, with a reason and the version that has it first."},
		{"CT038", "What a command prints has the keys of its form: path and may_be_absent are of JSON, fields, separator and end are of delimited, pattern with named groups is of regexp, and skip is of both. Records that are no JSON have the fields that from and text_from name, and no lists. An answer in JSON is of a form of JSON."},
		{"CT039", "A spec gives its command a folder below the directory of the call, 1 to 3,600 seconds, and environment variables. A parameter in the environment has an enum, a pattern or a format, because programs run what some variables name."},
		{"CT040", "Every exit code means one thing: an answer (ok_exit), an answer without records (empty_exit), or a failure, whose reason says in a line what went wrong and what to do about it."},
		{"CT041", "Every parameter of a command tool is used: in an argument, in a condition of one, in a variable of the environment, in the standard input, or in the answer. No value of a caller is ignored."},
		{"SP001", "The file is valid TOML and UTF-8, and not nested too deep."},
		{"SP002", "Every key is known, and spelt exactly as documented."},
		{"SP003", "Every value has the type its key asks for."},
		{"SP004", "Every required key is there."},
		{"SP006", "Every pattern in specs is relative and matches files that can be read, of at most 256 KiB, and not tools.toml itself."},
	}
}
