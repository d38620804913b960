package coerce_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/coerce"
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
	for _, tc := range []struct {
		name   string
		repair func(*coerce.Args)
		in     string
		want   string
		note   string // empty: nothing may be reported
	}{
		{"null is absence", func(a *coerce.Args) { a.DropNulls() }, `{"a":null,"b":1}`, `{"b":1}`, ""},
		{"integer from string", func(a *coerce.Args) { a.IntegerFromString("a") }, `{"a":" 5 "}`, `{"a":5}`, `Read a=" 5 " as the integer 5.`},
		{"integer from many blanks", func(a *coerce.Args) { a.IntegerFromString("a") }, `{"a":"` + strings.Repeat(" ", 1000) + `5"}`, `{"a":5}`, `Read a="` + strings.Repeat(" ", 36) + `…" as the integer 5.`},
		{"integer from words", func(a *coerce.Args) { a.IntegerFromString("a") }, `{"a":"five"}`, `{"a":"five"}`, ""},
		{"integer from a fraction", func(a *coerce.Args) { a.IntegerFromString("a") }, `{"a":"5.5"}`, `{"a":"5.5"}`, ""},
		{"integer from too many digits", func(a *coerce.Args) { a.IntegerFromString("a") }, `{"a":"99999999999999999999"}`, `{"a":"99999999999999999999"}`, ""},
		{"integer already", func(a *coerce.Args) { a.IntegerFromString("a") }, `{"a":5}`, `{"a":5}`, ""},
		{"boolean from string", func(a *coerce.Args) { a.BooleanFromString("a") }, `{"a":"False"}`, `{"a":false}`, `Read a="False" as the boolean false.`},
		{"boolean from yes", func(a *coerce.Args) { a.BooleanFromString("a") }, `{"a":"yes"}`, `{"a":"yes"}`, ""},
		{"string from integer", func(a *coerce.Args) { a.StringFromInteger("a") }, `{"a":17648402467}`, `{"a":"17648402467"}`, `Read a=17648402467 as the string "17648402467".`},
		{"string from fraction", func(a *coerce.Args) { a.StringFromInteger("a") }, `{"a":1.5}`, `{"a":1.5}`, ""},
		{"clamp", func(a *coerce.Args) { a.ClampMaximum("a", 200) }, `{"a":1e30}`, `{"a":200}`, `a=1e30 is over the maximum: used 200.`},
		{"clamp over both", func(a *coerce.Args) { a.Clamp("a", 1, 200) }, `{"a":1e308}`, `{"a":200}`, `a=1e308 is over the maximum: used 200.`},
		{"clamp under both", func(a *coerce.Args) { a.Clamp("a", 1, 200) }, `{"a":-1000000000000000000000000000000}`, `{"a":1}`, `a=-10000000000000000000000… is under the minimum: used 1.`},
		{"clamp to the minimum", func(a *coerce.Args) { a.Clamp("a", 1, 200) }, `{"a":0}`, `{"a":1}`, `a=0 is under the minimum: used 1.`},
		{"clamp between both", func(a *coerce.Args) { a.Clamp("a", 1, 200) }, `{"a":2.0}`, `{"a":2.0}`, ""},
		{"clamp no integer", func(a *coerce.Args) { a.Clamp("a", 1, 200) }, `{"a":2.9}`, `{"a":2.9}`, ""},
		{"clamp in range", func(a *coerce.Args) { a.ClampMaximum("a", 200) }, `{"a":200}`, `{"a":200}`, ""},
		{"clamp below", func(a *coerce.Args) { a.ClampMaximum("a", 200) }, `{"a":-1}`, `{"a":-1}`, ""},
		{"array from string", func(a *coerce.Args) { a.ArrayFromString("a") }, `{"a":" [\"x\",\"y\"]"}`, `{"a":["x","y"]}`, `Read a from a string as the JSON array inside it.`},
		{"array from broken string", func(a *coerce.Args) { a.ArrayFromString("a") }, `{"a":"[x"}`, `{"a":"[x"}`, ""},
		{"array from object text", func(a *coerce.Args) { a.ArrayFromString("a") }, `{"a":"{}"}`, `{"a":"{}"}`, ""},
		{"array from scalar", func(a *coerce.Args) { a.ArrayFromScalar("a") }, `{"a":"chat"}`, `{"a":["chat"]}`, `Read a as an array of one value.`},
		{"array from object", func(a *coerce.Args) { a.ArrayFromScalar("a") }, `{"a":{}}`, `{"a":{}}`, ""},
		{"items from integers", func(a *coerce.Args) { a.ItemsFromIntegers("a") }, `{"a":[1,"b"]}`, `{"a":["1","b"]}`, `Read the integers in a as strings.`},
		{"one of many", func(a *coerce.Args) { a.OneOrMany("a") }, `{"a":"x"}`, `{"a":"x"}`, ""},
		{"one with blanks around it", func(a *coerce.Args) { a.OneOrMany("a") }, `{"a":" x "}`, `{"a":" x "}`, ""},
		{"many", func(a *coerce.Args) { a.OneOrMany("a") }, `{"a":["x","y","x"]}`, `{"a":["x","y","x"]}`, ""},
		{"many in a string", func(a *coerce.Args) { a.OneOrMany("a") }, `{"a":" [\"x\", \"y\"]\n"}`, `{"a":["x","y"]}`, ""},
		{"many of other types in a string", func(a *coerce.Args) { a.OneOrMany("a") }, `{"a":"[1,\"x\"]"}`, `{"a":"[1,\"x\"]"}`, ""},
		{"many, not all strings", func(a *coerce.Args) { a.OneOrMany("a") }, `{"a":["x",1,null,""]}`, `{"a":["x",1,null]}`, ""},
		{"text that looks like many", func(a *coerce.Args) { a.OneOrMany("a") }, `{"a":"[x]"}`, `{"a":"[x]"}`, ""},
		{"a JSON string in a string", func(a *coerce.Args) { a.OneOrMany("a") }, `{"a":"\"x\""}`, `{"a":"\"x\""}`, ""},
		{"blank among many", func(a *coerce.Args) { a.OneOrMany("a") }, `{"a":["","x"," \t"]}`, `{"a":["x"]}`, ""},
		{"white space beyond ASCII is text", func(a *coerce.Args) { a.OneOrMany("a") }, `{"a":"\u3000"}`, "{\"a\":\"\u3000\"}", ""},
		{"one that is blank", func(a *coerce.Args) { a.OneOrMany("a") }, `{"a":" ","b":1}`, `{"b":1}`, ""},
		{"many that are blank", func(a *coerce.Args) { a.OneOrMany("a") }, `{"b":1,"a":["",""]}`, `{"b":1}`, ""},
		{"no items", func(a *coerce.Args) { a.OneOrMany("a") }, `{"a":[]}`, `{}`, ""},
		{"no items in a string", func(a *coerce.Args) { a.OneOrMany("a") }, `{"a":"[]"}`, `{}`, ""},
		{"the word null", func(a *coerce.Args) { a.OneOrMany("a") }, `{"a":" null "}`, `{}`, ""},
		{"the word null among many", func(a *coerce.Args) { a.OneOrMany("a") }, `{"a":["null"]}`, `{"a":["null"]}`, ""},
		{"neither one nor many", func(a *coerce.Args) { a.OneOrMany("a") }, `{"a":{"x":1}}`, `{"a":{"x":1}}`, ""},
		{"spelling", func(a *coerce.Args) { a.Spelling("a", "tool-call", "chat") }, `{"a":"Tool_Call"}`, `{"a":"tool-call"}`, `Read a="Tool_Call" as "tool-call".`},
		{"spelling of items", func(a *coerce.Args) { a.Spelling("a", "tool-call", "chat") }, `{"a":["chat","TOOL-CALL"]}`, `{"a":["chat","tool-call"]}`, `Read "TOOL-CALL" in a as "tool-call".`},
		{"spelling unknown", func(a *coerce.Args) { a.Spelling("a", "chat") }, `{"a":"chatt"}`, `{"a":"chatt"}`, ""},
		{"absent", func(a *coerce.Args) {
			a.IntegerFromString("x")
			a.ClampMaximum("x", 1)
			a.ArrayFromString("x")
			a.Spelling("x", "y")
			a.OneOrMany("x")
		}, `{}`, `{}`, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			object, _, err := coerce.DecodeObject([]byte(tc.in))
			if err != nil {
				t.Fatal(err)
			}
			args := coerce.Args{Object: object}
			tc.repair(&args)
			got, err := json.Marshal(args.Object)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tc.want {
				t.Errorf("arguments %s, want %s", got, tc.want)
			}
			note := ""
			for _, r := range args.Repairs {
				note += r.Note
			}
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
