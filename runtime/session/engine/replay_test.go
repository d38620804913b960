package engine_test

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/session"
	"github.com/convtools/convtools/runtime/session/engine"
)

// A log is what its models, asked again, and its own outside lead to, byte for byte: with a crash in it too.
func TestReplay(t *testing.T) {
	t.Parallel()
	for crash := range 28 {
		m := &machine{t: t, dir: t.TempDir(), world: &world{}}
		m.run(talk(), crash, 50)
		m.finish(talk())
		w := &world{created: 100, prepared: 100} // other ids, and another time
		n, err := engine.Replay(t.Context(), m.dir, "s", w.options())
		if err != nil || n < 10 || len(w.calls()) < 9 {
			t.Fatalf("crashed at %d: %d records, asked %v: %v", crash, n, w.calls(), err)
		}
		for _, what := range w.calls() {
			if what[:5] == "tool " {
				t.Errorf("a tool ran: %s", what)
			}
		}
		if again, err := engine.Replay(t.Context(), m.dir, "s", engine.Options{}); err != nil || again != n {
			t.Fatalf("crashed at %d: with the responses of the log, %d records: %v", crash, again, err)
		}
	}
}

// A model that answers something else is found at the record where it does.
func TestReplayDiverges(t *testing.T) {
	t.Parallel()
	m := &machine{t: t, dir: t.TempDir(), world: &world{}}
	m.finish(talk())
	o := (&world{}).options()
	o.Model = func(_ context.Context, c *session.Conversation) (model.Model, error) {
		if c.ID == id(2) {
			return fixed{response: model.Response{Items: []model.Item{model.Text(model.AgentMessage, "other")}}}, nil
		}
		return worldModel{&world{}, c.ID}, nil
	}
	n, err := engine.Replay(t.Context(), m.dir, "s", o)
	var diverged *engine.DivergedError
	if !errors.As(err, &diverged) {
		t.Fatal(err)
	}
	events := logged(t, m.dir)
	if e := events[diverged.Seq-1]; n == 0 || e.Conversation != id(2) || len(diverged.Want) == 0 || len(diverged.Got) == 0 {
		t.Errorf("it differs after %d records at %+v: %v", n, e, diverged)
	}
	if _, ok := events[diverged.Seq-1].Body.(session.AgentMessageDelta); !ok {
		t.Errorf("it differs at %+v", events[diverged.Seq-1])
	}
}

var update = flag.Bool("update", false, "write the golden log anew")

// A session with a crash in it is, byte for byte, the log that is kept here, and that replays.
func TestGoldenLog(t *testing.T) {
	t.Parallel()
	m := &machine{t: t, dir: t.TempDir(), world: &world{}}
	broken, _, crashed := m.run(talk(), 13, 60)
	if err := broken.lose(lost); err != nil || !crashed {
		t.Fatal(crashed, err)
	}
	m.finish(talk())
	got, err := os.ReadFile(filepath.Join(m.dir, "s.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "talk.jsonl")
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("the log (-want +got):\n%s", diff)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "s.jsonl"), want, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := engine.Replay(t.Context(), dir, "s", (&world{}).options()); err != nil {
		t.Error(err)
	}
}
