package jptest

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// sampleID is the workspace id of the sample.
const sampleID = "hb7k2"

// raw is JSON text: tool arguments whose keys keep their order.
type raw = json.RawMessage

// Sample writes the bundled sample workspace to dir/.jp: a year of work on an
// invented tide-table service called harbour. Each of its twelve conversations
// shows one thing a reader of workspaces has to handle. It is under 400 KB.
func Sample(dir string) error {
	w := New(dir, sampleID)
	for _, add := range []func(*Workspace){
		sampleLegacy,
		sampleURLSafe,
		sampleRetries,
		sampleCache,
		sampleMigration,
		sampleHidden,
		sampleArchived,
		sampleCJK,
		sampleAdversarial,
		sampleDamaged,
		sampleLarge,
		sampleExpiring,
	} {
		add(w)
	}
	if err := w.Write(); err != nil {
		return fmt.Errorf("writing the sample workspace: %w", err)
	}
	return nil
}

// utc is a moment in the sample's year, to the second.
func utc(year int, month time.Month, day, hour, minute, second int) time.Time {
	return time.Date(year, month, day, hour, minute, second, 0, time.UTC)
}

// lines joins lines of text, each ended by a newline as in a file.
func lines(text ...string) string { return strings.Join(text, "\n") + "\n" }

// sampleRetries is pinned, because the others refer to it, and from the weeks
// in which turns were marked but the configuration was still the first event.
func sampleRetries(w *Workspace) {
	w.Conversation("17737387251", "retry-policy-for-the-gauge-feed").
		Title("Retry policy for the gauge feed").
		LastActivated(utc(2026, 5, 4, 8, 30, 0)).
		Pinned(utc(2026, 5, 4, 8, 30, 2)).
		Label("area", "feed").
		Label("decision", "").
		Omit(BaseConfigFile).
		ConfigDelta(raw(defaultBaseConfig)).
		TurnStart().
		User("The gauge feed answers 503 for a few minutes every night and we lose those readings. Should we retry?").
		Reasoning("Readings are idempotent by station and minute, so a retry is safe. Look at the client first.").
		ToolCall("call_r01", "fs_read_file", raw(`{"path": "feed/client.go", "start_line": 1, "end_line": 40}`)).
		ToolResult("call_r01", lines(
			"package feed",
			"",
			"// Fetch returns the readings of one gauge since the given minute.",
			"func (c *Client) Fetch(ctx context.Context, gauge string, since time.Time) ([]Reading, error) {",
			"\tres, err := c.http.Do(c.request(ctx, gauge, since))",
			"\tif err != nil {",
			"\t\treturn nil, err // no retry",
			"\t}",
			"\tdefer res.Body.Close()",
			"\tif res.StatusCode != http.StatusOK {",
			"\t\treturn nil, fmt.Errorf(\"feed: %s\", res.Status)",
			"\t}",
			"\treturn decode(res.Body)",
			"}",
		), false).
		Assistant("Yes. Nothing is retried today: one 503 ends the poll and the minute is lost.\n\n"+
			"I suggest at most five attempts with full jitter, a base of 500 ms and a cap of 20 s, and only for "+
			"429, 502, 503, 504 and network errors. A reading is identified by gauge and minute, so a retry "+
			"can never store it twice.").
		Later(6*time.Minute).
		TurnStart().
		User("Do it. Respect Retry-After when it is there.").
		ToolCall("call_r02", "fs_create_file", raw(`{"path": "feed/retry.go", "content": "package feed\n\n// policy says how often and how long a failed request is repeated.\ntype policy struct {\n\tattempts int\n\tbase, limit time.Duration\n}\n"}`)).
		ToolResult("call_r02", "File created: feed/retry.go (142 lines)", false).
		ToolCall("call_r03", "go_test", raw(`{"package": "./feed", "run": "Retry"}`)).
		ToolResult("call_r03", lines(
			"--- FAIL: TestRetryAfterDate (0.00s)",
			"    retry_test.go:58: wait = 0s, want 30s",
			"FAIL",
			"FAIL\tharbour/feed\t0.012s",
		), true).
		Reasoning("Retry-After may be a date. Only the seconds form is parsed.").
		ToolCall("call_r04", "fs_modify_file", raw(`{"path": "feed/retry.go", "patterns": [{"old": "strconv.Atoi(h)", "new": "parseRetryAfter(h, now)"}]}`)).
		ToolResult("call_r04", "1 replacement in feed/retry.go", false).
		ToolCall("call_r05", "go_test", raw(`{"package": "./feed", "run": "Retry"}`)).
		ToolResult("call_r05", "ok  \tharbour/feed\t0.014s\n", false).
		Assistant("Done: `feed/retry.go`. Retry-After is read as seconds and as a date, and it wins over the "+
			"computed delay but not over the 20 s cap.").
		Later(47*24*time.Hour).
		TurnStart().
		User("Remind me: what is the cap, and do we retry a 500?", Author("Ines")).
		Assistant("The cap is 20 seconds. A 500 is not retried: the feed sends it for an unknown gauge, and asking " +
			"again would not help.")
}

func sampleCache(w *Workspace) {
	w.Conversation("17768655336", "cache-predictions-per-station-and-day").
		Title("Cache predictions per station and day").
		LastActivated(utc(2026, 4, 23, 9, 2, 11)).
		Label("area", "predictions").
		TurnStart().
		User("p95 of /tides/{station} is 900 ms. Where does the time go?").
		ToolCall("call_c01", "shell", raw(`{"command": ["go", "tool", "pprof", "-top", "cpu.out"], "timeout_seconds": 60}`)).
		ToolResult("call_c01", lines(
			"Showing nodes accounting for 41.20s, 93.21% of 44.20s total",
			"      flat  flat%   sum%        cum   cum%",
			"    29.84s 67.51% 67.51%     33.10s 74.89%  harbour/tide.(*Harmonic).At",
			"     6.02s 13.62% 81.13%      6.02s 13.62%  math.Cos",
			"     5.34s 12.08% 93.21%      5.34s 12.08%  runtime.memmove",
		), false).
		Assistant("Three quarters is spent summing the same 37 constituents again for every request. A day of one "+
			"station never changes once it is computed, so cache it under `(station, UTC date, model version)`.").
		Later(19*time.Minute).
		TurnStart().
		User("What happens when the cache is cold and a hundred requests come at once?").
		Reasoning("A stampede. singleflight solves it inside one process; between processes a retry with jitter is enough.").
		Assistant("Without care each of them computes the day. Put a singleflight group in front: the first computes, "+
			"the others wait. If it fails, each waiter may retry once, after a random delay below 50 ms.\n\n"+
			"```go\nday, err, _ := s.flight.Do(key, func() (any, error) {\n\treturn s.model.Day(ctx, station, date)\n})\n```").
		ToolCall("call_c02", "fs_grep", raw(`{"pattern": "cache.Get(", "paths": ["tide", "web"], "context": 0}`)).
		ToolResult("call_c02", "No matches for cache.Get( in tide, web.", false).
		Later(19 * time.Hour).
		TurnStart().
		User("Measured again: p95 is 38 ms, hit rate 97 %. What did we decide about eviction?").
		Assistant("Keep 14 days back and 60 days ahead, evict the least recently used beyond 4,096 days. One day takes " +
			"about 6 KB, so the cache stays below 25 MB.")
}

// sampleMigration holds every kind of event, including those no reader shows.
func sampleMigration(w *Workspace) {
	w.Conversation("17804748174", "migrate-stations-to-schema-7").
		Title("Migrate stations to schema 7").
		LastActivated(utc(2026, 6, 5, 14, 41, 0)).
		Label("area", "database").
		Label("release", "2026-06").
		TurnStart().
		User("Split stations.position into latitude and longitude without downtime. Plan the migration.", Author("Ines")).
		Reasoning("", Metadata(map[string]any{"signature": "cmVkYWN0ZWQ=", "provider": "example"})).
		ToolCall("call_m01", "db_query", raw(`{"sql": "SELECT count(*), min(position), max(position) FROM stations WHERE position <> ''", "limit": 1e1, "explain": false, "tags": ["read-only", null]}`)).
		ToolResult("call_m01", " count |       min       |       max\n-------+-----------------+-----------------\n  4127 | -0.0012,51.4821 | 9.9999,-12.0450\n", false).
		Assistant("Four steps, each of which can be undone:\n\n"+
			"1. Add both columns, nullable.\n"+
			"2. Write both forms; backfill in batches of 500, and retry a batch on a serialization failure (40001).\n"+
			"3. Read the new columns, compare for a week.\n"+
			"4. Drop `position` in schema 8.").
		Later(2*time.Hour).
		TurnStart().
		User("Start the backfill on the staging database.").
		ConfigDelta(raw(`{"conversation": {"tools": {"db_migrate": {"source": "local", "run": "unattended"}}}}`)).
		ToolCall("call_m02", "db_migrate", raw(`{"version": 7, "database": "staging", "batch": 500}`)).
		Inquiry("call_m02.confirm", Question{Tool: "db_migrate", Text: "Staging has 4127 rows to rewrite. Continue?"}).
		InquiryResponse("call_m02.confirm", true).
		Inquiry("call_m02.on_conflict", Question{
			Tool:    "db_migrate",
			Text:    "Batch 6 failed with 40001 (could not serialize access). Retry, skip or stop?",
			Options: []string{"retry", "skip", "stop"},
		}).
		InquiryResponse("call_m02.on_conflict", "retry").
		ToolResult("call_m02", lines(
			"schema 6 -> 7 on staging",
			"batch 1..5: 2500 rows",
			"batch 6: 40001, RETRY 1 of 3 after 120ms",
			"batch 6..9: 1627 rows",
			"done: 4127 rows in 3.4s",
		), false).
		Assistant("All 4,127 rows are written. One batch had to be retried once; none was skipped.").
		Later(51*time.Hour).
		TurnStart().
		User("Give me the result as JSON for the release notes.", Schema(raw(`{"type": "object", "required": ["schema", "rows"], "properties": {"schema": {"type": "integer"}, "rows": {"type": "integer"}}}`))).
		Structured(raw(`{"schema": 7, "rows": 4127, "retried_batches": 1, "skipped": []}`)).
		RawEvent(`{
    "timestamp": "2026-06-05T13:21:42.25Z",
    "type": "checkpoint",
    "name": "a type of event no reader knows"
  }`).
		Compaction(0, 1, "Planned and ran the backfill of schema 7 on staging: 4127 rows, one batch retried.").
		TurnStart().
		User("And when do we drop the old column?").
		Assistant("With schema 8, at the earliest one week after production reads the new columns.")
}

// sampleHidden was written by a nightly job; nobody wants it in a list.
func sampleHidden(w *Workspace) {
	w.Conversation("17822772002", "nightly-test-summary").
		Title("Nightly test summary").
		Hidden().
		TurnStart().
		User("Summarise the test run of last night in one sentence.").
		ToolCall("call_n01", "ci_last_run", raw(`{"branch": "main"}`)).
		ToolResult("call_n01", "412 passed, 0 failed, 1 flaky: TestRetryAfterDate (passed on retry 2)\n", false).
		Assistant("412 tests passed; TestRetryAfterDate was flaky and passed on its second retry.")
}

func sampleArchived(w *Workspace) {
	w.Conversation("17836129789", "websocket-feed-instead-of-polling").
		Title("WebSocket feed instead of polling").
		Archived(utc(2026, 8, 2, 18, 0, 0)).
		TurnStart().
		User("Would a WebSocket to the gauge feed spare us the polling?").
		ToolCall("call_w01", "shell", raw(`{"command": ["feedprobe", "--seconds", "600", "wss://feed.example/v2"]}`)).
		ToolResult("call_w01", "connected 600s, 41 messages, 7 disconnects, longest retry 31s\n", false).
		Assistant("Not yet. The server drops the connection every 90 seconds, so we would trade polling for a reconnect " +
			"and retry loop. Polling once a minute stays simpler.").
		Later(3 * time.Minute).
		TurnStart().
		User("Agreed, leave it.").
		Assistant("Archived, with the probe's output above should the question come back.")
}

// sampleExpiring is a scratch conversation that JP may delete one day.
func sampleExpiring(w *Workspace) {
	w.Conversation("17918257238", "scratch--cost-of-hourly-predictions").
		Title("Scratch: cost of hourly predictions").
		Expires(utc(2030, 1, 1, 0, 0, 0)).
		TurnStart().
		User("Roughly: what would hourly instead of daily predictions cost us in storage?").
		Assistant("24 entries for one, but each a twenty-fourth of the size plus 90 bytes of key: for 4,127 stations and " +
			"74 days about 660 MB more. Not worth it while a day takes 6 KB to keep and 30 ms to compute.").
		TurnStart().
		User("Thanks. No need to keep this.")
}
