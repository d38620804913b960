package coerce_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/coerce"
	"github.com/convtools/convtools/runtime/contract"
)

func TestDecodeObject(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, in string
		want     coerce.Object
		repairs  int
		err      string
	}{
		{name: "empty", in: ""},
		{name: "blank", in: " \n"},
		{name: "null", in: "null"},
		{name: "object", in: `{"b":1,"a":[true,null,"x"]}`, want: coerce.Object{{Name: "b", Value: json.Number("1")}, {Name: "a", Value: []any{true, nil, "x"}}}},
		{name: "object in a string", in: `"{\"a\":\"b\"}"`, want: coerce.Object{{Name: "a", Value: "b"}}, repairs: 1},
		{name: "string", in: `"retry"`, err: "got a string"},
		{name: "array", in: `[1]`, err: "got an array"},
		{name: "number", in: `1`, err: "got a number"},
		{name: "boolean", in: `true`, err: "got a boolean"},
		{name: "cut off", in: `{"a":`, err: "the JSON text ends too early"},
		{name: "cut off in a string", in: `{"a":"x`, err: "the JSON text ends too early"},
		{name: "not JSON", in: `{pattern: x}`, err: "at byte"},
		{name: "two values", in: `{} {}`, err: "there is more text after the value"},
		{name: "twice the same name", in: `{"a":1,"a":2}`, err: `"a" is given twice`},
		{name: "twice, spelt differently", in: `{"a":1,"\u0061":2}`, err: `"a" is given twice`},
		{name: "invalid UTF-8", in: "{\"a\":\"\xff\"}", err: "not valid UTF-8"},
		{name: "too deep", in: `{"a":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}`, err: "nested deeper than 32 levels"},
		{name: "too many members", in: manyMembers(coerce.MaxMembers + 1), err: "more than 1000 members"},
		{name: "too large", in: `{"a":"` + strings.Repeat("x", coerce.MaxBytes) + `"}`, err: "bytes are more than"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, repairs, err := coerce.DecodeObject([]byte(tc.in))
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Fatalf("error %v, want one with %q", err, tc.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("object (-want +got):\n%s", diff)
			}
			if len(repairs) != tc.repairs {
				t.Errorf("repairs: %v, want %d", repairs, tc.repairs)
			}
		})
	}
}

// manyMembers is an object with n members.
func manyMembers(n int) string {
	var b strings.Builder
	b.WriteString(`{"m":0`)
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, `,"m%d":0`, i)
	}
	return b.String() + "}"
}

func TestRepairs(t *testing.T) {
	t.Parallel()
	text := &contract.Parameter{Type: "string"}
	for _, tc := range []struct {
		name      string
		parameter contract.Parameter
		in        string
		want      string
		note      string // empty: nothing may be reported
	}{
		{"null is absence", contract.Parameter{Type: "string"}, `{"a":null,"b":1}`, `{"b":1}`, ""},
		{"integer from string", contract.Parameter{Type: "integer", Repairs: []contract.Repair{contract.FromString}}, `{"a":" 5 "}`, `{"a":5}`, `Read a=" 5 " as the integer 5.`},
		{"integer from many blanks", contract.Parameter{Type: "integer", Repairs: []contract.Repair{contract.FromString}}, `{"a":"` + strings.Repeat(" ", 1000) + `5"}`, `{"a":5}`, `Read a="` + strings.Repeat(" ", 36) + `…" as the integer 5.`},
		{"integer from words", contract.Parameter{Type: "integer", Repairs: []contract.Repair{contract.FromString}}, `{"a":"five"}`, `{"a":"five"}`, ""},
		{"integer from a fraction", contract.Parameter{Type: "integer", Repairs: []contract.Repair{contract.FromString}}, `{"a":"5.5"}`, `{"a":"5.5"}`, ""},
		{"integer from too many digits", contract.Parameter{Type: "integer", Repairs: []contract.Repair{contract.FromString}}, `{"a":"99999999999999999999"}`, `{"a":"99999999999999999999"}`, ""},
		{"integer already", contract.Parameter{Type: "integer", Repairs: []contract.Repair{contract.FromString}}, `{"a":5}`, `{"a":5}`, ""},
		{"boolean from string", contract.Parameter{Type: "boolean", Repairs: []contract.Repair{contract.FromString}}, `{"a":"False"}`, `{"a":false}`, `Read a="False" as the boolean false.`},
		{"boolean from yes", contract.Parameter{Type: "boolean", Repairs: []contract.Repair{contract.FromString}}, `{"a":"yes"}`, `{"a":"yes"}`, ""},
		{"string from integer", contract.Parameter{Type: "string", Repairs: []contract.Repair{contract.FromInteger}}, `{"a":17648402467}`, `{"a":"17648402467"}`, `Read a=17648402467 as the string "17648402467".`},
		{"string from fraction", contract.Parameter{Type: "string", Repairs: []contract.Repair{contract.FromInteger}}, `{"a":1.5}`, `{"a":1.5}`, ""},
		{"clamp", contract.Parameter{Type: "integer", Repairs: []contract.Repair{contract.ToBounds}, Range: &contract.Range{Least: 1, Most: 200}}, `{"a":1e30}`, `{"a":200}`, `a=1e30 is over the maximum: used 200.`},
		{"clamp over both", contract.Parameter{Type: "integer", Repairs: []contract.Repair{contract.ToBounds}, Clamp: &[2]int64{1, 200}}, `{"a":1e308}`, `{"a":200}`, `a=1e308 is over the maximum: used 200.`},
		{"clamp under both", contract.Parameter{Type: "integer", Repairs: []contract.Repair{contract.ToBounds}, Clamp: &[2]int64{1, 200}}, `{"a":-1000000000000000000000000000000}`, `{"a":1}`, `a=-10000000000000000000000… is under the minimum: used 1.`},
		{"clamp to the minimum", contract.Parameter{Type: "integer", Repairs: []contract.Repair{contract.ToBounds}, Clamp: &[2]int64{1, 200}}, `{"a":0}`, `{"a":1}`, `a=0 is under the minimum: used 1.`},
		{"clamp between both", contract.Parameter{Type: "integer", Repairs: []contract.Repair{contract.ToBounds}, Clamp: &[2]int64{1, 200}}, `{"a":2.0}`, `{"a":2.0}`, ""},
		{"clamp no integer", contract.Parameter{Type: "integer", Repairs: []contract.Repair{contract.ToBounds}, Clamp: &[2]int64{1, 200}}, `{"a":2.9}`, `{"a":2.9}`, ""},
		{"clamp in range", contract.Parameter{Type: "integer", Repairs: []contract.Repair{contract.ToBounds}, Range: &contract.Range{Least: 1, Most: 200}}, `{"a":200}`, `{"a":200}`, ""},
		{"clamp below", contract.Parameter{Type: "integer", Repairs: []contract.Repair{contract.ToBounds}, Range: &contract.Range{Least: 1, Most: 200}}, `{"a":-1}`, `{"a":-1}`, ""},
		{"array from string", contract.Parameter{Type: "array", Repairs: []contract.Repair{contract.FromString}, Items: text}, `{"a":" [\"x\",\"y\"]"}`, `{"a":["x","y"]}`, `Read a from a string as the JSON array inside it.`},
		{"array from broken string", contract.Parameter{Type: "array", Repairs: []contract.Repair{contract.FromString}, Items: text}, `{"a":"[x"}`, `{"a":"[x"}`, ""},
		{"array from object text", contract.Parameter{Type: "array", Repairs: []contract.Repair{contract.FromString}, Items: text}, `{"a":"{}"}`, `{"a":"{}"}`, ""},
		{"array from scalar", contract.Parameter{Type: "array", Repairs: []contract.Repair{contract.FromScalar}, Items: text}, `{"a":"chat"}`, `{"a":["chat"]}`, `Read a as an array of one value.`},
		{"array from object", contract.Parameter{Type: "array", Repairs: []contract.Repair{contract.FromScalar}, Items: text}, `{"a":{}}`, `{"a":{}}`, ""},
		{"items from integers", contract.Parameter{Type: "array", Repairs: []contract.Repair{contract.FromInteger}, Items: text}, `{"a":[1,"b"]}`, `{"a":["1","b"]}`, `Read the integers in a as strings.`},
		{"one of many", contract.Parameter{Type: "array", Items: text, OneOrMany: true}, `{"a":"x"}`, `{"a":"x"}`, ""},
		{"one with blanks around it", contract.Parameter{Type: "array", Items: text, OneOrMany: true}, `{"a":" x "}`, `{"a":" x "}`, ""},
		{"many", contract.Parameter{Type: "array", Items: text, OneOrMany: true}, `{"a":["x","y","x"]}`, `{"a":["x","y","x"]}`, ""},
		{"many in a string", contract.Parameter{Type: "array", Items: text, OneOrMany: true}, `{"a":" [\"x\", \"y\"]\n"}`, `{"a":["x","y"]}`, ""},
		{"many of other types in a string", contract.Parameter{Type: "array", Items: text, OneOrMany: true}, `{"a":"[1,\"x\"]"}`, `{"a":"[1,\"x\"]"}`, ""},
		{"many, not all strings", contract.Parameter{Type: "array", Items: text, OneOrMany: true}, `{"a":["x",1,null,""]}`, `{"a":["x",1,null]}`, ""},
		{"text that looks like many", contract.Parameter{Type: "array", Items: text, OneOrMany: true}, `{"a":"[x]"}`, `{"a":"[x]"}`, ""},
		{"a JSON string in a string", contract.Parameter{Type: "array", Items: text, OneOrMany: true}, `{"a":"\"x\""}`, `{"a":"\"x\""}`, ""},
		{"blank among many", contract.Parameter{Type: "array", Items: text, OneOrMany: true}, `{"a":["","x"," \t"]}`, `{"a":["x"]}`, ""},
		{"white space beyond ASCII is text", contract.Parameter{Type: "array", Items: text, OneOrMany: true}, `{"a":"\u3000"}`, "{\"a\":\"\u3000\"}", ""},
		{"one that is blank", contract.Parameter{Type: "array", Items: text, OneOrMany: true}, `{"a":" ","b":1}`, `{"b":1}`, ""},
		{"many that are blank", contract.Parameter{Type: "array", Items: text, OneOrMany: true}, `{"b":1,"a":["",""]}`, `{"b":1}`, ""},
		{"no items", contract.Parameter{Type: "array", Items: text, OneOrMany: true}, `{"a":[]}`, `{}`, ""},
		{"no items in a string", contract.Parameter{Type: "array", Items: text, OneOrMany: true}, `{"a":"[]"}`, `{}`, ""},
		{"the word null", contract.Parameter{Type: "array", Items: text, OneOrMany: true}, `{"a":" null "}`, `{}`, ""},
		{"the word null among many", contract.Parameter{Type: "array", Items: text, OneOrMany: true}, `{"a":["null"]}`, `{"a":["null"]}`, ""},
		{"neither one nor many", contract.Parameter{Type: "array", Items: text, OneOrMany: true}, `{"a":{"x":1}}`, `{"a":{"x":1}}`, ""},
		{"spelling", contract.Parameter{Type: "string", Repairs: []contract.Repair{contract.ToSpelling}, Enum: []string{"tool-call", "chat"}}, `{"a":"Tool_Call"}`, `{"a":"tool-call"}`, `Read a="Tool_Call" as "tool-call".`},
		{"spelling of items", contract.Parameter{Type: "array", Repairs: []contract.Repair{contract.ToSpelling}, Items: &contract.Parameter{Type: "string", Enum: []string{"tool-call", "chat"}}}, `{"a":["chat","TOOL-CALL"]}`, `{"a":["chat","tool-call"]}`, `Read "TOOL-CALL" in a as "tool-call".`},
		{"spelling unknown", contract.Parameter{Type: "string", Repairs: []contract.Repair{contract.ToSpelling}, Enum: []string{"chat"}}, `{"a":"chatt"}`, `{"a":"chatt"}`, ""},
		{"absent", contract.Parameter{Type: "array", OneOrMany: true, Items: text, Repairs: []contract.Repair{contract.FromString, contract.ToSpelling}}, `{}`, `{}`, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			object, _, err := coerce.DecodeObject([]byte(tc.in))
			if err != nil {
				t.Fatal(err)
			}
			tc.parameter.Name = "a"
			args, notes := coerce.Repair(&contract.Tool{Parameters: []contract.Parameter{tc.parameter}}, object)
			got, err := json.Marshal(args)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tc.want {
				t.Errorf("arguments %s, want %s", got, tc.want)
			}
			note := strings.Join(notes, "")
			if note != tc.note {
				t.Errorf("note %q, want %q", note, tc.note)
			}
		})
	}
}

// FuzzInt compares with exact arithmetic.
func FuzzInt(f *testing.F) {
	for _, s := range []string{"0", "-0", "5", "5.0", "5e0", "50e-1", "5.5", "1e18", "1e19", "-1e19", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "1e400", "0e999999999999", "1e-400", "123456789012345678901234567890e-20", "0.000"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !json.Valid([]byte(s)) || strings.TrimSpace(s) != s || s == "" || s[0] != '-' && (s[0] < '0' || s[0] > '9') {
			t.Skip()
		}
		got, ok := coerce.Int(json.Number(s))
		if i := strings.IndexAny(s, "eE"); i >= 0 && len(s)-i > 5 {
			return // the oracle would build a number that large
		}
		exact, valid := new(big.Rat).SetString(s)
		if !valid {
			t.Skip()
		}
		if ok != exact.IsInt() {
			t.Fatalf("Int(%s) is integer: %v, want %v", s, ok, exact.IsInt())
		}
		if !ok {
			return
		}
		want := exact.Num()
		switch {
		case want.IsInt64() && got != want.Int64(),
			!want.IsInt64() && want.Sign() > 0 && got != 1<<63-1,
			!want.IsInt64() && want.Sign() < 0 && got != -1<<63:
			t.Fatalf("Int(%s) = %d", s, got)
		}
	})
}
