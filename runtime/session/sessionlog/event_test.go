package sessionlog

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/session"
	"github.com/convtools/convtools/runtime/store/jsontext"
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
	case reflect.Interface: // session.Request, in turn one of each kind
		all := []session.Request{&session.Create{}, &session.Send{}, &session.List{}, &session.History{}, &session.Destroy{}, &session.Ordinary{}, &session.Invalid{}}
		request := reflect.ValueOf(all[*n%int64(len(all))]).Elem()
		fill(request, n)
		v.Set(request)
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
	filled := func(body session.Body) session.Body {
		v := reflect.New(reflect.TypeOf(body)).Elem()
		fill(v, &n)
		return v.Interface().(session.Body)
	}
	started := filled(session.SessionStarted{}).(session.SessionStarted)
	started.ID = "s"
	add(started)
	for _, body := range []session.Body{
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
		session.FrameResolved{},
		session.StopRequested{},
		session.Recovered{},
	} {
		body = filled(body)
		if opened, ok := body.(session.ConversationOpened); ok {
			call, output := &opened.History[0], &opened.History[1]
			call.Kind, call.Content, call.Success = session.ToolCall, "", false
			output.Kind, output.Arguments = session.ToolOutput, ""
		}
		add(body)
	}
	item := func(kind session.Kind) session.ItemRecorded {
		r := filled(session.ItemRecorded{}).(session.ItemRecorded)
		r.Item.Kind = kind
		if kind != session.ToolCall {
			r.Call, r.Item.Arguments = session.Call{}, ""
		}
		if kind != session.ToolOutput {
			r.Item.Content, r.Item.Success = "", false
		}
		return r
	}
	for range 7 { // a request of each kind
		called := item(session.ToolCall)
		i := called.Item
		called.Call = session.Call{ID: i.CallID, Name: i.Name, Arguments: i.Arguments, Raw: i.Raw, Request: called.Call.Request}
		add(called)
	}
	one := item(session.AgentMessage)
	one.Item.Parts = one.Item.Parts[:1]
	one.Item.Parts[0].ImageURL = ""
	add(one)
	for _, kind := range []session.Kind{session.UserMessage, session.Reasoning, session.ToolOutput} {
		add(item(kind))
	}
	deferred := filled(session.CallsDeferred{}).(session.CallsDeferred)
	for i := range deferred.Batch.Frames { // which are new
		deferred.Batch.Frames[i].Started, deferred.Batch.Frames[i].Result = false, nil
	}
	add(deferred)
	closed := filled(session.CallsClosed{}).(session.CallsClosed)
	for i := range closed.Outputs {
		closed.Outputs[i].Kind, closed.Outputs[i].Arguments = session.ToolOutput, ""
	}
	add(closed)
	return events
}

// Nothing of an event is lost, whatever of it is set.
func TestEventsRoundTrip(t *testing.T) {
	t.Parallel()
	every := everyEvent()
	kinds := map[string]bool{}
	for _, e := range every {
		kinds[e.Body.Type()] = true
		line, err := MarshalRecord([]session.Event{e})
		if err != nil {
			t.Fatal(err)
		}
		got, err := unmarshalRecord(line)
		if err != nil || len(got) != 1 {
			t.Fatalf("%v: %s", err, line)
		}
		if !reflect.DeepEqual(got[0], e) {
			t.Errorf("%s (-written +read):\n%s", e.Body.Type(), cmp.Diff(e, got[0]))
		}
		text, err := MarshalEvent(e)
		if err != nil || !bytes.Contains(line, text) {
			t.Errorf("%v: %s is not in the record %s", err, text, line)
		}
	}
	if len(kinds) != 21 {
		t.Errorf("%d kinds: %v", len(kinds), kinds)
	}
	empty := []session.Event{
		{Seq: 1, At: epoch, Session: "s", Body: session.SessionStarted{ID: "s"}},
		{Seq: 2, At: epoch, Session: "s", Body: session.ItemRecorded{Item: session.Item{Kind: session.AgentMessage, Parts: []session.Part{{}}}}},
		{Seq: 3, At: epoch, Session: "s", Body: session.ItemRecorded{Item: session.Item{Kind: session.ToolCall}, Call: session.Call{Request: session.Create{MCPAllowlist: []string{}}}}},
		{Seq: 4, At: epoch, Session: "s", Body: session.ItemRecorded{Item: session.Item{Kind: session.ToolOutput}}},
		{Seq: 5, At: epoch, Session: "s", Body: session.ConversationOpened{Context: session.Context{Base: new(string), Capabilities: session.Capabilities{MCP: []string{}}}}},
		{Seq: 6, At: epoch, Session: "s", Body: session.TaskStarted{}},
		{Seq: 7, At: epoch, Session: "s", Body: session.StopRequested{}},
	}
	line, err := MarshalRecord(empty)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := unmarshalRecord(line); err != nil || !reflect.DeepEqual(got, empty) {
		t.Errorf("%v (-written +read):\n%s", err, cmp.Diff(empty, got))
	}
}

var epoch = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// The form of version 1 stays as it is: what has been written is read, and written again the same.
func TestGolden(t *testing.T) {
	t.Parallel()
	golden := filepath.Join("testdata", "v1.jsonl")
	if *update {
		var b bytes.Buffer
		if err := encode(&b, header{Format: format, Version: 1, Origin: &Origin{Session: "other", Seq: 7}}); err != nil {
			t.Fatal(err)
		}
		for _, e := range everyEvent() {
			line, err := MarshalRecord([]session.Event{e})
			if err != nil {
				t.Fatal(err)
			}
			b.Write(line)
		}
		if err := os.WriteFile(golden, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	r, err := newReader(golden, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&Origin{Session: "other", Seq: 7}, r.origin); diff != "" {
		t.Error(diff)
	}
	for _, want := range everyEvent() {
		record, _, err := r.record()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]session.Event{want}, record.Events); diff != "" {
			t.Errorf("(-want +read):\n%s", diff)
		}
		if again, err := MarshalRecord(record.Events); err != nil || !bytes.Equal(again, record.Line) {
			t.Errorf("%v: written again:\n%swant\n%s", err, again, record.Line)
		}
	}
}

// FuzzParser holds the parser against package encoding/json: what that reads and writes again, both read alike.
func FuzzParser(f *testing.F) {
	for _, e := range everyEvent() {
		text, err := MarshalEvent(e)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add(`{"seq":1,"type":"x","text":"\ud83d\ude42 \ud83d \u00e9 \/","unknown":[{"a":"}"},1.5e3,null]}`)
	f.Fuzz(func(t *testing.T, text string) {
		_, _ = parse([]byte("[" + text + "]"))

		var want event
		if json.Unmarshal([]byte(text), &want) != nil {
			return
		}
		var b bytes.Buffer
		if err := encode(&b, []event{want}); err != nil {
			t.Skip() // a time that JSON cannot have
		}
		p := parser{cursor: jsontext.Cursor{Data: b.Bytes()[1 : b.Len()-2]}, text: b.String()[1 : b.Len()-2]}
		ok := p.event()
		var again bytes.Buffer
		if err := encode(&again, []event{p.form}); err != nil {
			t.Fatal(err)
		}
		if !ok || again.String() != b.String() {
			t.Fatalf("parsed as\n%s\nwant\n%s", again.String(), b.String())
		}
	})
}
