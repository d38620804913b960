package install_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/generated/jpfiles"
	"github.com/convtools/convtools/runtime/install"
	"github.com/convtools/convtools/runtime/toolset"
)

// familyFlags are flags as families have them.
func familyFlags() []toolset.Flag {
	return []toolset.Flag{{Name: "knowledge", Shorthand: "k"}, {Name: "prompt-injected", Switch: true}}
}

// written reports whether a registration counts as written by install.
func written(r install.Registration) bool {
	_, ok := r.Settings(install.Options{Name: "convtools", JPFiles: jpfiles.Files(), Flags: familyFlags()})
	return ok && r.Err == nil
}

// TestSettings registers with flags: they stand where the program takes
// them, nothing is to be done a second time, and all of it is undone.
func TestSettings(t *testing.T) {
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
			before := d.beside()
			settings := []string{"-k", pattern, "--prompt-injected"}
			d.opts.Scope, d.opts.Settings, d.opts.Advice = test.scope, settings, []string{"Mind the prompt."}
			change := d.install(test.host)
			if !slices.Contains(change.Advice, "Mind the prompt.") {
				t.Errorf("advice %q", change.Advice)
			}
			found := install.Registrations(host(t, test.host), d.opts)
			if len(found) != 1 || found[0].Err != nil {
				t.Fatalf("registrations %+v", found)
			}
			if diff := cmp.Diff(test.want, found[0].Command); diff != "" {
				t.Errorf("command (-want +got):\n%s", diff)
			}
			got, ok := found[0].Settings(d.opts)
			if diff := cmp.Diff(settings, got); diff != "" || !ok {
				t.Errorf("settings, %v (-want +got):\n%s", ok, diff)
			}
			if _, ok := found[0].Settings(install.Options{JPFiles: d.opts.JPFiles}); ok {
				t.Error("flags that no family has count as written by install")
			}
			if again := d.install(test.host); len(again.Files) > 0 {
				t.Errorf("installing again changes:\n%s", again.Diff())
			}
			d.opts.Settings = nil
			d.install(test.host)
			if found := install.Registrations(host(t, test.host), d.opts); len(found) != 1 || !written(found[0]) || len(found[0].Command) != len(test.want)-len(settings) {
				t.Errorf("without flags: registrations %+v", found)
			}
			d.uninstall(test.host)
			if diff := cmp.Diff(before, d.beside()); diff != "" {
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
		if written(r) {
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
		if written(r) {
			t.Errorf("jp: %s counts as written by install", args)
		}
	}
}

// TestJPFillsInPatterns: JP would take part of such a pattern for a name.
func TestJPFillsInPatterns(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.opts.Settings = []string{"-k", "project/{{a,b},c}"}
	if _, err := install.PlanInstall(host(t, "jp"), d.opts); err == nil || !strings.Contains(err.Error(), `-k "project/{{a,b},c}" has {{`) {
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
