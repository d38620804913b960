// Package explain explains a rule of specs, with a spec that breaks it and the correction, and a rule of changes,
// with its effect on callers. The examples are the archives that the tests run, so they are never out of date.
//
// It must never invent an example of its own.
package explain

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/convtools/convtools/gen/check"
	"github.com/convtools/convtools/gen/lock"
	"github.com/convtools/convtools/runtime/base/near"
	"github.com/convtools/convtools/testdata/specs"
)

// Rule returns the explanation of the rule of specs or of changes with the given id, and an example. Case does not
// matter. The second result is false if no rule has that id.
func Rule(id string) (string, bool, error) {
	for _, rule := range check.Rules() {
		if !strings.EqualFold(id, rule.ID) {
			continue
		}
		archive, err := example(rule.ID)
		if err != nil {
			return "", true, fmt.Errorf("looking for an example of %s: %w", rule.ID, err)
		}
		return rule.ID + ": " + rule.Doc + "\n" + specExample(archive), true, nil
	}
	for _, rule := range lock.Rules() {
		if !strings.EqualFold(id, rule.ID) {
			continue
		}
		data, err := specs.Archives.ReadFile("breaking/" + rule.ID + ".txtar")
		if err != nil {
			return "", true, fmt.Errorf("looking for an example of %s: %w", rule.ID, err)
		}
		return rule.ID + ": " + Change(rule) + "\n" + changeExample(txtar.Parse(data)), true, nil
	}
	return "", false, nil
}

// Nearest returns the rule of changes whose id is most similar to an unknown id, or "" if none is similar. It ignores
// the rules of specs: their ids are numbers, which are all alike.
func Nearest(id string) string {
	var ids []string
	for _, rule := range lock.Rules() {
		ids = append(ids, rule.ID)
	}
	return near.Name(id, ids)
}

// Change returns the explanation of a rule of changes.
func Change(rule lock.Rule) string {
	return fmt.Sprintf("%s. It is %s, on the side of the %s.", rule.Says, rule.Class, rule.Side)
}

// changeExample returns the change of contract.lock in an example, and the report about this change.
func changeExample(archive *txtar.Archive) string {
	files := filesOf(archive)
	changes := changesBetween("contract.lock", files["before"], "contract.lock, later", files["after"])
	return "\nFor example:\n\n" + indented(changes) + "\nconvgen breaking says of it:\n\n" + indented(string(files["stdout"]))
}

// filesOf returns the contents of the files in an archive by name.
func filesOf(archive *txtar.Archive) map[string][]byte {
	files := map[string][]byte{}
	for _, f := range archive.Files {
		files[f.Name] = f.Data
	}
	return files
}

// changesBetween returns a diff of two texts with their names.
func changesBetween(oldName string, before []byte, newName string, after []byte) string {
	_, changes, _ := strings.Cut(string(diff.Diff(oldName, before, newName, after)), "\n") // the first line repeats the next two
	return changes
}

// example returns the shortest archive with specs that break a rule: it has the fewest unrelated lines; nil for none.
func example(rule string) (*txtar.Archive, error) {
	names, err := fs.Glob(specs.Archives, rule+"-*.txtar")
	if err != nil || len(names) == 0 {
		return nil, err
	}
	var shortest []byte
	for _, name := range names {
		data, err := specs.Archives.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if shortest == nil || len(data) < len(shortest) {
			shortest = data
		}
	}
	return txtar.Parse(shortest), nil
}

// specExample returns the explanation of an archive: its subject, the report about its specs, and the corrections of the
// specs. It returns "" if archive is nil.
func specExample(archive *txtar.Archive) string {
	if archive == nil {
		return ""
	}
	files := filesOf(archive)
	example := "\nFor example: " + strings.TrimSpace(string(archive.Comment)) + "\n\n" + indented(string(files["stderr"]))
	var fixes []string
	for _, f := range archive.Files {
		name, isFixed := strings.CutPrefix(f.Name, "fixed/")
		switch {
		case !isFixed:
		case len(f.Data) == 0: // the file is removed
			fixes = append(fixes, "without "+name+"\n")
		default:
			fixes = append(fixes, changesBetween(name, files[name], name+", put right", f.Data))
		}
	}
	if len(fixes) > 0 {
		example += "\nPut right:\n\n" + indented(strings.Join(fixes, "\n"))
	}
	return example
}

// indented returns text with every line that is not blank indented by four spaces.
func indented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			b.WriteString("    ")
		}
		b.WriteString(line)
	}
	return b.String()
}
