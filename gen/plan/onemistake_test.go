package plan_test

import (
	"bytes"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/convtools/convtools/gen/plan"
	"github.com/convtools/convtools/runtime/base/cases"
)

// One mistake gives one error, and two give two: a misspelt key and a value of the wrong type, anywhere in specs with
// one other mistake. Consequences of a mistake are not reported.
func TestOneMistakeIsOneError(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{positiveDir, positiveDir + "/../shapes"} {
		project := fstest.MapFS{}
		files := os.DirFS(dir)
		err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".toml") || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "generated") {
				return err
			}
			data, err := fs.ReadFile(files, name)
			project[name] = &fstest.MapFile{Data: data}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		at, tried := 0, 0
		for _, name := range sortedNames(project) {
			file := project[name]
			var document map[string]any
			if err := toml.Unmarshal(file.Data, &document); err != nil {
				t.Fatal(err)
			}
			want := 1 // the number of errors
			if name != "tools.toml" {
				want = 2
				document["aliases"] = []map[string]any{{"name": "Not a name", "until": "2099-01-01"}}
			}
			judge := func(what string) {
				t.Helper()
				if at++; at%3 > 0 && cases.Of(1) == 1 { // make prove makes all of them
					return
				}
				var b bytes.Buffer
				if err := toml.NewEncoder(&b).Encode(document); err != nil {
					return // the library cannot write an array of mixed types
				}
				withMistake := fstest.MapFS{}
				for other, file := range project {
					withMistake[other] = file
				}
				withMistake[name] = &fstest.MapFile{Data: b.Bytes()}
				result, err := plan.Generate(withMistake)
				if err != nil {
					t.Fatal(err)
				}
				tried++
				if len(result.Diags) != want {
					t.Errorf("%s: %s: %d errors:\n%v", name, what, len(result.Diags), result.Diags.Sorted())
				}
			}
			makeMistakes(document, "", judge)
		}
		t.Logf("%s: %d mistakes", dir, tried)
	}
}

// makeMistakes makes two mistakes at every key of a table and of the tables in it, one after the other: a misspelt key,
// and a date for a value. It calls judge for each, and undoes it before the next one.
func makeMistakes(table map[string]any, path string, judge func(what string)) {
	var keys []string
	for key := range table {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		if key == "aliases" {
			continue
		}
		value := table[key]
		if !hasFreeNames(path) { // otherwise every spelling is right
			delete(table, key)
			table[key+"x"] = value
			judge(path + key + " misspelt")
			delete(table, key+"x")
		}
		table[key] = time.Date(1979, 5, 27, 0, 0, 0, 0, time.UTC)
		judge(path + key + " is a date")
		table[key] = value
		switch value := value.(type) {
		case map[string]any:
			if key != "arguments" {
				makeMistakes(value, path+key+".", judge)
			}
		case []map[string]any:
			for _, item := range value {
				makeMistakes(item, path+key+"[].", judge)
			}
		}
	}
}

// hasFreeNames reports whether the keys of the table at a path are free names.
func hasFreeNames(path string) bool {
	return slices.ContainsFunc([]string{"parameters.", "members.", "variants.", "fields.", "cli.", "env."}, func(table string) bool {
		return path == table || strings.HasSuffix(path, "."+table)
	})
}
