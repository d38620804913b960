package lock_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/ir/irtest"
	"github.com/convtools/convtools/gen/lock"
	"github.com/convtools/convtools/runtime/contract"
)

const today = "2026-11-22"

func ptr(n int64) *int64 { return &n }

func bound(n float64) *float64 { return &n }

func facts(t testing.TB, c *ir.Contract) lock.Contract {
	t.Helper()
	all, err := lock.Facts(c)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func tool(c *ir.Contract, name string) *ir.Tool {
	for _, t := range c.Tools() {
		if t.Name == name {
			return t
		}
	}
	panic("no tool " + name)
}

// withPlace returns an object with variants that TestCompare adds to both contracts of every case.
func withPlace(c *ir.Contract) *ir.Param { return tool(c, "conversation_list").Param("place") }

// result returns the result that TestCompare adds to a tool in both contracts of every case.
func result(c *ir.Contract) *ir.Result { return &tool(c, "note_clear").Result }

func withMore(c *ir.Contract) *ir.Contract {
	*result(c) = ir.Result{Codes: []string{"not_found"}, Fields: []ir.Param{
		{Name: "count", Kind: ir.Integer, Required: true},
		{Name: "owner", Kind: ir.String, Required: true, Nullable: true},
		{Name: "entries", Kind: ir.Array, Required: true, Items: &ir.Param{Kind: ir.Object, Key: "kind", Variants: []ir.Variant{
			{Value: "text", Members: []ir.Param{{Name: "text", Kind: ir.String, Required: true}}}, {Value: "line"},
		}}},
	}}
	t := tool(c, "conversation_list")
	t.Params = append(t.Params, ir.Param{Name: "place", Kind: ir.Object, Key: "kind", Variants: []ir.Variant{
		{Value: "shelf", Members: []ir.Param{{Name: "number", Kind: ir.Integer}}},
		{Value: "room", Members: []ir.Param{{Name: "since", Kind: ir.String, Constraints: ir.Constraints{Format: "date"}}}},
	}})
	return c
}

// Each rule has a case: an edit of the contract, and all changes that Compare reports. The reverse of an edit is a
// case of its own.
var cases = []struct {
	name string
	edit func(c *ir.Contract)
	// backwards uses the edited contract as the old one.
	backwards bool
	want      []string
}{
	{
		name: "an answer in JSON",
		edit: func(c *ir.Contract) { tool(c, "learn").Answer = ir.JSONAnswer },
		want: []string{"breaking: tool learn: the answer was plain text and is JSON [answer-changed]"},
	},
	{
		name: "field-removed",
		edit: func(c *ir.Contract) { r := result(c); r.Fields = r.Fields[:2] },
		want: []string{"breaking: tool note_clear, field entries: removed [field-removed]"},
	},
	{
		name: "field-added", backwards: true,
		edit: func(c *ir.Contract) { r := result(c); r.Fields = r.Fields[:2] },
		want: []string{"safe: tool note_clear, field entries: added [field-added]"},
	},
	{
		name: "field-type-changed",
		edit: func(c *ir.Contract) { result(c).Fields[2].Items.Nullable = true },
		want: []string{"breaking: tool note_clear, field entries: the type was array of object and is array of object or null [field-type-changed]"},
	},
	{
		name: "field-became-optional",
		edit: func(c *ir.Contract) { result(c).Fields[0].Required = false },
		want: []string{"breaking: tool note_clear, field count: the presence was always and is optional [field-became-optional]"},
	},
	{
		name: "field-became-certain",
		edit: func(c *ir.Contract) { result(c).Fields[1].Nullable = false },
		want: []string{"safe: tool note_clear, field owner: the presence was nullable and is always [field-became-certain]"},
	},
	{
		name: "field-order-changed",
		edit: func(c *ir.Contract) { f := result(c).Fields; f[0], f[1] = f[1], f[0] },
		want: []string{"breaking: tool note_clear: the order was count, owner, entries and is owner, count, entries [field-order-changed]"},
	},
	{
		name: "field-variant-removed",
		edit: func(c *ir.Contract) { p := result(c).Fields[2].Items; p.Variants = p.Variants[:1] },
		want: []string{"breaking: tool note_clear, field entries, variant line: removed [field-variant-removed]"},
	},
	{
		name: "field-variant-added", backwards: true,
		edit: func(c *ir.Contract) { p := result(c).Fields[2].Items; p.Variants = p.Variants[:1] },
		want: []string{"risky: tool note_clear, field entries, variant line: added [field-variant-added]"},
	},
	{
		name: "a field inside of another",
		edit: func(c *ir.Contract) { result(c).Fields[2].Items.Variants[0].Members[0].Kind = ir.Integer },
		want: []string{"breaking: tool note_clear, field entries, variant text, field text: the type was string and is integer [field-type-changed]"},
	},
	{
		name: "result-code-removed",
		edit: func(c *ir.Contract) { result(c).Codes = nil },
		want: []string{"breaking: tool note_clear, code not_found: removed [result-code-removed]"},
	},
	{
		name: "result-code-added",
		edit: func(c *ir.Contract) { r := result(c); r.Codes = append(r.Codes, "busy") },
		want: []string{"risky: tool note_clear, code busy: added [result-code-added]"},
	},
	{
		name: "tool-renamed",
		edit: func(c *ir.Contract) {
			t := tool(c, "note_clear")
			t.Name, t.Effect = "note.wipe", ir.Read
			t.Aliases = []ir.Alias{{Name: "note_clear", Until: "2027-06-30"}}
		},
		want: []string{
			"safe: tool note.wipe: the effect was write and is read [effect-became-read]",
			"safe: tool note_clear: it is tool note.wipe now [tool-renamed]",
		},
	},
	{
		name: "alias-added",
		edit: func(c *ir.Contract) {
			tool(c, "note_clear").Aliases = []ir.Alias{{Name: "note_wipe", Until: "2027-06-30"}}
		},
		want: []string{"safe: tool note_clear, alias note_wipe: added [alias-added]"},
	},
	{
		name: "alias-removed", backwards: true,
		edit: func(c *ir.Contract) {
			tool(c, "note_clear").Aliases = []ir.Alias{{Name: "note_wipe", Until: today}}
		},
		want: []string{"breaking: tool note_clear, alias note_wipe: removed, and it is promised until 2026-11-22 [alias-removed]"},
	},
	{
		name: "alias-expired", backwards: true,
		edit: func(c *ir.Contract) {
			tool(c, "note_clear").Aliases = []ir.Alias{{Name: "note_wipe", Until: "2026-11-21"}}
		},
		want: []string{"safe: tool note_clear, alias note_wipe: removed [alias-expired]"},
	},
	{
		name: "format-added",
		edit: func(c *ir.Contract) { tool(c, "note_add").Param("text").Format = "date" },
		want: []string{`breaking: tool note_add, parameter text: format is "date" [format-added]`},
	},
	{
		name: "a format of items that is gone", backwards: true,
		edit: func(c *ir.Contract) { tool(c, "note_add").Param("tags").Items.Format = "date" },
		want: []string{`safe: tool note_add, parameter tags: items.format was "date" and is none [constraint-relaxed]`},
	},
	{
		name: "nullable-added",
		edit: func(c *ir.Contract) { tool(c, "note_add").Param("text").Nullable = true },
		want: []string{"safe: tool note_add, parameter text: nullable: null is accepted [nullable-added]"},
	},
	{
		name: "nullable-removed", backwards: true,
		edit: func(c *ir.Contract) { tool(c, "note_add").Param("tags").Items.Nullable = true },
		want: []string{"breaking: tool note_add, parameter tags: items.nullable: null is no longer accepted [nullable-removed]"},
	},
	{
		name: "items of another type",
		edit: func(c *ir.Contract) { tool(c, "note_add").Param("tags").Items = &ir.Param{Kind: ir.Integer} },
		want: []string{"breaking: tool note_add, parameter tags: the type was array and is array of integer [parameter-type-changed]"},
	},
	{
		name: "an integer that may be any number",
		edit: func(c *ir.Contract) { tool(c, "conversation_read").Param("turn").Kind = ir.Number },
		want: []string{"safe: tool conversation_read, parameter turn: the type was integer and is number [constraint-relaxed]"},
	},
	{
		name: "at-least-one-added",
		edit: func(c *ir.Contract) {
			t := tool(c, "note_add")
			t.Rules = append(t.Rules, ir.Rule{AtLeastOne: []string{"tags", "text"}})
		},
		want: []string{"breaking: tool note_add: one of tags, text has to be given [at-least-one-added]"},
	},
	{
		name: "at-least-one-removed", backwards: true,
		edit: func(c *ir.Contract) {
			t := tool(c, "note_add")
			t.Rules = append(t.Rules, ir.Rule{ExactlyOne: []string{"text", "tags"}})
		},
		want: []string{
			"safe: tool note_add: no longer: one of tags, text has to be given [at-least-one-removed]",
			"safe: tool note_add: no longer: tags and text exclude each other [exclusive-removed]",
		},
	},
	{
		name: "exactly one in the place of two rules",
		edit: func(c *ir.Contract) {
			tool(c, "conversation_read").Rules = []ir.Rule{{ExactlyOne: []string{"last", "turn"}}}
		},
		want: []string{"breaking: tool conversation_read: one of last, turn has to be given [at-least-one-added]"},
	},
	{
		name: "requires-added",
		edit: func(c *ir.Contract) {
			t := tool(c, "note_add")
			t.Rules = append(t.Rules, ir.Rule{Given: "tags", Requires: []string{"text"}})
		},
		want: []string{"breaking: tool note_add: tags has to be given together with text [requires-added]"},
	},
	{
		name: "requires-removed", backwards: true,
		edit: func(c *ir.Contract) {
			t := tool(c, "note_add")
			t.Rules = append(t.Rules, ir.Rule{Given: "tags", Requires: []string{"text"}})
		},
		want: []string{"safe: tool note_add: no longer: tags has to be given together with text [requires-removed]"},
	},
	{
		name: "a member", // of an object, is compared like a parameter
		edit: func(c *ir.Contract) {
			withPlace(c).Variants[0].Members[0].Required = true
		},
		want: []string{"breaking: tool conversation_list, parameter place, variant shelf, member number: it was optional and is required [parameter-became-required]"},
	},
	{
		name: "variant-added",
		edit: func(c *ir.Contract) {
			p := withPlace(c)
			p.Variants = append(p.Variants, ir.Variant{Value: "attic"})
		},
		want: []string{"safe: tool conversation_list, parameter place, variant attic: added [variant-added]"},
	},
	{
		name: "variant-removed",
		edit: func(c *ir.Contract) { p := withPlace(c); p.Variants = p.Variants[:1] },
		want: []string{"breaking: tool conversation_list, parameter place, variant room: removed [variant-removed]"},
	},
	{
		name: "key-changed",
		edit: func(c *ir.Contract) { withPlace(c).Key = "type" },
		want: []string{`breaking: tool conversation_list, parameter place: key was kind and is type [key-changed]`},
	},
	{
		name: "format-changed",
		edit: func(c *ir.Contract) { withPlace(c).Variants[1].Members[0].Format = "uri" },
		want: []string{`breaking: tool conversation_list, parameter place, variant room, member since: format was "date" and is "uri" [format-changed]`},
	},
	{
		name: "tool-removed",
		edit: func(c *ir.Contract) { c.Families[1].Tools = c.Families[1].Tools[:1] },
		want: []string{"breaking: tool note_clear: removed [tool-removed]"},
	},
	{
		name: "tool-added", backwards: true,
		edit: func(c *ir.Contract) { c.Families[1].Tools = c.Families[1].Tools[:1] },
		want: []string{"safe: tool note_clear: added [tool-added]"},
	},
	{
		name: "a renamed tool",
		edit: func(c *ir.Contract) { tool(c, "note_clear").Name = "note_wipe" },
		want: []string{
			"breaking: tool note_clear: removed [tool-removed]",
			"safe: tool note_wipe: added [tool-added]",
		},
	},
	{
		name: "effect-became-write",
		edit: func(c *ir.Contract) { tool(c, "conversation_list").Effect = ir.Write },
		want: []string{"risky: tool conversation_list: the effect was read and is write [effect-became-write]"},
	},
	{
		name: "effect-became-read",
		edit: func(c *ir.Contract) { tool(c, "note_clear").Effect = ir.Read },
		want: []string{"safe: tool note_clear: the effect was write and is read [effect-became-read]"},
	},
	{
		name: "parameter-removed",
		edit: func(c *ir.Contract) { t := tool(c, "note_add"); t.Params = t.Params[:1] },
		want: []string{"breaking: tool note_add, parameter tags: removed [parameter-removed]"},
	},
	{
		name: "optional-parameter-added", backwards: true,
		edit: func(c *ir.Contract) { t := tool(c, "note_add"); t.Params = t.Params[:1] },
		want: []string{"safe: tool note_add, parameter tags: added [optional-parameter-added]"},
	},
	{
		name: "required-parameter-added",
		edit: func(c *ir.Contract) {
			tool(c, "note_clear").Params = []ir.Param{{Name: "sure", Kind: ir.Boolean, Required: true}}
		},
		want: []string{"breaking: tool note_clear, parameter sure: added, and required [required-parameter-added]"},
	},
	{
		name: "parameter-became-required",
		edit: func(c *ir.Contract) { tool(c, "note_add").Param("tags").Required = true },
		want: []string{"breaking: tool note_add, parameter tags: it was optional and is required [parameter-became-required]"},
	},
	{
		name: "parameter-became-optional",
		edit: func(c *ir.Contract) { tool(c, "note_add").Param("text").Required = false },
		want: []string{"safe: tool note_add, parameter text: it was required and is optional [parameter-became-optional]"},
	},
	{
		name: "parameter-type-changed",
		edit: func(c *ir.Contract) {
			*tool(c, "conversation_list").Param("limit") = ir.Param{Name: "limit", Kind: ir.String, Default: "all"}
		},
		want: []string{"breaking: tool conversation_list, parameter limit: the type was integer and is string [parameter-type-changed]"},
	},
	{
		name: "one-or-many-added",
		edit: func(c *ir.Contract) { tool(c, "note_add").Param("tags").OneOrMany = true },
		want: []string{"safe: tool note_add, parameter tags: one item is accepted in the place of an array [one-or-many-added]"},
	},
	{
		name: "one-or-many-added in the place of repairs",
		edit: func(c *ir.Contract) {
			p := tool(c, "conversation_grep").Param("ids")
			p.OneOrMany, p.Repairs = true, nil
		},
		want: []string{
			`breaking: tool conversation_grep, parameter ids: repair "from_integer" is removed [repair-removed]`,
			"safe: tool conversation_grep, parameter ids: one item is accepted in the place of an array [one-or-many-added]",
		},
	},
	{
		name: "one-or-many-removed",
		edit: func(c *ir.Contract) { tool(c, "learn").Param("subjects").OneOrMany = false },
		want: []string{"breaking: tool learn, parameter subjects: only an array is accepted, and no longer one item [one-or-many-removed]"},
	},
	{
		name: "default-changed",
		edit: func(c *ir.Contract) { tool(c, "conversation_grep").Param("scopes").Default = []string{"tool", "<b>"} },
		want: []string{`risky: tool conversation_grep, parameter scopes: the default was ["chat"] and is ["tool","<b>"] [default-changed]`},
	},
	{
		name: "default-removed",
		edit: func(c *ir.Contract) { tool(c, "conversation_list").Param("sort").Default = nil },
		want: []string{`risky: tool conversation_list, parameter sort: the default was "activity", there is none [default-removed]`},
	},
	{
		name: "default-added",
		edit: func(c *ir.Contract) { tool(c, "conversation_read").Param("last").Default = int64(3) },
		want: []string{"risky: tool conversation_read, parameter last: there was no default, it is 3 [default-added]"},
	},
	{
		name: "enum-added",
		edit: func(c *ir.Contract) { tool(c, "note_add").Param("text").Enum = []string{"b", "a"} },
		want: []string{`breaking: tool note_add, parameter text: enum: only "a", "b" are accepted [enum-added]`},
	},
	{
		name: "enum-removed",
		edit: func(c *ir.Contract) { tool(c, "conversation_list").Param("sort").Enum = nil },
		want: []string{"safe: tool conversation_list, parameter sort: enum: all strings are accepted [enum-removed]"},
	},
	{
		name: "enum-value-removed",
		edit: func(c *ir.Contract) {
			p := tool(c, "conversation_grep").Param("scopes")
			p.Items.Enum = slices.Delete(p.Items.Enum, 1, 2)
		},
		want: []string{`breaking: tool conversation_grep, parameter scopes: items.enum "tool" is removed [enum-value-removed]`},
	},
	{
		name: "enum-value-added",
		edit: func(c *ir.Contract) {
			p := tool(c, "conversation_list").Param("sort")
			p.Enum = append([]string{"title"}, p.Enum...)
		},
		want: []string{`safe: tool conversation_list, parameter sort: enum "title" is added [enum-value-added]`},
	},
	{
		name: "minimum-increased",
		edit: func(c *ir.Contract) { tool(c, "conversation_list").Param("limit").Minimum = bound(2) },
		want: []string{"breaking: tool conversation_list, parameter limit: minimum was 1 and is 2 [minimum-increased]"},
	},
	{
		name: "a lower minimum",
		edit: func(c *ir.Contract) { tool(c, "conversation_list").Param("limit").Minimum = bound(0) },
		want: []string{"safe: tool conversation_list, parameter limit: minimum was 1 and is 0 [constraint-relaxed]"},
	},
	{
		name: "a first minimum of 0",
		edit: func(c *ir.Contract) { tool(c, "conversation_list").Param("offset").Minimum = nil }, backwards: true,
		want: []string{"breaking: tool conversation_list, parameter offset: minimum was none and is 0 [minimum-increased]"},
	},
	{
		name: "no minimum",
		edit: func(c *ir.Contract) { tool(c, "conversation_list").Param("offset").Minimum = nil },
		want: []string{"safe: tool conversation_list, parameter offset: minimum was 0 and is none [constraint-relaxed]"},
	},
	{
		name: "maximum-decreased",
		edit: func(c *ir.Contract) { tool(c, "conversation_list").Param("limit").Maximum = bound(99) },
		want: []string{"breaking: tool conversation_list, parameter limit: maximum was 100 and is 99 [maximum-decreased]"},
	},
	{
		name: "a higher maximum",
		edit: func(c *ir.Contract) { tool(c, "conversation_list").Param("limit").Maximum = bound(101) },
		want: []string{"safe: tool conversation_list, parameter limit: maximum was 100 and is 101 [constraint-relaxed]"},
	},
	{
		name: "min-length-increased",
		edit: func(c *ir.Contract) { tool(c, "conversation_grep").Param("pattern").MinLength = ptr(2) },
		want: []string{"breaking: tool conversation_grep, parameter pattern: min_length was 1 and is 2 [min-length-increased]"},
	},
	{
		name: "max-length-decreased",
		edit: func(c *ir.Contract) { tool(c, "note_add").Param("tags").Items.MaxLength = ptr(2) },
		want: []string{"breaking: tool note_add, parameter tags: items.max_length was 3 and is 2 [max-length-decreased]"},
	},
	{
		name: "min-items-increased",
		edit: func(c *ir.Contract) { tool(c, "note_add").Param("tags").MinItems = ptr(1) },
		want: []string{"breaking: tool note_add, parameter tags: min_items was none and is 1 [min-items-increased]"},
	},
	{
		name: "max-items-decreased",
		edit: func(c *ir.Contract) { tool(c, "conversation_grep").Param("ids").MaxItems = ptr(5) },
		want: []string{"breaking: tool conversation_grep, parameter ids: max_items was 50 and is 5 [max-items-decreased]"},
	},
	{
		name: "constraint-relaxed",
		edit: func(c *ir.Contract) { tool(c, "conversation_grep").Param("ids").MaxItems = nil },
		want: []string{"safe: tool conversation_grep, parameter ids: max_items was 50 and is none [constraint-relaxed]"},
	},
	{
		name: "pattern-added",
		edit: func(c *ir.Contract) { tool(c, "note_add").Param("text").Pattern = "^a$" },
		want: []string{`breaking: tool note_add, parameter text: pattern is "^a$" [pattern-added]`},
	},
	{
		name: "pattern-changed",
		edit: func(c *ir.Contract) { tool(c, "conversation_grep").Param("ids").Items.Pattern = "^b$" },
		want: []string{`breaking: tool conversation_grep, parameter ids: items.pattern was "^(jp-c)?[0-9]{1,17}$" and is "^b$" [pattern-changed]`},
	},
	{
		name: "no pattern",
		edit: func(c *ir.Contract) { tool(c, "conversation_read").Param("id").Pattern = "" },
		want: []string{`safe: tool conversation_read, parameter id: pattern was "^(jp-c)?[0-9]{1,17}$" and is none [constraint-relaxed]`},
	},
	{
		name: "not-blank-added",
		edit: func(c *ir.Contract) { tool(c, "note_add").Param("tags").Items.NotBlank = true },
		want: []string{"breaking: tool note_add, parameter tags: items.not_blank is demanded [not-blank-added]"},
	},
	{
		name: "single-line-added",
		edit: func(c *ir.Contract) { tool(c, "note_add").Param("text").SingleLine = true },
		want: []string{"breaking: tool note_add, parameter text: single_line is demanded [single-line-added]"},
	},
	{
		name: "blank texts allowed",
		edit: func(c *ir.Contract) { tool(c, "note_add").Param("text").NotBlank = false },
		want: []string{"safe: tool note_add, parameter text: not_blank is no longer demanded [constraint-relaxed]"},
	},
	{
		name: "repair-removed",
		edit: func(c *ir.Contract) {
			tool(c, "conversation_list").Param("limit").Repairs = []contract.Repair{contract.ToBounds}
		},
		want: []string{`breaking: tool conversation_list, parameter limit: repair "from_string" is removed [repair-removed]`},
	},
	{
		name: "repair-added",
		edit: func(c *ir.Contract) {
			tool(c, "note_add").Param("text").Repairs = []contract.Repair{contract.FromInteger}
		},
		want: []string{`safe: tool note_add, parameter text: repair "from_integer" is added [repair-added]`},
	},
	{
		name: "exclusive-added",
		edit: func(c *ir.Contract) {
			tool(c, "note_add").Rules = []ir.Rule{{Exclusive: []string{"text", "tags"}}}
		},
		want: []string{"breaking: tool note_add: tags and text exclude each other [exclusive-added]"},
	},
	{
		name: "exclusive-removed",
		edit: func(c *ir.Contract) { tool(c, "conversation_read").Rules = nil },
		want: []string{"safe: tool conversation_read: no longer: last and turn exclude each other [exclusive-removed]"},
	},
	{
		name: "a rule about one more parameter",
		edit: func(c *ir.Contract) { tool(c, "conversation_read").Rules[0].Exclusive = []string{"turn", "id", "last"} },
		want: []string{
			"breaking: tool conversation_read: id and last exclude each other [exclusive-added]",
			"breaking: tool conversation_read: id and turn exclude each other [exclusive-added]",
		},
	},
	{
		name: "the same rule in another order",
		edit: func(c *ir.Contract) { tool(c, "conversation_read").Rules[0].Exclusive = []string{"last", "turn"} },
	},
	{
		name: "answer-changed",
		edit: func(c *ir.Contract) {
			t := tool(c, "conversation_list")
			t.Answer, t.Envelope, t.MaxChars = ir.TextAnswer, ir.Envelope{}, 0
		},
		want: []string{
			"breaking: tool conversation_list: the answer was an envelope and is plain text [answer-changed]",
			"risky: tool conversation_list: the limit of characters was 40000 and is none [max-chars-changed]",
		},
	},
	{
		name: "from text to an envelope", backwards: true,
		edit: func(c *ir.Contract) {
			t := tool(c, "note_add")
			t.Answer, t.Envelope = ir.TextAnswer, ir.Envelope{}
		},
		want: []string{"breaking: tool note_add: the answer was plain text and is an envelope [answer-changed]"},
	},
	{
		name: "root-changed",
		edit: func(c *ir.Contract) {
			e := &tool(c, "note_clear").Envelope
			e.Root, e.Elements[0].Name = "cleared", "cleared"
		},
		want: []string{
			"breaking: tool note_clear: the root element was note_clear and is cleared [root-changed]",
			"breaking: tool note_clear, element note_clear: removed [element-removed]",
			"safe: tool note_clear, element cleared: added [element-added]",
		},
	},
	{
		name: "max-chars-changed",
		edit: func(c *ir.Contract) { tool(c, "note_clear").MaxChars = 100 },
		want: []string{"risky: tool note_clear: the limit of characters was none and is 100 [max-chars-changed]"},
	},
	{
		name: "element-removed",
		edit: func(c *ir.Contract) {
			e := &tool(c, "note_add").Envelope
			e.Elements = append(e.Elements, ir.Element{Name: "x"})
		}, backwards: true,
		want: []string{"breaking: tool note_add, element x: removed [element-removed]"},
	},
	{
		name: "element-added",
		edit: func(c *ir.Contract) {
			e := &tool(c, "note_add").Envelope
			e.Elements = append(e.Elements, ir.Element{Name: "x"})
		},
		want: []string{"safe: tool note_add, element x: added [element-added]"},
	},
	{
		name: "body-changed",
		edit: func(c *ir.Contract) { tool(c, "conversation_read").Envelope.Element("content").Body = ir.InlineBody },
		want: []string{"breaking: tool conversation_read, element content: the body was block and is inline [body-changed]"},
	},
	{
		name: "separator-changed",
		edit: func(c *ir.Contract) { tool(c, "conversation_grep").Envelope.Element("hit").Separator = "" },
		want: []string{"risky: tool conversation_grep, element hit: the separator was gap and is none [separator-changed]"},
	},
	{
		name: "attribute-removed",
		edit: func(c *ir.Contract) {
			e := tool(c, "conversation_grep").Envelope.Element("hit")
			e.Attributes = e.Attributes[1:]
		},
		want: []string{"breaking: tool conversation_grep, element hit, attribute turn: removed [attribute-removed]"},
	},
	{
		name: "attribute-added", backwards: true,
		edit: func(c *ir.Contract) {
			e := tool(c, "conversation_grep").Envelope.Element("hit")
			e.Attributes = e.Attributes[1:]
		},
		want: []string{"safe: tool conversation_grep, element hit, attribute turn: added [attribute-added]"},
	},
	{
		name: "attribute-type-changed",
		edit: func(c *ir.Contract) {
			tool(c, "conversation_grep").Envelope.Element("hit").Attributes[0].Type = ir.TextAttribute
		},
		want: []string{"breaking: tool conversation_grep, element hit, attribute turn: the type was integer and is string [attribute-type-changed]"},
	},
	{
		name: "attribute-became-optional",
		edit: func(c *ir.Contract) {
			tool(c, "conversation_grep").Envelope.Element("hit").Attributes[2].Presence = ir.Nullable
		},
		want: []string{"breaking: tool conversation_grep, element hit, attribute is_match: the presence was always and is nullable [attribute-became-optional]"},
	},
	{
		name: "an attribute that is left out when false",
		edit: func(c *ir.Contract) {
			tool(c, "conversation_read").Envelope.Element("event").Attributes[2].Presence = ir.NonZero
		},
		want: []string{"breaking: tool conversation_read, element event, attribute is_error: the presence was nullable and is optional [attribute-became-optional]"},
	},
	{
		name: "attribute-became-certain",
		edit: func(c *ir.Contract) {
			tool(c, "conversation_read").Envelope.Element("event").Attributes[2].Presence = ir.Always
		},
		want: []string{"safe: tool conversation_read, element event, attribute is_error: the presence was nullable and is always [attribute-became-certain]"},
	},
	{
		name: "attribute-value-changed",
		edit: func(c *ir.Contract) {
			tool(c, "conversation_list").Envelope.Elements[0].Attributes[2].Fixed = "2"
		},
		want: []string{`breaking: tool conversation_list, element conversation_list, attribute version: the value was always "1" and is "2" [attribute-value-changed]`},
	},
	{
		name: "attribute-value-fixed",
		edit: func(c *ir.Contract) {
			tool(c, "conversation_list").Envelope.Elements[0].Attributes[1].Fixed = "activity"
		},
		want: []string{`safe: tool conversation_list, element conversation_list, attribute sort: the value is always "activity" [attribute-value-fixed]`},
	},
	{
		name: "attribute-order-changed",
		edit: func(c *ir.Contract) { slices.Reverse(tool(c, "conversation_grep").Envelope.Element("hit").Attributes) },
		want: []string{"breaking: tool conversation_grep, element hit: the order was turn, timestamp, is_match and is is_match, timestamp, turn [attribute-order-changed]"},
	},
	{
		name: "child-removed",
		edit: func(c *ir.Contract) {
			e := tool(c, "conversation_read").Envelope.Element("event")
			e.Children = e.Children[1:]
		},
		want: []string{"breaking: tool conversation_read, element event, child arguments: removed [child-removed]"},
	},
	{
		name: "child-added", backwards: true,
		edit: func(c *ir.Contract) {
			e := tool(c, "conversation_read").Envelope.Element("event")
			e.Children = e.Children[1:]
		},
		want: []string{"safe: tool conversation_read, element event, child arguments: added [child-added]"},
	},
	{
		name: "child-order-changed",
		edit: func(c *ir.Contract) { slices.Reverse(tool(c, "conversation_read").Envelope.Element("event").Children) },
		want: []string{"breaking: tool conversation_read, element event: the order was arguments, content and is content, arguments [child-order-changed]"},
	},
	{
		name: "child-became-optional",
		edit: func(c *ir.Contract) {
			tool(c, "conversation_grep").Envelope.Element("conversation").Children[0].Optional = true
		},
		want: []string{"breaking: tool conversation_grep, element conversation, child title: it occurred once and occurs optional [child-became-optional]"},
	},
	{
		name: "child-became-certain", backwards: true,
		edit: func(c *ir.Contract) {
			tool(c, "conversation_grep").Envelope.Element("conversation").Children[0].Optional = true
		},
		want: []string{"safe: tool conversation_grep, element conversation, child title: it occurred optional and occurs once [child-became-certain]"},
	},
	{
		name: "child-became-many",
		edit: func(c *ir.Contract) { tool(c, "conversation_read").Envelope.Element("event").Children[1].Many = true },
		want: []string{"risky: tool conversation_read, element event, child content: it occurred optional and occurs many [child-became-many]"},
	},
	{
		name: "child-became-single",
		edit: func(c *ir.Contract) { tool(c, "conversation_read").Envelope.Element("turn").Children[0].Many = false },
		want: []string{"risky: tool conversation_read, element turn, child event: it occurred many and occurs once [child-became-single]"},
	},
	{
		name: "any number where there was one",
		edit: func(c *ir.Contract) {
			tool(c, "conversation_grep").Envelope.Element("conversation").Children[0].Many = true
		},
		want: []string{
			"breaking: tool conversation_grep, element conversation, child title: it occurred once and occurs many [child-became-optional]",
			"risky: tool conversation_grep, element conversation, child title: it occurred once and occurs many [child-became-many]",
		},
	},
}

func TestCompare(t *testing.T) {
	t.Parallel()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			edited := withMore(irtest.Contract())
			c.edit(edited)
			old, after := facts(t, withMore(irtest.Contract())), facts(t, edited)
			if c.backwards {
				old, after = after, old
			}
			changes := lock.Compare(old, after, today)
			var got []string
			for _, change := range changes {
				got = append(got, change.String())
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
		})
	}
}

// Every contract has all codes, so the test removes one from the facts.
func TestErrorCodes(t *testing.T) {
	t.Parallel()
	all, without := facts(t, irtest.Contract()), facts(t, irtest.Contract())
	without["error"] = slices.DeleteFunc(without["error"].([]any), func(code any) bool { return code == "blank" })
	for _, c := range []struct {
		old, after lock.Contract
		want       string
	}{
		{all, without, "breaking: error blank: removed [error-code-removed]"},
		{without, all, "risky: error blank: added [error-code-added]"},
	} {
		changes := lock.Compare(c.old, c.after, today)
		if len(changes) != 1 || changes[0].String() != c.want {
			t.Errorf("changes %v; want %s", changes, c.want)
		}
	}
}

// TestChanges runs the archives of changes, and requires one for each rule.
//
// UPDATE_GOLDEN=1 writes the output into the archives; read the difference before you commit it.
func TestChanges(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("../../testdata/specs/breaking/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{}
	for _, name := range names {
		archive, err := txtar.ParseFile(name)
		if err != nil || len(archive.Files) != 3 {
			t.Fatalf("%s: %v, %d files and not before, after and stdout", name, err, len(archive.Files))
		}
		before, err := lock.Parse(archive.Files[0].Data)
		if err != nil {
			t.Fatalf("%s: before: %v", name, err)
		}
		after, err := lock.Parse(archive.Files[1].Data)
		if err != nil {
			t.Fatalf("%s: after: %v", name, err)
		}
		changes := lock.Compare(before, after, today)
		var got strings.Builder
		rules := map[string]bool{}
		for _, change := range changes {
			fmt.Fprintln(&got, change)
			rules[change.Rule.ID] = true
		}
		fmt.Fprintf(&got, "\n%s.\n", lock.Summary(changes))
		base := strings.TrimSuffix(filepath.Base(name), ".txtar")
		shown[base] = rules[base]
		if os.Getenv("UPDATE_GOLDEN") == "1" && string(archive.Files[2].Data) != got.String() {
			archive.Files[2].Data = []byte(got.String())
			if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(string(archive.Files[2].Data), got.String()); diff != "" {
			t.Errorf("%s: what is printed differs (-want +got):\n%s", name, diff)
		}
	}
	for _, rule := range lock.Rules() {
		if !shown[rule.ID] {
			t.Errorf("no archive shows a change of the rule %s", rule.ID)
		}
	}
}

// Every rule has a case of its name, a unique id, and a reason.
func TestEveryRuleHasACase(t *testing.T) {
	t.Parallel()
	covered := map[string]bool{"error-code-added": true, "error-code-removed": true} // tested in TestErrorCodes
	for _, c := range cases {
		covered[c.name] = true
	}
	seen := map[string]bool{}
	for _, r := range lock.Rules() {
		if !covered[r.ID] {
			t.Errorf("rule %s has no case", r.ID)
		}
		if seen[r.ID] || r.Says == "" || r.Side == "" || r.Class == "" {
			t.Errorf("rule %+v is incomplete or there twice", r)
		}
		seen[r.ID] = true
	}
}
