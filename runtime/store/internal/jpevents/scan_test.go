package jpevents_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/jpevents"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
	"github.com/google/go-cmp/cmp"
)

// scan returns copies of all events.
func scan(data string) ([]jpevents.Event, error) {
	var all []jpevents.Event
	_, err := jpevents.Scan([]byte(data), func(e *jpevents.Event) bool {
		all = append(all, *e)
		return true
	})
	return all, err
}

// one returns the only event of a stream with the object.
func one(t *testing.T, object string) *jpevents.Event {
	t.Helper()
	events, err := scan("[" + object + "]")
	if err != nil || len(events) != 1 {
		t.Fatalf("scanning %s: %d events, %v", object, len(events), err)
	}
	return &events[0]
}

// decoded scans one event, and decodes it.
func decoded(t *testing.T, object string) *transcript.Event {
	t.Helper()
	e := one(t, object).Decode()
	return &e
}

// count scans all of data.
func count(data []byte) store.Totals {
	totals, _ := jpevents.Scan(data, func(*jpevents.Event) bool { return true })
	return totals
}

func TestKinds(t *testing.T) {
	t.Parallel()
	for object, want := range map[string]transcript.Kind{
		`{"type":"turn_start"}`:                                           transcript.KindTurnStart,
		`{"type":"chat_request","content":"x"}`:                           transcript.KindUser,
		`{"type":"chat_response","message":"x"}`:                          transcript.KindAssistant,
		`{"type":"chat_response","reasoning":"x"}`:                        transcript.KindReasoning,
		`{"type":"chat_response","data":null}`:                            transcript.KindStructured,
		`{"type":"chat_response","data":{},"reasoning":"","message":""}`:  transcript.KindAssistant,
		`{"type":"chat_response","data":{},"reasoning":""}`:               transcript.KindReasoning,
		`{"type":"chat_response","message":null,"reasoning":"x"}`:         transcript.KindReasoning,
		`{"type":"chat_response","message":null,"reasoning":3,"data":""}`: transcript.KindStructured,
		`{"type":"chat_response"}`:                                        transcript.KindAssistant,
		`{"type":"tool_call_request"}`:                                    transcript.KindToolCall,
		`{"type":"tool_call_response"}`:                                   transcript.KindToolResult,
		`{"type":"inquiry_request"}`:                                      transcript.KindInquiry,
		`{"type":"inquiry_response"}`:                                     transcript.KindInquiryResponse,
		`{"type":"config_delta"}`:                                         transcript.KindConfigDelta,
		`{"type":"compaction"}`:                                           transcript.KindCompaction,
		`{"type":"telemetry"}`:                                            transcript.KindUnknown,
		`{"type":7}`:                                                      transcript.KindUnknown,
		`{}`:                                                              transcript.KindUnknown,
		`{"Type":"turn_start"}`:                                           transcript.KindUnknown,
		`{"\u0074ype":"turn\u005fstart"}`:                                 transcript.KindTurnStart,
		`{"type":"turn_start","type":"compaction"}`:                       transcript.KindCompaction,
		`{"type":"turn\\start"}`:                                          transcript.KindUnknown,
	} {
		if got := one(t, object).Kind; got != want {
			t.Errorf("%s: kind %v, want %v", object, got, want)
		}
	}
}

func TestKindNames(t *testing.T) {
	t.Parallel()
	global := map[string]bool{"unknown": true, "config_delta": true, "compaction": true}
	seen := map[string]bool{}
	for k := transcript.KindUnknown; k <= transcript.KindCompaction; k++ {
		if k.Global() != global[k.String()] {
			t.Errorf("%v: global %v", k, k.Global())
		}
		if seen[k.String()] {
			t.Errorf("two kinds are named %v", k)
		}
		seen[k.String()] = true
	}
}

// The letters stand for events: S turn_start, u user, a assistant, g config_delta,
// c compaction, x unknown.
func TestTurns(t *testing.T) {
	t.Parallel()
	types := map[rune]string{'S': "turn_start", 'u': "chat_request", 'a': "chat_response", 'g': "config_delta", 'c': "compaction", 'x': "telemetry"}
	for _, test := range []struct {
		name, stream, turns string
		count               int
	}{
		{"empty", "", "", 0},
		{"only global events", "gcx", "000", 0},
		{"one turn", "Sua", "111", 1},
		{"a marker right after the base config", "gSuaSua", "0111222", 2},
		{"unknown events do not count as the first", "xSua", "0111", 1},
		{"no markers: one turn, however many requests", "guauaua", "0111111", 1},
		{"old stream continued later", "guauaSua", "01111222", 2},
		{"a trailing marker counts", "SuaS", "1112", 2},
		{"markers in a row", "SSS", "123", 3},
		{"global events between turns", "SucgSxa", "1100202", 2},
		{"two requests in one turn", "SuauaSu", "1111122", 2},
	} {
		var elements []string
		for _, r := range test.stream {
			elements = append(elements, fmt.Sprintf(`{"type":%q}`, types[r]))
		}
		data := "[" + strings.Join(elements, ",") + "]"
		events, err := scan(data)
		if err != nil {
			t.Fatal(err)
		}
		var turns strings.Builder
		for _, e := range events {
			fmt.Fprint(&turns, e.Turn)
		}
		if turns.String() != test.turns {
			t.Errorf("%s: %s has turns %s, want %s", test.name, test.stream, turns.String(), test.turns)
		}
		if n := count([]byte(data)).Turns; n != test.count {
			t.Errorf("%s: %d turns; want %d", test.name, n, test.count)
		}
	}
}

func TestCount(t *testing.T) {
	t.Parallel()
	const first, second = `{"timestamp":"2026-05-29 19:42:36.5","type":"turn_start"}`, `{"type":"config_delta","timestamp":"2025-01-01T00:00:00Z"}`
	for _, test := range []struct {
		data    string
		want    int
		last    time.Time
		problem string
	}{
		{`[]`, 0, time.Time{}, ""},
		{` [ ] ` + "\n", 0, time.Time{}, ""},
		{`[` + first + `]`, 1, time.Date(2026, 5, 29, 19, 42, 36, 5e8, time.UTC), ""},
		{`[` + first + `,` + second + `]`, 2, time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC), ""},
		{`[{"timestamp":"soon"}]`, 1, time.Time{}, ""},
		{`[{"timestamp":"9999-12-31T23:30:00-01:00"}]`, 1, time.Time{}, ""},
		{`[{"type":"turn_start"},` + first + `]`, 0, time.Time{}, "event 0 (at byte 1): the event has no timestamp"},
		{`[` + first + `,{"timestamp":null}]`, 0, time.Time{}, "event 1 (at byte 59): the event has no timestamp"},
		{`[` + first, 0, time.Time{}, "damaged at byte 58 (event 1): it ends in the middle of a JSON value"},
		{``, 0, time.Time{}, "damaged at byte 0 (event 0): it ends in the middle of a JSON value"},
	} {
		got := count([]byte(test.data))
		problem := ""
		if got.Uncounted != nil {
			problem = got.Uncounted.Error()
		}
		if got.Events != test.want || !got.LastAt.Equal(test.last) || problem != test.problem {
			t.Errorf("count(%s) = %+v; want %d, %v, %q", test.data, got, test.want, test.last, test.problem)
		}
		if bad := test.want > 0 && test.last.IsZero(); got.BadTime != bad {
			t.Errorf("count(%s): bad time %t, want %t", test.data, got.BadTime, bad)
		}
	}
}

func TestDamage(t *testing.T) {
	t.Parallel()
	deep := func(n int) string { return `[{"a":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}]` }
	if _, err := scan(deep(jsontext.MaxDepth - 2)); err != nil {
		t.Errorf("nesting as deep as allowed: %v", err)
	}
	for _, test := range []struct {
		data  string
		whole int   // events before the damage
		kind  error // nil for what is not JSON
		at    int
	}{
		{``, 0, jsontext.ErrCutOff, 0},
		{" \n", 0, jsontext.ErrCutOff, 2},
		{`{}`, 0, nil, 0},
		{` null`, 0, nil, 1},
		{"\x00\x01", 0, nil, 0},
		{`[`, 0, jsontext.ErrCutOff, 1},
		{`[{}`, 1, jsontext.ErrCutOff, 3},
		{`[{},`, 1, jsontext.ErrCutOff, 4},
		{`[{},]`, 1, nil, 4},
		{`[,{}]`, 0, nil, 1},
		{`[{}{}]`, 1, nil, 3},
		{`[{}}`, 1, nil, 3},
		{`[{},1]`, 1, nil, 4},
		{`[{},[]]`, 1, nil, 4},
		{`[{},"x",{}]`, 1, nil, 4},
		{`[{}] []`, 1, nil, 5},
		{`[]x`, 0, nil, 2},
		{"[{}]\x00", 1, nil, 4},
		{`[{"a"}]`, 0, nil, 5},
		{`[{"a":}]`, 0, nil, 6},
		{`[{"a":1,}]`, 0, nil, 8},
		{`[{a:1}]`, 0, nil, 2},
		{`[{,}]`, 0, nil, 2},
		{`[{"a":1 "b":2}]`, 0, nil, 8},
		{`[{"a":[1,]}]`, 0, nil, 9},
		{`[{"a":[}]}]`, 0, nil, 7},
		{`[{"a":{]}}]`, 0, nil, 7},
		{`[{"a":{"b":1]}]`, 0, nil, 12},
		{`[{"a":{"b":1,"c"}}]`, 0, nil, 16},
		{`[{"a":{"b":1,}}]`, 0, nil, 13},
		{`[{"a":{1:2}}]`, 0, nil, 7},
		{`[{"a":tru}]`, 0, nil, 6},
		{`[{"a":nul`, 0, jsontext.ErrCutOff, 9},
		{`[{"a":True}]`, 0, nil, 6},
		{`[{"a":01}]`, 0, nil, 6},
		{`[{"a":-}]`, 0, nil, 6},
		{`[{"a":1.}]`, 0, nil, 6},
		{`[{"a":.5}]`, 0, nil, 6},
		{`[{"a":1e+}]`, 0, nil, 6},
		{`[{"a":+1}]`, 0, nil, 6},
		{`[{"a":NaN}]`, 0, nil, 6},
		{`[{"a":"b`, 0, jsontext.ErrCutOff, 8},
		{`[{"a":"b\"}]`, 0, jsontext.ErrCutOff, 12},
		{deep(jsontext.MaxDepth - 1), 0, jsontext.ErrTooDeep, 260},
		{`[{"a":` + strings.Repeat(`{"a":`, 100_000), 0, jsontext.ErrTooDeep, 6 + 254*5},
	} {
		found, err := scan(test.data)
		var damage *store.DamageError
		if !errors.As(err, &damage) {
			t.Errorf("%.40s: error %v, want damage", test.data, err)
			continue
		}
		if len(found) != test.whole || damage.Event != test.whole || !isA(damage, test.kind) || offset(damage) != test.at {
			t.Errorf("%.40s: %d events, then at byte %d in event %d (%v); want %d events, %v at byte %d",
				test.data, len(found), offset(damage), damage.Event, err, test.whole, test.kind, test.at)
		}
		if n := count([]byte(test.data)); n.Events != 0 || n.Uncounted == nil {
			t.Errorf("%.40s: count = %+v", test.data, n)
		}
	}
}

// offset returns the place of damage, in bytes.
func offset(damage *store.DamageError) (at int) {
	_, _ = fmt.Sscanf(damage.Error(), "damaged at byte %d", &at)
	return at
}

func isA(err, want error) bool {
	if want == nil {
		return !errors.Is(err, jsontext.ErrCutOff) && !errors.Is(err, jsontext.ErrTooDeep)
	}
	return errors.Is(err, want)
}

// TestCutOffAtEveryByte tests that a stream that is cut off anywhere has its whole events and the
// place of the damage.
func TestCutOffAtEveryByte(t *testing.T) {
	t.Parallel()
	const stream = "[\n" +
		`  {"timestamp": "2026-05-29 19:42:36.5", "type": "turn_start"},` + "\n" +
		`  {"timestamp": "2026-05-29 19:42:37.0", "type": "chat_request", "content": "say \"hi\" \\"},` + "\n" +
		`  {"type": "tool_call_request", "arguments": {"a": [1, -2.5e3, true, {"b": null}], "c": {}}}` + "\n]\n"
	var ends []int // behind each event
	whole, err := scan(stream)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range whole {
		ends = append(ends, e.Offset+len(e.Raw))
	}
	for cut := range len(stream) - 1 {
		want := 0
		for _, end := range ends {
			if end <= cut {
				want++
			}
		}
		found, err := scan(stream[:cut])
		var damage *store.DamageError
		if !errors.As(err, &damage) || !errors.Is(err, jsontext.ErrCutOff) || damage.Event != want || offset(damage) != cut {
			t.Fatalf("cut at %d: error %v, want the cut in event %d", cut, err, want)
		}
		if len(found) != want {
			t.Fatalf("cut at %d: %d events, want %d", cut, len(found), want)
		}
		for i := range found {
			if got, want := string(found[i].Raw), string(whole[i].Raw); got != want {
				t.Fatalf("cut at %d: event %d is %s, want %s", cut, i, got, want)
			}
		}
	}
}

func TestFields(t *testing.T) {
	t.Parallel()
	e := one(t, ` { "id" : "a" , "id" : "call\u005f\n1" , "is_error":true, "x":[1], "cont\u0065nt":"aGk=",
		"type":"tool_call_response","arguments":{ "a" : 1 },"timestamp":"2026\u002d05-29 19:42:36.5" } `)
	d := e.Decode()
	if d.CallID != "call_\n1" || d.Name != "" || string(d.Text) != "hi" || !d.Failed {
		t.Errorf("decoded: %+v", d)
	}
	if got := e.Time(); !got.Equal(time.Date(2026, 5, 29, 19, 42, 36, 5e8, time.UTC)) {
		t.Errorf("Time: %v", got)
	}
	if e.Offset != 2 || e.Raw[0] != '{' || e.Raw[len(e.Raw)-1] != '}' {
		t.Errorf("Raw at %d: %s", e.Offset, e.Raw)
	}
	for _, object := range []string{`{}`, `{"timestamp":null}`, `{"timestamp":1}`} {
		e := one(t, object)
		if at := e.Time(); !at.IsZero() {
			t.Errorf("%s has a timestamp (%v)", object, at)
		}
	}
	if e := one(t, `{"timestamp":"x"}`); !e.Time().IsZero() {
		t.Errorf("a wrong timestamp: %v", e.Time())
	}
}

// TestRawHasNoCapacity tests that appending to Raw does not change the file.
func TestRawHasNoCapacity(t *testing.T) {
	t.Parallel()
	data := []byte(`[{"type":"chat_request","content":"abc","x":1},{"y":2}]`)
	before := string(data)
	_, err := jpevents.Scan(data, func(e *jpevents.Event) bool {
		_ = append(e.Raw, "XXXX"...)
		return true
	})
	if diff := cmp.Diff(before, string(data)); err != nil || diff != "" {
		t.Errorf("%v; the data changed:\n%s", err, diff)
	}
}

func TestLargeStreams(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("[")
	const number = 100_000
	for i := range number {
		if i > 0 {
			b.WriteString(",")
		}
		kind := "chat_request"
		if i%10 == 0 {
			kind = "turn_start"
		}
		fmt.Fprintf(&b, `{"timestamp":"2026-05-29 19:42:36.%06d","type":%q,"content":"%d"}`, i, kind, i)
	}
	b.WriteString("]")
	data := []byte(b.String())
	n := count(data)
	if n.Events != number || n.LastAt.Nanosecond() != 99_999_000 || n.Turns != number/10 || n.Uncounted != nil {
		t.Errorf("count = %+v", n)
	}

	const size = 50 << 20
	content := strings.Repeat("A", size/4*3) // "AAAA" is three zero bytes
	e := decoded(t, `{"type":"tool_call_response","content":"`+content+`"}`)
	if text := e.Text; len(text) != len(content)/4*3 || e.Encoding != transcript.Plain || strings.Trim(string(text), "\x00") != "" {
		t.Errorf("a large result: %d bytes, %v", len(text), e.Encoding)
	}
}
