package engine_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/convtools/convtools/runtime/session"
	"github.com/convtools/convtools/runtime/session/engine"
	"github.com/convtools/convtools/runtime/session/log"
)

// disk is a log's file on a machine that loses power: what has not been synced need not be there afterwards.
type disk struct {
	log.File
	path   string
	size   int64
	synced int64

	operations int   // writes and syncs so far
	writes     []int // which of them are writes
	crash      int   // the operation that does not return; 0 is none
	tear       int   // in percent, how much of a write that does not return reaches the file
	down       bool
}

func (d *disk) wrap(f log.File) log.File {
	info, err := os.Stat(d.path)
	if err != nil {
		panic(err)
	}
	d.File, d.size = f, info.Size()
	d.synced = d.size // [log.Open] syncs
	return d
}

func (d *disk) next() bool {
	d.operations++
	d.down = d.down || d.operations == d.crash
	return !d.down
}

func (d *disk) Write(p []byte) (int, error) {
	whole := d.next()
	d.writes = append(d.writes, d.operations)
	if !whole && d.operations == d.crash {
		p = p[:len(p)*d.tear/100]
	} else if !whole {
		return 0, errCrashed
	}
	n, err := d.File.Write(p)
	d.size += int64(n)
	if !whole {
		err = errCrashed
	}
	return n, err
}

func (d *disk) Sync() error {
	if !d.next() {
		return errCrashed
	}
	d.synced = d.size
	return nil
}

// loss is what becomes of what was not synced.
type loss string

const (
	kept   loss = "kept" // as after kill -9
	lost   loss = "lost"
	halved loss = "halved"
	zeroed loss = "zeroed"
)

// lose leaves the file as it is after the power is back.
func (d *disk) lose(l loss) error {
	unsynced := d.size - d.synced
	switch l {
	case lost:
		return os.Truncate(d.path, d.synced)
	case halved:
		return os.Truncate(d.path, d.synced+unsynced/2)
	case zeroed:
		return errors.Join(os.Truncate(d.path, d.synced), os.Truncate(d.path, d.size))
	}
	return nil
}

// machine runs session s, however often it crashes.
type machine struct {
	t      checker
	dir    string
	world  *world
	synced int64 // of the file, by the processes so far
}

// checker is what tests of package testing and of rapid have in common.
type checker interface {
	Helper()
	Fatalf(format string, args ...any)
}

// run starts or resumes the session, has it do its program, and returns its state at the end and how many operations it
// took; crashed reports that it did not get there.
func (m *machine) run(p program, crash, tear int) (d *disk, state session.State, crashed bool) {
	m.t.Helper()
	d = &disk{path: filepath.Join(m.dir, "s.jsonl"), crash: crash, tear: tear, synced: m.synced}
	defer func() { m.synced = d.synced }()
	o := m.world.options()
	o.File = d.wrap
	o.Now = func() time.Time { return time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC) }
	// Nothing happens, and nothing is seen, that the disk does not have.
	onDisk := func(what string) {
		if d.synced != d.size {
			m.t.Fatalf("%s, and %d bytes are not on disk", what, d.size-d.synced)
		}
	}
	m.world.enter = func(_ context.Context, what string) error {
		onDisk("the " + what + " is asked")
		return nil
	}
	o.Observe = func(e session.Event, _ session.State) {
		if e.Kind != session.AgentMessageDelta {
			onDisk(fmt.Sprintf("event %d is observed", e.Seq))
		}
	}
	e, err := engine.Resume(m.dir, "s", o)
	if errors.Is(err, fs.ErrNotExist) {
		e, err = engine.Start(m.dir, session.Start{Session: "s", Root: id(0), Context: everything()}, o)
	}
	if errors.Is(err, errCrashed) {
		return d, state, true
	}
	if err != nil {
		m.t.Fatalf("%v", err)
	}
	if e.State().Idle() {
		onDisk("the session is resumed")
	}
	err = e.Wait(context.Background())
	if err == nil && e.State().Root().Messages == 0 {
		var turn *engine.Turn
		if turn, err = e.Submit(context.Background(), p.submit(id(0))); err == nil {
			_, err = turn.Wait(context.Background())
		}
	}
	state = e.State()
	if closed := e.Close(); !errors.Is(err, errCrashed) && !errors.Is(closed, errCrashed) {
		if err != nil || closed != nil {
			m.t.Fatalf("%v, %v", err, closed)
		}
		return d, state, false
	}
	return d, state, true
}

// finish runs the session to its end, and holds that the log leads to the state in memory.
func (m *machine) finish(p program) session.State {
	m.t.Helper()
	_, state, crashed := m.run(p, 0, 0)
	if crashed {
		m.t.Fatalf("it crashed")
	}
	read, torn, err := log.Load(m.dir, "s")
	if err != nil || torn != nil {
		m.t.Fatalf("the log: %v, torn %+v", err, torn)
	}
	if diff := cmp.Diff(conversationsOf(state), conversationsOf(read)); diff != "" {
		m.t.Fatalf("the log leads to another state (-memory +log):\n%s", diff)
	}
	return state
}

// talk is a program of conversations alone: creations in one another, two calls in one response, a send to what has been
// created, a failure.
func talk() program {
	return program{
		call(create(call(create(say("innermost"))), say("inner heard OUTPUTS"))),
		call(send(say("again")), create(response{Fail: true})),
		call(tool("conv.list")),
		say("root heard OUTPUTS"),
	}
}

// After a crash at each write and each sync, with each part of what was not synced gone, the session comes to the same
// end as without: each call has its real answer, once.
func TestCrashPoints(t *testing.T) {
	t.Parallel()
	whole := &machine{t: t, dir: t.TempDir(), world: &world{}}
	d, state, _ := whole.run(talk(), 0, 0)
	want := conversationsOf(state)
	if len(want) != 4 || !strings.Contains(strings.Join(want[0], "\n"), "root heard") {
		t.Fatalf("without a crash: %v", want)
	}
	points := 0
	for crash := 1; crash <= d.operations; crash++ {
		tears := []int{0}
		if slices.Contains(d.writes, crash) {
			tears = []int{0, 50, 99, 100}
		}
		for _, tear := range tears {
			for _, l := range []loss{kept, lost, halved, zeroed} {
				m := &machine{t: t, dir: t.TempDir(), world: &world{}}
				broken, _, crashed := m.run(talk(), crash, tear)
				if !crashed {
					t.Fatalf("operation %d did not crash", crash)
				}
				if err := broken.lose(l); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, conversationsOf(m.finish(talk()))); diff != "" {
					t.Fatalf("crash at %d, %d %% written, what was not synced %s (-want +got):\n%s", crash, tear, l, diff)
				}
				points++
			}
		}
	}
	t.Logf("%d crash points", points)
}

// However often it crashes, while it recovers too, no tool runs twice, and the session ends with every call answered.
func TestCrashesWithTools(t *testing.T) {
	t.Parallel()
	p := program{
		call(tool("one"), create(call(tool("two"), tool("three")), call(create(call(tool("four")), say("OUTPUTS"))), say("OUTPUTS")), tool("five")),
		call(tool("six"), send(call(tool("seven")), say("OUTPUTS"))),
		say("root heard OUTPUTS"),
	}
	base := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp(base, "")
		if err != nil {
			t.Fatal(err)
		}
		m := &machine{t: t, dir: dir, world: &world{}}
		for range rapid.IntRange(1, 5).Draw(t, "crashes") {
			broken, _, crashed := m.run(p, rapid.IntRange(1, 40).Draw(t, "operation"), rapid.IntRange(0, 100).Draw(t, "tear"))
			if !crashed {
				break
			}
			if err := broken.lose(rapid.SampledFrom([]loss{kept, lost, halved, zeroed}).Draw(t, "loss")); err != nil {
				t.Fatal(err)
			}
		}
		state := m.finish(p)
		ran := map[string]int{}
		for _, what := range m.world.calls() {
			if strings.HasPrefix(what, "tool ") {
				ran[what]++
				if ran[what] > 1 {
					t.Fatalf("%s ran twice", what)
				}
			}
		}
		root := conversationsOf(state)[0]
		if last := root[len(root)-1]; !strings.Contains(last, "root heard ") {
			t.Fatalf("it ends with %q", last)
		}
		for _, history := range conversationsOf(state) {
			checkAnswered(t, history)
		}
	})
}

// checkAnswered holds that every call of a history has one output before the next message.
func checkAnswered(t checker, history []string) {
	t.Helper()
	open := map[string]bool{}
	for _, line := range history {
		kind, rest, _ := strings.Cut(line, " ")
		id, _, _ := strings.Cut(rest, " ")
		switch kind {
		case "tool_call":
			open[id] = true
		case "tool_output":
			if !open[id] {
				t.Fatalf("%s is answered twice:\n%s", id, strings.Join(history, "\n"))
			}
			delete(open, id)
		case "user_message", "reasoning":
			if len(open) > 0 {
				t.Fatalf("%v is not answered before the next sample:\n%s", open, strings.Join(history, "\n"))
			}
		}
	}
	if len(open) > 0 {
		t.Fatalf("%v is not answered:\n%s", open, strings.Join(history, "\n"))
	}
}
