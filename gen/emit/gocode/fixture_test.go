package gocode_test

import (
	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/runtime/commandline"
	"github.com/convtools/convtools/runtime/contract"
)

// library returns a contract with everything that the emitter can write: tools with and without handlers, and every
// type, constraint, repair, attribute, body and child.
func library() *ir.Contract {
	find, ls := findTool(), lsTool()
	return &ir.Contract{
		Families: []ir.Family{{
			Name:    "library",
			Package: "library",
			Import:  "github.com/convtools/convtools/generated/library",
			Dir:     "generated/library",
			Tools:   []ir.Tool{find, ls, pingTool(), studyTool()},
		}},
		CLIs: commandline.Lines{
			{Name: "catalogue", Command: []string{"catalogue"}, Env: "LIBRARY_CLI"},
			{Name: "shelves", Command: []string{"shelves", "--quiet"}},
		},
		Targets: ir.Targets{Module: "github.com/convtools/convtools", Generated: "generated"},
	}
}

// findTool returns a tool with a handler and every kind of parameter.
func findTool() ir.Tool {
	return ir.Tool{
		Name:        "library_find",
		Family:      "library",
		Short:       "find",
		GoName:      "Find",
		Source:      "specs/library/find.toml",
		Summary:     "Find books by a word on their pages",
		Description: "Looks through the pages of all books.\n\nReturns a <library_find>.",
		Effect:      ir.Read,
		Handler:     ir.HandlerGo,
		Params: []ir.Param{
			{
				Name: "word", GoName: "Word", Kind: ir.String, Required: true,
				Summary:     "Word to look for",
				Constraints: ir.Constraints{MinLength: new(int64(1)), MaxLength: new(int64(20)), NotBlank: true, SingleLine: true},
			},
			{
				Name: "limit", GoName: "Limit", Kind: ir.Integer, Default: int64(10),
				Summary:     "Most hits to return",
				Constraints: ir.Constraints{Minimum: new(float64(1)), Maximum: new(float64(50))},
				Repairs:     []contract.Repair{contract.FromString, contract.ToBounds},
			},
			{
				Name: "page", GoName: "Page", Kind: ir.Integer,
				Summary:     "Only this page",
				Constraints: ir.Constraints{Minimum: new(float64(1))},
				Repairs:     []contract.Repair{contract.FromString},
			},
			{
				Name: "last", GoName: "Last", Kind: ir.Integer,
				Summary: "Only this many pages from the end",
			},
			{
				Name: "order", GoName: "Order", Kind: ir.String, Default: "by-title",
				Summary:     "How hits are sorted",
				Constraints: ir.Constraints{Enum: []string{"by-title", "by-year", "by-shelf"}},
				Repairs:     []contract.Repair{contract.ToSpelling},
			},
			{
				Name: "scopes", GoName: "Scopes", Kind: ir.Array, Default: []string{"text", "notes"},
				Summary:     "Where to look",
				Constraints: ir.Constraints{MinItems: new(int64(1)), MaxItems: new(int64(3))},
				Items:       &ir.Param{Kind: ir.String, Constraints: ir.Constraints{Enum: []string{"text", "notes", "index"}}},
				Repairs:     []contract.Repair{contract.FromString, contract.FromScalar, contract.ToSpelling},
			},
			{
				Name: "ids", GoName: "IDs", Kind: ir.Array,
				Summary: "Only these books",
				Items:   &ir.Param{Kind: ir.String, Constraints: ir.Constraints{Pattern: `^[a-z0-9-]{1,8}$`, PatternSays: "be the id of a book, such as b-17"}},
				Repairs: []contract.Repair{contract.FromString, contract.FromScalar, contract.FromInteger},
			},
			{
				Name: "shelf", GoName: "Shelf", Kind: ir.String,
				Summary:     "Only this shelf",
				Constraints: ir.Constraints{Pattern: `^(north|south)-[0-9]+$`},
				Repairs:     []contract.Repair{contract.FromInteger},
			},
			{
				Name: "lent", GoName: "Lent", Kind: ir.Boolean,
				Summary: "Only books that are lent, or only books that are not",
				Repairs: []contract.Repair{contract.FromString},
			},
			{
				Name: "fold_case", GoName: "FoldCase", Kind: ir.Boolean, Default: true,
				Summary: "Whether upper and lower case count as equal.",
			},
		},
		Rules:    []ir.Rule{{Exclusive: []string{"page", "last"}}, {Exclusive: []string{"ids", "shelf", "lent"}}},
		MaxChars: 1000,
		Envelope: ir.Envelope{
			Root: "library_find",
			Elements: []ir.Element{
				{
					Name: "library_find", GoName: "FindLibraryFind",
					Attributes: []ir.Attribute{
						{Name: "version", GoName: "Version", Type: ir.TextAttribute, Presence: ir.Always, Fixed: "1"},
						{Name: "hits", GoName: "Hits", Type: ir.IntegerAttribute, Presence: ir.Always, Summary: "Hits in all"},
						{Name: "limit", GoName: "Limit", Type: ir.IntegerAttribute, Presence: ir.Always, Param: "limit", Summary: "Most hits to return"},
						{Name: "page", GoName: "Page", Type: ir.IntegerAttribute, Presence: ir.NonZero, Summary: "The only page"},
						{Name: "lent", GoName: "Lent", Type: ir.BooleanAttribute, Presence: ir.Nullable, Summary: "What was asked for"},
						{Name: "scopes", GoName: "ScopeList", Type: ir.TextAttribute, Presence: ir.Always, Summary: "Where was looked"},
						{Name: "truncated", GoName: "Truncated", Type: ir.BooleanAttribute, Presence: ir.NonZero, Summary: "Whether hits were left out"},
					},
					Children: []ir.Child{
						{Element: "book", GoName: "Books", Many: true},
						{Element: "librarian", GoName: "Librarian", Optional: true},
						{Element: "note", GoName: "Notes", Many: true},
					},
				},
				{
					Name: "book", GoName: "FindBook", Summary: "One book",
					Attributes: []ir.Attribute{
						{Name: "id", GoName: "ID", Type: ir.TextAttribute, Presence: ir.Always, From: "id", Summary: "The book"},
						{Name: "year", GoName: "Year", Type: ir.IntegerAttribute, Presence: ir.NonZero, From: "year", Summary: "When it was printed"},
						{Name: "lent_at", GoName: "LentAt", Type: ir.TimeAttribute, Presence: ir.NonZero, From: "lent_at", Summary: "When it was lent"},
						{Name: "signed", GoName: "Signed", Type: ir.BooleanAttribute, Presence: ir.Nullable, From: "signed", Summary: "Whether its author signed it"},
						{Name: "back_at", GoName: "BackAt", Type: ir.TimeAttribute, Presence: ir.Nullable, Summary: "When it came back"},
						{Name: "copies", GoName: "Copies", Type: ir.IntegerAttribute, Presence: ir.Nullable, Summary: "Copies there are"},
						{Name: "room", GoName: "Room", Type: ir.TextAttribute, Presence: ir.NonZero, Summary: "Where it stands"},
					},
					Children: []ir.Child{
						{Element: "title", GoName: "Title"},
						{Element: "blurb", GoName: "Blurb", Optional: true},
						{Element: "card", GoName: "Card", Optional: true},
						{Element: "hit", GoName: "Hits", Many: true},
						{Element: "tag", GoName: "Tags", Many: true},
					},
				},
				{Name: "title", GoName: "FindTitle", Summary: "The title", Body: ir.InlineBody, From: "title"},
				{Name: "blurb", GoName: "FindBlurb", Summary: "The text on the back", Body: ir.BlockBody},
				{Name: "card", GoName: "FindCard", Summary: "The card of the book", Body: ir.JSONBody},
				{Name: "tag", GoName: "FindTag", Summary: "A word it is filed under", Body: ir.LinesBody, From: "tags", Beside: true},
				{
					Name: "hit", GoName: "FindHit", Summary: "A line with the word", Body: ir.InlineBody, From: "line", Separator: "gap",
					Attributes: []ir.Attribute{
						{Name: "page", GoName: "Page", Type: ir.IntegerAttribute, Presence: ir.Always, From: "page", Summary: "Its page"},
					},
				},
				{
					Name: "librarian", GoName: "FindLibrarian", Summary: "Whom to ask",
					Attributes: []ir.Attribute{
						{Name: "desk", GoName: "Desk", Type: ir.IntegerAttribute, Presence: ir.Always, Summary: "The desk"},
					},
				},
				{Name: "note", GoName: "FindNote", Summary: "A remark on the answer", Body: ir.InlineBody},
			},
		},
		Examples: []ir.Example{
			{Summary: "Where are tides mentioned?", Arguments: `{"word": "tide", "limit": 5}`},
		},
	}
}

// lsTool returns a tool without a handler: its command's records become the answer.
func lsTool() ir.Tool {
	return ir.Tool{
		Name:    "library_ls",
		Family:  "library",
		Short:   "ls",
		GoName:  "Ls",
		Source:  "specs/library/ls.toml",
		Summary: "List the books of a shelf",
		Effect:  ir.Read,
		Handler: ir.HandlerCommand,
		Params: []ir.Param{
			{
				Name: "shelf", GoName: "Shelf", Kind: ir.String, Required: true,
				Summary:     "The shelf",
				Constraints: ir.Constraints{Pattern: `^[a-zé]+$`, PatternSays: "be the name of a shelf"},
			},
			{Name: "lent", GoName: "Lent", Kind: ir.Boolean, Default: false, Summary: "Also list books that are lent"},
		},
		Command: &commandline.Command{
			Line: "shelves",
			Args: []commandline.Arg{
				{Value: []commandline.Part{{Text: "ls"}}},
				{Value: []commandline.Part{{Text: "--json"}}},
				{Value: []commandline.Part{{Text: "--lent"}}, When: "lent"},
				{Value: []commandline.Part{{Text: "--"}}},
				{Value: []commandline.Part{{Value: "shelf"}}},
			},
			OKExit: []int{0, 2}, EmptyExit: []int{2},
			Failures: []commandline.ExitFailure{{Exit: []int{4, 5}, Reason: "The library is closed. Come back later.", Transient: true}},
			Stdin:    []commandline.Part{{Text: "shelf: "}, {Value: "shelf"}},
			Env: []commandline.Variable{
				{Name: "READER", Value: []commandline.Part{{Value: commandline.CallingConversation}}},
				{Name: "LENT", Value: []commandline.Part{{Value: "lent"}}},
				{Name: "PAGER"},
			},
			Timeout: 20,
		},
		MaxChars: 600,
		Envelope: ir.Envelope{
			Root: "library_ls",
			Elements: []ir.Element{
				{
					Name: "library_ls", GoName: "LsLibraryLs",
					Attributes: []ir.Attribute{
						{Name: "shelf", GoName: "Shelf", Type: ir.TextAttribute, Presence: ir.Always, Param: "shelf", Summary: "The shelf"},
						{Name: "count", GoName: "Count", Type: ir.IntegerAttribute, Presence: ir.Always, From: "count", Counts: true, Summary: "Books shown"},
					},
					Children: []ir.Child{
						{Element: "book", GoName: "Books", Many: true, From: "records"},
						{Element: "note", GoName: "Notes", Many: true},
					},
				},
				{
					Name: "book", GoName: "LsBook", Summary: "One book",
					Attributes: []ir.Attribute{
						{Name: "id", GoName: "ID", Type: ir.TextAttribute, Presence: ir.Always, From: "id", Summary: "The book"},
						{Name: "pages", GoName: "Pages", Type: ir.IntegerAttribute, Presence: ir.NonZero, From: "page_count", Summary: "Its pages"},
						{Name: "lent_at", GoName: "LentAt", Type: ir.TimeAttribute, Presence: ir.NonZero, From: "lent_at", Summary: "When it was lent"},
					},
					Children: []ir.Child{{Element: "title", GoName: "Title", Optional: true}},
				},
				{Name: "title", GoName: "LsTitle", Summary: "The title", Body: ir.InlineBody, From: "title"},
				{Name: "note", GoName: "LsNote", Summary: "A remark on the answer", Body: ir.InlineBody},
			},
		},
		Examples: []ir.Example{{Summary: "What is on the shelf of maps?", Arguments: `{"shelf": "maps"}`}},
	}
}

// pingTool returns a tool without optional parts.
func pingTool() ir.Tool {
	return ir.Tool{
		Name: "library_ping", Family: "library", Short: "ping", GoName: "Ping", Source: "specs/library/ping.toml",
		Summary: "Say whether the library is open", Effect: ir.Read, Handler: ir.HandlerGo,
		Envelope: ir.Envelope{Root: "library_ping", Elements: []ir.Element{{Name: "library_ping", GoName: "PingLibraryPing"}}},
	}
}

// studyTool returns a tool that answers with text, has a name without its family's, and takes parameters of one or
// many strings.
func studyTool() ir.Tool {
	return ir.Tool{
		Name: "study", Family: "library", Short: "study", GoName: "Study", Source: "specs/library/study.toml",
		Summary: "Read about subjects", Effect: ir.Read, Handler: ir.HandlerGo,
		Answer: ir.TextAnswer, MaxChars: 2000,
		Params: []ir.Param{
			{
				Name: "subjects", GoName: "Subjects", Kind: ir.Array, OneOrMany: true, Required: true,
				Summary:     "What to read about",
				Constraints: ir.Constraints{MinItems: new(int64(1)), MaxItems: new(int64(3))},
				Items:       &ir.Param{Kind: ir.String, Constraints: ir.Constraints{MaxLength: new(int64(12)), SingleLine: true}},
			},
			{
				Name: "rooms", GoName: "Rooms", Kind: ir.Array, OneOrMany: true, Default: []string{"north"},
				Summary: "Where to read",
				Items:   &ir.Param{Kind: ir.String, Constraints: ir.Constraints{Enum: []string{"north", "south"}}},
				Repairs: []contract.Repair{contract.ToSpelling},
			},
			{
				Name: "ids", GoName: "IDs", Kind: ir.Array, OneOrMany: true,
				Summary: "Only these books",
				Items:   &ir.Param{Kind: ir.String, Constraints: ir.Constraints{Pattern: `^[a-z0-9-]{1,8}$`, PatternSays: "be the id of a book, such as b-17"}},
				Repairs: []contract.Repair{contract.FromInteger},
			},
			{Name: "words", GoName: "Words", Kind: ir.Array, OneOrMany: true, Summary: "Words to look up"},
		},
		Examples: []ir.Example{{Summary: "About tides", Arguments: `{"subjects": "tides"}`}},
	}
}
