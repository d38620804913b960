package conversations

import "testing"

func TestFileFilter(t *testing.T) {
	t.Parallel()
	roots := []string{"/p/main", "/p/tree"}
	for _, test := range []struct {
		file     string
		isWhole  bool // no longer path ends with it
		recorded string
		dir      string
		want     bool
	}{
		{"feed/a.go", true, "/p/main/feed/a.go", "/p/main", true},
		{"feed/a.go", true, "/p/tree/feed/a.go", "/p/tree", true},        // another working tree
		{"feed/a.go", true, "feed/a.go", "/p/main", true},                // a relative path
		{"feed/a.go", true, "./a.go", "/p/main/feed", true},              // of a folder in the project
		{"feed/a.go", true, "/gone/tree/feed/a.go", "/gone/tree", true},  // a working tree that is gone
		{"feed/a.go", true, `C:\p\feed\a.go`, `C:\p`, true},              // another system
		{"feed/a.go", true, "feed/a.go", "", true},                       // a directory that is not known
		{"feed/a.go", true, "/p/main/other/feed/a.go", "/p/main", false}, // the end of a longer path
		{"feed/a.go", false, "/p/main/other/feed/a.go", "/p/main", true}, // which is asked for
		{"feed/a.go", true, "/p/main/feed/aa.go", "/p/main", false},
		{"a.go", true, "/p/main/feed/a.go", "/p/main", false},
		{"a.go", false, "/p/main/feed/a.go", "/p/main", true},
		{"a.go", false, "/p/main/feed/ba.go", "/p/main", false},
		{"/etc/a.go", true, "/etc/a.go", "/p/main", true},
		{"/etc/a.go", true, "/x/etc/a.go", "/p/main", false},
	} {
		f := &fileFilter{path: test.file, isExact: test.isWhole, roots: roots}
		if got := f.matches(test.recorded, test.dir); got != test.want {
			t.Errorf("%+v: %t", test, got)
		}
	}
}

func TestEssence(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"make test":                          "make test",
		"cd /p && make test 2>&1 | tail -20": "make test",
		"make test | head -5 2>/dev/null":    "make test",
		"make test | grep FAIL":              "make test | grep FAIL",
		"cd /p && cd q && ls":                "cd q && ls",
		"cd '/a b' && ls":                    "cd '/a b' && ls",
		"| tail":                             "| tail",
		"":                                   "",
	} {
		if got := essence(command); got != want {
			t.Errorf("%q: %q, want %q", command, got, want)
		}
	}
}
