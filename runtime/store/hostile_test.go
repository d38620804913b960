package store_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/conversations/excerpt"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/cline"
	"github.com/convtools/convtools/runtime/store/eventtext"
	"github.com/convtools/convtools/runtime/store/internal/storetest"
	"github.com/convtools/convtools/runtime/store/project"
	"github.com/convtools/convtools/runtime/transcript"
)

// sessions are the ids of the sessions in the files of programs, if they are not uuid.
var sessions = map[string]string{
	"copilot": "596c8bea-f4b3-47dc-ab1d-eec248c0e993", "qwen": "631cf6b2-cbbd-41ef-ae45-2cffb676d1c9", "pi": "01a222da-0370-71dd-8a38-87fed5ea4df5",
	"cline": "1795885680886_476m0", "goose": "20260501_1", "kilo": "000000000001AbC",
}

// values are in the place of the value of each field in turn.
var values = map[string]string{
	"nothing": "null", "a number": "7", "a negative number": "-1", "a large number": "9223372036854775807", "an infinite number": "9e999",
	"a late time": `"9999-12-31T23:59:59.999999999Z"`, "an early time": `"-0001-01-01T00:00:00Z"`, "an unknown kind": `"hologram"`, "an empty text": `""`,
	"a path": `"../../../etc/passwd"`, "control characters": `"\u0000\n\u001b]0;x\u0007\ud800"`, "wrong bytes": "\"\x00\xff\"", "a flag": `"--help"`,
	"lists": `[[],{},"x"]`, "an object": `{"a":{},"text":[7]}`, "10,000 lists": strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000), "unfinished lists": strings.Repeat("[", 10_000),
}

// columnValues are in the place of the value of each column in turn.
var columnValues = map[string]string{
	"nothing": "NULL", "a number": "7", "a negative number": "-9223372036854775808", "an infinite number": "9e999", "bytes": "x'00ff'",
	"a path": "'../../../etc/passwd'", "control characters": "CAST(x'000a1b5d303b7807ed' AS TEXT)", "a late time": "'9999-12-31 23:59:59'", "lists": "'" + strings.Repeat("[", 10_000) + "'",
}

// whole are other contents of a file, or of a value that is a document.
var whole = map[string]func(recorded string) string{
	"empty":              func(string) string { return "" },
	"of another program": func(string) string { return "\x7fELF\x00\xff\n\n{}\n[]\nnull\n" },
	"cut":                func(recorded string) string { return recorded[:len(recorded)-8] },
	"repeated":           func(recorded string) string { return recorded + recorded },
	"of another project": func(recorded string) string {
		return strings.ReplaceAll(recorded, "/home/mina/tides", "/home/mina/other")
	},
	"with a long line":    func(recorded string) string { return strings.Repeat(" ", 300_000) + recorded },
	"with a line of NULs": func(recorded string) string { return recorded + strings.Repeat("\x00", 300_000) + "\n" + recorded },
}

var (
	keys   = regexp.MustCompile(`"[A-Za-z_]\w*":`)
	tables = regexp.MustCompile(`CREATE TABLE (\w+) \(([^)]*)\)`)
	kinds  = regexp.MustCompile(`"(role|type|subtype)":"[^"]*"`)
	text   = regexp.MustCompile(`'([\[{][^']*)'`) // a document in a statement
)

// Each field gets one of share values, and the next field the next ones: all values of all fields take too long.
const share = 9

// changes returns changes of the content of a file or a document, by what they are.
func changes(recorded string) map[string]func(string) string {
	all := maps.Clone(whole)
	for n, key := range slices.Compact(slices.Sorted(slices.Values(keys.FindAllString(recorded, -1)))) {
		for m, name := range slices.Sorted(maps.Keys(values)) {
			if (n+m)%share == 0 || name == "wrong bytes" { // which can be in every text
				all[key+" "+name] = func(s string) string { return strings.ReplaceAll(s, key, key+values[name]+`,"was":`) }
			}
		}
	}
	return all
}

// copies names changed copies of a session.
type copies struct {
	session string
	changed map[string]string // what is changed, by the ids of the copies
}

// next returns the id of the next copy.
func (c copies) next(change string) string {
	const first = 0x200 // of the last digits, which no session has
	id := c.session[:len(c.session)-3] + fmt.Sprintf("%03x", first+len(c.changed))
	c.changed[id] = change
	return id
}

// hostileDatabase makes a home with the session of the program, and a copy of the session for each change of a document
// and of a column.
func (p program) hostileDatabase(t *testing.T, c copies) (home string) {
	recorded := p.content[strings.Index(p.content, "INSERT"):]
	for change, do := range changes(recorded) {
		p.content += ";" + text.ReplaceAllStringFunc(strings.ReplaceAll(recorded, c.session, c.next(change)), func(document string) string {
			return fmt.Sprintf("CAST(x'%x' AS TEXT)", do(strings.Trim(document, "'")))
		})
	}
	for _, table := range tables.FindAllStringSubmatch(p.content, -1) {
		for n, column := range strings.Split(table[2], ", ") {
			column, _, _ = strings.Cut(column, " ")
			for m, value := range slices.Sorted(maps.Keys(columnValues)) {
				if (n+m)%(share/3) == 0 {
					p.content += ";" + strings.ReplaceAll(recorded, c.session, c.next(table[1]+"."+column+" "+value)) +
						fmt.Sprintf("; UPDATE OR IGNORE %s SET %s = %s WHERE rowid = (SELECT max(rowid) FROM %[1]s)", table[1], column, columnValues[value])
				}
			}
		}
	}
	return p.home(t)
}

// hostileFiles makes a home with the session of the program, a copy of a part of its lines for each change, and files
// with odd names and with the same id.
func (p program) hostileFiles(t *testing.T, c copies) (home string) {
	home = p.home(t)
	data, err := os.ReadFile(filepath.Join(home, p.file))
	if err != nil {
		t.Fatal(err)
	}
	recorded, has := "", map[string]bool{}
	for line := range strings.Lines(string(data)) {
		if kind := strings.Join(kinds.FindAllString(line, -1), ""); !has[kind] || !strings.HasSuffix(p.file, ".jsonl") {
			recorded, has[kind] = recorded+line, true
		}
	}
	for change, do := range changes(recorded) {
		id := c.next(change)
		write(t, filepath.Join(home, strings.ReplaceAll(p.file, c.session, id)), do(strings.ReplaceAll(recorded, c.session, id)))
	}
	for _, odd := range []string{"..", "-h", "a\nb", "\x1b]0;x\x07", "\xff", strings.Repeat("a", 100)} {
		write(t, filepath.Join(home, strings.ReplaceAll(p.file, c.session, odd)), recorded)
	}
	elsewhere := strings.NewReplacer("home-mina-tides", "other", "storage/a1", "storage/a2", c.session+"/events", c.session)
	write(t, filepath.Join(home, elsewhere.Replace(p.file)), string(data))
	return home
}

// write writes a file, unless the system has no such names.
func write(t *testing.T, file, content string) {
	if os.MkdirAll(filepath.Dir(file), 0o755) == nil && os.WriteFile(file, []byte(content), 0o600) != nil {
		t.Log("no file", file)
	}
}

// readable reports what is wrong with a conversation of a store: its id or a text, or that reading does not go on.
func readable(t *testing.T, s store.Store, c *store.Conversation) (wrong string) {
	_, err := c.Read(t.Context(), func(e *transcript.Event) bool {
		object := eventtext.AppendJSON(nil, e, true)
		if _, bad := e.Time.MarshalJSON(); bad != nil || !utf8.Valid(eventtext.Searched(e)) || !json.Valid(object) {
			wrong = fmt.Sprintf("event %d: %v, %q, %.200s", e.Index, bad, eventtext.Searched(e), object)
		}
		return true
	})
	if id, bad := s.ParseID(string(c.ID)); bad != nil || id != c.ID {
		wrong += fmt.Sprintf(" the id %q, %v", c.ID, bad)
	}
	for _, at := range []time.Time{c.CreatedAt, c.LastAt, c.LastActivatedAt} {
		if _, bad := at.MarshalJSON(); bad != nil {
			wrong += bad.Error()
		}
	}
	if err != nil || !utf8.ValidString(c.Title+c.Request) {
		wrong += fmt.Sprintf("%v, title %q", err, c.Title)
	}
	return wrong
}

// answers checks that a list, a search and a question about stores have no error, and returns the list.
func answers(t *testing.T, stores ...store.Store) conversations.Listing {
	t.Helper()
	l := conversations.New(conversations.Options{}, stores...)
	defer l.Close()
	listing, err := l.List(t.Context(), conversations.ListQuery{Limit: 10_000})
	if err != nil {
		t.Errorf("list: %v", err)
	}
	pattern, err := excerpt.Compile("station", false, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []conversations.SearchQuery{{Pattern: pattern, Limit: 100}, {Question: "which station", Order: conversations.Relevance, Limit: 20, MaxText: 300, MaxWide: 900}} {
		if _, err := l.Search(t.Context(), q); err != nil {
			t.Errorf("search: %v", err)
		}
	}
	return listing
}

// Whatever a program, or somebody in its place, has recorded in a session, every other session is read as before, and
// nothing is written.
func TestHostileSessions(t *testing.T) {
	t.Parallel()
	for name, p := range programs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := p.open(store.Options{Home: p.home(t), Project: project.New(project.Options{All: true})})
			said := map[transcript.ID]string{}
			recorded, _ := storetest.List(t, s, store.Live)
			for _, c := range recorded {
				said[c.ID] = storetest.Said(t, c)
			}
			c := copies{uuid, map[string]string{}}
			if session, ok := sessions[name]; ok {
				c.session = session
			}
			makeHome := p.hostileFiles
			if strings.HasPrefix(p.content, "CREATE") {
				makeHome = p.hostileDatabase
			}
			home := makeHome(t, c)
			before := state(t, home)
			s, _ = p.open(store.Options{Home: home, Project: project.New(project.Options{All: true})})
			listing, err := s.List(t.Context(), store.Scope{Set: store.Live | store.Archived})
			if err != nil {
				t.Fatal(err)
			}
			for _, read := range listing.Conversations {
				if wrong := readable(t, s, &read); wrong != "" {
					_, id, _ := strings.Cut(string(read.ID), "-")
					t.Errorf("%s, %s: %s", read.ID, c.changed[strings.TrimPrefix(id, "ses_")], wrong)
				}
				if want, ok := said[read.ID]; ok && want != storetest.Said(t, read) {
					t.Errorf("%s is not as before", read.ID)
				}
				delete(said, read.ID)
			}
			t.Log(len(c.changed), "changed,", len(listing.Conversations), "listed,", len(listing.Problems), "problems")
			listing.Close()
			if len(said) > 0 {
				t.Errorf("not listed: %v", said)
			}
			answers(t, s)
			if diff := cmp.Diff(before, state(t, home)); diff != "" {
				t.Errorf("the home changed (-before +after)\n%s", diff)
			}
		})
	}
}

// damage is what happens to the file of a program.
type damage struct {
	statements string                  // of a database, before
	do         func(file string) error // nil for nothing
	isSilent   bool                    // nothing is left that could be missed
}

func replaced(content string) func(file string) error {
	return func(file string) error { return os.WriteFile(file, []byte(content), 0o600) }
}

// changedFrom returns a function that writes 0xff over a file from its middle on, for some bytes.
func changedFrom(middle int64, count int) func(file string) error {
	return func(file string) error {
		f, err := os.OpenFile(file, os.O_WRONLY, 0)
		if err == nil {
			defer f.Close()
			_, err = f.WriteAt([]byte(strings.Repeat("\xff", count)), middle)
		}
		return err
	}
}

// damages returns what can happen to the file, by name.
func (p program) damages() map[string]damage {
	all := map[string]damage{
		"a link to itself":   {do: func(file string) error { return errors.Join(os.Remove(file), os.Symlink(filepath.Base(file), file)) }, isSilent: p.withLink == "no store"},
		"without permission": {do: func(file string) error { return os.Chmod(file, 0) }},
	}
	if !strings.HasPrefix(p.content, "CREATE") {
		all["empty"] = damage{do: replaced(""), isSilent: true}
		all["of another program"] = damage{do: replaced("\x7fELF\x00\xff\n\n[]\n"), isSilent: true}
		return all
	}
	const merged = "; PRAGMA wal_checkpoint(TRUNCATE)" // no log is left
	all["empty"] = damage{merged, replaced(""), false}
	all["a text"] = damage{merged, replaced(strings.Repeat("no database\n", 1000)), false}
	all["closed"] = damage{merged, func(file string) error { return os.Remove(file + "-wal") }, false}
	all["with an unmerged log"] = damage{"", func(file string) error { return os.Remove(file + "-shm") }, false}
	all["cut"] = damage{merged, func(file string) error { return os.Truncate(file, 4096) }, false}
	all["with a wrong page"] = damage{merged, changedFrom(4096, 4096), false}
	all["with a wrong schema"] = damage{merged, changedFrom(100, 500), false}
	all["with a wrong log"] = damage{"", func(file string) error { return changedFrom(2000, 10_000)(file + "-wal") }, false}
	all["in a transaction"] = damage{merged, func(file string) error { return replaced("x")(file + "-journal") }, false}
	for _, table := range tables.FindAllStringSubmatch(p.content, -1) {
		all["without "+table[1]] = damage{"; DROP TABLE " + table[1], nil, false}
		for column := range strings.SplitSeq(table[2], ", ") {
			column, _, _ = strings.Cut(column, " ")
			all["without "+table[1]+"."+column] = damage{fmt.Sprintf("; ALTER TABLE %s RENAME COLUMN %s TO gone", table[1], column), nil, false}
		}
	}
	return all
}

// A home of which nothing can be read is named, and the conversations of other homes are there.
func TestDamagedHomes(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a database that is open cannot be replaced")
	}
	intact, _ := cline.Open(store.Options{Home: "cline/testdata", Project: project.New(project.Options{All: true})})
	for name, p := range programs {
		for damage, d := range p.damages() {
			t.Run(name+" "+damage, func(t *testing.T) {
				t.Parallel()
				if damage == "without permission" && os.Geteuid() == 0 {
					t.Skip("the superuser needs no permission")
				}
				damaged := p
				damaged.content += d.statements
				home := damaged.home(t)
				if d.do != nil {
					if err := d.do(filepath.Join(home, p.file)); err != nil {
						t.Fatal(err)
					}
				}
				before := state(t, home)
				s, ok := p.open(store.Options{Home: home, Project: project.New(project.Options{All: true})})
				if !ok {
					if !d.isSilent {
						t.Error("no store")
					}
					return
				}
				listing := answers(t, s, intact)
				counts := map[string]int{}
				for _, c := range listing.Conversations {
					counts[c.Source]++
				}
				isNamed := slices.ContainsFunc(listing.Problems, func(p store.Problem) bool { return strings.HasPrefix(p.Path, home) })
				if counts[cline.Name] < 3 || counts[s.Name()] == 0 && !isNamed && !d.isSilent {
					t.Errorf("%v are listed, and the problems are %v", counts, listing.Problems)
				}
				if diff := cmp.Diff(before, state(t, home)); diff != "" {
					t.Errorf("the home changed (-before +after)\n%s", diff)
				}
			})
		}
	}
}
