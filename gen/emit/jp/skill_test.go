package jp

import (
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/ir/irtest"
)

func TestFileMatchesContract(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]*ir.Contract{"plain": irtest.Contract(), "hostile": irtest.Hostile()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := skills(c)
			var got map[string]any
			if _, err := toml.Decode(string(files[0].Data), &got); err != nil {
				t.Fatalf("%v in\n%s", err, files[0].Data)
			}
			s := c.Targets.Skills[0]
			on := map[string]any{"enable": map[string]any{"state": true}}
			want := map[string]any{
				"assistant": map[string]any{"system_prompt_sections": []map[string]any{
					{"tag": s.Tag, "title": s.Title, "content": strings.TrimRight(s.Content, "\n") + "\n"},
				}},
				"conversation": map[string]any{"tools": map[string]any{
					"conversation_list": on, "conversation_grep": on, "conversation_read": on,
				}},
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("file (-want +got):\n%s", diff)
			}
		})
	}
}

// The commented line must work unchanged, wherever the files are.
func TestExtendsIsRelativeToTheFile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, tools, want string }{
		{".jp/config/skill/access.toml", ".jp/mcp/tools", `["../../mcp/tools/conversation/*.toml", "../../mcp/tools/note/*.toml", "access.toml"]`},
		{"skill.toml", "tools", `["tools/conversation/*.toml", "tools/note/*.toml", "skill.toml"]`},
		{"a/b/skill.toml", "c", `["../../c/conversation/*.toml", "../../c/note/*.toml", "skill.toml"]`},
		{"a/skill.toml", "a/b", `["b/conversation/*.toml", "b/note/*.toml", "skill.toml"]`},
	} {
		contract := irtest.Contract()
		contract.Targets.JPTools = c.tools
		contract.Targets.Skills[0].File = c.file
		contract.Targets.Skills[0].Tools = []string{"note_add", "conversation_list", "conversation_read"}
		files := skills(contract)
		found := false
		for line := range strings.SplitSeq(string(files[0].Data), "\n") {
			if list, ok := strings.CutPrefix(line, "#   extends = "); ok {
				found = true
				if strings.TrimSpace(list) != c.want {
					t.Errorf("%s: extends %s, want %s", c.file, list, c.want)
				}
			}
		}
		if !found {
			t.Errorf("no line with extends in\n%s", files[0].Data)
		}
	}
}
