package main

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/convtools/convtools/runtime/base/cases"
	"github.com/convtools/convtools/runtime/contract"
)

// programs is a project with tools of real programs and of two fake ones.
const programs = "../../testdata/programs"

// hostileValues returns texts that a program could take for an option, a file, a command, or more than one argument.
func hostileValues() []string {
	values := []string{
		"", "-", "--", "---", "-x", "-h", "--help", "--version", "-delete", "-exec", "-exec touch owned ;", "-ok", "-fprint", "-fprintf", "-fls", "-o", "-oowned", "--output=owned", "-O", "-Oowned",
		"-T", "-f", "-fowned", "--file=owned", "-c", "--create", "-x -f", "--to-command=touch owned", "--checkpoint-action=exec=touch owned", "-I", "-Itouch owned", "--use-compress-program=touch owned",
		"--compress-program=touch owned", "-S1", "--files0-from=secret", "--include", "-rsecret", "--exec=touch owned", "--upload-pack=touch owned", "--ext-diff", "-K", "-Ksecret", "--config=secret", "-dsecret", "--data=@secret",
		"-init", "-cmd", "-cmd .shell touch owned", ".shell touch owned", ".output owned", ".read secret", ".system touch owned", "-n", "-nsecret", "--rawfile", "--slurpfile", "--from-file", "-Lsecret", "--indent",
		"@secret", "@-", "@/etc/passwd", "secret", "./secret", "../secret", "file:secret", "file:///etc/passwd", "$(touch owned)", "`touch owned`", "; touch owned", "| touch owned", "&& touch owned", "> owned", ">owned",
		"\n-x", "a\n--output=owned", " -x", "\t-x", "'", "\"", "\\", "*", "?", "[a-z]", "{a,b}", "!", "(", ")", ",", "%s", "%n", "~", "~root", "$HOME", "x:y", "host:owned", "\x00", "a\x00-x", "\u2010x", "é", strings.Repeat("-", 500), strings.Repeat("x", 5000),
	}
	return values
}

// For any value in a call, no program takes it for an option, and no file outside the tool's purpose is changed or
// shown.
func TestHostileValuesThroughRealPrograms(t *testing.T) {
	t.Parallel()
	if n := len(hostileValues()); n < 80 {
		t.Fatalf("%d values", n)
	}
	for tool, parameters := range map[string][]string{
		"git_search": {"text", "revision"}, "find_files": {"folder", "name"}, "sqlite_query": {"database", "query"}, "jq_pick": {"member"},
		"curl_fetch": {"url", "agent"}, "tar_list": {"archive", "member"}, "sort_lines": {"text", "separator"}, "grep_text": {"texts", "file"},
	} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			program, _, _ := strings.Cut(tool, "_")
			if program == "sqlite" {
				program = "sqlite3"
			}
			if _, err := exec.LookPath(program); err != nil {
				t.Skipf("%s is not here", program)
			}
			dir := t.TempDir()
			for name, text := range map[string]string{"a.txt": "plain\n", "keep/b.txt": "kept\n", "secret": "S3CR3T\n"} {
				name = filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			s := &served{dir: programs, stderr: io.Discard}
			s.load()
			before := tree(t, dir)
			required := map[string]any{ // the required arguments of the tool
				"git_search": map[string]any{}, "find_files": map[string]any{}, "jq_pick": map[string]any{"object": map[string]any{"name": "x"}},
				"sqlite_query": map[string]any{"database": "a.db", "query": "select 1"}, "curl_fetch": map[string]any{"url": "http://127.0.0.1:9/"},
				"tar_list": map[string]any{"archive": "a.tar"}, "sort_lines": map[string]any{"text": "b\na"}, "grep_text": map[string]any{"texts": []string{"plain"}, "file": "a.txt"},
			}[tool].(map[string]any)
			for p, parameter := range parameters {
				for v, value := range hostileValues() {
					if (p+v)%3 > 0 && cases.Of(1) == 1 { // make prove tries all of them
						continue
					}
					arguments := map[string]any{}
					for name, v := range required {
						arguments[name] = v
					}
					arguments[parameter] = value
					if parameter == "texts" {
						arguments[parameter] = []string{value}
					}
					text, err := json.Marshal(arguments)
					if err != nil {
						t.Fatal(err)
					}
					answer, err := s.call(t.Context(), contract.Call{Tool: tool, Arguments: text, Context: contract.Context{Dir: dir}})
					output := answer
					if err != nil {
						output = err.Error()
					}
					for _, taken := range []string{"Usage:", "usage:", "unrecognized option", "invalid option", "unknown option", "unknown predicate", "Unknown option"} {
						if strings.Contains(output, taken) {
							t.Errorf("%s=%.60q was taken for an option: %.300s", parameter, value, output)
						}
					}
					named := parameter == "file" || parameter == "folder" // the tool may use files of the folder
					if strings.Contains(output, "S3CR3T") && !named || strings.Contains(output, "root:x:") {
						t.Errorf("%s=%.60q shows a file: %.300s", parameter, value, output)
					}
					if after := tree(t, dir); after != before {
						t.Fatalf("%s=%.60q has changed files:\n%s\nwere:\n%s", parameter, value, after, before)
					}
				}
			}
		})
	}
}

// tree returns the files of a folder with their content.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		fmt.Fprintf(&b, "%s: %q\n", name, text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
