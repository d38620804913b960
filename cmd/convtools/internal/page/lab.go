package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/convtools/convtools/cmd/convtools/internal/repository"
)

// programs are the programs and the directories that all steps share.
type programs struct {
	convtools, chromium string
	axe                 string // the script
	testdata            string
	pictures            string // the directory of pictures
}

// lab is a home directory with histories, the server of the page that shows them, and a tab of a browser.
type lab struct {
	*programs
	dir           string // for everything that is written
	home, project string
	origin        string // of the server, such as http://127.0.0.1:1234
	server        *exec.Cmd
	tab           context.Context
	close         []func()

	mu       sync.Mutex
	requests []string // that left the tab
	errors   []string // in the console
}

// newLab makes a home directory below dir, calls fill to write histories into the home, and starts the server and the
// browser. Together with an error it returns the lab to shut down, or nil.
func newLab(ctx context.Context, p *programs, dir string, fill func(*lab) error) (*lab, error) {
	l := &lab{programs: p, dir: dir, home: filepath.Join(dir, "home"), project: filepath.Join(dir, "home", "ferry")}
	if err := errors.Join(os.MkdirAll(l.home, 0o700), os.MkdirAll(l.project, 0o700)); err != nil {
		return nil, err
	}
	return l, errors.Join(fill(l), l.start(ctx))
}

// start starts the server and the browser.
func (l *lab) start(ctx context.Context) error {
	address, err := l.serve(ctx)
	if err != nil {
		return err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(l.chromium), chromedp.UserDataDir(filepath.Join(l.dir, "browser")), chromedp.NoSandbox,
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"), chromedp.Env("HOME="+l.dir, "TZ=UTC", "LANG=C.UTF-8"),
	)
	allocator, stop := chromedp.NewExecAllocator(ctx, options...)
	tab, cancel := chromedp.NewContext(allocator)
	l.tab, l.close = tab, append(l.close, stop, cancel)
	if err := chromedp.Listen(tab, l.recordRequest); err != nil {
		return err
	}
	if err := l.watchConsole(); err != nil {
		return err
	}
	return l.do(chromedp.Navigate(address), chromedp.WaitReady("#main"))
}

// serve starts the server of the page, and returns the address that it prints.
func (l *lab) serve(ctx context.Context) (address string, err error) {
	l.server = exec.CommandContext(ctx, l.convtools, "web", "--no-browser")
	l.server.Dir, l.server.Env, l.server.Stderr = l.project, l.env(), os.Stderr
	out, err := l.server.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := l.server.Start(); err != nil {
		return "", err
	}
	l.close = append(l.close, func() { _ = l.stopServer() })
	lines := bufio.NewReader(out)
	line, err := lines.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("reading the address of the page: %w", err)
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	l.origin, _, _ = strings.Cut(line, "/?")
	return strings.TrimSpace(line), nil
}

// env returns the environment of programs in the lab.
func (l *lab) env() []string { return repository.Environ(l.home, "TZ=UTC") }

// stopServer ends the server as Ctrl-C does.
func (l *lab) stopServer() error {
	if l.server.ProcessState != nil {
		return nil
	}
	return errors.Join(l.server.Process.Signal(os.Interrupt), l.server.Wait())
}

// shutdown ends the browser and the server.
func (l *lab) shutdown() {
	for i := len(l.close) - 1; i >= 0; i-- {
		l.close[i]()
	}
}

// recordRequest records the address of an event that is a request of the tab.
func (l *lab) recordRequest(event any) {
	if sent, ok := event.(*network.EventRequestWillBeSent); ok {
		l.mu.Lock()
		l.requests = append(l.requests, sent.Request.URL)
		l.mu.Unlock()
	}
}

// watchConsole records errors in the console of the tab: scripts that failed, and actions that the page's policy stopped.
func (l *lab) watchConsole() error {
	if _, err := chromedp.Call(l.tab, network.Enable, network.EnableParams{}); err != nil {
		return err
	}
	messages := chromedp.Console(l.tab)
	go func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			if m.Source != "network" && (m.IsException() || m.Type == "error" || m.Source == "security") { // an answer such as 404 is of the network
				l.mu.Lock()
				l.errors = append(l.errors, m.Text)
				l.mu.Unlock()
			}
		}
	}()
	return nil
}

// do runs actions in the tab, within 20 seconds. It starts the browser first if the browser does not run yet.
func (l *lab) do(actions ...chromedp.Action[chromedp.Void]) error {
	if err := chromedp.Do(l.tab); err != nil { // without a timeout, which would also end the browser
		return err
	}
	ctx, cancel := context.WithTimeout(l.tab, 20*time.Second)
	defer cancel()
	return chromedp.Do(ctx, actions...)
}

// open opens a page.
func (l *lab) open(path string) error {
	err := l.do(chromedp.Navigate(l.origin+path), chromedp.WaitReady("#main"))
	if err != nil {
		return fmt.Errorf("opening %s: %w", path, err)
	}
	return nil
}

// press presses keys, one after the other: keys of package kb, or characters.
func (l *lab) press(keys ...string) error {
	for _, key := range keys {
		var err error
		// The event of a character's key also writes the character, so a page that stops the event stops both.
		if isCharacter := key > " " && key <= "~"; isCharacter {
			_, err = chromedp.Call(l.tab, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: key, Text: key})
		} else {
			err = l.do(chromedp.KeyEvent(key))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// until waits until an expression is true, on whichever page the tab is.
func (l *lab) until(expression string) error {
	const limit, pause = 8 * time.Second, 30 * time.Millisecond
	var err error
	for begun := time.Now(); time.Since(begun) < limit; time.Sleep(pause) {
		var isTrue bool
		if isTrue, err = ask[bool](l, "!!("+expression+")"); isTrue {
			return nil
		}
	}
	here, _ := ask[string](l, "location.href + '\\n' + document.body.innerText.slice(0, 300)")
	return fmt.Errorf("waiting for %s at %s: %w", expression, here, cmp.Or(err, context.DeadlineExceeded))
}

// ask returns the value of an expression.
func ask[T any](l *lab, expression string, opts ...chromedp.EvaluateOption) (T, error) {
	ctx, cancel := context.WithTimeout(l.tab, 30*time.Second)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[T](expression, opts...))
}

// view is how a page is looked at.
type view struct {
	width int64
	dark  bool
}

func (v view) scheme() string {
	if v.dark {
		return "dark"
	}
	return "light"
}

func (v view) String() string { return fmt.Sprintf("%d-%s", v.width, v.scheme()) }

// setView sets the width and the colours in which the tab shows pages.
func (l *lab) setView(v view) error {
	_, err := chromedp.Call(l.tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: v.scheme()}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}})
	return errors.Join(err, l.do(chromedp.EmulateViewport(v.width, 900)))
}

// takePicture writes a picture of what the tab shows.
func (l *lab) takePicture(name string, v view) error {
	picture, err := chromedp.Run(l.tab, chromedp.CaptureScreenshot())
	if err != nil {
		return fmt.Errorf("taking a picture of %s: %w", name, err)
	}
	return os.WriteFile(filepath.Join(l.pictures, name+"-"+v.String()+".png"), picture, 0o644) //nolint:gosec // for everybody to look at
}
