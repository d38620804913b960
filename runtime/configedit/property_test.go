package configedit_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/tailscale/hujson"

	"github.com/convtools/convtools/runtime/configedit"
)

// TestRandomJSONC sets and removes the entry in random documents. It compares the rest as decoded, and as text
// without white space.
func TestRandomJSONC(t *testing.T) {
	t.Parallel()
	path := []string{"mcpServers", "convtools"}
	for seed := range uint64(1000) {
		g := generator{rand.New(rand.NewPCG(seed, 1))}
		src := []byte(g.document())
		after, err := configedit.Set(configedit.JSONC, src, path, entry())
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, src)
		}
		want := decodeJSONC(t, src)
		servers, ok := want["mcpServers"].(map[string]any)
		if !ok {
			servers = map[string]any{}
			want["mcpServers"] = servers
		}
		ours, _ := servers["convtools"].(map[string]any)
		if ours == nil {
			ours = map[string]any{}
		}
		ours["command"], ours["args"] = "/opt/convtools", []any{"mcp", "--workspace", `C:\a "b"`}
		servers["convtools"] = ours
		if diff := cmp.Diff(want, decodeJSONC(t, after)); diff != "" {
			t.Fatalf("seed %d (-want +got):\n%s\nof:\n%s", seed, diff, src)
		}
		if again, err := configedit.Set(configedit.JSONC, after, path, entry()); err != nil || !bytes.Equal(again, after) {
			t.Fatalf("seed %d: setting again (error %v) gives:\n%s", seed, err, again)
		}

		removed, err := configedit.Remove(configedit.JSONC, after, path)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, after)
		}
		delete(servers, "convtools")
		if diff := cmp.Diff(want, decodeJSONC(t, removed)); diff != "" {
			t.Fatalf("seed %d: removed (-want +got):\n%s\nof:\n%s", seed, diff, after)
		}
		before := decodeJSONC(t, src)
		if _, ok := before["mcpServers"]; !ok {
			if removed, err = configedit.Remove(configedit.JSONC, removed, path[:1]); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		} else if s, _ := before["mcpServers"].(map[string]any); s["convtools"] != nil {
			continue
		}
		if diff := cmp.Diff(dense(src), dense(removed)); diff != "" {
			t.Fatalf("seed %d: setting and removing leaves (-want +got):\n%s\nof:\n%s", seed, diff, src)
		}
	}
}

func dense(src []byte) string {
	return strings.NewReplacer(" ", "", "\t", "", "\n", "", "\r", "").Replace(string(src))
}

func decodeJSONC(t *testing.T, src []byte) map[string]any {
	t.Helper()
	plain, err := hujson.Standardize(append(bytes.Clone(src), '\n'))
	if err != nil {
		t.Fatalf("%v:\n%s", err, src)
	}
	doc := map[string]any{}
	dec := json.NewDecoder(bytes.NewReader(plain))
	dec.UseNumber()
	if err := dec.Decode(&doc); err != nil {
		t.Fatalf("%v:\n%s", err, src)
	}
	return doc
}

// generator writes documents of every layout: on one line or many, with tabs or spaces, with comments anywhere, and
// with trailing commas.
type generator struct{ *rand.Rand }

func (g generator) pick(choices ...string) string { return choices[g.IntN(len(choices))] }

func (g generator) document() string {
	eol := g.pick("\n", "\n", "\r\n")
	text := g.comments() + g.object("", g.pick("  ", "\t", "    "), g.keys(true), 0) + g.comments() + g.pick("", eol, "// the end", "/* the end */")
	return strings.ReplaceAll(text, "\n", eol)
}

func (g generator) comments() string {
	return g.pick("", "", "", "", " ", "\n", " // a, \"b\": {\n", " /* }, */ ", "/*\n*/", "\n\t// c\n\n")
}

func (g generator) keys(root bool) []string {
	var keys []string
	for range g.IntN(4) {
		keys = append(keys, fmt.Sprintf("%s%d", g.pick("a", "é", `\"`, "mcp"), len(keys)))
	}
	if root && g.IntN(3) > 0 {
		at := g.IntN(len(keys) + 1)
		keys = append(keys[:at], append([]string{"mcpServers"}, keys[at:]...)...)
	}
	return keys
}

func (g generator) object(indent, unit string, keys []string, depth int) string {
	lead, tail := g.pick("", " ", "\n"+indent+unit), g.pick("", " ", "\n"+indent)
	var b strings.Builder
	b.WriteString("{")
	for i, key := range keys {
		value := g.value(indent+unit, unit, depth)
		if key == "mcpServers" {
			servers := g.keys(false)
			if g.IntN(4) == 0 {
				servers = append(servers, "convtools")
			}
			value = g.object(indent+unit, unit, servers, depth+1)
		}
		if key == "convtools" {
			value = g.object(indent+unit, unit, []string{g.pick("command", "args", "x")}, depth+1)
		}
		b.WriteString(g.comments() + lead + `"` + key + `"` + g.comments() + ":" + g.pick("", " ") + value + g.comments())
		if i < len(keys)-1 || g.IntN(4) == 0 {
			b.WriteString("," + g.comments())
		}
	}
	return b.String() + g.comments() + tail + "}"
}

func (g generator) value(indent, unit string, depth int) string {
	if depth > 3 || g.IntN(2) == 0 {
		return g.pick("1", "-1.50e3", "12345678901234567890", "null", "true", `"// no comment"`, `"\u00e9 {}"`, `"<&>"`)
	}
	if g.IntN(2) == 0 {
		return "[" + g.value(indent, unit, depth+1) + g.comments() + g.pick("", ",") + "]"
	}
	return g.object(indent, unit, g.keys(false), depth+1)
}

// FuzzJSON and FuzzTOML call every function with any document. An edit succeeds and decodes correctly, or the error
// says why not.
func FuzzJSON(f *testing.F) {
	for seed := range uint64(20) {
		g := generator{rand.New(rand.NewPCG(seed, 2))}
		f.Add([]byte(g.document()), seed%2 == 0)
	}
	for _, src := range []string{"", "{", "{} x", `{"mcpServers":{"convtools":{"command":1}}}`, "\ufeff{}", "{}//", `{"a":"\`, "[1]", "{\"\xff\":1}", `{"mcpServers":{"convtools":{"command":"x",}/**/,},}`} {
		f.Add([]byte(src), false)
	}
	f.Fuzz(func(t *testing.T, src []byte, strict bool) {
		format := configedit.JSONC
		if strict {
			format = configedit.JSON
		}
		edits(t, format, src, []string{"mcpServers", "convtools"})
	})
}

func FuzzTOML(f *testing.F) {
	for _, src := range []string{
		"", "a = 1", "[mcp_servers.convtools]\ncommand = 'x'\n[b]", "[mcp_servers]\nconvtools.command = 1", "[[mcp_servers.convtools]]",
		"a = \"\"\"\n[mcp_servers.convtools]\"\"\"\n", "mcp_servers.convtools = {command = 'x'}", "a = nan\nb = 1979-05-27T07:32:00Z # c",
		"[mcp_servers.\"convtools\"]\nargs=[[1],\n# ]\n]\n\n[mcp_servers.convtools.env]\nA='b'", "a = '''", "a = [\"]\", ']', {b = '}'}]\r\n", "[a]]", "\"\\u0061\" = 1",
	} {
		f.Add([]byte(src))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		path := []string{"mcp_servers", "convtools"}
		after := edits(t, configedit.TOML, src, path)
		if after == nil {
			return
		}
		var before, doc map[string]any
		if _, err := toml.Decode(strings.TrimPrefix(string(src), "\ufeff"), &before); err != nil {
			t.Fatalf("a document that does not decode was edited: %v", err)
		}
		if _, err := toml.Decode(strings.TrimPrefix(string(after), "\ufeff"), &doc); err != nil {
			t.Fatalf("%v:\n%s", err, after)
		}
		delete(before, path[0])
		delete(doc, path[0])
		if diff := cmp.Diff(before, doc, cmpopts.EquateNaNs(), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("besides the servers (-want +got):\n%s", diff)
		}
	})
}

// edits sets and removes the entry, and returns the document with it, or nil.
func edits(t *testing.T, format configedit.Format, src []byte, path []string) []byte {
	original := bytes.Clone(src)
	after, err := configedit.Set(format, src, path, entry())
	if !bytes.Equal(src, original) {
		t.Fatal("the document that was handed in has changed")
	}
	var syntax *configedit.SyntaxError
	var conflict *configedit.ConflictError
	if err != nil {
		if !errors.As(err, &syntax) && !errors.As(err, &conflict) {
			t.Fatalf("setting: %v\n%q", err, src)
		}
		return nil
	}
	if again, err := configedit.Set(format, after, path, entry()); err != nil || !bytes.Equal(again, after) {
		t.Errorf("setting again (error %v): %q, not %q", err, again, after)
	}
	got, ok, err := configedit.Get(format, after, path)
	if err != nil || !ok || got["command"] != "/opt/convtools" {
		t.Errorf("what was set is not there: %v, %v, %v", got, ok, err)
	}
	removed, err := configedit.Remove(format, after, path)
	if err != nil {
		if !errors.As(err, &conflict) {
			t.Errorf("removing: %v\n%q", err, after)
		}
		return after
	}
	if there, err := configedit.Has(format, removed, path); there || err != nil {
		t.Errorf("what was removed is there: %v, %v", there, err)
	}
	return after
}
