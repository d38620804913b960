// Package lower decides how each target presents a tool. A constraint that a target has no field for, or that clients
// hide from the model, becomes words, and each such step is reported. All wording is made here, so every target uses
// the same words.
//
// It never changes a contract and never omits a constraint: if a target cannot take a part of a tool, the package
// reports a problem to the author of the spec.
package lower

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/convtools/convtools/gen/ir"
)

// Target describes a consumer of tool definitions and its limits.
type Target struct {
	Name string // the name in reports

	MaxName        int // maximum length of a tool's name in characters; 0: no limit
	MaxDescription int // maximum length of a description in UTF-16 units; 0: no limit

	Dots   bool // names may have a dot
	Groups bool // the part before the dot names a group
	Schema bool // parameters are a JSON Schema; otherwise a type, a default and an enumeration
	Terse  bool // the description has only the summary and the rules
}

// Name returns the name of a tool for target. If target has groups and the tool's name has a dot, group is the part
// before the dot; otherwise it is empty.
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

// Text is the text of one tool for one target.
type Text struct {
	Group, Name string               // as [Name] returns them
	Summary     string               // one line
	Description string               // paragraphs separated by blank lines
	Parameters  []string             // one line for each parameter of the tool, in its order
	inner       map[*ir.Param]string // as Of returns them
	Reports     []string             // the constraints and names that were put into words, one line each
	Problems    []Problem            // what the target would refuse
}

// Problem says what a target would refuse: the description of the tool, the name of a parameter, or the name of the tool.
type Problem struct {
	Description bool   // it is the description
	Parameter   string // it is the name of the parameter with this path
	Text        string // one line
}

// Of returns the line for a parameter of the tool, or for a value nested in one. It is "" if there is nothing to say.
func (t *Text) Of(p *ir.Param) string { return t.inner[p] }

// maxParameterName is the maximum length of a parameter's name in the OpenAI and Anthropic APIs.
const maxParameterName = 64

// For returns the text of tool for target.
func For(target Target, tool *ir.Tool) Text {
	return (&lowering{target: target, tool: tool}).lower()
}

// Brief is [For] without the lines for parameters, which take the most time. Its Reports lack those about parameters.
func Brief(target Target, tool *ir.Tool) Text {
	return (&lowering{target: target, tool: tool, wordless: true}).lower()
}

// lowering makes the text of one tool for one target.
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
	l.addParameters()
	l.setDescription()
	l.checkNames()
	return l.text
}

// report adds a line to Reports. subject is the path of a value, or "" for the tool.
func (l *lowering) report(subject, format string, args ...any) {
	l.text.Reports = append(l.text.Reports, l.line(subject, format, args))
}

// refuse adds a problem to Problems, with the text that format and args make.
func (l *lowering) refuse(p Problem, format string, args ...any) {
	p.Text = l.line(p.Parameter, format, args)
	l.text.Problems = append(l.text.Problems, p)
}

// line returns a line for Reports or a problem, which begins with the target and the subject.
func (l *lowering) line(subject, format string, args []any) string {
	name := l.tool.Name
	if subject != "" {
		name += "." + subject
	}
	return l.target.Name + ": " + name + ": " + fmt.Sprintf(format, args...)
}

// addParameters sets the lines of all parameters and of all values nested in them. Without a schema, the lines also have
// the rules between parameters: JP, which takes no schema, does not send the model the description with the rules.
func (l *lowering) addParameters() {
	for i := range l.tool.Params {
		p := &l.tool.Params[i]
		var rules []constraint
		if !l.target.Schema {
			rules = relations(l.tool, p.Name)
		}
		l.addLines(p, p.Name, rules)
		l.text.Parameters = append(l.text.Parameters, l.text.Of(p))
	}
}

// addLines sets the lines that describe p, which is at path, and the values nested in p. The line of p includes rules,
// which are rules between parameters in words. If l.wordless is true, parameters and members get no line.
func (l *lowering) addLines(p *ir.Param, path string, rules []constraint) {
	if !l.target.Schema { // a target without JSON Schema cannot have all parts of a value
		l.reportOmitted(p, path)
	}
	if !l.wordless {
		l.text.inner[p] = l.lineOf(p, path, rules)
	}
	if p.Items != nil && !l.target.Schema {
		l.reportOmitted(p.Items, path+"[]")
	}
	l.addMembers(p, path)
	for item := p.Items; item != nil; item = item.Items { // in an array of arrays, items have items
		path += "[]"
		l.text.inner[item] = oneLine(item.Summary) // its constraints are in the line of the array, which all clients keep
		l.addMembers(item, path)
	}
}

// addMembers sets the lines of the members of the object p and of its variants. path is the path of p.
func (l *lowering) addMembers(p *ir.Param, path string) {
	lists := [][]ir.Param{p.Members}
	for _, v := range p.Variants {
		lists = append(lists, v.Members)
	}
	for _, members := range lists {
		for i := range members {
			l.addLines(&members[i], path+"."+members[i].Name, nil)
		}
	}
}

// lineOf returns the line that describes p, which is at path: the summary of p and, in parentheses, the constraints and
// rules in words. It leaves out words that the summary contains, and reports what it adds to the summary. If p has no
// summary, the line is the words alone or, for a target with a schema, "".
func (l *lowering) lineOf(p *ir.Param, path string, rules []constraint) string {
	text := oneLine(p.Summary)
	list := constraints(p)
	if !l.target.Schema {
		// JP's parameters have a type, a default and an enumeration. JP sends a parameter's summary to the model, but
		// not the tool's description, so the rules between parameters are here as well.
		list = append(list, rules...)
	} else {
		// A schema has all this in keywords, but clients drop keywords that their own schemas lack: Codex keeps only
		// the type, the description, the items and the enumeration of a parameter.
		list = append(list, defaultOf(p)...)
	}
	var facts, phrases []string // of what the summary does not say: facts for the report, phrases for the line
	for _, c := range list {
		if !containsPhrase(text, c.phrase) {
			facts, phrases = append(facts, c.facts...), append(phrases, c.phrase)
		}
	}
	switch words := strings.Join(phrases, "; "); {
	case words == "":
		return text
	case text != "":
		l.report(path, "%s added to the summary", strings.Join(facts, ", "))
		return parenthesize(text, words)
	case l.target.Schema: // the name of the member says enough
		return ""
	default:
		return words
	}
}

// reportOmitted reports the parts of a value that are not offered to JP: one string instead of an array, and variants.
// JP would send a list of types or alternatives for these parts, and some model providers refuse both. The members of
// all variants are offered together, so a member with different types in two variants is a problem of the spec.
func (l *lowering) reportOmitted(p *ir.Param, path string) {
	if p.OneOrMany {
		l.report(path, "one_or_many left out: only an array is offered")
	}
	if p.Key == "" { // p has no variants
		return
	}
	l.report(path, "variants left out: the members of all are offered together")
	for _, m := range l.text.Merged(p) {
		for _, v := range p.Variants {
			for i := range v.Members {
				other := &v.Members[i]
				sameType := other.Kind == m.Param.Kind && other.Item().Kind == m.Param.Item().Kind
				if other.Name == m.Param.Name && !sameType {
					l.refuse(Problem{Parameter: path}, "%s has one type in every variant, or another name", m.Param.Name)
				}
			}
		}
	}
}

// Merged returns the members of an object with their lines, for a target without variants. The variants of an object
// are merged: the result has the key with all of its values, and each member of a variant once. A member of a variant
// is not required, and has no default, because a host would fill in the default for the other variants too.
func (t *Text) Merged(p *ir.Param) []Line {
	var merged []Line
	for i := range p.Members {
		merged = append(merged, Line{p.Members[i], t.Of(&p.Members[i])})
	}
	if p.Key == "" { // p has no variants
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
			optional := *m
			optional.Required, optional.Default = false, nil
			merged = append(merged, Line{optional, t.Of(m)})
		}
	}
	return merged
}

// Line is a member and its line for a target.
type Line struct {
	Param ir.Param
	Text  string
}

// variantsSentence returns a line for the key of p, the member whose value selects a variant. The line lists the other
// members for each value, such as "What the others are: file with path (required); text".
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

// setDescription sets the tool's description for the target. The last paragraph has a sentence for each rule between
// parameters, and setDescription reports each rule. A description over the limit of the target is a problem.
func (l *lowering) setDescription() {
	var paragraphs []string
	if l.target.Schema {
		// The summary comes first. Only JP takes no schema, and JP has a separate field for the summary.
		paragraphs = append(paragraphs, sentence(l.text.Summary))
	}
	if !l.target.Terse {
		paragraphs = append(paragraphs, Paragraphs(l.tool.Description)...)
	}
	var rules []string
	for _, r := range l.tool.Rules {
		// A schema could say this only with anyOf or the like at its top level, which several model providers refuse.
		rules = append(rules, RuleSentence(r))
		l.report("", "%s added to the description", ruleFact(r))
	}
	if len(rules) > 0 {
		paragraphs = append(paragraphs, strings.Join(rules, " "))
	}
	l.text.Description = strings.Join(paragraphs, "\n\n")

	// Nothing is cut to fit: the end of a description often says how to use the answers safely.
	limit := l.target.MaxDescription
	n := len(utf16.Encode([]rune(l.text.Description))) // in UTF-16 units, as clients count
	if limit > 0 && n > limit {
		l.refuse(Problem{Description: true}, "the description is %d characters with its summary and rules, at most %d reach the model: shorten it", n, limit)
	}
}

// checkNames reports the name of the tool for the target, if the target has another name or a group for it. If the target
// has a limit on names, a name of the tool or of its parameters that is too long or has other characters is a problem.
func (l *lowering) checkNames() {
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
		l.refuse(Problem{}, "the name must be 1 to %d letters, digits, hyphens and underscores", limit)
	}
	for _, p := range l.tool.Values() {
		if p.Name != "" && !plainName(p.Name, maxParameterName) {
			l.refuse(Problem{Parameter: p.Name}, "the name must be 1 to %d letters, digits, hyphens and underscores", maxParameterName)
		}
	}
}

// plainName reports whether s has 1 to limit characters, all of them ASCII letters, digits, hyphens and underscores.
func plainName(s string, limit int) bool {
	const allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
	return s != "" && len(s) <= limit && strings.Trim(s, allowed) == ""
}

// Paragraphs splits a description at its blank lines. No paragraph is empty.
func Paragraphs(description string) []string {
	var paragraphs []string
	for p := range strings.SplitSeq(description, "\n\n") {
		if p = strings.Trim(p, "\n"); strings.TrimSpace(p) != "" {
			paragraphs = append(paragraphs, p)
		}
	}
	return paragraphs
}
