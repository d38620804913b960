package gocodetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
)

// property is what a source knows of one property of a schema.
type property struct {
	name     string
	required bool
	kind     string
	one      bool // one item may stand in the place of an array
	constraints
	items constraints
}

type constraints struct {
	Enum      []string `json:"enum"`
	Pattern   string   `json:"pattern"`
	Minimum   *int64   `json:"minimum"`
	Maximum   *int64   `json:"maximum"`
	MinLength *int64   `json:"minLength"`
	MaxLength *int64   `json:"maxLength"`
	MinItems  *int64   `json:"minItems"`
	MaxItems  *int64   `json:"maxItems"`

	near []string // texts that match the pattern, or nearly do
}

func readProperties(schema string) ([]property, error) {
	var document struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	if err := json.Unmarshal([]byte(schema), &document); err != nil {
		return nil, err
	}
	var properties []property
	for name, raw := range document.Properties {
		p, err := readAlternatives(raw)
		if err != nil {
			return nil, fmt.Errorf("property %s: %w", name, err)
		}
		p.name, p.required = name, slices.Contains(document.Required, name)
		p.near, p.items.near = literals(p.Pattern), literals(p.items.Pattern)
		properties = append(properties, p)
	}
	slices.SortFunc(properties, func(a, b property) int { return strings.Compare(a.name, b.name) })
	return properties, nil
}

// readAlternatives reads the schema of a property. Where it has alternatives, the
// last is the array and the others are items of it.
func readAlternatives(raw []byte) (property, error) {
	var p struct {
		Type string `json:"type"`
		constraints
		Items constraints       `json:"items"`
		AnyOf []json.RawMessage `json:"anyOf"`
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return property{}, err
	}
	if len(p.AnyOf) == 0 {
		return property{kind: p.Type, constraints: p.constraints, items: p.Items}, nil
	}
	array, err := readAlternatives(p.AnyOf[len(p.AnyOf)-1])
	array.one = true
	return array, err
}

// literals returns texts that match a pattern, or nearly do: each repetition at
// its least and a few more, each alternative, and the ends of each class.
func literals(pattern string) []string {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil || pattern == "" {
		return nil
	}
	texts := expand(re)
	for _, text := range slices.Clone(texts) {
		texts = append(texts, text+"\n", "x"+text)
	}
	return texts
}

// maxTexts bounds what one pattern expands to.
const maxTexts = 64

func expand(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		return []string{string(re.Rune)}
	case syntax.OpCharClass:
		var texts []string
		for _, r := range re.Rune {
			texts = append(texts, string(r))
		}
		return clip(texts)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return []string{"x", "é"}
	case syntax.OpCapture:
		return expand(re.Sub[0])
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		return repeated(re)
	case syntax.OpConcat:
		texts := []string{""}
		for _, sub := range re.Sub {
			var longer []string
			for _, head := range texts {
				for _, tail := range expand(sub) {
					longer = append(longer, head+tail)
				}
			}
			texts = clip(longer)
		}
		return texts
	case syntax.OpAlternate:
		var texts []string
		for _, sub := range re.Sub {
			texts = append(texts, expand(sub)...)
		}
		return clip(texts)
	default:
		return []string{""}
	}
}

func repeated(re *syntax.Regexp) []string {
	counts := map[syntax.Op][]int{syntax.OpStar: {0, 3}, syntax.OpPlus: {1, 3}, syntax.OpQuest: {0, 1}}[re.Op]
	if re.Op == syntax.OpRepeat {
		counts = []int{re.Min, re.Min + 1}
		if re.Max > 0 {
			counts = append(counts, re.Max, re.Max+1)
		}
	}
	var texts []string
	for _, count := range counts {
		for _, text := range expand(re.Sub[0]) {
			texts = append(texts, strings.Repeat(text, count))
		}
	}
	return clip(texts)
}

// clip keeps a part of many texts, spread over all of them.
func clip(texts []string) []string {
	if len(texts) <= maxTexts {
		return texts
	}
	var kept []string
	for i := range maxTexts {
		kept = append(kept, texts[i*len(texts)/maxTexts])
	}
	return kept
}

func quote(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string into a buffer: neither can fail
	return strings.TrimSuffix(b.String(), "\n")
}

func join(items []string) string { return strings.Join(items, ",") }
