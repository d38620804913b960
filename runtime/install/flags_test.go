package install_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/install"
)

// TestKnowledgeFlags registers with flags: they stand where the program takes
// them, nothing is to be done a second time, and all of it is undone.
func TestKnowledgeFlags(t *testing.T) {
	t.Parallel()
	const pattern = "project/it's {a,b}*"
	for _, test := range []struct {
		host  string
		scope install.Scope
		want  []string
	}{
		{"claude-code", install.User, []string{"/opt/bin/convtools", "mcp", "-k", pattern, "--prompt-injected"}},
		{"cursor", install.Project, []string{"convtools", "mcp", "--workspace", "${workspaceFolder}", "-k", pattern, "--prompt-injected"}},
		{"opencode", install.Project, []string{"convtools", "mcp", "-k", pattern, "--prompt-injected"}},
		{"codex", install.Project, []string{"convtools", "mcp", "-k", pattern, "--prompt-injected"}},
		{"jp", install.Project, []string{"convtools", "-k", pattern, "--prompt-injected", "jp-tool", "{{context}}", "{{tool}}"}},
	} {
		t.Run(test.host, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			before := d.files()
			d.opts.Scope, d.opts.Knowledge, d.opts.PromptInjected = test.scope, []string{pattern}, true
			change := d.install(test.host)
			if !slices.ContainsFunc(change.Advice, func(s string) bool {
				return strings.Contains(s, `convtools knowledge prompt -k 'project/it'\''s {a,b}*'`)
			}) {
				t.Errorf("advice %q", change.Advice)
			}
			found := install.Registrations(host(t, test.host), d.opts)
			if len(found) != 1 || found[0].Err != nil || !install.Written(found[0]) {
				t.Fatalf("registrations %+v", found)
			}
			if diff := cmp.Diff(test.want, found[0].Command); diff != "" {
				t.Errorf("command (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"-k", pattern, "--prompt-injected"}, install.KnowledgeFlags(found[0])); diff != "" {
				t.Errorf("flags (-want +got):\n%s", diff)
			}
			if again := d.install(test.host); len(again.Files) > 0 {
				t.Errorf("installing again changes:\n%s", again.Diff())
			}
			d.opts.Knowledge, d.opts.PromptInjected = nil, false
			d.install(test.host)
			if found := install.Registrations(host(t, test.host), d.opts); len(found) != 1 || !install.Written(found[0]) || len(install.KnowledgeFlags(found[0])) > 0 {
				t.Errorf("without flags: registrations %+v", found)
			}
			d.uninstall(test.host)
			if diff := cmp.Diff(before, d.files()); diff != "" {
				t.Errorf("after uninstalling (-want +got):\n%s", diff)
			}
		})
	}
}

// TestOtherFlagsAreNotOurs: what a project's file has beside the flags of install
// is not taken for written by it.
func TestOtherFlagsAreNotOurs(t *testing.T) {
	t.Parallel()
	for _, args := range []string{
		"mcp --prompt-injected --http :80",
		"mcp -k",
		"mcp -k --http=:80",
		"mcp -k a/b uninstall",
		"--prompt-injected mcp",
		"mcp --prompt-injected --workspace /x",
		"jp-tool {{context}} {{tool}}",
	} {
		r := install.Registration{Host: "codex", Command: append([]string{"convtools"}, strings.Fields(args)...)}
		if install.Written(r) || install.KnowledgeFlags(r) != nil {
			t.Errorf("%s counts as written by install", args)
		}
	}
	for _, args := range []string{
		"jp-tool {{context}} {{tool}} --prompt-injected",
		"-w / jp-tool {{context}} {{tool}}",
		"-k --http jp-tool {{context}} {{tool}}",
		"mcp --prompt-injected",
	} {
		r := install.Registration{Host: "jp", Command: append([]string{"convtools"}, strings.Fields(args)...)}
		if install.Written(r) {
			t.Errorf("jp: %s counts as written by install", args)
		}
	}
}

// TestJPFillsInPatterns: JP would take part of such a pattern for a name.
func TestJPFillsInPatterns(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.opts.Knowledge = []string{"project/{{a,b},c}"}
	if _, err := install.PlanInstall(host(t, "jp"), d.opts); err == nil || !strings.Contains(err.Error(), "{{") {
		t.Errorf("error %v", err)
	}
}

// TestJPDefinitionsDiffer: a command line that was changed in one definition only
// is not what install writes, and installing again makes them the same.
func TestJPDefinitionsDiffer(t *testing.T) {
	t.Parallel()
	const file = "project/.jp/mcp/tools/knowledge/learn.toml"
	d := newDesk(t)
	d.install("jp")
	text := d.read(file)
	d.write(file, strings.Replace(text, `"convtools jp-tool`, `"convtools --prompt-injected jp-tool`, 1))
	if d.read(file) == text {
		t.Fatal("the definition of learn has no such command")
	}
	found := install.Registrations(host(t, "jp"), d.opts)
	if len(found) != 1 || found[0].Err == nil || !strings.Contains(found[0].Err.Error(), "learn.toml has another command line") {
		t.Errorf("registrations %+v", found)
	}
	d.install("jp")
	if d.read(file) != text {
		t.Error("installing again leaves the difference")
	}
}
