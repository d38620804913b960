package web_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/toolset"
	"github.com/convtools/convtools/runtime/web"
)

// site is a served page, and the home and the project that it is of.
type site struct {
	t             *testing.T
	home, project string
	origin, token string
	cookie        *http.Cookie
}

// start serves the bundled sample, or another home that fill makes.
func start(t *testing.T, fill func(home, project string), families ...toolset.Family) *site {
	t.Helper()
	s := &site{t: t, home: t.TempDir(), project: t.TempDir()}
	fill(s.home, s.project)
	env := map[string]string{
		"HOME": s.home, "USERPROFILE": s.home, "XDG_CONFIG_HOME": s.home + "/config", "XDG_DATA_HOME": s.home + "/data",
		"XDG_STATE_HOME": s.home + "/state", "XDG_CACHE_HOME": s.home + "/cache", "JP_USER_DATA_DIR": s.home + "/jp",
	}
	host := &toolset.Host{
		Name: "convtools", Dir: s.project, Now: time.Now, Stderr: io.Discard, Getenv: func(name string) string { return env[name] },
	}
	server := web.New(host, families...)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	s.origin, s.token, _ = strings.Cut(server.Address(listener), "/?token=")
	s.enter()
	return s
}

// enter exchanges the token for the cookie.
func (s *site) enter() {
	s.t.Helper()
	answer, _ := s.get("/?token="+s.token, nil)
	if len(answer.Cookies()) != 1 {
		s.t.Fatalf("the token is answered with %s and the cookies %v", answer.Status, answer.Cookies())
	}
	s.cookie = answer.Cookies()[0]
}

// get gets a page, with the cookie unless change removes it.
func (s *site) get(path string, change func(*http.Request)) (*http.Response, string) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.origin+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	if s.cookie != nil {
		r.AddCookie(s.cookie)
	}
	if change != nil {
		change(r)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer, string(body)
}

// has gets a page and checks that it has texts.
func (s *site) has(path string, status int, wants ...string) string {
	s.t.Helper()
	answer, body := s.get(path, nil)
	if answer.StatusCode != status {
		s.t.Errorf("%s: %s, want %d", path, answer.Status, status)
	}
	for _, want := range wants {
		if !strings.Contains(body, want) {
			s.t.Errorf("%s lacks %q:\n%s", path, want, body)
		}
	}
	return body
}

// sample writes the bundled sample: a week of a project with two programs.
func sample(t *testing.T) func(home, project string) {
	return func(home, project string) {
		for from, to := range map[string]string{"claude-code": claudeFolder(home, project), "codex": filepath.Join(home, ".codex", "sessions", "2026", "05")} {
			files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "sample", from, "*.jsonl"))
			if err != nil || len(files) == 0 {
				t.Fatalf("%v, %d files", err, len(files))
			}
			for _, file := range files {
				recorded, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				write(t, filepath.Join(to, filepath.Base(file)), strings.ReplaceAll(string(recorded), "@PROJECT@", project))
			}
		}
	}
}

// claudeFolder returns the directory of a project's sessions of Claude Code.
func claudeFolder(home, project string) string {
	return filepath.Join(home, ".claude", "projects", regexp.MustCompile(`[^a-zA-Z0-9]`).ReplaceAllString(project, "-"))
}

func write(t *testing.T, file, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestNobodyElseGetsIn(t *testing.T) {
	t.Parallel()
	s := start(t, sample(t))
	out := func(r *http.Request) { r.Header.Del("Cookie") }
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	for _, tc := range []struct {
		name, path string
		change     func(*http.Request)
		status     int
	}{
		{"the cookie", "/", nil, 200},
		{"no cookie", "/", out, 403},
		{"no cookie, a conversation", "/c/claude-7c90ab12-4f3e-4d21-b8a7-05e6c1d9f3a4", out, 403},
		{"no cookie, the style", "/style.css", out, 403},
		{"no cookie, an unknown page", "/none", out, 403},
		{"a wrong cookie", "/", header("Cookie", s.cookie.Name+"=AAAAAAAAAAAAAAAAAAAAAAAAAA"), 403},
		{"a wrong token", "/?token=AAAAAAAAAAAAAAAAAAAAAAAAAA", out, 403},
		{"the token as a cookie", "/", header("Cookie", s.cookie.Name+"="+s.token), 403},
		{"the cookie as a token", "/?token=" + s.cookie.Value, out, 403},
		{"no token", "/?token=", out, 403},
		{"a name that leads here", "/", func(r *http.Request) { r.Host = "evil.example" }, 403},
		{"a name that leads here, with the token", "/?token=" + s.token, func(r *http.Request) { r.Host = "evil.example" }, 403},
		{"a foreign page", "/", header("Origin", "https://evil.example"), 403},
		{"a foreign page, with the token", "/?token=" + s.token, header("Origin", "https://evil.example"), 403},
		{"a foreign page that sends no origin", "/", header("Sec-Fetch-Site", "cross-site"), 403},
		{"another server of this machine", "/", header("Sec-Fetch-Site", "same-site"), 403},
		{"another server of this machine, whose browser does not say so", "/", header("Origin", "http://127.0.0.1:1"), 403},
		{"the page itself, by its origin", "/", header("Origin", s.origin), 200},
		{"a cookie of another server before its own", "/", header("Cookie", s.cookie.Name+"=A; "+s.cookie.Name+"="+s.cookie.Value), 200},
		{"a page of a page", "//evil.example/..", nil, 307},
		{"the page itself", "/", header("Sec-Fetch-Site", "same-origin"), 200},
		{"an address that somebody typed", "/", header("Sec-Fetch-Site", "none"), 200},
		{"a write", "/", func(r *http.Request) { r.Method = http.MethodPost }, 405},
		{"a removal", "/", func(r *http.Request) { r.Method = http.MethodDelete }, 405},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			at := *s
			at.t = t
			answer, body := at.get(tc.path, tc.change)
			if answer.StatusCode != tc.status || tc.status != 200 && strings.Contains(body, "ferry") {
				t.Errorf("%s, want %d:\n%.300s", answer.Status, tc.status, body)
			}
			policy := answer.Header.Get("Content-Security-Policy")
			if !strings.HasPrefix(policy, "default-src 'none';") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") {
				t.Errorf("the policy is %q", policy)
			}
			for name, want := range map[string]string{
				"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Resource-Policy": "same-origin",
				"Cache-Control": "no-store", "X-Frame-Options": "DENY", "Access-Control-Allow-Origin": "",
			} {
				if got := answer.Header.Get(name); got != want {
					t.Errorf("%s: %q, want %q", name, got, want)
				}
			}
		})
	}
}

// The token leaves the address, and the cookie stays with this browser and this server.
func TestToken(t *testing.T) {
	t.Parallel()
	s, other := start(t, sample(t)), start(t, sample(t))
	if len(s.token) < 26 || s.token == other.token || s.cookie.Value == other.cookie.Value {
		t.Errorf("tokens %q and %q", s.token, other.token)
	}
	if c := s.cookie; !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Domain != "" || c.Name == other.cookie.Name || len(c.Value) < 26 {
		t.Errorf("the cookie is %v", c)
	}
	answer, _ := s.get("/?token="+s.token, nil)
	if answer.StatusCode != http.StatusSeeOther || answer.Header.Get("Location") != "/" {
		t.Errorf("%s to %q", answer.Status, answer.Header.Get("Location"))
	}
}

const ferrySession = "claude-7c90ab12-4f3e-4d21-b8a7-05e6c1d9f3a4"

func TestPages(t *testing.T) {
	t.Parallel()
	s := start(t, sample(t))
	list := s.has("/", 200, "Since Sunday every departure is shown one hour late", `href="/c/`+ferrySession+`"`, `<option value="codex">codex (`, "<svg", "All projects", "<span>on main</span>")
	if strings.Count(list, `class="row"`) < 4 {
		t.Errorf("the list has %d conversations:\n%s", strings.Count(list, `class="row"`), list)
	}
	if codex := s.has("/?program=codex", 200); strings.Contains(codex, ferrySession) {
		t.Error("a list of codex has a conversation of Claude Code")
	}
	if none := s.has("/?from=2031-01-01", 200, "the filters leave none"); strings.Contains(none, ferrySession) {
		t.Error("a list of later days has an earlier conversation")
	}
	s.has("/?from=2026-05-06&to=2026-05-06", 200, ferrySession)
	s.has("/?all=1", 200, "All projects", `name="project"`, ferrySession)
	s.has("/?q=clock+change", 200, "<mark>clock</mark>", `href="/c/codex-019e0a51-3c4d-7e5f-8a6b-1c2d3e4f5a6b?event=6#event-6"`)
	s.has("/?q=%22ON+CONFLICT%22&part=results", 200, "<mark>ON CONFLICT</mark>", ferrySession)
	s.has("/?q=xyzzyplugh", 200, "Nothing was said with these words")
	s.has("/?q=%3F%21", 200, "no word to look for")
	s.has("/c/"+ferrySession, 200, `id="event-1"`, "The operator lists extra sailings twice", "<code>"+ferrySession+"</code>",
		"&amp;&amp; claude --resume "+strings.TrimPrefix(ferrySession, "claude-"))
	s.has("/?file=parse.go", 200, "the filters leave none", `name="file" value="parse.go"`)
	s.has("/c/"+ferrySession+"?event=2", 200, `id="event-2"`)
	if part := s.has("/c/"+ferrySession+"?from=1&part=entries", 200, `id="event-2"`, `class="part"`); strings.Contains(part, "<aside>") {
		t.Error("a part has the list of requests")
	}
	s.has("/c/"+ferrySession+"/4", 200, "I would upsert instead: INSERT … ON CONFLICT")
	s.has("/style.css", 200, "prefers-color-scheme: dark")
	s.has("/script.js", 200, `"use strict"`)
	s.has("/alive", 200)
}

func TestWhatIsNotThere(t *testing.T) {
	t.Parallel()
	s := start(t, sample(t))
	s.has("/c/claude-00000000-0000-4000-8000-000000000000", 404, "There is no such conversation.")
	s.has("/c/..%2f..%2fetc%2fpasswd", 404, "There is no such conversation.")
	s.has("/c/"+ferrySession+"?from=5000", 200, "There are no events here")
	s.has("/c/"+ferrySession+"/5000", 404, "There is no event 5000")
	s.has("/c/"+ferrySession+"/x", 404, "There is no such page.")
	s.has("/p/none", 404, "There is no such page.")
	s.has("/none", 404, "There is no such page.")
	s.has("/?from=yesterday&page=-3&program=%00", 200, "the filters leave none")
	for _, number := range []string{"-1", "0", "9223372036854775807", "92233720368547760", "-9223372036854775808", "99999999999999999999", "x"} {
		s.has("/?page="+number, 200, "</html>")
		s.has("/c/"+ferrySession+"?from="+number, 200, "</html>")
		s.has("/c/"+ferrySession+"?event="+number, 200, "</html>")
	}

	file := filepath.Join(claudeFolder(s.home, s.project), strings.TrimPrefix(ferrySession, "claude-")+".jsonl")
	recorded, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	more := `{"type":"user","uuid":"u9","sessionId":"7c90ab12-4f3e-4d21-b8a7-05e6c1d9f3a4","cwd":"` + s.project + `","timestamp":"2026-05-06T10:00:00Z","message":{"role":"user","content":"One more thing."}}`
	write(t, file, string(recorded)+more+"\n")
	s.has("/c/"+ferrySession, 200, "One more thing.")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	s.has("/c/"+ferrySession, 404, "There is no such conversation. It may have been removed since this page was opened.")
}

// What cannot be read is named, and the rest is shown.
func TestWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	const broken = "codex-019e0a51-3c4d-7e5f-8a6b-1c2d3e4f5a60"
	database := filepath.Join("data", "opencode", "opencode.db")
	s := start(t, func(home, project string) {
		sample(t)(home, project)
		write(t, filepath.Join(home, database), "no database")
		write(t, filepath.Join(home, ".codex", "sessions", "2026", "05", "09", "rollout-2026-05-09T00-00-00-"+strings.TrimPrefix(broken, "codex-")+".jsonl.zst"), "no zstd")
	})
	for _, path := range []string{"/", "/?all=1", "/?q=sailings"} {
		s.has(path, 200, ferrySession, broken+" cannot be read: ", filepath.Join(s.home, "data", "opencode")+" cannot be read: ", "it is no SQLite database.")
	}
	s.has("/c/"+ferrySession, 200, "The operator lists extra sailings twice")
	s.has("/c/"+broken, 500, "This cannot be shown: ")
	s.has("/c/opencode-ses_2f1a", 404, "not among those that can be read", "it is no SQLite database.")
	write(t, filepath.Join(s.project, "convtools.toml"), "models = [")
	for _, path := range []string{"/", "/?q=sailings", "/c/" + ferrySession} {
		s.has(path, 500, "This cannot be shown: convtools.toml:1:")
	}
}

// A command that a person copies into a terminal has nothing that a terminal acts on.
func TestCommandToCopy(t *testing.T) {
	t.Parallel()
	const id = "22222222-2222-4222-8222-000000000001"
	s := start(t, func(home, _ string) {
		line := `{"type":"user","uuid":"u1","sessionId":"` + id + `","cwd":"/tmp/x\u001b[201~\nid\n","timestamp":"2026-05-06T10:00:00Z","message":{"role":"user","content":"Go"}}`
		write(t, filepath.Join(home, ".claude", "projects", "-tmp-x", id+".jsonl"), line+"\n")
	})
	if page := s.has("/c/claude-"+id, 200, "Copy id", "Go"); strings.ContainsAny(page, "\x1b") || strings.Contains(page, "--resume") {
		t.Errorf("the page has a command with control characters:\n%s", page)
	}
}

func TestProjectWithoutConversations(t *testing.T) {
	t.Parallel()
	s := start(t, func(string, string) {})
	s.has("/", 200, "No conversation of this project is recorded", `href="/?all=1"`)
	s.has("/?q=anything", 200, "No conversation of this project is recorded")
	s.has("/?all=1", 200, "No conversation is here")
}

func TestExcludedProject(t *testing.T) {
	t.Parallel()
	page := toolset.Page{Name: "things", Title: "Things", Show: func(context.Context, contract.Context) ([]toolset.Item, error) {
		return []toolset.Item{{Title: "a thing"}}, nil
	}}
	s := start(t, sample(t), family(page))
	s.has("/p/things", 200, "a thing")
	write(t, filepath.Join(s.project, ".convtools-exclude"), "")
	s.has("/", 403, "The conversations of this project are excluded by ")
	s.has("/p/things", 403, "excluded by")
	s.has("/c/"+ferrySession, 404, "There is no such conversation.")
	if all := s.has("/?all=1", 200); strings.Contains(all, ferrySession) {
		t.Error("the list of all projects has an excluded conversation")
	}
}

// A hundred tabs get their pages, half of which listen for what runs.
func TestHundredTabs(t *testing.T) {
	t.Parallel()
	s := start(t, sample(t), family(toolset.Page{
		Name: "things", Title: "Things", Version: func(context.Context, contract.Context) string { return "1" },
		Show: func(context.Context, contract.Context) ([]toolset.Item, error) {
			return []toolset.Item{{Title: "a thing"}}, nil
		},
	}))
	var tabs sync.WaitGroup
	for i := range 100 {
		path, want := "/c/"+ferrySession, "The operator lists extra sailings twice"
		if i%2 == 1 {
			path, want = "/p/things/live", "a thing"
		}
		tabs.Go(func() {
			r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, s.origin+path, nil)
			r.AddCookie(s.cookie)
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Error(err)
				return
			}
			t.Cleanup(func() { _ = answer.Body.Close() }) // all tabs stay open
			lines, isThere := bufio.NewScanner(answer.Body), false
			for !isThere && lines.Scan() {
				isThere = strings.Contains(lines.Text(), want)
			}
			if !isThere {
				t.Errorf("tab %d: %s lacks %q: %v", i, path, want, lines.Err())
			}
		})
	}
	tabs.Wait()
}

// family returns a family with a page and no tools.
func family(page toolset.Page) toolset.Family {
	return toolset.Family{
		Name: "things", Declared: func() []contract.Tool { return nil }, Pages: []toolset.Page{page},
		Resources: []toolset.Resources{{Template: "thing://{name}", Read: func(_ context.Context, _ contract.Context, uri string) (toolset.Contents, error) {
			if uri != "thing://one" {
				return toolset.Contents{}, &toolset.NotFoundError{URI: uri, Reason: "There is no such thing."}
			}
			return toolset.Contents{Text: "what <one> is"}, nil
		}}},
	}
}

func TestFamilyPage(t *testing.T) {
	t.Parallel()
	items := []toolset.Item{{
		Title: "<b>first", State: "running", Status: toolset.OK, Facts: []string{"3 messages"}, Text: "says\x1b[31m",
		Below: []toolset.Item{{Title: "below", URI: "thing://one"}},
	}}
	changes := make(chan string, 1)
	version := "1"
	s := start(t, sample(t), family(toolset.Page{
		Name: "things", Title: "Things", Empty: "Nothing yet.",
		Show: func(context.Context, contract.Context) ([]toolset.Item, error) { return items, nil },
		Version: func(context.Context, contract.Context) string {
			select {
			case version = <-changes:
			default:
			}
			return version
		},
	}), toolset.Family{Declared: func() []contract.Tool { return nil }, Pages: []toolset.Page{{Name: "bare"}}})
	s.has("/p/things", 200, "&lt;b&gt;first", "3 messages", `says␛[31m`, `href="?uri=thing%3a%2f%2fone"`, `data-live="/p/things/live"`, `<a href="/p/things" aria-current="page">Things</a>`)
	s.has("/p/things?uri=thing://one", 200, "what &lt;one&gt; is")
	s.has("/p/things?uri=thing://two", 404, "There is no such thing.")
	s.has("/p/bare?uri=thing://one", 404, "There is no such page.")
	s.has("/p/things?uri=file:///etc/passwd", 404, "There is no such thing.")

	r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, s.origin+"/p/things/live", nil)
	r.AddCookie(s.cookie)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if kind := answer.Header.Get("Content-Type"); kind != "text/event-stream" {
		t.Errorf("the stream is %s", kind)
	}
	for _, next := range []string{"2", ""} {
		begin := make([]byte, 16<<10)
		n, err := answer.Body.Read(begin)
		if err != nil || !strings.HasPrefix(string(begin[:n]), `data: <ul class="items">`) || !strings.Contains(string(begin[:n]), "&lt;b&gt;first") {
			t.Fatalf("%v: %q", err, begin[:n])
		}
		if next != "" {
			changes <- next
		}
	}
}
