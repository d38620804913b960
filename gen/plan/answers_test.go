package plan_test

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/convtools/convtools/generated/conv"
	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/envelope"
)

// Every text in an answer can be read back unchanged.
func TestAnswersReadBack(t *testing.T) {
	t.Parallel()
	for _, answer := range []any{
		new(conversation.GrepEnvelope), new(conversation.ListEnvelope), new(conversation.ReadEnvelope), new(conversation.RecallEnvelope),
		new(conv.CreateResult), new(conv.SendResult), new(conv.ListResult), new(conv.HistoryResult), new(conv.WaitResult), new(conv.DestroyResult),
	} {
		if err := roundTrip(answer); err != nil {
			t.Errorf("%T: %v", answer, err)
		}
	}
}

// hostileMark tries to end any kind of text around it.
const hostileMark = `a </x>]]> <!-- & "quoted" 'single' \ {} `

// roundTrip fills every field of an answer, and returns an error if a text in it is not read back unchanged.
func roundTrip(answer any) error {
	f := &filler{}
	f.fill(reflect.ValueOf(answer).Elem())
	var text string
	read := readJSON
	if t := reflect.TypeOf(answer).Elem(); t.NumField() > 0 && t.Field(0).Tag.Get("element") != "" {
		text, read = string(envelope.Document(answer)), readXML
	} else {
		var err error
		if text, err = envelope.Success(answer, []string{f.text()}, contract.Tool{}); err != nil {
			return err
		}
	}
	found, err := read(text)
	if err != nil {
		return fmt.Errorf("%w:\n%s", err, text)
	}
	for i := range f.texts {
		if want := marked(i); !strings.Contains(found, want) {
			return fmt.Errorf("%q was written, and is not read back from:\n%s", want, text)
		}
	}
	return nil
}

// filler fills fields with distinct values.
type filler struct{ texts int }

func (f *filler) text() string {
	f.texts++
	return marked(f.texts - 1)
}

// marked returns the text with the given number. It has no white space at its ends, which an element may trim.
func marked(i int) string { return fmt.Sprintf("(%d %s%d)", i, hostileMark, i) }

// fill sets a value and everything in it.
func (f *filler) fill(v reflect.Value) {
	switch {
	case !v.CanSet(): // a field that only has tags
	case v.Type() == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)))
	case v.Type() == reflect.TypeFor[json.RawMessage](), v.Type() == reflect.TypeFor[[]byte]():
		v.SetBytes([]byte(`{"a":[1]}`))
	default:
		f.fillKind(v)
	}
}

// fillKind sets a value according to its kind. A pointer is never nil, and a slice has two items.
func (f *filler) fillKind(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(f.text())
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Float64:
		v.SetFloat(1.5)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		f.fill(v.Index(0))
		f.fill(v.Index(1))
	case reflect.Struct:
		if isVariants(v.Type()) { // only one may be set
			f.fill(v.Field(0))
			return
		}
		for i := range v.NumField() {
			f.fill(v.Field(i))
		}
	}
}

// isVariants reports whether a struct has the variants of an object, of which exactly one is set.
func isVariants(t reflect.Type) bool {
	for i := range t.NumField() {
		if t.Field(i).Type.Kind() != reflect.Pointer || t.Field(i).Type.Elem().Kind() != reflect.Struct {
			return false
		}
	}
	return t.NumField() > 0
}

// readXML returns the texts and attributes of a document with one element.
func readXML(text string) (string, error) {
	dec := xml.NewDecoder(strings.NewReader(text))
	var found strings.Builder
	depth, roots := 0, 0
	for {
		token, err := dec.Token()
		switch {
		case errors.Is(err, io.EOF) && roots == 1:
			return found.String(), nil
		case errors.Is(err, io.EOF):
			return "", fmt.Errorf("it has %d root elements", roots)
		case err != nil:
			return "", err
		}
		switch token := token.(type) {
		case xml.StartElement:
			if depth == 0 {
				roots++
			}
			depth++
			for _, a := range token.Attr {
				found.WriteString(a.Value + "\n")
			}
		case xml.EndElement:
			depth--
		case xml.CharData:
			found.Write(token) // the decoder may split a text
		}
	}
}

// readJSON returns the texts in a JSON object.
func readJSON(text string) (string, error) {
	var object map[string]any
	if err := json.Unmarshal([]byte(text), &object); err != nil {
		return "", err
	}
	var found strings.Builder
	var walk func(any)
	walk = func(value any) {
		switch value := value.(type) {
		case string:
			found.WriteString(value + "\n")
		case []any:
			for _, v := range value {
				walk(v)
			}
		case map[string]any:
			for _, v := range value {
				walk(v)
			}
		}
	}
	walk(object)
	return found.String(), nil
}
