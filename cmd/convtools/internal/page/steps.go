package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// step is one proof, over a home of its own.
type step struct {
	name string
	fill func(*lab) error
	run  func(*lab) (note string, err error)
}

// steps returns the proofs in the order in which they run: the name, the function that fills the home, and the function
// that runs the proof and returns a note to print. The note of pictures is the directory of the pictures.
func steps() []step {
	return []step{
		{"pictures", fillSample, func(l *lab) (string, error) { return l.pictures, pictures(l) }},
		{"clicks", fillSample, clicks},
		{"keys", fillSample, keys},
		{"typing", fillSample, typing},
		{"days", fillSample, days},
		{"long", fillLong(longRequests), long},
		{"running", fillSample, running},
		{"no-script", fillSample, noScript},
		{"stopped", fillSample, stopped},
		{"tabs", fillLong(100), tabs},
		{"hostile", fillHostile, hostile},
	}
}

// runIn runs the step in a lab of its own. It also returns an error if the tab has an error in its console or sent a
// request to another place.
func (s step) runIn(ctx context.Context, p *programs, dir string) (note string, err error) {
	l, err := newLab(ctx, p, dir, s.fill)
	if l != nil {
		defer l.shutdown()
	}
	if err != nil {
		return "", err
	}
	note, err = s.run(l)
	return note, errors.Join(err, l.complaints())
}

// complaints returns an error for the messages in the console of the tab, and for requests to another place.
func (l *lab) complaints() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var err error
	if len(l.errors) > 0 {
		err = fmt.Errorf("the console has %q", l.errors)
	}
	for _, address := range l.requests {
		scheme, _, _ := strings.Cut(address, ":")
		isLocal := slices.Contains([]string{"file", "about", "data"}, scheme) // the browser's own icons are data
		if !isLocal && !strings.HasPrefix(address, l.origin+"/") {
			err = errors.Join(err, fmt.Errorf("a request for %s", address))
		}
	}
	return err
}

// ferry is the session of the sample that has edits and failures.
const ferry = "claude-7c90ab12-4f3e-4d21-b8a7-05e6c1d9f3a4"

// pictures takes pictures of all pages. It returns an error if a page is wider than 320 pixels, the narrowest screen,
// or if axe-core finds a mistake in accessibility.
func pictures(l *lab) error {
	first, err := ask[string](l, `document.querySelector("a.row").getAttribute("href")`)
	if err != nil {
		return err
	}
	for _, page := range []struct{ name, path string }{
		{"list", "/"}, {"recall", "/?q=why+do+we+retry"}, {"conversation", first}, {"knowledge", "/p/knowledge"}, {"running", "/p/sessions"},
	} {
		isOwnHome := l.home == filepath.Join(l.dir, "home") // nothing is written to a home that -home gives
		if page.name == "running" && isOwnHome {
			if err := l.query("Plan a weekend"); err != nil { // starts a session, for the page to show
				return err
			}
		}
		if err := errors.Join(l.setView(view{width: 320}), l.open(page.path), l.until(`document.documentElement.scrollWidth <= 320`)); err != nil {
			return err
		}
		for _, v := range []view{{1400, false}, {1400, true}, {400, false}, {400, true}} { // width, and whether it is dark
			err := errors.Join(l.setView(v), l.open(page.path))
			if err == nil && page.name == "conversation" { // show two calls
				err = l.do(chromedp.Evaluate[chromedp.Void](`document.querySelectorAll("details.call").forEach((d, i) => { d.open = i < 2 })`))
			}
			if err == nil {
				err = errors.Join(l.takePicture(page.name, v), l.accessible(page.name+" "+v.String()))
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// accessible returns an error for what axe-core finds on the page.
func (l *lab) accessible(name string) error {
	if err := l.do(chromedp.Evaluate[chromedp.Void](l.axe)); err != nil {
		return err
	}
	await := func(p *runtime.EvaluateParams) { chromedp.EvalAwaitPromise(p) }
	found, err := ask[[]struct {
		ID    string   `json:"id"`
		Nodes []string `json:"nodes"`
	}](l, `axe.run().then((r) => r.violations.map((v) => ({ id: v.id, nodes: v.nodes.map((n) => n.html.slice(0, 200)) })))`, await)
	if err == nil && len(found) > 0 {
		list, _ := json.Marshal(found)
		err = fmt.Errorf("axe-core finds on %s: %s", name, list)
	}
	return err
}

// clicks goes through the pages with the mouse.
func clicks(l *lab) (string, error) {
	return "", errors.Join(
		l.until(`document.querySelectorAll("a.row").length === 5`),
		l.do(chromedp.Click(`a.row[href="/c/`+ferry+`"]`)),
		l.until(`document.querySelector("h1")?.textContent.includes("duplicate key")`),
		l.until(`!document.querySelector("details.call").open`),
		l.do(chromedp.Click("details.call > summary")),
		l.until(`document.querySelector("details.call").open && document.querySelector("details.call pre").checkVisibility()`),
		l.do(chromedp.Click(".requests li:last-child a")),
		l.until(`/^#event-\d+$/.test(location.hash)`),
		l.do(chromedp.Click("[data-copy]")),
		l.until(`document.querySelector("#notice").textContent.includes("`+ferry+`")`),
		l.until(`[...document.querySelectorAll("[data-copy]")].some((b) => b.dataset.copy.endsWith("claude --resume `+strings.TrimPrefix(ferry, "claude-")+`"))`),
		l.do(chromedp.Click(`nav a[href="/p/knowledge"]`)),
		l.until(`document.querySelector("main").innerText.includes("Tide service")`),
		l.do(chromedp.Click(".items ul a")),
		l.until(`document.querySelector("pre.content")?.textContent.length > 50`),
		l.do(chromedp.Click(".brand")),
		l.until(`location.pathname === "/"`),
		l.do(chromedp.Click(".scope a")),
		l.until(`document.querySelector("h1").textContent === "All projects" && document.querySelector("select[name=project]")`),
	)
}

// keys goes through the pages with the keyboard alone.
func keys(l *lab) (string, error) {
	focused := func(selector string) error {
		return l.until(`document.activeElement.matches(` + fmt.Sprintf("%q", selector) + `)`)
	}
	return "", errors.Join(
		l.press(kb.Tab), focused("a.skip"),
		l.press("?"), l.until(`document.querySelector("#keys").open`),
		l.press(kb.Escape), l.until(`!document.querySelector("#keys").open`),
		l.press("/"), focused("#q"),
		l.press("c", "l", "o", "c", "k"), l.until(`document.querySelector("#results mark")`),
		l.press(kb.ArrowDown), focused("#results a.row"),
		l.press(kb.ArrowDown), focused("#results a.passage"),
		l.press(kb.Enter), l.until(`location.pathname.startsWith("/c/") && location.hash.startsWith("#event-") && document.readyState === "complete"`),
		l.press(kb.Escape), focused("#q"),
		l.press("x", kb.Escape), l.until(`document.querySelector("#q").value === ""`),
		l.press(kb.Escape), l.until(`document.activeElement !== document.querySelector("#q")`),
	)
}

// typing asks as words are typed, and says how long an answer takes.
func typing(l *lab) (string, error) {
	const measure = `(async () => {
		const times = [];
		for (const words of ["r", "re", "ret", "retr", "retry", "retry c", "retry cap"]) {
			const begun = performance.now();
			await (await fetch("/?part=results&q=" + encodeURIComponent(words))).text();
			times.push(performance.now() - begun);
		}
		return Math.max(...times);
	})()`
	await := func(p *runtime.EvaluateParams) { chromedp.EvalAwaitPromise(p) }
	slowest, err := ask[float64](l, measure, await)
	return fmt.Sprintf("an answer takes at most %.0f ms", slowest), errors.Join(err,
		l.do(chromedp.SendKeys("#q", `"retry cap`)), l.do(chromedp.Sleep(300*time.Millisecond)),
		// Four backspaces and a quote make the words "retry".
		l.do(chromedp.SendKeys("#q", kb.Backspace+kb.Backspace+kb.Backspace+kb.Backspace+`"`)),
		l.until(`[...document.querySelectorAll("#results mark")].some((m) => m.textContent.toLowerCase() === "retry")`),
		l.until(`new URL(location.href).searchParams.get("q") === '"retry"'`),
	)
}

// days chooses some days by dragging over them, and one by a click.
func days(l *lab) (string, error) {
	type box struct{ X, Y, Width, Height float64 }
	const place = `(() => { const b = document.querySelector(".days > svg").getBoundingClientRect(); return { X: b.x, Y: b.y, Width: b.width, Height: b.height } })()`
	b, err := ask[box](l, place)
	at := func(day float64) float64 { return b.X + b.Width*(day+.5)/5 } // the middle of one of five days
	return "", errors.Join(err,
		l.do(chromedp.DragAndDropXY(at(1), b.Y+b.Height/2, at(2), b.Y+b.Height/2, 8)),
		l.until(`location.search.includes("from=2026-05-05") && location.search.includes("to=2026-05-06")`),
		l.until(`document.querySelectorAll("a.row").length === 2 && document.querySelectorAll(".day.chosen").length === 2`),
		l.do(chromedp.MouseClickXY(at(4), b.Y+b.Height-4)),
		l.until(`location.search.includes("from=2026-05-08") && document.querySelectorAll("a.row").length === 1`),
		l.do(chromedp.Click(".filters > a")),
		l.until(`document.querySelectorAll("a.row").length === 5`),
	)
}

// longRequests is the number of requests of a long conversation, which has twice as many events.
const longRequests = 5000

// long scrolls through 1,100 of the 10,000 events of a conversation, and then goes to single events. The tab keeps at most
// 500 events, and shows the single event less than 300 pixels below the top. The note has the time of the slowest frame.
func long(l *lab) (string, error) {
	const path = "/c/claude-" + longSession
	err := errors.Join(l.open(path), l.do(chromedp.Evaluate[chromedp.Void](`
		window.slowest = 0;
		let last = performance.now();
		(function frame(now) { slowest = Math.max(slowest, now - last); last = now; requestAnimationFrame(frame); })(last)`)))
	for n := 101; err == nil && n <= 1101; n += 100 { // the page loads 100 events at a time
		err = errors.Join(
			l.do(chromedp.Evaluate[chromedp.Void](`scrollTo({ top: document.documentElement.scrollHeight, behavior: "instant" })`)),
			l.until(fmt.Sprintf(`document.getElementById("event-%d")`, n)),
		)
	}
	kept, err1 := ask[int](l, `document.querySelectorAll(".entry").length`)
	if kept > 500 {
		err = errors.Join(err, fmt.Errorf("the tab keeps %d events", kept))
	}
	slowest, err2 := ask[float64](l, `slowest`)
	note := fmt.Sprintf("%d of 10,000 events are kept; at most %.0f ms between two frames", kept, slowest)
	return note, errors.Join(err, err1, err2,
		l.do(chromedp.Evaluate[chromedp.Void](`location.hash = "#event-7"`)),
		l.until(`location.search === "?event=7" && document.getElementById("event-7").getBoundingClientRect().top < 300`),
		l.open(path+"?event=9950#event-9950"),
		l.until(`Math.abs(document.getElementById("event-9950").getBoundingClientRect().top) < 300`),
		l.open(path+"#event-1033"),
		l.until(`Math.abs(document.getElementById("event-1033")?.getBoundingClientRect().top) < 300`),
		l.until(fmt.Sprintf(`document.querySelectorAll(".requests a").length === %d`, longRequests)),
	)
}

// running sees a session begin and grow on a page that it opens once.
func running(l *lab) (string, error) {
	return "", errors.Join(
		l.open("/p/sessions"), l.until(`document.querySelector("main").innerText.includes("Nothing has run")`),
		l.query("Plan a weekend"),
		l.until(`document.querySelectorAll("#items li").length === 4`),
		l.until(`document.querySelector("#items").innerText.includes("Prices") && document.querySelector("#items ul ul ul")`),
	)
}

// noScript reads the pages without JavaScript.
func noScript(l *lab) (string, error) {
	_, err := chromedp.Call(l.tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	has := func(selector string) error { return l.do(chromedp.WaitVisible(selector)) }
	return "", errors.Join(err,
		l.open("/"), has(`a.row[href="/c/`+ferry+`"]`),
		l.do(chromedp.SendKeys("#q", "clock change"+kb.Enter)), has("#results mark"),
		l.do(chromedp.Click("#results a.passage")), has(".entry:target"),
		l.do(chromedp.Click("details.call > summary")), has("details.call[open] pre"),
		l.open("/p/knowledge"), has(".items ul a"),
		l.open("/p/sessions"), has(".problem"),
	)
}

// stopped ends the server under an open page, which says so.
func stopped(l *lab) (string, error) {
	return "", errors.Join(l.stopServer(), l.press("/", "a"), l.until(`document.querySelector("#notice").textContent.includes("convtools web has ended")`))
}

// tabs opens a hundred tabs, and then a page in the first tab. It returns how much memory the server uses.
func tabs(l *lab) (string, error) {
	for i := range 100 {
		tab, cancel := chromedp.NewContext(l.tab)
		l.close = append(l.close, cancel)
		if err := chromedp.Do(tab); err != nil {
			return "", err
		}
		tab, stop := context.WithTimeout(tab, 20*time.Second)
		defer stop()
		path := "/c/claude-" + longSession
		if i%2 == 1 {
			path = "/p/sessions"
		}
		if err := chromedp.Do(tab, chromedp.Navigate(l.origin+path), chromedp.WaitReady("#main h1")); err != nil {
			return "", fmt.Errorf("opening tab %d: %w", i, err)
		}
	}
	return l.memory(), l.open("/")
}

// memory says how much memory the server uses.
func (l *lab) memory() string {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", l.server.Process.Pid))
	_, after, found := strings.Cut(string(status), "VmRSS:")
	if err != nil || !found {
		return ""
	}
	line, _, _ := strings.Cut(after, "\n")
	return "the server uses " + strings.TrimSpace(line)
}
