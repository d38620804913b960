package messagedb

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/transcript"
)

// IsURL reports whether the name of a database is the URL of one on a PostgreSQL server.
func IsURL(name string) bool {
	scheme, _, ok := strings.Cut(strings.TrimSpace(name), "://")
	return ok && (scheme == "postgres" || scheme == "postgresql")
}

// IDs returns the form of the ids of an archive: a prefix and the key of a conversation, or the hash of a key that
// cannot be part of an id.
func IDs(prefix string) *history.IDs {
	return &history.IDs{Prefix: prefix, Session: isKey, Example: prefix + "c1"}
}

// hashMark begins a hash in place of a key, which has hashBytes bytes.
const hashMark, hashBytes = ".", 16

// isKey reports whether a text is a key that can be part of an id, or the hash of a key.
func isKey(text string) bool {
	hash, isHash := strings.CutPrefix(text, hashMark)
	sum, err := hex.DecodeString(hash)
	return history.IsName(text) || isHash && err == nil && hex.EncodeToString(sum) == hash && len(sum) == hashBytes
}

// ID returns the id of the conversation of an archive with a key.
func ID(ids *history.IDs, key string) transcript.ID {
	if !history.IsName(key) {
		sum := sha256.Sum256([]byte(key))
		key = hashMark + hex.EncodeToString(sum[:hashBytes])
	}
	return ids.ID(key, "")
}

// AddMessage adds a message of an archive to a recorder, even if it is empty. The first message begins the first turn,
// which also has the first message of the user. Each later message of the user begins a turn.
func AddMessage(to *history.Recorder, e transcript.Event) {
	isRequest, hadRequest := e.Kind == transcript.KindUser, to.Readable // AddMessage sets to.Readable at the first request
	if isRequest && hadRequest || to.Totals.Turns == 0 {
		to.Totals.Turns++
	}
	to.Readable = hadRequest || isRequest
	e.Turn = to.Totals.Turns
	to.AddNumbered(e)
}
