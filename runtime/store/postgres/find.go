package postgres

import (
	"bytes"
	"context"
	"database/sql"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/fold"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/recorded"
	"github.com/convtools/convtools/runtime/transcript"
)

// Folded text has one character in place of NUL, which a text of PostgreSQL cannot hold. A
// query with either of them is answered by reading.
const nul, inPlaceOfNUL = "\x00", "\uffff"

// searched returns the text of an event as it is searched.
func searched(e *recorded.Event) []byte {
	text, _ := e.AppendText(nil)
	if e.Kind == transcript.KindToolCall {
		text = transcript.UnescapeStrings(text, len(e.AppendName(nil, 0)))
	}
	return text
}

// folded returns a text as it is kept to be searched.
func folded(text []byte) string {
	return string(bytes.ReplaceAll(fold.Append(nil, text), []byte(nul), []byte(inPlaceOfNUL)))
}

// Texts of so many characters are looked for by LIKE, which the index on folded text helps
// with: shorter ones have no trigram, and of longer ones there is nothing to gain.
const minIndexed, maxIndexed = 3, 1000

// FindMessages implements [store.MessageFinder]. It has the server do what is exact there,
// and leaves the rest: conversations with calls of tools of our own, and texts that are not
// kept folded as they would be now.
func (s *shared) FindMessages(ctx context.Context, q store.MessageSearch, found func(index, number int, e *transcript.Event)) (store.MessagesFound, error) {
	var result store.MessagesFound
	if strings.ContainsAny(q.Text, nul+inPlaceOfNUL) || !utf8.ValidString(q.Text) {
		result.Left = make([]int, len(q.Conversations))
		for i := range result.Left {
			result.Left[i] = i
		}
		return result, nil
	}
	left, err := s.unsearched(ctx, q.Own)
	if err != nil {
		return result, err
	}
	f := finding{shared: s, query: &q, index: make(map[int64]int, len(q.Conversations))}
	for i, c := range q.Conversations {
		if left[c.Order] {
			result.Left = append(result.Left, i)
		} else {
			f.index[c.Order] = i
			f.among = append(f.among, c.Order)
		}
	}
	for _, i := range q.Every {
		f.whole = append(f.whole, q.Conversations[i].Order)
	}
	n, err := f.read(ctx, found)
	if err != nil {
		return result, err
	}
	if result.Total = n; q.After != nil || n == q.Limit {
		result.Total, result.AtLeast, err = f.count(ctx, n)
	}
	return result, err
}

// unsearched returns which conversations are to be read.
func (s *shared) unsearched(ctx context.Context, own func(string) bool) (map[int64]bool, error) {
	db, err := s.connected(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := db.QueryContext(ctx, `SELECT id, NULL FROM convtools.conversations WHERE owner = session_user::text AND folding IS DISTINCT FROM $1
		UNION ALL SELECT id, unnest(tools) FROM convtools.conversations WHERE owner = session_user::text AND tools <> '{}'`, fold.Version)
	if err != nil {
		return nil, s.server.failure(ctx, err)
	}
	defer rows.Close()
	left := map[int64]bool{}
	for rows.Next() {
		var id int64
		var tool []byte
		if err := rows.Scan(&id, &tool); err != nil {
			return nil, s.server.failure(ctx, err)
		}
		if tool == nil || own != nil && own(string(tool)) {
			left[id] = true
		}
	}
	return left, s.server.failure(ctx, rows.Err())
}

// finding is a search in the making.
type finding struct {
	shared *shared
	query  *store.MessageSearch
	index  map[int64]int // of conversations
	among  []int64
	whole  []int64
}

// findCall is a call of the function "find".
const findCall = "convtools.find($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)"

// arguments returns those of the function "find". most is nil to count.
func (f *finding) arguments(after *store.MessagePlace, most any) []any {
	q := f.query
	var pattern, kinds, since, until any
	isLike := false
	if q.Text != "" {
		text := folded([]byte(q.Text))
		if n := utf8.RuneCountInString(text); minIndexed <= n && n <= maxIndexed {
			isLike = true
			text = "%" + strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(text) + "%"
		}
		pattern = text
	}
	if q.Kinds != nil {
		names := make([]string, len(q.Kinds))
		for i, k := range q.Kinds {
			names[i] = k.String()
		}
		kinds = names
	}
	// Times are whole microseconds.
	if q.Since != nil {
		at := q.Since.UnixMicro()
		if time.UnixMicro(at).Before(*q.Since) {
			at++
		}
		since = at
	}
	if q.Until != nil {
		until = q.Until.UnixMicro()
	}
	var at, conversation, position any
	if after != nil {
		conversation, position = after.Order, after.Event
		if !after.Time.IsZero() {
			at = after.Time.UnixMicro()
		}
	}
	return []any{f.among, append([]int64{}, f.whole...), pattern, isLike, kinds, since, until, after != nil, at, conversation, position, most}
}

// read hands over messages, and returns how many.
func (f *finding) read(ctx context.Context, found func(index, number int, e *transcript.Event)) (n int, err error) {
	db, err := f.shared.connected(ctx)
	if err != nil {
		return 0, err
	}
	rows, err := db.QueryContext(ctx, `SELECT m.conversation, m.position, m.kind, m.name, m.time, m.text
		FROM `+findCall+` WITH ORDINALITY AS f (conversation, position, place)
		JOIN convtools.messages AS m ON m.owner = session_user::text AND m.conversation = f.conversation AND m.position = f.position
		ORDER BY f.place`, f.arguments(f.query.After, f.query.Limit)...)
	if err != nil {
		return 0, f.shared.server.failure(ctx, err)
	}
	defer rows.Close()
	var stream recorded.Stream
	form := form()
	for rows.Next() {
		var conversation int64
		var position int
		var kind, name, text sql.RawBytes
		var at any
		if err := rows.Scan(&conversation, &position, &kind, &name, &at, &text); err != nil {
			return n, f.shared.server.failure(ctx, err)
		}
		n++
		stream.Put(append(stream.Free(), form.Event(kind, name, at, text)), false)
		stream.Next()
		if i, ok := f.index[conversation]; ok {
			found(i, position, stream.Event())
		}
	}
	return n, f.shared.server.failure(ctx, rows.Err())
}

// askEvery is how often counting is asked whether to go on.
const askEvery = time.Millisecond

// count counts all that matches, of which there are some.
func (f *finding) count(ctx context.Context, some int) (total int, atLeast bool, err error) {
	db, err := f.shared.connected(ctx)
	if err != nil {
		return 0, false, err
	}
	counting, cancel := context.WithCancel(ctx)
	defer cancel()
	if f.query.Counting != nil {
		if !f.query.Counting() {
			return some, true, nil
		}
		go func() {
			ticker := time.NewTicker(askEvery)
			defer ticker.Stop()
			for {
				select {
				case <-counting.Done():
					return
				case <-ticker.C:
					if !f.query.Counting() {
						cancel()
					}
				}
			}
		}()
	}
	err = db.QueryRowContext(counting, "SELECT position FROM "+findCall, f.arguments(nil, nil)...).Scan(&total)
	if err != nil && ctx.Err() == nil && counting.Err() != nil {
		return some, true, nil
	}
	return total, false, f.shared.server.failure(ctx, err)
}
