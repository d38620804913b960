package engine_test

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/base/cases"
	"github.com/convtools/convtools/runtime/session"
	"github.com/convtools/convtools/runtime/session/engine"
	"github.com/convtools/convtools/runtime/session/log"
)

// runSession as the first argument makes the test binary a process that runs the session of a directory.
const runSession = "run-session"

var kills = flag.Int("kills", 24, "how many processes TestKill kills")

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == runSession {
		if err := sessionProcess(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if err := flag.Set("rapid.checks", strconv.Itoa(cases.Of(30))); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// sessionProcess has session s do what [talkTwice] is, from wherever the last process has left it. It prints a line for
// each event, and waits for a line of its input each time, until that ends.
func sessionProcess(dir string) error {
	w := &world{newID: func() string { return fmt.Sprintf("00000000-0000-4000-8000-%012x", rand.Uint64()>>16) }}
	o := w.options()
	in := bufio.NewReader(os.Stdin)
	o.Observe = func(e session.Event, _ session.State) {
		fmt.Println(e.Seq)
		_, _ = in.ReadString('\n')
	}
	e, err := engine.Resume(dir, "s", o)
	if errors.Is(err, fs.ErrNotExist) {
		e, err = engine.Start(dir, session.Start{Session: "s", Root: id(0), Context: everything()}, o)
	}
	if err != nil {
		return err
	}
	ctx := context.Background()
	if e.State().Root().Messages == 0 {
		if _, err := e.Submit(ctx, talkTwice().submit(id(0))); err != nil {
			return err
		}
	}
	return errors.Join(e.Wait(ctx), e.Close())
}

func talkTwice() program {
	p := talk()
	p = append(p[:2:2], p[0], p[1], call(create(call(create(say("a"))), say("b"))), say("root heard OUTPUTS"))
	return p
}

// Processes are killed at random, and the session comes to the end that it comes to without.
func TestKill(t *testing.T) {
	t.Parallel()
	// run kills a process after so many events, while it waits or, where it is let go, at any time later; -1 is never.
	run := func(dir string, events int, letGo bool) (killed bool) {
		t.Helper()
		c := exec.Command(os.Args[0], runSession, dir)
		c.Stderr = os.Stderr
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		in, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for events != 0 && lines.Scan() {
			if events--; events != 0 {
				_, _ = in.Write([]byte("\n")) // it may have ended
			}
		}
		if letGo {
			in.Close()
		}
		if events == 0 {
			killed = c.Process.Kill() == nil
		}
		if err := c.Wait(); err != nil && !killed {
			t.Fatal(err)
		}
		return killed
	}
	histories := func(dir string) [][]string {
		t.Helper()
		state, torn, err := log.Load(dir, "s")
		if err != nil || torn != nil || !state.Idle() {
			t.Fatalf("the log: %v, torn %+v", err, torn)
		}
		return conversationsOf(state)
	}
	whole := t.TempDir()
	run(whole, -1, true)
	want := histories(whole)
	for n, killed := 0, 0; killed < *kills; n++ {
		dir := t.TempDir()
		for i := range 6 {
			if !run(dir, 4+rand.IntN(20), i%2 == 1) {
				break
			}
			killed++
		}
		run(dir, -1, true)
		if diff := cmp.Diff(want, histories(dir)); diff != "" {
			t.Fatalf("session %d (-want +got):\n%s", n, diff)
		}
		if !slices.ContainsFunc(logged(t, dir), func(e session.Event) bool { return e.Kind == session.Recovered }) {
			t.Fatalf("session %d never had to recover", n)
		}
	}
}
