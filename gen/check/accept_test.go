package check

import (
	"fmt"
	"math"
	"testing"

	"github.com/convtools/convtools/gen/ir"
)

// What is accepted without a schema is what the schema accepts; and it is most of what
// specs have.
func TestAcceptsNoMoreThanTheSchema(t *testing.T) {
	t.Parallel()
	half, two, nine := 0.5, int64(2), 9.0
	text := func(c ir.Constraints) ir.Param { return ir.Param{Kind: ir.String, Constraints: c} }
	words, item := text(ir.Constraints{Enum: []string{"a", "b"}}), text(ir.Constraints{MaxLength: &two})
	object := ir.Param{Kind: ir.Object, Members: []ir.Param{
		{Name: "a", Kind: ir.Integer, Required: true}, {Name: "b", Kind: ir.Array, Items: &words},
	}}
	params := []ir.Param{
		{Kind: ir.Boolean},
		{Kind: ir.Integer},
		{Kind: ir.Integer, Nullable: true, Constraints: ir.Constraints{Minimum: &half, Maximum: &nine}},
		{Kind: ir.Number},
		{Kind: ir.Number, Constraints: ir.Constraints{Minimum: &half, Maximum: &nine}},
		words,
		text(ir.Constraints{}),
		text(ir.Constraints{MinLength: &two, MaxLength: &two}),
		text(ir.Constraints{NotBlank: true}),
		text(ir.Constraints{SingleLine: true}),
		text(ir.Constraints{SingleLine: true, NotBlank: true}),
		text(ir.Constraints{Pattern: "^[a-z]+$"}),
		text(ir.Constraints{Pattern: "("}),
		text(ir.Constraints{Format: "date"}),
		{Kind: ir.Array, Items: &item, Constraints: ir.Constraints{MinItems: &two, MaxItems: &two}},
		{Kind: ir.Array, Items: &item, OneOrMany: true},
		{Kind: ir.Array, Items: &object},
		object,
		{Kind: ir.Object, Key: "kind", Variants: []ir.Variant{{Value: "a"}, {Value: "b"}}},
	}
	values := []any{
		true, int64(0), int64(1), int64(9), int64(10), int64(math.MaxInt64), int64(-1 << 53), 0.5, 1.0, 9.5, math.NaN(), math.Inf(1),
		"", "a", "b", "c", "ab", "é\u0301", "\xff", " ", "\u00a0", "\n", "a\nb", "a\x00", "2026-11-22", "2026-11-32",
		[]any{},
		[]any{"a"},
		[]any{"a", "b"},
		[]string{"a", "b"},
		[]any{"a", int64(1)},
		[]any{"aaa", "b"},
		map[string]any{},
		map[string]any{"a": int64(1)},
		map[string]any{"a": "x"},
		map[string]any{"a": int64(1), "c": true},
		map[string]any{"a": int64(1), "b": []any{"a"}},
		map[string]any{"a": int64(1), "b": []any{"z"}},
		map[string]any{"kind": "a"},
		[]map[string]any{{"a": int64(1)}, {"a": int64(2)}},
		[]map[string]any{{}},
	}
	accepted := 0
	for i, p := range params {
		p.Name = "p"
		schema, err := compile(&ir.Tool{Params: []ir.Param{p}})
		for _, v := range values {
			if !accepts(&p, v) {
				continue
			}
			accepted++
			if err != nil || len(failures(schema, map[string]any{"p": plain(v)}, nil)) > 0 {
				t.Errorf("parameter %d accepts %s, the schema does not: %v", i, fmt.Sprintf("%#v", v), err)
			}
		}
	}
	if accepted < 60 {
		t.Errorf("%d values are accepted", accepted)
	}
}
