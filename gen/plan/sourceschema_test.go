package plan_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp/syntax"
	"slices"
	"strings"
)

// shape is the part of a schema that a source uses.
type shape struct {
	Type       string           `json:"type"`
	Properties map[string]shape `json:"properties"`
	Required   []string         `json:"required"`
	Items      *shape           `json:"items"`
	AnyOf      []shape          `json:"anyOf"`
	Enum       []string         `json:"enum"`
	Format     string           `json:"format"`
	Pattern    string           `json:"pattern"`
	Minimum    *float64         `json:"minimum"`
	Maximum    *float64         `json:"maximum"`
	MinLength  *int64           `json:"minLength"`
	MaxLength  *int64           `json:"maxLength"`
	MinItems   *int64           `json:"minItems"`
	MaxItems   *int64           `json:"maxItems"`

	names []string // names of the properties, sorted
	near  []string // strings that match the pattern or the format, or nearly do
}

func readSchema(schema string) (*shape, error) {
	var s shape
	if err := json.Unmarshal([]byte(schema), &s); err != nil {
		return nil, err
	}
	return s.setDerived(), nil
}

// setDerived sets names and near of a shape and of all shapes in it, and returns the shape.
func (s *shape) setDerived() *shape {
	s.near = append(literals(s.Pattern), formatted(s.Format)...)
	s.names = slices.Sorted(maps.Keys(s.Properties))
	for name, p := range s.Properties {
		s.Properties[name] = *p.setDerived()
	}
	for i := range s.AnyOf {
		s.AnyOf[i].setDerived()
	}
	if s.Items != nil {
		s.Items.setDerived()
	}
	return s
}

// formatted returns strings that have a format, or nearly do.
func formatted(format string) []string {
	switch format {
	case "date-time":
		return []string{
			"2026-11-22T09:30:00Z", "2026-11-22t09:30:00.25z", "2026-02-29T00:00:00Z", "2024-02-29T23:59:60Z", "2026-11-22T24:00:00Z",
			"2026-11-22T09:30:00+02:00", "2026-11-22T00:59:60+01:00", "2026-11-22T22:59:60-01:00", "2026-11-22T12:00:60Z",
			"2026-11-22T09:30:00", "2026-11-22 09:30:00Z", "2026-11-22T09:30Z", "2026-11-22T09:30:00.Z", "2026-11-22T09:30:00+24:00",
			"2026-11-22T09:30:00-0200", "2026-11-22T09:30:00ZZ", "20261122T093000Z", "2026-11-22T09:30:0aZ",
		}
	case "date":
		return []string{"2026-11-22", "2024-02-29", "2026-02-29", "2026-13-01", "2026-1-1", "2026-11-22Z", "02026-11-22", "-026-11-22", "0000-01-01"}
	case "uuid":
		return []string{
			"123e4567-e89b-12d3-a456-426614174000", "123E4567-E89B-12D3-A456-426614174000", "123e4567e89b12d3a456426614174000",
			"{123e4567-e89b-12d3-a456-426614174000}", "123e4567-e89b-12d3-a456-42661417400g", "123e4567-e89b-12d3-a456-4266141740000",
			"123e4567-e89b-12d3-a4564-26614174000", "urn:uuid:123e4567-e89b-12d3-a456-426614174000",
		}
	case "uri":
		return []string{
			"https://example.com/a?b=c#d", "mailto:x@example.com", "data:image/png;base64,AAAA", "urn:a:b", "//example.com", "/a", "a b:c",
			"http://[::1]:80/", "http://::1/", "http://[::1", "http://[fe80::1%25eth0]/", "http://[12::x]/", "http://a:b/", "http://a\n", "1a:b", "a:", ":", "http://%zz/", "http://a/%zz",
		}
	}
	return nil
}

// literals returns strings that match a pattern, or nearly do: each repetition the minimum number of times and a few
// more, each alternative, and the ends of each class.
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

// maxTexts is the maximum number of strings for one pattern.
const maxTexts = 64

// expand returns strings that match re, or nearly do.
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

// repeated returns strings for a repetition: the least and the greatest number of times, and a few more.
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

// clip returns at most maxTexts of the strings, at equal distances.
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
	_ = enc.Encode(s) // writing a string to a buffer cannot fail
	return strings.TrimSuffix(b.String(), "\n")
}
