package log

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/session"
)

var update = flag.Bool("update", false, "write the golden files")

// fill sets everything that a value holds, each text and number to one of its own.
func fill(v reflect.Value, n *int64) {
	*n++
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Date(2030, 1, 2, 3, 4, 5, int(*n)*int(time.Millisecond), time.UTC)))
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	case reflect.String:
		v.SetString("text \"" + strings.Repeat("<", int(*n%3)) + "\" " + time.Duration(*n).String() + "\n\t\\ é \u2028 \x1b \x00 🙂")
	case reflect.Int, reflect.Int64:
		v.SetInt(*n)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), n)
		fill(v.Index(1), n)
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, n)
		fill(value, n)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	default:
		panic("a field of a kind that is new: " + v.Type().String())
	}
}

// everyEvent returns an event of each kind with every field set.
func everyEvent() []session.Event {
	n := int64(0)
	var events []session.Event
	add := func(body session.Body) {
		e := session.Event{Seq: int64(len(events) + 1), Session: "s", Conversation: "c", Task: 1, LogicalTurn: 2, Frame: 3, Submission: 4}
		fill(reflect.ValueOf(&e.At).Elem(), &n)
		e.Body = body
		events = append(events, e)
	}
	for _, body := range []session.Body{
		session.SessionStarted{},
		session.ConversationOpened{},
		session.ConversationDestroyed{},
		session.SubmissionQueued{},
		session.PlanDropped{},
		session.TaskStarted{},
		session.AgentMessageDelta{},
		session.TokenCount{},
		session.TaskComplete{},
		session.TaskFailed{},
		session.TurnAborted{},
		session.CallsDeferred{},
		session.FrameResolved{},
		session.CallsClosed{},
		session.StopRequested{},
		session.Recovered{},
	} {
		filled := reflect.New(reflect.TypeOf(body)).Elem()
		fill(filled, &n)
		add(filled.Interface().(session.Body))
	}
	for _, kind := range []model.Kind{session.UserMessage, session.AgentMessage, session.Reasoning, session.ToolCall, session.ToolOutput} {
		var item session.Item
		fill(reflect.ValueOf(&item).Elem(), &n)
		item.Kind = kind
		if kind == session.AgentMessage {
			item.Parts = model.Parts{{Text: "one text"}}
		}
		add(session.ItemRecorded{Item: item})
	}
	return events
}

// Nothing of an event is lost, whatever of it is set.
func TestEventsRoundTrip(t *testing.T) {
	t.Parallel()
	empty := []session.Event{
		{Seq: 1, At: epoch, Session: "s", Body: session.SessionStarted{}},
		{Seq: 2, At: epoch, Session: "s", Body: session.ItemRecorded{Item: session.Item{Item: model.Text(session.AgentMessage, "")}}},
		{Seq: 3, At: epoch, Session: "s", Body: session.ItemRecorded{Item: session.Item{
			Item: model.Item{Kind: session.ToolCall}, Request: session.Request{Create: &session.Create{MCPAllowlist: []string{}}},
		}}},
		{Seq: 4, At: epoch, Session: "s", Body: session.ItemRecorded{Item: session.Item{Item: model.Item{Kind: session.ToolOutput}}}},
		{Seq: 5, At: epoch, Session: "s", Body: session.ConversationOpened{Context: session.Context{Base: new(string), Capabilities: session.Capabilities{MCP: []string{}}}}},
		{Seq: 6, At: epoch, Session: "s", Body: session.TaskStarted{}},
		{Seq: 7, At: epoch, Session: "s", Body: session.StopRequested{}},
	}
	for _, events := range [][]session.Event{everyEvent(), empty} {
		line, err := recordOf(events)
		if err != nil {
			t.Fatal(err)
		}
		got, err := eventsIn(line)
		if err != nil || !reflect.DeepEqual(got, events) {
			t.Errorf("%v (-written +read):\n%s", err, cmp.Diff(events, got))
		}
	}
}

var epoch = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// The form of a version stays as it is: what has been written is read, and written again the same.
func TestGolden(t *testing.T) {
	t.Parallel()
	golden := filepath.Join("testdata", "v2.jsonl")
	var b bytes.Buffer
	first, err := encode(header{Format: format, Version: version})
	if err != nil {
		t.Fatal(err)
	}
	b.Write(first)
	for _, e := range everyEvent() {
		line, err := recordOf([]session.Event{e})
		if err != nil {
			t.Fatal(err)
		}
		b.Write(line)
	}
	if *update {
		if err := os.WriteFile(golden, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(text), b.String()); diff != "" {
		t.Errorf("(-golden +written):\n%s", diff)
	}
	r, err := newReader(golden, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range everyEvent() {
		record, err := r.record()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]session.Event{want}, record); diff != "" {
			t.Errorf("(-want +read):\n%s", diff)
		}
	}
}
