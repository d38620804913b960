package pi

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/messagedb"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// stateDirs returns the directories in which OpenClaw keeps its agents: the one that the environment names, or else
// those of all profiles in the home directory.
func stateDirs(getenv func(string) string) (dirs []string) {
	if dir := getenv("OPENCLAW_STATE_DIR"); dir != "" {
		return []string{dir}
	}
	home := cmp.Or(getenv("OPENCLAW_HOME"), config.Home(getenv))
	entries, _ := os.ReadDir(home) // the environment need not name a home
	for _, e := range entries {
		if e.Name() == ".openclaw" || strings.HasPrefix(e.Name(), ".openclaw-") { // the name of a profile follows
			dirs = append(dirs, filepath.Join(home, e.Name()))
		}
	}
	return dirs
}

// database returns the path of the database of an agent of OpenClaw, which need not exist.
func (s *Store) database() string {
	return filepath.Join(filepath.Dir(s.Dir), "agent", "openclaw-agent.sqlite")
}

// Place implements [store.Store]. It is the directory of the files, or the database of an agent that has no files.
func (s *Store) Place() string {
	if store.IsThere(s.Dir) {
		return s.Dir
	}
	return s.database()
}

// addDatabase returns a listing of the sessions in the database, and of those in files that are not in the database. scope
// is that of the files. A database that cannot be read is a problem of the listing.
func (s *Store) addDatabase(ctx context.Context, scope store.Scope, files *store.Listing) (*store.Listing, error) {
	path := s.database()
	databases := func() ([]messagedb.Database, []store.Problem) { return []messagedb.Database{{Path: path}}, nil }
	rows := &messagedb.Store{Store: s.Store, Databases: databases, Queries: messagedb.Tables(queries), Record: recordRow}
	// A session that is archived in the database can be in a file too.
	l, err := rows.List(ctx, store.Scope{Set: store.Live | store.Archived, IDs: scope.IDs})
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil: // its text has the path, which the problem has already
		files.Problems = append(files.Problems, history.Problem("", store.Unreadable, path, errors.Unwrap(err)))
		return files, nil
	}
	inDatabase := map[transcript.ID]bool{}
	for _, c := range l.Conversations {
		inDatabase[c.ID] = true
	}
	isInDatabase := func(c store.Conversation) bool { return inDatabase[c.ID] }
	l.Conversations = append(l.Conversations, slices.DeleteFunc(files.Conversations, isInDatabase)...)
	l.Problems = append(l.Problems, files.Problems...)
	l.Keep(scope)
	return l, nil
}

// queries returns the SQL for [messagedb.Tables], and false for other tables. A session is a row of session_windows.
// Its row of session_nodes has the title, which several sessions can share: after some resets, and when the user goes
// back, OpenClaw begins another session of the node. A session with only a header, the event with seq 0, is left out.
func queries(has messagedb.Has) (sessions, messages string, ok bool) {
	const (
		tables = "session_windows AS w JOIN session_nodes AS n USING (session_key)"
		// The session that w begins as a copy of, if there is one. Going back in a session makes a copy without a link.
		origin = `(SELECT o.session_id FROM session_windows AS o WHERE o.session_id <> w.session_id AND o.created_at < w.created_at AND
			(o.session_id = n.fork_source_session_id OR (o.session_key = w.session_key AND EXISTS (
				SELECT 1 FROM transcript_event_identities AS first JOIN transcript_event_identities AS same USING (event_id)
				WHERE first.session_id = w.session_id AND first.seq = 1 AND same.session_id = o.session_id)))
			ORDER BY o.created_at DESC LIMIT 1)`
		spawner = "(SELECT session_id FROM session_windows WHERE session_key = n.spawned_by AND created_at <= w.created_at ORDER BY created_at DESC LIMIT 1)"
		header  = "(SELECT event_json FROM transcript_events WHERE session_id = w.session_id ORDER BY seq LIMIT 1)"
		index   = "(SELECT indexed_seq || ' ' || needs_rebuild FROM session_transcript_index_state WHERE session_id = w.session_id)"
		size    = "(SELECT count(*) || ' ' || max(seq) FROM transcript_events WHERE session_id = w.session_id)"
	)
	compressed := has.Or("transcript_events", "event_zstd", "NULL")
	sessions = `SELECT w.session_id AS key, coalesce(` + spawner + `, ` + origin + `) AS parent, n.spawned_by IS NOT NULL AS agent,
		coalesce(nullif(n.label, ''), n.display_name) AS title, CASE WHEN json_valid(` + header + `) THEN json_extract(` + header + `, '$.cwd') END AS dir,
		w.created_at AS created, coalesce(w.transcript_updated_at, w.updated_at) AS updated, n.archived_at IS NOT NULL AS archived,
		` + size + ` || ' ' || coalesce(` + index + `, '') || ' ' || w.updated_at || ' ' || n.updated_at AS version
		FROM ` + tables + ` WHERE (SELECT max(seq) FROM transcript_events WHERE session_id = w.session_id) > 0`
	// role is 1 for compressed data, and about for a copy. Of events in the index, only those of the live branch count.
	messages = `SELECT event_json IS NULL AS role, NULL AS at, (e.created_at < w.created_at AND ` + origin + ` IS NOT NULL) AS about,
		coalesce(event_json, ` + compressed + `) AS data, seq AS place
		FROM ` + tables + ` JOIN transcript_events AS e USING (session_id) LEFT JOIN session_transcript_index_state AS i USING (session_id)
		WHERE session_id = ?1 AND (coalesce(i.needs_rebuild, 1) OR seq > i.indexed_seq OR
			seq IN (SELECT event_seq FROM session_transcript_active_events WHERE session_id = ?1))`
	return sessions, messages, has("session_windows", "transcript_updated_at") && has("session_nodes", "fork_source_session_id") &&
		has("transcript_events", "event_json") && has("session_transcript_index_state", "needs_rebuild") && has("session_transcript_active_events", "event_seq") &&
		has("transcript_event_identities", "event_id")
}

// recordRow adds the events of a row of a database to a recorder. The role of a row is 1 if the data is compressed, and
// About is 1 if the row is a copy.
func recordRow(to *history.Recorder, m *messagedb.Message) {
	const most = 4 << 20 // bytes; OpenClaw has the same limit
	if m.Role == "1" {
		m.Data = messagedb.Decompress(m.Data, most)
	}
	r, _ := jsontext.Parse[record](m.Data) // damaged data has no type, and counts as skipped
	to.Copied = string(m.About) == "1"
	r.record(to)
}

// contextMark ends the first line of a block that OpenClaw adds to a text of the user.
const contextMark = " ⟦openclaw:ctx⟧"

// withoutContext returns a text of the user, or the task of a sub-agent, without the texts that OpenClaw adds.
func withoutContext(text []byte) []byte {
	if !bytes.HasPrefix(text, []byte("[")) && !bytes.Contains(text, []byte(contextMark)) { // OpenClaw has added nothing
		return text
	}
	added := regexp.MustCompile(strings.Join([]string{
		`\A\[[A-Z][a-z]{2} \d{4}-\d\d-\d\d \d\d:\d\d[^\]\n]*\] *`,                                // the time, at the beginning
		"(?m:^)[^\n]+" + contextMark + "\\s*?(?:\n```json\n(?s:.*?)\n```\\s*|(?:\n[^\n]+)*\\s*)", // a block with a title: JSON, or lines up to a blank line
		`\A\[Subagent Context\](?s:.*?)\n\[Subagent Task\]\n+`,                                   // what is before a task
		`\n+Begin\. Execute the assigned task to completion\.\z`,                                 // what is after a task
	}, "|"))
	return added.ReplaceAll(text, nil)
}
