package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/session"
	"github.com/convtools/convtools/runtime/session/engine"
	"github.com/convtools/convtools/runtime/session/log"
)

// A root creates a conversation that runs a tool, and sends to it again.
func TestChain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir, w := t.TempDir(), &world{}
		o := w.options()
		var observed []session.Event
		o.Observe = func(e session.Event, _ session.State) { observed = append(observed, e) }
		e := start(t, dir, o)
		got := ask(t, e,
			call(create(call(tool("shell")), say("first, OUTPUTS"))),
			call(send(say("second"))),
			say("OUTPUTS"))
		got.Usage = usageOf(e.State())
		want := session.Result{
			Status: session.StatusCompleted, Message: "first, shell ran, second",
			Usage: session.Usage{InputTokens: 54, OutputTokens: 6, Samples: 6, Calls: 3},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("result (-want +got):\n%s", diff)
		}
		if last := observed[len(observed)-1]; last.Kind != session.TaskComplete {
			t.Errorf("the last event that was observed by then is %+v", last)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		if _, most, _ := w.has(); most != 1 {
			t.Errorf("%d worked at the same time", most)
		}
		if diff := cmp.Diff(logged(t, dir), observed); diff != "" {
			t.Errorf("observed (-log +observed):\n%s", diff)
		}
	})
}

// After a turn has been waited for, the state has its last step, however early that was seen.
func TestStateAfterTurn(t *testing.T) {
	t.Parallel()
	o := (&world{}).options()
	o.File = withoutSync
	e := start(t, t.TempDir(), o)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for range 50 {
		turn, err := e.Submit(t.Context(), program{say("hello")}.submit(id(0)))
		if err != nil {
			t.Fatal(err)
		}
		for err = ended.Err(); err != nil; {
			_, err = turn.Wait(ended) // asks without waiting
		}
		if !e.State().Idle() {
			t.Fatal("the turn has ended, and the state lacks its last step")
		}
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// What has been recorded is there for the next process, which goes on when something is submitted and not before.
func TestResume(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir, w := t.TempDir(), &world{}
		e := start(t, dir, w.options())
		ask(t, e, call(create(say("hello"))), say("OUTPUTS"))
		before := e.State()
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		length := len(logged(t, dir))
		e, err := engine.Resume(dir, "s", w.options())
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(conversationsOf(before), conversationsOf(e.State())); diff != "" || e.Torn() != nil {
			t.Errorf("resumed (-before +after):\n%s", diff)
		}
		if got := len(logged(t, dir)); got != length {
			t.Errorf("resuming an idle session wrote %d events", got-length)
		}
		if got := ask(t, e, call(send(say("again"))), say("OUTPUTS")); got.Message != "again" {
			t.Errorf("%+v", got)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// gate has models and tools wait, for a test to act in the meantime.
type gate struct {
	entered chan string
	leave   chan error
}

func newGate() *gate { return &gate{entered: make(chan string, 100), leave: make(chan error, 100)} }

func (g *gate) enter(ctx context.Context, what string) error {
	g.entered <- what
	select {
	case err := <-g.leave:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Who is interrupted, and what is recorded then.
func TestStop(t *testing.T) {
	t.Parallel()
	nested := program{call(create(call(tool("shell")), say("inner OUTPUTS"))), say("outer OUTPUTS")}
	for _, test := range []struct {
		name  string
		until int // what enters before the request
		stop  func(context.Context, *engine.Engine) error
		late  error // what a tool or a model returns after it was asked to stop; nil is its output all the same
		want  session.Result
		final []string // the last entries of the root's history
		inner string   // the last entry of the other one's
	}{
		{
			name: "the chain, while a model answers", until: 2, late: context.Canceled,
			stop: func(ctx context.Context, e *engine.Engine) error {
				return e.Do(ctx, session.Interrupt{Chain: true})
			},
			want:  session.Result{Status: session.StatusInterrupted, Usage: session.Usage{InputTokens: 18, OutputTokens: 2, Samples: 2, Calls: 1}},
			final: []string{`"status":"interrupted"`},
		},
		{
			name: "the task, while a tool runs", until: 3, late: context.Canceled,
			stop:  func(ctx context.Context, e *engine.Engine) error { return e.Do(ctx, session.Interrupt{}) },
			want:  session.Result{Status: session.StatusCompleted, Message: "outer interrupted", Usage: session.Usage{InputTokens: 27, OutputTokens: 3, Samples: 3, Calls: 2}},
			final: []string{`"status":"interrupted"`, "reasoning", "outer interrupted"},
			inner: `"code":"interrupted"`,
		},
		{
			name: "a tool that ends well all the same", until: 3,
			stop: func(ctx context.Context, e *engine.Engine) error {
				return e.Do(ctx, session.Interrupt{Chain: true})
			},
			want:  session.Result{Status: session.StatusInterrupted, Usage: session.Usage{InputTokens: 18, OutputTokens: 2, Samples: 2, Calls: 2}},
			final: []string{`"status":"interrupted"`},
			inner: "shell ran",
		},
		{
			name: "the target is destroyed", until: 2, late: context.Canceled,
			stop: func(ctx context.Context, e *engine.Engine) error {
				return e.Do(ctx, session.Remove{Conversation: id(1)})
			},
			want:  session.Result{Status: session.StatusCompleted, Message: "outer destroyed", Usage: session.Usage{InputTokens: 27, OutputTokens: 3, Samples: 3, Calls: 1}},
			final: []string{`"status":"destroyed"`, "reasoning", "outer destroyed"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				dir, w, g := t.TempDir(), &world{}, newGate()
				w.enter = func(ctx context.Context, what string) error {
					g.entered <- what
					if len(w.calls()) != test.until {
						return nil
					}
					<-ctx.Done()
					time.Sleep(time.Second) // it takes its time, and the session waits
					return test.late
				}
				e := start(t, dir, w.options())
				turn, err := e.Submit(t.Context(), nested.submit(id(0)))
				if err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if len(w.calls()) != test.until {
					t.Fatalf("asked: %v", w.calls())
				}
				if err := test.stop(t.Context(), e); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if e.State().Idle() || len(w.calls()) != test.until {
					t.Error("the session did not wait for what it stops")
				}
				got, err := turn.Wait(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				got.Usage = usageOf(e.State())
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("result (-want +got):\n%s", diff)
				}
				root := conversationsOf(e.State())[0]
				for i, want := range test.final {
					if line := root[len(root)-len(test.final)+i]; !strings.Contains(line, want) {
						t.Errorf("the root has %q, want %q", line, want)
					}
				}
				inner := conversationsOf(e.State())[1]
				if line := inner[len(inner)-1]; !strings.Contains(line, test.inner) {
					t.Errorf("the other one has %q, want %q", line, test.inner)
				}
				if err := e.Close(); err != nil {
					t.Error(err)
				}
				if _, _, err := log.Load(dir, "s"); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// A tool that closing has stopped can report at the same time: its report is not recorded.
func TestCloseWhileReporting(t *testing.T) {
	t.Parallel()
	for range 200 { // either can come first
		dir, w, g := t.TempDir(), &world{}, newGate()
		w.enter = g.enter
		e := start(t, dir, w.options())
		if _, err := e.Submit(t.Context(), program{call(tool("shell")), say("OUTPUTS")}.submit(id(0))); err != nil {
			t.Fatal(err)
		}
		<-g.entered
		before := len(logged(t, dir))
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		if got := len(logged(t, dir)); got != before {
			t.Fatalf("closing wrote %d events", got-before)
		}
	}
}

// Closing records nothing of what it stops, and Resume goes on with it.
func TestClose(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir, w, g := t.TempDir(), &world{}, newGate()
		w.enter = g.enter
		e := start(t, dir, w.options())
		turn, err := e.Submit(t.Context(), program{call(tool("shell")), say("OUTPUTS")}.submit(id(0)))
		if err != nil {
			t.Fatal(err)
		}
		<-g.entered
		before := len(logged(t, dir))
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		if err := e.Close(); err != nil {
			t.Errorf("closed twice: %v", err)
		}
		if got := len(logged(t, dir)); got != before {
			t.Errorf("closing wrote %d events", got-before)
		}
		if _, err := turn.Wait(t.Context()); !errors.Is(err, engine.ErrClosed) {
			t.Errorf("waiting for what was stopped: %v", err)
		}
		for name, err := range map[string]error{
			"submit":    second(e.Submit(t.Context(), program{}.submit(id(0)))),
			"interrupt": e.Do(t.Context(), session.Interrupt{}),
			"wait":      e.Wait(t.Context()),
			"err":       e.Err(),
		} {
			if !errors.Is(err, engine.ErrClosed) {
				t.Errorf("%s after closing: %v", name, err)
			}
		}
		w.enter = nil
		e, err = engine.Resume(dir, "s", w.options())
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		root := conversationsOf(e.State())[0]
		if got := root[len(root)-1]; !strings.HasSuffix(got, "shell ran") {
			t.Errorf("the answer is %q", got)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A tool that comes to its end while the engine is closed is not run again.
func TestCloseKeepsOutput(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir, w := t.TempDir(), &world{}
		w.enter = func(ctx context.Context, what string) error {
			if what == "tool shell" {
				<-ctx.Done()
			}
			return nil
		}
		e := start(t, dir, w.options())
		if _, err := e.Submit(t.Context(), program{call(tool("shell")), say("OUTPUTS")}.submit(id(0))); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		e, err := engine.Resume(dir, "s", w.options())
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		root := conversationsOf(e.State())[0]
		if got := root[len(root)-1]; got != "agent_message   shell ran" || strings.Count(strings.Join(w.calls(), ","), "tool shell") != 1 {
			t.Errorf("the answer is %q; asked: %v", got, w.calls())
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
}

func second[T any](_ T, err error) error { return err }

// A model or a tool that does not return ends the session with an error, and nothing runs beside it.
func TestStuck(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"interrupt", "close"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				dir, w := t.TempDir(), &world{}
				release := make(chan struct{})
				w.enter = func(_ context.Context, what string) error {
					if what == "tool shell" {
						<-release
					}
					return nil
				}
				e := start(t, dir, w.options())
				if _, err := e.Submit(t.Context(), program{call(tool("shell"))}.submit(id(0))); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				var err error
				if name == "interrupt" {
					if err := e.Do(t.Context(), session.Interrupt{Chain: true}); err != nil {
						t.Fatal(err)
					}
					err = e.Wait(t.Context())
				} else {
					err = e.Close()
				}
				if err == nil || err.Error() != "the tool shell did not stop within 10s" {
					t.Errorf("%v", err)
				}
				if len(w.calls()) != 2 {
					t.Errorf("asked: %v", w.calls())
				}
				close(release)
				synctest.Wait()

				// The next process finds the task as it was asked to end.
				e, err = engine.Resume(dir, "s", w.options())
				if err != nil {
					t.Fatal(err)
				}
				if err := e.Wait(t.Context()); err != nil {
					t.Fatal(err)
				}
				root := conversationsOf(e.State())[0]
				if got := strings.Join(root, "\n"); !strings.Contains(got, `"code":"interrupted"`) {
					t.Errorf("the history:\n%s", got)
				}
				if err := e.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// A budget of time ends what works at its deadline, of a tool and of a model, after a crash too.
func TestDeadline(t *testing.T) {
	t.Parallel()
	for _, crash := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			dir, w := t.TempDir(), &world{}
			began := time.Now()
			w.enter = func(ctx context.Context, what string) error {
				if what == "tool slow" {
					<-ctx.Done()
					return ctx.Err()
				}
				return nil
			}
			e := start(t, dir, w.options())
			in := program{call(tool("slow"), tool("slow")), say("unreached")}.submit(id(0))
			in.Budget.Deadline = began.UTC().Round(0).Add(90*time.Second + 300*time.Microsecond)
			turn, err := e.Submit(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			if crash {
				synctest.Wait()
				if err := e.Close(); err != nil {
					t.Fatal(err)
				}
				time.Sleep(30 * time.Second)
				if e, err = engine.Resume(dir, "s", w.options()); err != nil {
					t.Fatal(err)
				}
				if err := e.Wait(t.Context()); err != nil {
					t.Fatal(err)
				}
			} else if got, err := turn.Wait(t.Context()); err != nil || got.Failure.Code != session.CodeBudget {
				t.Errorf("%+v %v", got, err)
			}
			if took := time.Since(began); took < 90*time.Second || took > 91*time.Second {
				t.Errorf("it took %v", took)
			}
			events := logged(t, dir)
			for _, event := range events {
				if event.Kind == session.ToolOutput && !strings.Contains(event.Output, `"code":"interrupted"`) {
					t.Errorf("the output of a tool that was stopped is %q", event.Output)
				}
			}
			if failed := events[len(events)-1]; failed.Kind != session.TaskFailed || failed.Failure.Code != session.CodeBudget {
				t.Errorf("the last event is %+v", events[len(events)-1])
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// fixed is a model with one answer.
type fixed struct {
	response model.Response
	err      error
}

func (m fixed) Sample(_ context.Context, _ model.Request, _ func(string)) (model.Response, error) {
	return m.response, m.err
}

// What a model returns that cannot be used fails the task with a code.
func TestModelFailures(t *testing.T) {
	t.Parallel()
	toolCall := model.Item{Kind: model.ToolCall, CallID: "k", Name: "shell", Wire: "shell"}
	for _, test := range []struct {
		name  string
		model fixed
		open  error // of Options.Model
		want  string
	}{
		{"a provider's error", fixed{err: &model.Error{Model: "m", Code: model.CodeOverloaded, Message: "busy", Attempts: 3}, response: model.Response{Usage: usage}}, nil, "model_overloaded"},
		{"an error of another kind", fixed{err: errors.New("odd")}, nil, "failed"},
		{"no model", fixed{}, &model.Error{Code: model.CodeConfiguration, Message: "no key"}, "model_configuration"},
		{"calls with one id", fixed{response: model.Response{Items: []model.Item{toolCall, toolCall}}}, nil, "invalid_response"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				o := (&world{}).options()
				o.Model = func(context.Context, *session.Conversation) (model.Model, error) { return test.model, test.open }
				e := start(t, t.TempDir(), o)
				got := ask(t, e)
				if got.Status != session.StatusFailed || string(got.Failure.Code) != test.want || got.Failure.Message == "" {
					t.Errorf("%+v", got)
				}
				if used := usageOf(e.State()); used.InputTokens != test.model.response.Usage.InputTokens {
					t.Errorf("usage: %+v", used)
				}
				if err := e.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// Of a long output of a tool, the beginning and the end are kept.
func TestOutputIsCut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir, w := t.TempDir(), &world{}
		o := w.options()
		e := start(t, dir, o)
		name := strings.Repeat("é", 262_144)
		ask(t, e, call(tool(name)), say("done"))
		want := "é … 4 characters omitted … é"
		if root := strings.Join(conversationsOf(e.State())[0], "\n"); !strings.Contains(root, want) || !strings.Contains(root, "é ran\n") {
			t.Errorf("the root has %d bytes", len(root))
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
}
