package command

import (
	"context"
	"errors"
	"math"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/process"
	"github.com/convtools/convtools/runtime/process/processtest"
)

// in is the program cli, which is called with the name of the query alone.
func in(dir string, runner process.Runner) conversations.Source {
	return source{asking("'/opt/my cli' --quiet", runner).(source).Program, dir}
}

func TestProgramIsRunWhereItWasAsked(t *testing.T) {
	t.Parallel()
	fake := processtest.New(t)
	fake.Expect("/opt/my cli", "--quiet", "list").InDir("/work/space").ReturnStdout(`[{"id":"jp-c1"}]`)
	listing, err := in("/work/space", fake).List(t.Context(), conversations.ListQuery{})
	if err != nil || len(listing.Conversations) != 1 || listing.Total >= 0 || listing.Seen != 1 {
		t.Errorf("%+v, %v", listing, err)
	}
	limits := fake.Calls()[0].Limits
	if limits.Timeout != timeout || limits.Stdout != maxStdout {
		t.Errorf("limits %+v", limits)
	}
}

// Each run holds what it prints, so there are few at one time.
func TestFewRunsAtOneTime(t *testing.T) {
	t.Parallel()
	var running, most atomic.Int32
	fake := processtest.New(t)
	fake.Expect("/opt/my cli", "--quiet", "list").Times(20).Do(func(context.Context, process.Command) (process.Result, error) {
		n := running.Add(1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
		}
		runtime.Gosched()
		running.Add(-1)
		return process.Result{Stdout: []byte("[]")}, nil
	})
	program := in("", fake).(source).Program
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, err := program.In("").List(t.Context(), conversations.ListQuery{}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if most.Load() > maxRuns {
		t.Errorf("%d runs at one time", most.Load())
	}
	for range maxRuns {
		program.runs <- struct{}{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := program.In("").List(ctx, conversations.ListQuery{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a call that is canceled while it waits: error %v", err)
	}
}

// A program gets the environment that it needs, and no credentials.
func TestEnvironment(t *testing.T) {
	t.Setenv("CONVTOOLS_TEST_SECRET", "secret")
	t.Setenv("JP_COMMAND_TEST", "for jp")
	fake := processtest.New(t)
	fake.Expect("/opt/my cli", "--quiet", "list").ReturnStdout("[]")
	if _, err := in("", fake).List(t.Context(), conversations.ListQuery{}); err != nil {
		t.Fatal(err)
	}
	env := strings.Join(fake.Calls()[0].Env, "\n")
	if strings.Contains(env, "secret") || !strings.Contains(env, "JP_COMMAND_TEST=for jp") || !strings.Contains(env, "NO_COLOR=1") {
		t.Errorf("environment:\n%s", env)
	}
}

func TestUnsupportedQuery(t *testing.T) {
	t.Parallel()
	program := New(Config{Line: "cli", Runner: processtest.New(t), List: func(conversations.ListQuery) (Call, error) {
		return Call{}, conversations.ErrUnsupported
	}})
	if _, err := program.In("").List(t.Context(), conversations.ListQuery{}); !errors.Is(err, conversations.ErrUnsupported) {
		t.Errorf("error %v", err)
	}
	if _, err := program.In("").Search(t.Context(), conversations.SearchQuery{}); !errors.Is(err, conversations.ErrUnsupported) {
		t.Errorf("error %v", err)
	}
}

// What a program has not cut, although it was told to, is cut.
func TestTextsAreCut(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("潮", 60) + strings.Repeat("x", 40)
	fake := processtest.New(t)
	fake.Expect("/opt/my cli", "--quiet", "read").ReturnStdout(`[
		{"type":"chat_request","turn":1,"content":"` + long + `"},
		{"type":"chat_request","turn":1,"content":"abcdef","chars":900,"head_chars":4},
		{"type":"chat_request","turn":1,"content":"abcdef","chars":3,"head_chars":1}]`)
	type cutText struct {
		Text        string
		Chars, Head int
	}
	var got []cutText
	_, err := in("", fake).Read(t.Context(), conversations.ReadQuery{ID: "jp-c1", MaxText: 10, Event: func(e *conversations.Event) error {
		got = append(got, cutText{string(e.Text), e.Chars, e.Head})
		return nil
	}})
	want := []cutText{{strings.Repeat("潮", 6) + "xxxx", 100, 6}, {"abcdef", 900, 4}, {"abcdef", 0, 0}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// A part is cut here, of a text that must be whole.
func TestParts(t *testing.T) {
	t.Parallel()
	read := func(event string, q conversations.ReadQuery) (e conversations.Event, err error) {
		fake := processtest.New(t)
		fake.Expect("/opt/my cli", "--quiet", "read").ReturnStdout("[" + event + "]")
		q.ID = "jp-c1"
		q.Event = func(handed *conversations.Event) error {
			e = *handed
			return nil
		}
		_, err = in("", fake).Read(t.Context(), q)
		return e, err
	}
	for part, want := range map[int]string{1: "潮ab", 2: "cd", 3: "", math.MaxInt: ""} {
		e, err := read(`{"type":"chat_request","turn":1,"content":"潮abcd"}`, conversations.ReadQuery{MaxText: 3, Part: part})
		if err != nil || string(e.Text) != want || e.Chars != 5 || e.Head != 0 {
			t.Errorf("part %d: %q of %d, head %d, %v", part, e.Text, e.Chars, e.Head, err)
		}
	}
	var wrong *conversations.OutputError
	for _, event := range []string{
		`{"type":"chat_request","turn":1,"content":"abcd","chars":9,"head_chars":2}`,
		`{"type":"tool_call_request","turn":1,"arguments":{"a":"b … 9 characters omitted … c"},"cut":true}`,
	} {
		if _, err := read(event, conversations.ReadQuery{MaxText: 3, Part: 1}); !errors.As(err, &wrong) {
			t.Errorf("a part of a text that is cut: error %v", err)
		}
	}
}

// Sizes are known where the program gives all of them, and handed over where they
// are asked for.
func TestSizes(t *testing.T) {
	t.Parallel()
	for record, want := range map[string]*conversations.Size{
		`{"id":"jp-c1","turns":1,"requests":2,"numbered_events":3,"chars":4}`: {Turns: 1, Requests: 2, Numbered: 3, Chars: 4},
		`{"id":"jp-c1","turns":1,"requests":2,"chars":4}`:                     nil,
		`{"id":"jp-c1"}`: nil,
	} {
		for _, sizes := range []bool{true, false} {
			listing, err := in("", prints("["+record+"]")).List(t.Context(), conversations.ListQuery{Sizes: sizes})
			if !sizes {
				want = nil
			}
			if diff := cmp.Diff(want, listing.Conversations[0].Size); err != nil || diff != "" {
				t.Errorf("%s: %v (-want +got):\n%s", record, err, diff)
			}
		}
	}
}

// What a consumer says ends the reading, and is no fault of the program.
func TestConsumerEndsReading(t *testing.T) {
	t.Parallel()
	enough := errors.New("enough")
	fake := processtest.New(t)
	fake.Expect("/opt/my cli", "--quiet", "read").ReturnStdout(`[{"type":"chat_request","turn":1},{"type":"chat_request","turn":1}]`)
	events := 0
	_, err := in("", fake).Read(t.Context(), conversations.ReadQuery{ID: "jp-c1", Event: func(*conversations.Event) error {
		events++
		return enough
	}})
	var unavailable *conversations.UnavailableError
	if events != 1 || !errors.Is(err, enough) || errors.As(err, &unavailable) {
		t.Errorf("%d events, error %v", events, err)
	}
}

// prints is a program that prints the same whatever it is asked.
type prints string

func (p prints) Run(context.Context, process.Command) (process.Result, error) {
	return process.Result{Stdout: []byte(p)}, nil
}

// FuzzSource: whatever a program prints is an error, or what a source promises.
func FuzzSource(f *testing.F) {
	for _, s := range []string{
		`[]`, `[{"id":"jp-c1","title":"a","events_count":-1,"labels":{"a":null}},{"summary":{"total":-7,"skipped":[{"id":"-","reason":"x"}],"excluded":["-"]}}]`,
		`[{"id":"jp-c1","scope":"user","turn":-1,"text":"abc","match":true,"submatches":[{"start":-1,"end":9},{"start":1,"end":2}],"line":null,"event":-9,"chars":-5},{"id":"jp-c1","scope":"title","text":"b"}]`,
		`[{"type":"chat_request","turn":2,"content":"a","chars":99,"head_chars":-4},{"type":"tool_call_request","turn":2,"id":7,"arguments":{}},{"summary":{"turns":9,"first_turn":1,"last_turn":9223372036854775807,"damaged":""}}]`,
		`[{"type":"chat_request","turn":2},{"type":"chat_request","turn":1}]`,
		`[{"type":"turn_start","turn":1},{"type":"chat_response","turn":1},{"type":"x","turn":1},{"type":"chat_request","turn":2,"content":"0123456789012345678901234567890"},{"type":"inquiry_request","turn":2,"question":[]}]`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, stdout string) {
		source := in("", prints(stdout))
		if listing, err := source.List(t.Context(), conversations.ListQuery{Limit: 2}); err == nil {
			if len(listing.Conversations) > 2 {
				t.Errorf("%d conversations of 2", len(listing.Conversations))
			}
			for _, c := range listing.Conversations {
				if _, err := conversations.ParseID(string(c.ID)); err != nil {
					t.Errorf("id %q", c.ID)
				}
			}
		}
		matches := 0
		_, err := source.Search(t.Context(), conversations.SearchQuery{Pattern: "x", MaxMatches: 2, MaxLine: 20, Line: func(l *conversations.Line) error {
			if l.IsMatch {
				matches++
			}
			if utf8.RuneCount(l.Text) > 20+marks || l.Scope == 0 || l.Scope&(l.Scope-1) != 0 {
				t.Errorf("line %+v", l)
			}
			for span := range l.Spans {
				if span.Start < 0 || span.End < span.Start || span.End > len(l.Text) {
					t.Errorf("span %+v of %d bytes", span, len(l.Text))
				}
			}
			return nil
		}})
		if err == nil && matches > 2 {
			t.Errorf("%d matches of 2", matches)
		}
		for _, q := range []conversations.ReadQuery{
			{MaxText: 20},
			{MaxText: 20, Part: 2},
			{MaxText: 20, Events: conversations.EventRange{First: 2, Last: 3}},
			{MaxText: 20, Turns: conversations.Turns{First: conversations.Bound{Kind: conversations.CountBack, N: 1}}},
		} {
			turn, number, request := 1, 0, 0
			q.ID = "jp-c1"
			q.Event = func(e *conversations.Event) error {
				n := utf8.RuneCount(e.Text)
				switch {
				case q.Part == 0 && (e.Chars == 0 && n > 20 || e.Chars != 0 && (e.Chars <= n || e.Head < 0 || e.Head > n)),
					q.Part > 0 && (e.Head != 0 || n != min(max(e.Chars-20, 0), 20)):
					t.Errorf("event %+v of %d characters", e, n)
				case e.Turn < turn, (e.Number > 0) != e.Kind.Numbered(), e.Request < request:
					t.Errorf("event %+v behind number %d, request %d of turn %d", e, number, request, turn)
				case e.Number > 0 && number > 0 && e.Number != number+1:
					t.Errorf("event %+v behind number %d", e, number)
				}
				turn, request = e.Turn, e.Request
				number = max(number, e.Number)
				return nil
			}
			r, err := source.Read(t.Context(), q)
			if err == nil && (number > r.Events || request > r.Requests || turn > max(r.Turns, 1)) {
				t.Errorf("%+v, although event %d, request %d and turn %d were handed over", r, number, request, turn)
			}
		}
	})
}
