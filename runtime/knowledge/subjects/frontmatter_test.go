package subjects

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

type descriptionCase struct{ name, data, want string }

// refused is what is wanted of what is no YAML.
const refused = "refused"

func descriptions() []descriptionCase {
	front := func(yaml string) string { return "---\nname: x\n" + yaml + "\n---\n# Body\n" }
	return []descriptionCase{
		{"plain", front("description: Reads PDF files."), "Reads PDF files."},
		{"first key", "---\ndescription: a\n---\n", "a"},
		{"line breaks of Windows", "---\r\ndescription: a\r\nname: x\r\n---\r\n", "a"},
		{"byte order mark", "\ufeff---\ndescription: a\n---", "a"},
		{"plain with a colon, which YAML refuses", front("description: Use when: the user asks"), refused},
		{"plain with a comment", front("description: a #b # c"), "a"},
		{"plain with a hash inside", front("description: C#and F#."), "C#and F#."},
		{"plain on more lines", front("description: one\n  two\n\n  three"), "one two three"},
		{"plain that begins on the next line", front("description:\n  one\n  two\nlicense: MIT"), "one two"},
		{"plain with quotes inside", front(`description: the "x" tool's`), `the "x" tool's`},
		{"double quotes", front(`description: "a \"b\" \\ \u00e9\x41\n c" # d`), `a "b" \ éA c`},
		{"double quotes on more lines", front("description: \"a\n  b\""), "a b"},
		{"double quotes that do not end", front(`description: "a b`), refused},
		{"an escape that is none", front(`description: "C:\dir \u12"`), refused},
		{"single quotes", front(`description: 'it''s # here' # x`), "it's # here"},
		{"single quotes that do not end", front(`description: 'it`), refused},
		{"folded", front("description: >\n  one\n  two\n\n  three\nlicense: MIT"), "one two three"},
		{"folded, without last line break", front("description: >-  # note\n  one # two\n  three"), "one # two three"},
		{"literal with indentation", front("description: |2+\n    one\n  two"), "one two"},
		{"not a block", front("description: |one"), refused},
		{"tabs", front("description:\tone\ttwo"), "one two"},
		{"space before the colon", front("description : a"), "a"},
		{"quoted key", front(`"description": a`), "a"},
		{"the first of two", front("description: a\ndescription: b"), refused},
		{"null", front("description: ~"), ""},
		{"null as word", front("description: null"), ""},
		{"nothing", front("description:"), ""},
		{"only a comment", front("description: # a"), ""},
		{"no space behind the colon", front("description:a"), refused},
		{"key of something else", front("metadata:\n  description: a"), ""},
		{"longer key", front("descriptions: a"), ""},
		{"a list", front("description: [a]"), refused},
		{"a number", front("description: 42"), "42"},
		{"front matter ends with dots", "---\ndescription: a\n...\nb", "a"},
		{"front matter does not end", "---\ndescription: a\n", ""},
		{"description behind front matter", "---\nname: x\n---\ndescription: a\n---\n", ""},
		{"front matter is not at the beginning", "\n---\ndescription: a\n---\n", ""},
		{"four dashes", "----\ndescription: a\n----\n", ""},
		{"empty front matter", "---\n---\ndescription: a\n", ""},
		{"empty file", "", ""},
		{"controls", front("description: a\x1b[0m\u202eb\xff"), "a␛[0m\\u{202E}b\ufffd"},
		{"as long as may be", front("description: " + strings.Repeat("é", 1024)), strings.Repeat("é", 1024)},
		{"too long", front("description: " + strings.Repeat("é", 1025)), strings.Repeat("é", 1023) + "…"},
		{"front matter as large as may be", "---\ndescription: a\n#" + strings.Repeat("x", 8<<10-25) + "\n---\n", "a"},
		{"front matter too large", "---\ndescription: a\n#" + strings.Repeat("x", 8<<10) + "\n---\n", ""},
	}
}

func TestDescription(t *testing.T) {
	t.Parallel()
	for _, test := range descriptions() {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := DescriptionOf([]byte(test.data))
			if err != nil && got == "" {
				got = refused
			}
			if got != test.want {
				t.Errorf("%q, %v, want %q", got, err, test.want)
			}
		})
	}
}

// The worst that fits into the limit takes no time worth noticing.
func TestDescriptionIsBounded(t *testing.T) {
	t.Parallel()
	start := time.Now()
	for _, unit := range []string{" \n", "description:\n", " #\n", `\x`, "'", "- \n", "- ", " \u202e\n", "[", "{a: ", "? ", "&a *a ", "a:\n ", "!!x "} {
		for _, head := range []string{"", "description: ", "description: |\n", "description: \"", "description: '"} {
			body := "---\n" + head
			body += strings.Repeat(unit, (beginning-len(body)-8)/len(unit)) + "\n---\n"
			_, _ = DescriptionOf([]byte(body))
		}
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
}

// What aliases stand for doubles with each, and is not asked for.
func TestAliasesAreNotFollowed(t *testing.T) {
	t.Parallel()
	var data strings.Builder
	data.WriteString("---\na0: &a0 {k: v}\n")
	for i := range 100 {
		fmt.Fprintf(&data, "a%d: &a%[1]d {<<: *a%d, x: *a%[2]d, y: *a%[2]d}\n", i+1, i)
	}
	data.WriteString("description: *a100\n---\n")
	start := time.Now()
	if got, err := DescriptionOf([]byte(data.String())); got != "" || err == nil {
		t.Errorf("%q, %v", got, err)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("took %s", took)
	}
}
