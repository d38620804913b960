//go:build unix

package main

import (
	"os"
	"strings"
	"testing"
)

// A person who does not want to wait stops all that runs; the conversations stay fit to go on with.
func TestQueryInterrupted(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	query := h.start(t, "query", "--json", "How long is the Rhine?")
	_ = h.gate.next()
	query.until(`"task_started"`)
	if err := query.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if code := query.wait(); code != 130 || !strings.Contains(query.printed.String(), `"type":"turn_aborted","reason":"interrupted"`) {
		t.Errorf("exit %d: %s%s", code, query.printed.String(), query.stderr.String())
	}
	id := query.session()
	if code := h.start(t, "session", "resume", id).wait(); code != 130 {
		t.Errorf("resume of what was interrupted: exit %d", code)
	}
	h.gate.answers("1233 km.")
	again := h.start(t, "query", "--id", id, "How long is it?")
	if code := again.wait(); code != 0 || again.printed.String() != "1233 km.\n" {
		t.Errorf("exit %d: %s%s", code, again.printed.String(), again.stderr.String())
	}
}
