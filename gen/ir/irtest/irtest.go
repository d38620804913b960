// Package irtest provides contracts for tests of emitters: one like a real project's, one with hostile text everywhere.
//
// They are data, so that the tests of an emitter depend on no other part of the generator.
package irtest

import (
	_ "embed"
	"encoding/json"
	"strings"

	"github.com/convtools/convtools/gen/ir"
)

//go:embed contract.json
var contract []byte

// Contract returns a contract with three families. Together, their tools use every kind of parameter, constraint,
// repair, rule, answer, presence and body.
func Contract() *ir.Contract {
	var c ir.Contract
	if err := json.Unmarshal(contract, &c); err != nil {
		panic(err)
	}
	for _, t := range c.Tools() {
		for _, p := range t.Values() {
			switch v := p.Default.(type) {
			case float64: // every number in these specs is an integer
				p.Default = int64(v)
			case []any: // every array is an array of strings
				list := make([]string, len(v))
				for i := range v {
					list[i], _ = v[i].(string)
				}
				p.Default = list
			}
		}
	}
	return &c
}

// HostileText tries to end every kind of text that an emitter writes, and to start something else. It fits on one
// line of a multi-line string in a spec.
const HostileText = `""" '''` + " ``` ` */ func init(){panic(1)} /* //go:embed x +build ignore </script><img src=x onerror=alert(1)> --> ]]> " +
	`| a | b | \| \" \n \u0041 \ {{context}} ${HOME} $(id) %s [x](javascript:x) ![y](z) **b** __c__ ~~d~~ # h ` +
	"\t\a\b\f\v\x00\x1b[31m\x7f\u0085\u00a0\u2028\u2029\u202e\u2066\u200d\ufeff\ufffe\ufffd\U000e0041😀 日本語 \""

// Hostile returns [Contract] with HostileText, and lines that look like markup, in every free text of a spec. Names
// do not change: package check validates them before a contract exists.
func Hostile() *ir.Contract {
	c := Contract()
	paragraphs := HostileText + "\n# heading\n```\n- item | x\n1. one\n===\n    code\n<b>\n[a]: b\n[[table]]\nkey = 1\n\n" + HostileText + "\n\n\"\"\"\"\"\"\"\r\n\\"
	for _, t := range c.Tools() {
		t.Summary = HostileText
		t.Description = paragraphs
		for i := range t.Params {
			p := &t.Params[i]
			p.Summary = HostileText
			if p.Kind == ir.String && p.Enum == nil && !p.Required {
				p.Default = strings.ReplaceAll(HostileText, "\x00", "")
			}
			for _, list := range append(p.Inner(), p) {
				if list.Enum != nil {
					list.Enum = append(list.Enum, HostileText)
				}
				if list.PatternSays != "" {
					list.PatternSays = HostileText
				}
			}
		}
		for i := range t.Examples {
			t.Examples[i].Summary = HostileText
		}
		if t.Command != nil {
			for i := range t.Command.Failures {
				t.Command.Failures[i].Reason = HostileText
			}
		}
		for i := range t.Envelope.Elements {
			e := &t.Envelope.Elements[i]
			e.Summary = HostileText
			for j := range e.Attributes {
				e.Attributes[j].Summary = HostileText
				if e.Attributes[j].Fixed != "" {
					e.Attributes[j].Fixed = HostileText
				}
			}
		}
	}
	c.Targets.JPCommand = HostileText
	for i := range c.Targets.Skills {
		s := &c.Targets.Skills[i]
		s.Title, s.Content = HostileText, paragraphs
	}
	return c
}
