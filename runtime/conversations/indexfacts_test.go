package conversations

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/convtools/convtools/runtime/index"
	"github.com/convtools/convtools/runtime/store/filecache"
	"github.com/convtools/convtools/runtime/transcript"
)

// What an index has of a conversation comes back, and bytes that nobody wrote are read as
// something.
func TestIndexFacts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.IntRange(0, 1<<40)
		want := facts{
			Read: rapid.Bool().Draw(t, "read"), BadTime: rapid.Bool().Draw(t, "bad time"), Events: count.Draw(t, "events"),
			Conversation: transcript.Conversation{NativeID: rapid.String().Draw(t, "native id"), Source: rapid.String().Draw(t, "source")},
		}
		want.Size = Size{Turns: count.Draw(t, "turns"), Requests: count.Draw(t, "requests"), Chars: count.Draw(t, "characters")}
		if rapid.Bool().Draw(t, "has a time") {
			want.LastAt = time.Unix(rapid.Int64Range(-1<<35, 1<<37).Draw(t, "seconds"), rapid.Int64Range(0, 999_999_999).Draw(t, "nanoseconds")).UTC()
		}
		written := filecache.AppendFields(nil, want.fields()...)
		got := readFacts(&index.Conversation{Facts: written})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-written +read):\n%s", diff)
		}
		readFacts(&index.Conversation{Facts: written[:rapid.IntRange(0, len(written)).Draw(t, "cut")]})
		readFacts(&index.Conversation{Facts: rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")})
	})
}
