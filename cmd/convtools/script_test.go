package main

import (
	"archive/zip"
	"bufio"
	"bytes"
	"cmp"
	databasesql "database/sql"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/store/jp/jptest"
)

var update = flag.Bool("update", false, "write the expected output in scripts anew")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"convtools":   main,
		"painter":     painter,
		"misbehave":   misbehave,
		"gated-model": gatedModel,
		"jp":          jp,
		"claude":      showCall,
		// Programs, and not scripts that a test writes: a file that is open for writing
		// in a process that is forked at that moment cannot be executed.
		"marking-pager": markingPager,
		"closing-pager": closingPager,
		"xdg-open":      browser,
		"osascript":     browser,
	})
}

// jp stands for JP. "jp query" is [jpQuery], and "jp c fork ID" copies a conversation of the workspace that it is run
// in. Every other command lists one conversation, and refuses the flag --summary, as JP does today.
func jp() {
	if slices.Contains(os.Args, "query") {
		jpQuery(os.Args[1:])
		return
	}
	if len(os.Args) == 4 && os.Args[1] == "c" {
		if err := changeAsJP(os.Args[2], os.Args[3]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	for _, arg := range os.Args[1:] {
		if arg == "--summary" {
			fmt.Fprintln(os.Stderr, "error: unexpected argument '--summary' found\n\nUsage: jp conversation ls [OPTIONS] [id]...")
			os.Exit(2)
		}
	}
	fmt.Println(`[{"ID":"jp-c17800836875","#":"93","Activity ↑":"2 months ago"}]`)
}

// changeAsJP copies a conversation in both stores of JP, as JP does with the command fork. The copy replaces a
// conversation that has the same id, which is the time in tenths of a second.
func changeAsJP(command, id string) error {
	users, err := filepath.Glob(filepath.Join(os.Getenv("JP_USER_DATA_DIR"), "workspace", "*"))
	if err != nil || len(users) != 1 {
		return fmt.Errorf("%d stores of the user: %w", len(users), err)
	}
	if command != "fork" {
		return errors.ErrUnsupported
	}
	moment := strconv.FormatInt(time.Now().UnixMilli()/100, 10) // the id
	for _, root := range []string{".jp", users[0]} {
		conversations := filepath.Join(root, "conversations")
		found, _ := filepath.Glob(filepath.Join(conversations, strings.TrimPrefix(id, "jp-c")+"*"))
		taken, _ := filepath.Glob(filepath.Join(conversations, moment+"*"))
		for _, dir := range taken {
			err = errors.Join(err, os.RemoveAll(dir))
		}
		for _, dir := range found {
			err = errors.Join(err, os.CopyFS(filepath.Join(conversations, moment), os.DirFS(dir)))
		}
	}
	return err
}

// misbehave is a program that takes the place of the conversation command line, and fails in the way that its first
// argument names.
func misbehave() {
	how := ""
	if len(os.Args) > 1 {
		how = os.Args[1]
	}
	switch how {
	case "hang":
		fmt.Fprintln(os.Stderr, "waiting")
		time.Sleep(time.Hour)
	case "flood":
		chunk := bytes.Repeat([]byte("x"), 1<<20)
		for {
			if _, err := os.Stdout.Write(chunk); err != nil {
				os.Exit(3)
			}
		}
	case "half":
		fmt.Print(`[{"id":"jp-c17737387251","title":"cut o`)
	case "silent":
		os.Exit(5)
	case "noise":
		fmt.Println("Good morning!")
	case "die":
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Kill()
		}
		fmt.Fprintln(os.Stderr, err)
		time.Sleep(time.Hour)
	case "arguments":
		// What it was called with, as the title of a conversation, and as what is said in it.
		called, err := json.Marshal(strings.Join(os.Args[2:], " "))
		if err != nil {
			os.Exit(3)
		}
		fmt.Printf(`[{"id":"jp-c1","title":%[1]s,"events_count":1,"type":"chat_request","turn":1,"content":%[1]s}]`, called)
	default:
		fmt.Fprintln(os.Stderr, "misbehave needs a way to")
		os.Exit(2)
	}
}

// showCall prints where it was called, and with which arguments.
func showCall() {
	dir, err := os.Getwd()
	fmt.Println(filepath.Base(dir), strings.Join(os.Args[1:], " "), err)
}

// markingPager prints how it was called, and marks what it shows.
func markingPager() {
	fmt.Println("LESS=" + os.Getenv("LESS") + " " + strings.Join(os.Args[1:], " "))
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		fmt.Println("paged: " + lines.Text())
	}
}

// closingPager ends at once.
func closingPager() {
	fmt.Println("closed")
	os.Exit(1)
}

// browser opens an address twice, as a browser that the user starts with it and as one that has only seen it, writes
// to $WORK/browser.txt what they get, and ends convtools web.
func browser() {
	address := os.Args[len(os.Args)-1]
	if script, _ := io.ReadAll(os.Stdin); len(script) > 0 {
		address = strings.Split(string(script), `"`)[1]
	}
	var seen string
	for _, name := range []string{"started", "second"} {
		jar, _ := cookiejar.New(nil) // never fails
		answer, err := (&http.Client{Jar: jar}).Get(address)
		if err != nil {
			seen += err.Error() + "\n"
			continue
		}
		page, err := io.ReadAll(answer.Body)
		title := regexp.MustCompile("<title>.*</title>").FindString(string(page))
		seen += fmt.Sprintln(name, answer.StatusCode, answer.Request.URL.RequestURI(), title, errors.Join(err, answer.Body.Close()))
	}
	server, err := os.FindProcess(os.Getppid())
	err = errors.Join(err, os.WriteFile(filepath.Join(os.Getenv("WORK"), "browser.txt"), []byte(seen), 0o600))
	if err = errors.Join(err, server.Signal(os.Interrupt)); err != nil {
		os.Exit(1)
	}
}

// TestScripts runs the program the way people and JP do. Every script starts in
// $WORK/ws, a copy of the sample workspace. A copy of the sample knowledge base is
// in $KB, and sample exports are in $EXPORTS.
func TestScripts(t *testing.T) {
	t.Parallel()
	sample, err := filepath.Abs("../../testdata/workspaces/sample")
	if err != nil {
		t.Fatal(err)
	}
	knowledge, err := filepath.Abs("../../testdata/knowledge")
	if err != nil {
		t.Fatal(err)
	}
	exports, err := filepath.Abs("../../testdata/exports")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			ws := filepath.Join(env.WorkDir, "ws")
			if err := os.CopyFS(ws, os.DirFS(sample)); err != nil {
				return fmt.Errorf("copying the sample workspace: %w", err)
			}
			kb := filepath.Join(env.WorkDir, "kb")
			if err := os.CopyFS(kb, os.DirFS(knowledge)); err != nil {
				return fmt.Errorf("copying the sample knowledge base: %w", err)
			}
			for _, dir := range []string{"home", "data", "none"} {
				if err := os.Mkdir(filepath.Join(env.WorkDir, dir), 0o755); err != nil {
					return err
				}
			}
			env.Cd = ws
			env.Setenv("WS", ws)
			env.Setenv("KB", kb)
			env.Setenv("EXPORTS", exports)
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("JP_USER_DATA_DIR", filepath.Join(env.WorkDir, "data"))
			env.Setenv("CONVTOOLS_CLI", "")
			env.Setenv("GORACE", "atexit_sleep_ms=0") // a program with the race detector waits a second at its end
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":   exits,
			"outcome": outcome,
			"mkws":    makeWorkspace,
			"record":  record,
			"sql":     sql,
			"grow":    grow,
			"size":    size,
			"zipped":  zipped,
			"events":  events,
			"ids":     ids,
			"readme":  readme,
		},
	})
}

// exits runs a program and demands an exit code: exits CODE PROGRAM ARGS…
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
	if want != 0 && ts.ReadFile("stdout") != "" && want == cli.ExitUsage {
		ts.Fatalf("wrong use printed results: %s", ts.ReadFile("stdout"))
	}
}

// outcome demands that stdout is one JSON outcome of a type as JP reads it, and
// writes what JP would show to a file: outcome TYPE FILE.
func outcome(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: outcome TYPE FILE")
	}
	dec := json.NewDecoder(strings.NewReader(ts.ReadFile("stdout")))
	dec.DisallowUnknownFields()
	var o struct {
		Type      string
		Content   *string
		Message   *string
		Trace     *[]string
		Transient *bool
	}
	ts.Check(dec.Decode(&o))
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		ts.Fatalf("there is more than one JSON value on stdout")
	}
	isError := o.Message != nil && o.Trace != nil && o.Transient != nil && o.Content == nil
	isSuccess := o.Content != nil && o.Message == nil && o.Trace == nil && o.Transient == nil
	if o.Type != args[0] || isError != (o.Type == "error") || isSuccess != (o.Type == "success") {
		ts.Fatalf("not an outcome of type %s: %s", args[0], ts.ReadFile("stdout"))
	}
	text := o.Content
	if isError {
		text = o.Message
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(*text+"\n"), 0o644))
}

// size demands that stdout has at most so many characters: size CHARACTERS.
func size(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: size CHARACTERS")
	}
	most, err := strconv.Atoi(args[0])
	ts.Check(err)
	if n := len([]rune(strings.TrimSuffix(ts.ReadFile("stdout"), "\n"))); n > most {
		ts.Fatalf("%d characters, want at most %d", n, most)
	}
}

// zipped writes a zip with a file in it, and then replaces a text of the file without correcting the checksum: zipped
// FILE ZIP TEXT OTHER.
func zipped(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 || len(args[2]) != len(args[3]) {
		ts.Fatalf("usage: zipped FILE ZIP TEXT OTHER, the texts of equal length")
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.CreateHeader(&zip.FileHeader{Name: "conversations.json", Method: zip.Store})
	ts.Check(err)
	_, err = io.WriteString(w, ts.ReadFile(args[0]))
	ts.Check(err)
	ts.Check(z.Close())
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), bytes.Replace(b.Bytes(), []byte(args[2]), []byte(args[3]), 1), 0o600))
}

// makeWorkspace writes a workspace that is too large or too broken to be kept
// as a file: mkws KIND DIR.
func makeWorkspace(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: mkws KIND DIR")
	}
	w := jptest.New(ts.MkAbs(args[1]), "kinds")
	w.Conversation("17700000000", "sound").Title("Sound").TurnStart().User("Where is the needle?").Assistant("Here: needle.")
	switch args[0] {
	case "damaged":
		cut := func(data []byte) []byte { return data[:len(data)-40] }
		w.Conversation("17700000001", "cut").Title("Cut off").TurnStart().User("needle one").Assistant("gone").Edit(jptest.EventsFile, cut)
		w.Conversation("17700000002", "untimed").Title("No timestamp").TurnStart().RawEvent(`{"type":"chat_request","content":"needle two"}`)
		w.Conversation("17700000003", "base64").Title("Invalid base64").TurnStart().User("needle three").
			RawEvent(`{"type":"tool_call_response","timestamp":"2026-02-02 02:26:40.5","id":"c1","content":"bm90IGJhc2U2NCBhdCBhbGwhISEhISE=A","is_error":false}`)
		w.Conversation("17700000004", "utf8").Title("Invalid UTF-8").TurnStart().User("needle four").
			Edit(jptest.EventsFile, func(data []byte) []byte { return bytes.Replace(data, []byte("four"), []byte("f\xff\xfer"), 1) })
		w.Conversation("17700000005", "empty").Title("Empty file").File(jptest.EventsFile, []byte{})
		w.Conversation("17700000006", "missing").Title("No events").File(jptest.EventsFile, nil)
		w.Conversation("17700000007", "metadata").User("needle seven").File(jptest.MetadataFile, []byte(`{"title":`))
		w.Conversation("17700000008", "types").Title("Other types").TurnStart().User("needle eight").
			RawEvent(`{"type":"chat_request","timestamp":17,"content":{"a":["needle"]}}`).
			RawEvent(`{"type":"tool_call_request","timestamp":"2026-02-02 02:26:40.5","id":9,"name":null,"arguments":"x"}`).
			RawEvent(`{"type":"tool_call_response","timestamp":"2026-02-02 02:26:40.5","id":[],"content":5,"is_error":"yes"}`).
			Assistant("Still here.")
	case "result":
		w.Conversation("17700000001", "result").Title("3 MB").TurnStart().User("Go.").
			ToolCall("c1", "shell", map[string]any{"command": "seq"}).
			ToolResult("c1", strings.Repeat("a line of output that says nothing\n", 3<<20/35)+"the needle\n", false).
			Assistant("Found the needle.")
	case "events":
		c := w.Conversation("17700000001", "events").Title("20,000 events").TurnStart().User("Go.")
		for i := range 10_000 {
			id := strconv.Itoa(i)
			c.ToolCall(id, "step", nil).ToolResult(id, "ok "+id, false)
		}
		c.Assistant("Found the needle.").TurnStart().User("And?").Assistant("Done.")
	default:
		ts.Fatalf("mkws knows damaged, result and events")
	}
	ts.Check(w.Write())
}

// readme writes the examples of configuration in the documents to three files, for a user, for a project and for JP:
// readme USER PROJECT JP.
func readme(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: readme USER PROJECT JP")
	}
	var text strings.Builder
	for _, room := range []string{"store", "knowledge", "model", "install"} {
		document, err := os.ReadFile("../../runtime/" + room + "/README.md")
		ts.Check(err)
		text.Write(document)
	}
	var user, jp, project []string
	for _, example := range regexp.MustCompile("(?ms)^```toml\n(.*?)^```$").FindAllStringSubmatch(text.String(), -1) {
		if strings.HasPrefix(example[1], "# .jp/config.toml\n") {
			jp = append(jp, example[1])
		} else {
			user = append(user, example[1])
		}
	}
	for _, example := range regexp.MustCompile("(?ms)^cat >> convtools.toml <<'EOF'\n(.*?)^EOF$").FindAllStringSubmatch(text.String(), -1) {
		project = append(project, example[1])
	}
	if len(user) < 4 || len(project) == 0 || len(jp) == 0 {
		ts.Fatalf("the documents have %d examples for the user, %d for a project, %d for JP", len(user), len(project), len(jp))
	}
	for i, examples := range [][]string{user, project, jp} {
		path := ts.MkAbs(args[i])
		ts.Check(os.MkdirAll(filepath.Dir(path), 0o755))
		ts.Check(os.WriteFile(path, []byte(strings.Join(examples, "\n")), 0o644))
	}
}

// record copies a session to where a program keeps the sessions of a directory, below $HOME:
// record PROGRAM FILE DIR. The name of the file is the id of the session, and CWD in it
// stands for the directory.
func record(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: record PROGRAM FILE DIR")
	}
	dir, err := filepath.EvalSymlinks(ts.MkAbs(args[2]))
	ts.Check(err)
	cwd, err := json.Marshal(dir)
	ts.Check(err)
	var place string
	switch args[0] {
	case "claude-code":
		folder := regexp.MustCompile("[^A-Za-z0-9]").ReplaceAllString(dir, "-")
		place = filepath.Join(".claude", "projects", folder, filepath.Base(args[1]))
	case "codex":
		place = filepath.Join(".codex", "sessions", "2026", "05", "01", "rollout-2026-05-01T10-00-00-"+filepath.Base(args[1]))
	default:
		ts.Fatalf("record knows claude-code and codex")
	}
	place = filepath.Join(ts.Getenv("HOME"), place)
	ts.Check(os.MkdirAll(filepath.Dir(place), 0o755))
	below := strings.TrimSuffix(string(cwd), `"`) + "/"
	text := strings.NewReplacer(`"CWD"`, string(cwd), `"CWD/`, below).Replace(ts.ReadFile(args[1]))
	ts.Check(os.WriteFile(place, []byte(text), 0o644))
}

// runIn runs the program in this process and returns what it printed.
func runIn(t *testing.T, dir string, args ...string) (stdout, stderr string, exit int) {
	t.Helper()
	var out, errs bytes.Buffer
	data := t.TempDir()
	host := testHost(&out, &errs)
	host.Getenv = func(name string) string {
		if name == "JP_USER_DATA_DIR" {
			return data
		}
		return ""
	}
	exit = convtools().Run(host, append([]string{"-w", dir}, args...))
	return out.String(), errs.String(), exit
}

// grepAnswer is an answer of conversation_grep.
type grepAnswer struct {
	Matches       int `xml:"matches,attr"`
	Conversations []struct {
		ID     string `xml:"id,attr"`
		Events []struct {
			Number int    `xml:"event,attr"`
			Turn   int    `xml:"turn,attr"`
			Scope  string `xml:"scope,attr"`
		} `xml:"event"`
	} `xml:"conversation"`
}

// grep calls conversation_grep in a workspace and returns its answer.
func grep(t *testing.T, dir string, args ...string) grepAnswer {
	t.Helper()
	answer, stderr, exit := runIn(t, dir, append([]string{"call", "conversation_grep", "limit=200"}, args...)...)
	if exit != 0 {
		t.Fatalf("conversation_grep: exit %d: %s", exit, stderr)
	}
	var f grepAnswer
	if err := xml.Unmarshal([]byte(answer), &f); err != nil {
		t.Fatal(err)
	}
	return f
}

var partsAttribute = regexp.MustCompile(` parts="(\d+)"`)

// readMatches searches for a pattern and reads every event that is found, part by part
// until the pattern is in a part. It fails if no part of an event has the pattern, and
// returns the number of events.
func readMatches(t *testing.T, dir, pattern string) int {
	t.Helper()
	events := 0
	for _, c := range grep(t, dir, "pattern="+pattern).Conversations {
		turn := 1
		for _, e := range c.Events {
			// An event without a turn is in that of the event before, or in the first one.
			turn = cmp.Or(e.Turn, turn)
			events++
			place := fmt.Sprintf("event %d of %s", e.Number, c.ID)
			seen := false
			for part, parts := 1, 1; part <= parts && !seen; part++ {
				answer, stderr, exit := runIn(t, dir, "call", "conversation_read", "id="+c.ID, "event="+strconv.Itoa(e.Number), "part="+strconv.Itoa(part), "around=0")
				if exit != 0 {
					t.Fatalf("conversation_read of %s: exit %d: %s", place, exit, stderr)
				}
				if !strings.Contains(answer, fmt.Sprintf(`<turn index="%d">`, turn)) {
					t.Errorf("%s: not in turn %d", place, turn)
				}
				seen = strings.Contains(strings.ToLower(answer), strings.ToLower(pattern))
				if m := partsAttribute.FindStringSubmatch(answer); m != nil {
					parts, _ = strconv.Atoi(m[1])
				}
			}
			if !seen {
				t.Errorf("%s does not hold the match", place)
			}
		}
	}
	return events
}

func TestSearchLeadsToEvents(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"retry", "時差", "serialize", "</content>", "???"} {
		if readMatches(t, "../../testdata/workspaces/sample", pattern) == 0 {
			t.Errorf("%q is not found", pattern)
		}
	}
}

// TestRealWorkspace compares with facts known about a workspace that was
// recorded by JP and cannot be part of this repository.
func TestRealWorkspace(t *testing.T) {
	t.Parallel()
	const dir = "../../../shared/data/jp-workspace"
	if _, err := os.Stat(dir); err != nil {
		t.Skip("there is no recorded workspace here: ", err)
	}
	answer, stderr, exit := runIn(t, dir, "call", "conversation_list")
	if exit != 0 {
		t.Fatalf("conversation_list: exit %d: %s", exit, stderr)
	}
	first := regexp.MustCompile(`(?s)total="7".*?<conversation id="([^"]+)" events_count="(\d+)"`).FindStringSubmatch(answer)
	if first == nil || first[1] != "jp-c17800836875" || first[2] != "93" {
		t.Errorf("the conversation with the newest activity is %q", first)
	}
	for id, turns := range map[string]string{"jp-c17800836875": "4", "jp-c17727391057": "8"} {
		answer, stderr, exit := runIn(t, dir, "call", "conversation_read", "id="+id, "last=1", "include=chat")
		if exit != 0 || !strings.Contains(answer, ` total_turns="`+turns+`"`) {
			t.Errorf("%s: want %s turns: exit %d %s%.200s", id, turns, exit, stderr, answer)
		}
	}
	if readMatches(t, dir, "clippy") == 0 {
		t.Error("clippy is not found")
	}
	for scope, want := range map[string]int{"user": 24, "tool-result": 22, "tool-call": 17, "assistant": 8, "all": 71} {
		if got := grep(t, dir, "pattern=cargo", "scopes="+scope).Matches; got != want {
			t.Errorf("cargo matches %d lines in %s, want %d", got, scope, want)
		}
	}
}

// sql makes a database of SQLite: sql FILE STATEMENTS [COPY], where STATEMENTS is a file. COPY
// is a copy of the database and its write-ahead log, made while the database is open.
func sql(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: sql FILE STATEMENTS [COPY]")
	}
	path := ts.MkAbs(args[0])
	db, err := databasesql.Open("sqlite", path)
	ts.Check(err)
	defer db.Close()
	_, err = db.Exec(ts.ReadFile(args[1]))
	ts.Check(err)
	for _, suffix := range []string{"", "-wal"} {
		if len(args) == 3 {
			data, err := os.ReadFile(path + suffix)
			ts.Check(err)
			ts.Check(os.WriteFile(ts.MkAbs(args[2])+suffix, data, 0o400))
		}
	}
}

// grow sets the size of a file, and fills what it adds with zeros: grow FILE BYTES.
func grow(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: grow FILE BYTES")
	}
	size, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(args[0]), size))
}

// Every difference that conversation_search.md lists has a test, and every test a row.
func TestDifferencesHaveTests(t *testing.T) {
	t.Parallel()
	numbers := func(file, expr string) []string {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, m := range regexp.MustCompile(expr).FindAllStringSubmatch(string(data), -1) {
			all = append(all, m[1])
		}
		return all
	}
	rows := numbers("../../runtime/recall/conversation_search.md", `(?m)^\| (D\d+) \|`)
	tests := numbers("testdata/script/search_differences.txtar", `(?m)^# (D\d+)\b`)
	if !slices.Equal(rows, tests) || len(rows) < 20 {
		t.Errorf("%d rows %v, tests %v", len(rows), rows, tests)
	}
}
