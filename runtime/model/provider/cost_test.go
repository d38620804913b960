package provider_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/model/provider"
)

// What reading a response costs grows with its bytes, in however many pieces they are. The test counts what is
// allocated, so it is not parallel.
func TestManyPieces(t *testing.T) {
	const pieces = 1000
	text := strings.Repeat("x", 500)
	event := func(form string, args ...any) string { return "data: " + fmt.Sprintf(form, args...) + "\n\n" }
	var blocks strings.Builder
	for n := range pieces {
		blocks.WriteString(event(`{"type":"content_block_start","index":%d,"content_block":{"type":"text","text":"%s"}}`, n, text))
	}
	const block, stop = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`, `{"type":"message_stop"}`
	for name, test := range map[string]struct{ api, stream string }{
		"pieces of a message":   {provider.Chat, strings.Repeat(event(`{"choices":[{"delta":{"content":"%s"}}]}`, text), pieces) + event("[DONE]")},
		"pieces of a call":      {provider.Chat, strings.Repeat(event(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"arguments":"%s"}}]}}]}`, text), pieces) + event("[DONE]")},
		"pieces of a block":     {provider.Messages, event(block) + strings.Repeat(event(`{"type":"content_block_delta","index":0,"delta":{"text":"%s"}}`, text), pieces) + event(stop)},
		"blocks of a message":   {provider.Messages, blocks.String() + event(stop)},
		"contents of a message": {provider.Responses, event(`{"type":"response.completed","response":{"output":[{"type":"message","content":[{}%s]}]}}`, strings.Repeat(`,{"text":"`+text+`"}`, pieces))},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got, err := provider.Decode(test.api, strings.NewReader(test.stream))
		runtime.ReadMemStats(&after)
		if err != nil || len(got.Items) != 1 || len(got.Items[0].Text()+got.Items[0].Arguments) != pieces*len(text) {
			t.Errorf("%s: %d items, %v", name, len(got.Items), err)
		}
		const most = 50 // times the bytes of the response
		if times := int(after.TotalAlloc-before.TotalAlloc) / len(test.stream); times > most {
			t.Errorf("%s: %d times its bytes are allocated", name, times)
		}
	}
}

// A response with more calls than any program makes is refused.
func TestManyCalls(t *testing.T) {
	t.Parallel()
	var calls strings.Builder
	for n := range 2000 {
		fmt.Fprintf(&calls, `,{"id":"%d"}`, n)
	}
	_, err := provider.Decode(provider.Chat, strings.NewReader(`data: {"choices":[{"delta":{"tool_calls":[{"id":"a"}`+calls.String()+"]}}]}\n\ndata: [DONE]\n\n"))
	if failure := (*model.Error)(nil); !errors.As(err, &failure) || failure.Code != model.CodeInvalidResponse {
		t.Error(err)
	}
}
