package spec_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/gen/spec"
)

// everyKind has a table of each kind, each with a key that is none.
var everyKind = fstest.MapFS{
	"tools.toml": text(`zzzzzzzz = 1
module = "m"
specs = ["specs/*/*.toml"]
[[accepted]]
zzzzzzzz = 1
[cli.x]
zzzzzzzz = 1
[targets]
zzzzzzzz = 1
[targets.go]
zzzzzzzz = 1
[targets.jp]
zzzzzzzz = 1
[[targets.jp.skills]]
zzzzzzzz = 1
`),
	"specs/x/a.toml": text(`zzzzzzzz = 1
[targets]
zzzzzzzz = 1
[targets.jp]
zzzzzzzz = 1
[[aliases]]
zzzzzzzz = 1
[[rules]]
zzzzzzzz = 1
[command]
zzzzzzzz = 1
args = [{ zzzzzzzz = 1 }]
output = { zzzzzzzz = 1 }
failures = [{ zzzzzzzz = 1 }]
[envelope]
zzzzzzzz = 1
[[envelope.elements]]
zzzzzzzz = 1
attributes = [{ zzzzzzzz = 1 }]
[[examples]]
zzzzzzzz = 1
[parameters.p]
zzzzzzzz = 1
items = { zzzzzzzz = 1 }
[parameters.p.members.m]
zzzzzzzz = 1
[parameters.p.variants.v]
zzzzzzzz = 1
[result]
zzzzzzzz = 1
[result.fields.f]
zzzzzzzz = 1
items = { zzzzzzzz = 1 }
[result.fields.f.members.m]
zzzzzzzz = 1
[result.fields.f.variants.v]
zzzzzzzz = 1
`),
}

// The table of keys is what the loader reads: of a key that is none, it tells all that
// there are.
func TestKeysAreThoseTheLoaderReads(t *testing.T) {
	t.Parallel()
	_, diags := spec.Load(everyKind)
	var read []string
	for _, d := range diags {
		if !strings.HasPrefix(d.Message, `unknown key "zzzzzzzz"`) {
			continue
		}
		_, keys, _ := strings.Cut(d.Hint, ": ")
		list := strings.Split(keys, ", ")
		slices.Sort(list)
		read = append(read, strings.Join(list, " "))
	}
	var known []string
	for _, keys := range spec.Keys() {
		var names []string
		for _, k := range keys {
			names = append(names, k.Name)
		}
		slices.Sort(names)
		known = append(known, strings.Join(names, " "))
	}
	slices.Sort(read)
	slices.Sort(known)
	if diff := cmp.Diff(known, read); diff != "" {
		t.Errorf("keys (-table +loader):\n%s", diff)
	}
}

// What the table has as required is what the loader misses where it is not there.
func TestRequiredKeysAreThoseTheLoaderMisses(t *testing.T) {
	t.Parallel()
	_, diags := spec.Load(everyKind)
	missing := map[string]int{}
	for _, d := range diags {
		if match := regexp.MustCompile(` has no "(.*)"$`).FindStringSubmatch(d.Message); match != nil {
			missing[match[1]]++
		}
	}
	given := []string{"module", "specs", "targets", "go", "args", "elements"} // in everyKind
	want := map[string]int{}
	for _, keys := range spec.Keys() {
		for _, k := range keys {
			if k.Required && !slices.Contains(given, k.Name) {
				want[k.Name]++
			}
		}
	}
	if diff := cmp.Diff(want, missing); diff != "" {
		t.Errorf("required keys (-table +loader):\n%s", diff)
	}
}
