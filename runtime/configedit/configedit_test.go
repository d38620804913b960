package configedit_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/convtools/convtools/runtime/configedit"
)

// entry returns the members that every test sets, at a path of two names.
func entry() []configedit.Member {
	return []configedit.Member{
		{Key: "command", Value: "/opt/convtools"},
		{Key: "args", Value: []string{"mcp", "--workspace", `C:\a "b"`}},
	}
}

// format returns the format of a test case by the start of its name.
func format(t *testing.T, name string) (configedit.Format, []string) {
	switch {
	case strings.HasPrefix(name, "toml"):
		return configedit.TOML, []string{"mcp_servers", "convtools"}
	case strings.HasPrefix(name, "jsonc"):
		return configedit.JSONC, []string{"mcpServers", "convtools"}
	case strings.HasPrefix(name, "json"):
		return configedit.JSON, []string{"mcpServers", "convtools"}
	}
	t.Fatalf("%s: no format begins so", name)
	return 0, nil
}

// TestEdits takes its cases from testdata: a document, the same with the entry
// set, and, unless it is the document again, what removing leaves. A section
// "error" has what setting says instead, and "remove error" what removing says.
func TestEdits(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			section := map[string]*txtar.File{}
			for i := range archive.Files {
				section[archive.Files[i].Name] = &archive.Files[i]
			}
			before := section["before"].Data
			format, path := format(t, filepath.Base(file))
			after, err := configedit.Set(format, before, path, entry())
			got := []byte{}
			if err != nil {
				got = []byte(err.Error() + "\n")
			}
			want := &txtar.File{}
			if section["error"] != nil {
				want = section["error"]
			}
			update(archive, want, got)
			if diff := cmp.Diff(string(want.Data), string(got)); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			defer save(t, file, archive)
			if err != nil {
				return
			}
			update(archive, section["after"], after)
			if diff := cmp.Diff(string(section["after"].Data), string(after)); diff != "" {
				t.Errorf("after (-want +got):\n%s", diff)
			}
			again, err := configedit.Set(format, after, path, entry())
			if err != nil || !bytes.Equal(again, after) {
				t.Errorf("setting again changes it to (error %v):\n%s", err, again)
			}
			removed, err := configedit.Remove(format, after, path)
			if want := section["remove error"]; want != nil && err != nil {
				if diff := cmp.Diff(string(want.Data), err.Error()+"\n"); diff != "" {
					t.Errorf("error of removing (-want +got):\n%s", diff)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			kept := &txtar.File{Data: before}
			if section["removed"] != nil {
				kept = section["removed"]
				update(archive, kept, removed)
			}
			if diff := cmp.Diff(string(kept.Data), string(removed)); diff != "" {
				t.Errorf("removed (-want +got):\n%s", diff)
			}
		})
	}
}

// update rewrites a section when UPDATE_GOLDEN=1 is in the environment; read the
// difference before it is committed.
func update(_ *txtar.Archive, section *txtar.File, data []byte) {
	if os.Getenv("UPDATE_GOLDEN") == "1" && section.Name != "" {
		section.Data = data
	}
}

func save(t *testing.T, file string, archive *txtar.Archive) {
	if os.Getenv("UPDATE_GOLDEN") == "1" {
		if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
			t.Error(err)
		}
	}
}

// TestLineEnds has the cases that a txtar file cannot have.
func TestLineEnds(t *testing.T) {
	t.Parallel()
	const bom = "\ufeff"
	json := []string{"mcpServers", "convtools"}
	table := []string{"mcp_servers", "convtools"}
	members := []configedit.Member{{Key: "command", Value: "x"}}
	tests := []struct {
		name          string
		format        configedit.Format
		path          []string
		before, after string
		removed       string // "" for before
	}{
		{
			name: "CRLF", format: configedit.JSONC, path: json,
			before: "{\r\n\t\"mcpServers\": {\r\n\t\t\"a\": {} // b\r\n\t}\r\n}\r\n",
			after:  "{\r\n\t\"mcpServers\": {\r\n\t\t\"a\": {}, // b\r\n\t\t\"convtools\": {\r\n\t\t\t\"command\": \"x\"\r\n\t\t}\r\n\t}\r\n}\r\n",
		},
		{
			name: "CRLF and nothing in it", format: configedit.JSON, path: json,
			before: "{\r\n}\r\n",
			after:  "{\r\n  \"mcpServers\": {\r\n    \"convtools\": {\r\n      \"command\": \"x\"\r\n    }\r\n  }\r\n}\r\n",
			// The table stays: it may have been there before.
			removed: "{\r\n  \"mcpServers\": {}\r\n}\r\n",
		},
		{
			name: "byte order mark", format: configedit.JSON, path: json,
			before: bom + `{"mcpServers":{"a":1}}`,
			after:  bom + `{"mcpServers":{"a":1,"convtools":{"command":"x"}}}`,
		},
		{
			name: "byte order mark and nothing else", format: configedit.JSON, path: json,
			before:  bom,
			after:   bom + "{\n  \"mcpServers\": {\n    \"convtools\": {\n      \"command\": \"x\"\n    }\n  }\n}\n",
			removed: bom + "{\n  \"mcpServers\": {}\n}\n",
		},
		{
			name: "no line end at the end", format: configedit.JSONC, path: json,
			before: "{\n  \"mcpServers\": {\n    \"a\": 1\n  }\n} // end",
			after:  "{\n  \"mcpServers\": {\n    \"a\": 1,\n    \"convtools\": {\n      \"command\": \"x\"\n    }\n  }\n} // end",
		},
		{
			name: "TOML with CRLF", format: configedit.TOML, path: table,
			before: "a = 1\r\n",
			after:  "a = 1\r\n\r\n[mcp_servers.convtools]\r\ncommand = \"x\"\r\n",
		},
		{
			name: "TOML with a byte order mark", format: configedit.TOML, path: table,
			before: bom + "a = 1\n",
			after:  bom + "a = 1\n\n[mcp_servers.convtools]\ncommand = \"x\"\n",
		},
		{
			name: "TOML without a line end at the end", format: configedit.TOML, path: table,
			before:  "a = 1",
			after:   "a = 1\n\n[mcp_servers.convtools]\ncommand = \"x\"\n",
			removed: "a = 1\n",
		},
		{
			name: "empty TOML", format: configedit.TOML, path: table,
			before: "",
			after:  "[mcp_servers.convtools]\ncommand = \"x\"\n",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			after, err := configedit.Set(test.format, []byte(test.before), test.path, members)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.after, string(after)); diff != "" {
				t.Errorf("after (-want +got):\n%s", diff)
			}
			removed, err := configedit.Remove(test.format, after, test.path)
			if err != nil {
				t.Fatal(err)
			}
			want := test.removed
			if want == "" {
				want = test.before
			}
			if diff := cmp.Diff(want, string(removed)); diff != "" {
				t.Errorf("removed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSyntaxErrorsSayWhere(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 100_000)
	tests := []struct {
		name, src    string
		format       configedit.Format
		line, column int
		says         string
	}{
		{"missing comma", "{\n  \"a\": 1\n  \"b\": 2\n}", configedit.JSONC, 3, 3, "expecting ','"},
		{"cut off", "{\n  \"a\": [", configedit.JSONC, 2, 9, "unexpected EOF"},
		{"open comment", "{} /* a", configedit.JSONC, 1, 4, "unexpected EOF"},
		{"comment in JSON", "{\n  // a\n}", configedit.JSON, 2, 3, "comments and trailing commas are not allowed"},
		{"trailing comma in JSON", "{\"a\": 1,}", configedit.JSON, 1, 9, "comments and trailing commas are not allowed"},
		{"only a comment in JSON", "\n // a", configedit.JSON, 2, 2, "not allowed in this file"},
		{"deep JSON", `{"a":` + deep, configedit.JSONC, 1, 10_005, "nested more than 10000 levels"},
		{"deep TOML", "b = 1\na = " + deep, configedit.TOML, 2, 10005, "nested too deeply"},
		{"TOML", "a = 1\nb = \n", configedit.TOML, 2, 5, "expected value"},
		{"TOML twice", "a = 1\na = 2\n", configedit.TOML, 2, 1, "already been defined"},
		{"NUL", "{\x00}", configedit.JSONC, 1, 2, "invalid character"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := configedit.Set(test.format, []byte(test.src), []string{"x", "y"}, entry())
			var syntax *configedit.SyntaxError
			if !errors.As(err, &syntax) {
				t.Fatalf("error %v", err)
			}
			if syntax.Line != test.line || syntax.Column != test.column || !strings.Contains(syntax.Detail, test.says) {
				t.Errorf("%v; want line %d, column %d: …%s…", syntax, test.line, test.column, test.says)
			}
			if len(syntax.Error()) > 300 {
				t.Errorf("the message has %d bytes", len(syntax.Error()))
			}
		})
	}
}

func TestGet(t *testing.T) {
	t.Parallel()
	got, ok, err := configedit.Get(configedit.JSONC, []byte(`{"a": /* c */ {"b": {"c": "d", "e": ["f"],},},}`), []string{"a", "b"})
	want := map[string]any{"c": "d", "e": []any{"f"}}
	if diff := cmp.Diff(want, got); diff != "" || !ok || err != nil {
		t.Errorf("Get: %v, %v (-want +got):\n%s", ok, err, diff)
	}
	if _, ok, err := configedit.Get(configedit.TOML, []byte("a = 1\n"), []string{"a", "b"}); ok || err != nil {
		t.Errorf("inside a number: %v, %v", ok, err)
	}
	if _, _, err := configedit.Get(configedit.TOML, []byte("a = 1\n"), []string{"a"}); err == nil {
		t.Error("a number is an entry")
	}
}

// The snippet for people is an edit of an empty document.
func TestSnippet(t *testing.T) {
	t.Parallel()
	for _, format := range []configedit.Format{configedit.JSON, configedit.TOML} {
		text := configedit.Snippet(format, []string{"a", "b c"}, entry())
		if format != configedit.TOML {
			text = "{\n  " + strings.ReplaceAll(text, "\n", "\n  ")
			text = strings.TrimSuffix(text, "  ") + "}\n"
		}
		made, err := configedit.Set(format, nil, []string{"a", "b c"}, entry())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(made), text); diff != "" {
			t.Errorf("(-set +snippet):\n%s", diff)
		}
	}
}

// Every string can be written in TOML.
func TestStringsInTOML(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`C:\a`, `C:\it's`, "C:\\\u0085", "a\nb", "\x7f\x00", "\u2028<&>\"", "é", ""} {
		path := []string{"a", "b\\\""}
		src, err := configedit.Set(configedit.TOML, nil, path, []configedit.Member{{Key: "command", Value: text}})
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if got, _, err := configedit.Get(configedit.TOML, src, path); err != nil || got["command"] != text {
			t.Errorf("%q is %q in %s (%v)", text, got["command"], src, err)
		}
	}
}
