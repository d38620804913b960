package engine_test

import (
	"context"
	"errors"
	"os"
	"reflect"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/convtools/convtools/runtime/session"
	"github.com/convtools/convtools/runtime/session/engine"
	"github.com/convtools/convtools/runtime/session/log"
)

// randomProgram draws what a conversation does, with calls nested at most to a depth.
func randomProgram(t *rapid.T, depth int) program {
	p := program{}
	for range rapid.IntRange(0, 3).Draw(t, "responses") {
		var r response
		switch rapid.IntRange(0, 5).Draw(t, "response") {
		case 0:
			r.Say = "said OUTPUTS"
		case 1:
			r.Fail = true
		default:
			for range rapid.IntRange(1, 3).Draw(t, "calls") {
				switch kind := rapid.IntRange(0, 4).Draw(t, "call"); {
				case kind == 0:
					r.Calls = append(r.Calls, tool("shell"))
				case kind == 1:
					r.Calls = append(r.Calls, tool("conv.list"))
				case depth == 0:
					r.Say = "leaf"
				case kind == 2:
					r.Calls = append(r.Calls, act{Send: randomProgram(t, depth-1)})
				default:
					r.Calls = append(r.Calls, act{Create: randomProgram(t, depth-1)})
				}
			}
		}
		p = append(p, r)
	}
	return p
}

// driven is a session of a random test.
type driven struct {
	t        *rapid.T
	dir      string
	world    *world
	gate     *gate
	engine   *engine.Engine
	mu       sync.Mutex
	observed []session.Event
	turns    []*engine.Turn
}

func (d *driven) options() engine.Options {
	o := d.world.options()
	o.File = withoutSync
	o.Observe = func(e session.Event, _ session.State) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.observed = append(d.observed, e)
	}
	return o
}

// check holds what is true whenever nothing moves.
func (d *driven) check() {
	d.t.Helper()
	synctest.Wait()
	if err := d.engine.Err(); err != nil {
		d.t.Fatalf("the engine has ended: %v", err)
	}
	_, most, working := d.world.has()
	if most > 1 {
		d.t.Fatalf("%d worked at the same time", most)
	}
	state := d.engine.State()
	read, torn, err := log.Load(d.dir, "s")
	if err != nil || torn != nil || !reflect.DeepEqual(read, state) {
		d.t.Fatalf("the log leads to another state: %v, torn %+v", err, torn)
	}
	if working != 1 && !state.Idle() {
		d.t.Fatalf("the session is not idle, and %d work", working)
	}
	var events []session.Event
	for e, err := range log.Events(d.dir, "s") {
		if err != nil {
			d.t.Fatal(err)
		}
		events = append(events, e)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if diff := cmp.Diff(events, d.observed); diff != "" {
		d.t.Fatalf("observed (-log +observed):\n%s", diff)
	}
}

func (d *driven) conversation() string {
	return id(rapid.IntRange(0, 4).Draw(d.t, "conversation"))
}

// refused fails the test for an error that is none of those that a session gives its host.
func (d *driven) refused(err error) {
	d.t.Helper()
	if err != nil && session.CodeOf(err) == "" {
		d.t.Fatal(err)
	}
}

// Whatever people do, whenever: one thing works at a time, the log leads to the state, and everything comes to an end.
// That nothing waits for ever, and nothing is left running, is for synctest to find.
func TestRandomSessions(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		rapid.SyncTest(t, func(t *rapid.T) {
			dir, err := os.MkdirTemp(base, "")
			if err != nil {
				t.Fatal(err)
			}
			d := &driven{t: t, dir: dir, world: &world{}, gate: newGate()}
			d.world.enter = func(ctx context.Context, _ string) error {
				select {
				case err := <-d.gate.leave:
					return err
				case <-ctx.Done():
					if len(d.world.calls())%2 == 0 {
						time.Sleep(time.Second)
					}
					return ctx.Err()
				}
			}
			d.engine, err = engine.Start(dir, session.Start{
				Session: "s", Root: id(0), Context: everything(),
				Config: session.Config{MaxInterruptChainDepth: 2, MaxConversations: 4},
			}, d.options())
			if err != nil {
				t.Fatal(err)
			}
			ctx := context.Background()
			defer func() { _ = d.engine.Close() }() // also where the test ends early
			t.Repeat(map[string]func(*rapid.T){
				"": func(t *rapid.T) { d.t = t; d.check() },
				"submit": func(t *rapid.T) {
					d.t = t
					in := randomProgram(t, 2).submit(d.conversation())
					if rapid.Bool().Draw(t, "deadline") {
						in.Budget.Deadline = time.Now().UTC().Round(0).Add(30 * time.Second)
					}
					turn, err := d.engine.Submit(ctx, in)
					d.refused(err)
					if err == nil {
						d.turns = append(d.turns, turn)
					}
				},
				"go on": func(t *rapid.T) {
					for range rapid.IntRange(1, 4).Draw(t, "times") {
						d.gate.leave <- nil
						synctest.Wait()
					}
					drain(d.gate.leave)
				},
				"fail": func(*rapid.T) {
					d.gate.leave <- errors.New("it failed")
					synctest.Wait()
					drain(d.gate.leave)
				},
				"time passes": func(*rapid.T) { time.Sleep(20 * time.Second) },
				"interrupt": func(t *rapid.T) {
					in := session.Interrupt{Chain: rapid.Bool().Draw(t, "chain")}
					if rapid.IntRange(0, 3).Draw(t, "which") == 0 {
						in.Submission = session.SubmissionID(rapid.IntRange(1, 5).Draw(t, "submission"))
					}
					d.refused(d.engine.Do(ctx, in))
				},
				"remove": func(t *rapid.T) {
					d.t = t
					d.refused(d.engine.Do(ctx, session.Remove{Conversation: d.conversation()}))
				},
				"restart": func(t *rapid.T) {
					if err := d.engine.Close(); err != nil {
						t.Fatal(err)
					}
					d.turns = nil
					if d.engine, err = engine.Resume(dir, "s", d.options()); err != nil {
						t.Fatal(err)
					}
				},
			})
			ended := make(chan struct{})
			defer close(ended)
			go func() {
				for {
					select {
					case d.gate.leave <- nil:
					case <-ended:
						return
					}
				}
			}()
			if err := d.engine.Wait(ctx); err != nil {
				t.Fatal(err)
			}
			for _, turn := range d.turns {
				if result, err := turn.Wait(ctx); err != nil || result.Status == "" {
					t.Fatalf("a submission ended with %+v, %v", result, err)
				}
			}
			for _, history := range conversationsOf(d.engine.State()) {
				checkAnswered(t, history)
			}
			d.t = t
			if err := d.engine.Close(); err != nil {
				t.Fatal(err)
			}
		})
	})
}

func drain(c chan error) {
	for {
		select {
		case <-c:
		default:
			return
		}
	}
}
