// Package lower decides what a contract says to each target. A constraint that
// a target has no field for, or that clients keep from the model, is said in
// words, and each such step is reported. Wording is made here alone, so that
// every target says a thing the same way.
//
// It never changes a contract and never leaves anything out: what a target
// cannot take is a problem for the author of the spec.
package lower

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/convtools/convtools/gen/ir"
)

// Target is a consumer of tool definitions: what it takes, and the most it takes of it.
type Target struct {
	Name string // in reports

	MaxName        int // characters of a tool's name; 0: any name
	MaxDescription int // UTF-16 units of a description; 0: any number

	Dots   bool // a name may have a dot
	Groups bool // a name with a dot is a name in a group
	Schema bool // a JSON Schema is taken; else a type, a default and an enumeration
	Terse  bool // no description but the summary and the rules
}

// Name returns what target calls a tool, and the group it puts the tool into, if it
// has groups and the name a dot.
func Name(target Target, tool *ir.Tool) (group, name string) {
	before, after, dotted := strings.Cut(tool.Name, ".")
	switch {
	case dotted && target.Groups:
		return before, after
	case target.Dots:
		return "", tool.Name
	}
	return "", ir.Flat(tool.Name)
}

// Text is what one target says about one tool.
type Text struct {
	Group, Name string   // as [Name] returns them
	Summary     string   // one line
	Description string   // paragraphs separated by blank lines
	Parameters  []string // one line for each parameter of the tool, in its order
	inner       map[*ir.Param]string
	// Reports lists what was put into text, one line each.
	Reports []string
	// Problems lists what the target would refuse, one line each.
	Problems []string
}

// Of returns the line for a parameter of the tool, or for a value inside of one.
func (t *Text) Of(p *ir.Param) string { return t.inner[p] }

// maxParameterName is what the OpenAI and Anthropic APIs accept.
const maxParameterName = 64

// For returns what target says about tool.
func For(target Target, tool *ir.Tool) Text {
	return (&lowering{target: target, tool: tool}).lower()
}

// Brief is [For] without the words for parameters, which cost most.
func Brief(target Target, tool *ir.Tool) Text {
	return (&lowering{target: target, tool: tool, wordless: true}).lower()
}

type lowering struct {
	target   Target
	tool     *ir.Tool
	wordless bool // parameters get no lines
	text     Text
}

func (l *lowering) lower() Text {
	l.text.inner = map[*ir.Param]string{}
	l.text.Group, l.text.Name = Name(l.target, l.tool)
	l.text.Summary = oneLine(l.tool.Summary)
	l.parameters()
	l.description()
	l.names()
	return l.text
}

func (l *lowering) report(subject, format string, args ...any) {
	l.text.Reports = append(l.text.Reports, l.line(subject, format, args))
}

func (l *lowering) problem(subject, format string, args ...any) {
	l.text.Problems = append(l.text.Problems, l.line(subject, format, args))
}

func (l *lowering) line(subject, format string, args []any) string {
	where := l.tool.Name
	if subject != "" {
		where += "." + subject
	}
	return l.target.Name + ": " + where + ": " + fmt.Sprintf(format, args...)
}

func (l *lowering) parameters() {
	for i := range l.tool.Params {
		p := &l.tool.Params[i]
		var rules []constraint
		if !l.target.Schema {
			rules = relations(l.tool, p.Name)
		}
		l.value(p, p.Name, rules)
		l.text.Parameters = append(l.text.Parameters, l.text.Of(p))
	}
}

// value settles the line of a parameter, or of what stands at path inside of one,
// and of all that it holds.
func (l *lowering) value(p *ir.Param, path string, rules []constraint) {
	if !l.target.Schema {
		l.offered(p, path)
	}
	if !l.wordless {
		l.text.inner[p] = l.words(p, path, rules)
	}
	members := func(path string, list []ir.Param) {
		for i := range list {
			l.value(&list[i], path+"."+list[i].Name, nil)
		}
	}
	if p.Items != nil {
		// What narrows every item stands with its array, where all clients keep it.
		l.text.inner[p.Items] = oneLine(p.Items.Summary)
		if !l.target.Schema {
			l.offered(p.Items, path+"[]")
		}
		for item, path := p.Items, path+"[]"; item != nil; item, path = item.Items, path+"[]" {
			l.text.inner[item] = oneLine(item.Summary)
			members(path, item.Members)
			for i := range item.Variants {
				members(path, item.Variants[i].Members)
			}
		}
	}
	members(path, p.Members)
	for i := range p.Variants {
		members(path, p.Variants[i].Members)
	}
}

// words is the line of a parameter: its summary, with what narrows it.
func (l *lowering) words(p *ir.Param, path string, rules []constraint) string {
	text := oneLine(p.Summary)
	list := constraints(p)
	if !l.target.Schema {
		// JP's parameters have a type, a default and an enumeration. It sends
		// a parameter's summary to the model, but not the tool's description,
		// so rules between parameters stand here as well.
		list = append(list, rules...)
	} else {
		// A schema says all this in keywords, but clients drop what their own
		// schemas have no field for: of a parameter, Codex keeps the type, the
		// description, the items and the enumeration.
		list = append(list, fallback(p)...)
	}
	var facts, phrases []string
	for _, c := range list {
		if says(text, c.phrase) {
			continue
		}
		facts = append(facts, c.facts...)
		phrases = append(phrases, c.phrase)
	}
	if len(phrases) == 0 {
		return text
	}
	switch {
	case text == "" && l.target.Schema: // a member whose name says what it is
		return ""
	case text != "":
		l.report(path, "%s added to the summary", strings.Join(facts, ", "))
		return parenthesize(text, strings.Join(phrases, "; "))
	}
	return strings.Join(phrases, "; ")
}

// offered reports what JP does not offer of a value. It would hand a list of types,
// or alternatives, on to model providers, some of which refuse the whole request
// for either.
func (l *lowering) offered(p *ir.Param, path string) {
	if p.OneOrMany {
		l.report(path, "one_or_many left out: only an array is offered")
	}
	if p.Key == "" {
		return
	}
	l.report(path, "variants left out: the members of all are offered together")
	for _, m := range l.text.Merged(p) {
		for _, v := range p.Variants {
			for i := range v.Members {
				if other := &v.Members[i]; other.Name == m.Param.Name && (other.Kind != m.Param.Kind || other.Item().Kind != m.Param.Item().Kind) {
					l.problem(path, "%s has one type in every variant, or another name", m.Param.Name)
				}
			}
		}
	}
}

// Merged returns the members of an object with their lines, for a target that has one
// form of an object: where there are variants, the key with all of their values, and
// the members of every variant once. Those are not required there, and have no
// default, which a host would fill into the other variants.
func (t *Text) Merged(p *ir.Param) []Line {
	var merged []Line
	for i := range p.Members {
		merged = append(merged, Line{p.Members[i], t.Of(&p.Members[i])})
	}
	if p.Key == "" {
		return merged
	}
	key := ir.Param{Name: p.Key, Kind: ir.String, Required: true}
	for _, v := range p.Variants {
		key.Enum = append(key.Enum, v.Value)
	}
	merged = append(merged, Line{key, variantsSentence(p)})
	for i := range p.Variants {
		for j := range p.Variants[i].Members {
			m := &p.Variants[i].Members[j]
			if slices.ContainsFunc(merged, func(other Line) bool { return other.Param.Name == m.Name }) {
				continue
			}
			free := *m
			free.Required, free.Default = false, nil
			merged = append(merged, Line{free, t.Of(m)})
		}
	}
	return merged
}

// Line is a member with what a target says of it.
type Line struct {
	Param ir.Param
	Text  string
}

// variantsSentence is what the key of an object with variants decides: which other
// members go with each of its values.
func variantsSentence(p *ir.Param) string {
	var parts []string
	for _, v := range p.Variants {
		var names []string
		for _, m := range v.Members {
			name := m.Name
			if m.Required {
				name += " (required)"
			}
			names = append(names, name)
		}
		part := v.Value
		if len(names) > 0 {
			part += " with " + and(names)
		}
		parts = append(parts, part)
	}
	return "What the others are: " + strings.Join(parts, "; ")
}

// description joins what the target shows as a tool's description. Rules between
// parameters are sentences in it: a schema could only say them with combinators
// at its top level, which several model providers refuse.
func (l *lowering) description() {
	var paragraphs []string
	if l.target.Schema {
		// JP has a field of its own for the summary; elsewhere it comes first.
		paragraphs = append(paragraphs, sentence(l.text.Summary))
	}
	if !l.target.Terse {
		paragraphs = append(paragraphs, Paragraphs(l.tool.Description)...)
	}
	var rules []string
	for _, r := range l.tool.Rules {
		rules = append(rules, RuleSentence(r))
		l.report("", "%s added to the description", ruleFact(r))
	}
	if len(rules) > 0 {
		paragraphs = append(paragraphs, strings.Join(rules, " "))
	}
	l.text.Description = strings.Join(paragraphs, "\n\n")

	// Nothing is left out to fit: what a description says last is often what
	// makes the answers safe to use.
	limit := l.target.MaxDescription
	if n := length(l.text.Description); limit > 0 && n > limit {
		l.problem("", "the description is %d characters with its summary and rules, at most %d reach the model: shorten it", n, limit)
	}
}

func (l *lowering) names() {
	switch {
	case l.text.Group != "":
		l.report("", "named %s in the group %s", l.text.Name, l.text.Group)
	case l.text.Name != l.tool.Name:
		l.report("", "named %s", l.text.Name)
	}
	limit := l.target.MaxName
	if limit == 0 {
		return
	}
	if !plainName(ir.Flat(l.text.Name), limit) {
		l.problem("", "the name must be 1 to %d letters, digits, hyphens and underscores", limit)
	}
	for _, p := range l.tool.Values() {
		if p.Name != "" && !plainName(p.Name, maxParameterName) {
			l.problem(p.Name, "the name must be 1 to %d letters, digits, hyphens and underscores", maxParameterName)
		}
	}
}

func plainName(s string, limit int) bool {
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return s != "" && len(s) <= limit
}

// Paragraphs splits a description at its blank lines.
func Paragraphs(description string) []string {
	var paragraphs []string
	for p := range strings.SplitSeq(description, "\n\n") {
		if p = strings.Trim(p, "\n"); strings.TrimSpace(p) != "" {
			paragraphs = append(paragraphs, p)
		}
	}
	return paragraphs
}

// length counts as the clients that set these limits do, in UTF-16 units.
func length(s string) int {
	n := 0
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}
