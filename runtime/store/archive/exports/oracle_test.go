package exports_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/convtools/convtools/runtime/store/archive"
	"github.com/convtools/convtools/runtime/store/archive/exports"
	"github.com/convtools/convtools/runtime/store/internal/storetest"
	"github.com/convtools/convtools/runtime/transcript"
)

// naive reads a ChatGPT conversation the plain way: all in memory, with recursion. It
// returns the lines that [storetest.Said] has, without turns.
func naive(t *rapid.T, raw string) string {
	var c struct {
		CurrentNode *string `json:"current_node"`
		Mapping     map[string]*struct {
			Parent  *string
			Message *struct {
				Author     struct{ Role string }
				CreateTime *float64 `json:"create_time"`
				Content    struct{ Parts []string }
			}
		}
	}
	decoder := json.NewDecoder(strings.NewReader(raw))
	if err := decoder.Decode(&c); err != nil {
		t.Fatal(err)
	}
	var ids []string // in the order of the document
	for id := range c.Mapping {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b string) int {
		return cmp.Compare(strings.Index(raw, `"`+a+`":{`), strings.Index(raw, `"`+b+`":{`))
	})
	parent := map[string]string{}
	for _, id := range ids {
		if p := c.Mapping[id].Parent; p != nil && c.Mapping[*p] != nil && *p != id {
			parent[id] = *p
		}
	}
	at := func(id string) float64 {
		if m := c.Mapping[id].Message; m != nil && m.CreateTime != nil {
			return *m.CreateTime
		}
		return -1
	}
	slices.SortStableFunc(ids, func(a, b string) int { return cmp.Compare(at(a), at(b)) })
	children := map[string][]string{}
	for _, id := range ids {
		if p, ok := parent[id]; ok {
			children[p] = append(children[p], id)
		}
	}
	leaf := ""
	if c.CurrentNode != nil && c.Mapping[*c.CurrentNode] != nil {
		leaf = *c.CurrentNode
	} else {
		for _, id := range ids {
			if len(children[id]) == 0 && (leaf == "" || at(id) >= at(leaf)) {
				leaf = id
			}
		}
	}
	active := map[string]bool{}
	for id := leaf; id != "" && !active[id]; id = parent[id] {
		active[id] = true
	}
	var said strings.Builder
	seen := map[string]bool{}
	var visit func(id string)
	visit = func(id string) {
		if seen[id] {
			return
		}
		seen[id] = true
		if m := c.Mapping[id].Message; m != nil {
			text := strings.Join(slices.DeleteFunc(m.Content.Parts, func(p string) bool { return p == "" }), "\n")
			if text != "" {
				fmt.Fprintf(&said, "%s: %s\n", m.Author.Role, strings.Join(strings.Fields(text), " "))
			}
		}
		for _, last := range []bool{false, true} {
			for _, child := range children[id] {
				if active[child] == last {
					visit(child)
				}
			}
		}
	}
	for _, last := range []bool{false, true} {
		for _, id := range ids {
			if _, has := parent[id]; !has && active[id] == last {
				visit(id)
			}
		}
	}
	for _, last := range []bool{false, true} { // those in a circle
		for _, id := range ids {
			if active[id] == last {
				visit(id)
			}
		}
	}
	return said.String()
}

// Whatever tree the messages of a conversation are, they are read as the naive reader does.
func TestOracle(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	path := filepath.Join(t.TempDir(), "x.json")
	w, err := archive.Create(t.Context(), h.dir, false)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	number := 0
	rapid.Check(t, func(r *rapid.T) {
		number++
		nodes := rapid.IntRange(1, 8).Draw(r, "nodes")
		id := rapid.Custom(func(r *rapid.T) string { return fmt.Sprint("n", rapid.IntRange(0, nodes).Draw(r, "id")) })
		var mapping []string
		for i := range nodes {
			n := object{"children": rapid.SliceOfN(id, 0, 3).Draw(r, "children"), "parent": nil, "message": nil}
			if rapid.Bool().Draw(r, "has a parent") {
				n["parent"] = id.Draw(r, "parent")
			}
			if rapid.IntRange(0, 5).Draw(r, "has a message") > 0 {
				m := object{"author": object{"role": rapid.SampledFrom([]string{"user", "assistant", "system"}).Draw(r, "role")}, "create_time": nil}
				if rapid.Bool().Draw(r, "has a time") {
					m["create_time"] = float64(rapid.IntRange(1, 3).Draw(r, "time"))
				}
				parts := rapid.SliceOfN(rapid.StringOfN(rapid.RuneFrom([]rune("ab\n\"\\ é天🎉")), 0, 4, -1), 0, 3).Draw(r, "parts")
				m["content"] = object{"content_type": "text", "parts": append(parts, fmt.Sprint(i))}
				n["message"] = m
			}
			mapping = append(mapping, fmt.Sprintf(`"n%d":%s`, i, n))
		}
		number := fmt.Sprint("c", number)
		current := "null"
		if rapid.Bool().Draw(r, "has a current node") {
			current = `"` + id.Draw(r, "current") + `"`
		}
		raw := fmt.Sprintf(`{"mapping":{%s},"current_node":%s,"conversation_id":"%s"}`, strings.Join(mapping, ","), current, number)
		want := naive(r, raw)
		report, err := exports.Import(t.Context(), write(t, path, raw), w, exports.Options{})
		if want == "" {
			if report.Skipped != 1 {
				r.Fatalf("%s, want nothing", summary(report, err))
			}
			return
		}
		if err != nil || report.New != 1 {
			r.Fatal(summary(report, err))
		}
		c, err := storetest.Find(t, h.store(), transcript.ID("archive-chatgpt-"+number))
		if err != nil {
			r.Fatal(err)
		}
		if got := strip(storetest.Said(t, c)); got != want {
			r.Fatalf("%s\n%q, want %q", raw, got, want)
		}
	})
}

// FuzzImport imports any file, also what is no zip: it ends, each time in the same way.
func FuzzImport(f *testing.F) {
	f.Add([]byte(array(conversation("a", "one"), conversation("b", "two"))))
	f.Add([]byte(`[{"uuid":"u","chat_messages":[{"uuid":"m","text":"x","sender":"human"}]}]`))
	f.Add([]byte(`{"agents":[{"id":"a","messages":[{"role":"user","content":"x"}]}],"blocks":[]}`))
	f.Add([]byte(`[{"mapping":{"n":{"message":{"content":{"parts":[{"content_type":"\ud800"}]}}}},"id":"x"}`))
	f.Add(zipped(f, map[string]string{"conversations.json": array(conversation("a", "one")), "export_manifest.json": `{"logical_files":{"conversations.json":{"files":["../x"]}}}`}))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := write(t, filepath.Join(t.TempDir(), "x"), string(data))
		var reports [2]string
		for pass := range reports {
			// Nothing is written: what SQLite does would be nearly all there is to it.
			w, err := archive.Create(t.Context(), t.TempDir(), true)
			if err != nil {
				t.Fatal(err)
			}
			report, err := exports.Import(t.Context(), path, w, exports.Options{})
			if (err == nil) != (report.Recognised() > 0) {
				t.Fatal(summary(report, err))
			}
			reports[pass] = summary(report, err)
		}
		if reports[0] != reports[1] {
			t.Errorf("%s, then %s", reports[0], reports[1])
		}
	})
}
