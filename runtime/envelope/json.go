package envelope

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/coerce"
	"github.com/convtools/convtools/runtime/contract"
)

// jsonText builds a JSON text.
type jsonText struct{ buf []byte }

func (w *jsonText) raw(text string) { w.buf = append(w.buf, text...) }

// comma writes a comma if a value or a member comes before the next one.
func (w *jsonText) comma() {
	if n := len(w.buf); n > 0 && strings.IndexByte("{[:", w.buf[n-1]) < 0 {
		w.raw(",")
	}
}

func (w *jsonText) name(name string) {
	w.text(name)
	w.raw(":")
}

// value writes a value of a generated type. A nil pointer is null. A nil slice is null if mayBeNull is set, else [].
func (w *jsonText) value(v reflect.Value, mayBeNull bool) {
	switch v.Kind() {
	case reflect.String, reflect.Int, reflect.Float64, reflect.Bool:
		w.scalar(v.Interface())
	case reflect.Pointer:
		if v.IsNil() {
			w.null()
			return
		}
		w.value(v.Elem(), false)
	case reflect.Slice:
		if v.IsNil() && mayBeNull {
			w.null()
			return
		}
		w.comma()
		w.raw("[")
		for i := range v.Len() {
			w.value(v.Index(i), false)
		}
		w.raw("]")
	case reflect.Struct:
		w.comma()
		w.raw("{")
		w.fields(v)
		w.raw("}")
	}
}

// fields writes the fields of a struct as members, by their tags. A field with the tag variant:"key=value" is a
// pointer. If it is not nil, fields writes the member key with that value and the members of the struct it points to.
func (w *jsonText) fields(v reflect.Value) {
	for i := range v.NumField() {
		field, tag := v.Field(i), v.Type().Field(i).Tag
		if key, value, isVariant := strings.Cut(tag.Get("variant"), "="); isVariant {
			if !field.IsNil() {
				w.name(key)
				w.text(value)
				w.fields(field.Elem())
			}
			continue
		}
		name, option, _ := strings.Cut(tag.Get("json"), ",")
		if option == "omitzero" && field.IsZero() {
			continue
		}
		w.name(name)
		w.value(field, tag.Get("nil") == "null")
	}
}

func (w *jsonText) null() {
	w.comma()
	w.raw("null")
}

func (w *jsonText) text(s string) { w.scalar(s) }

// scalar writes a text, a number or a boolean: NaN and infinities as null, bytes that are not UTF-8 as U+FFFD.
func (w *jsonText) scalar(v any) {
	w.comma()
	w.raw(coerce.JSON(v))
}

// The codes of failures of every tool that answers in JSON.
const (
	CodeInvalidArguments = "invalid_arguments"
	CodeTooLarge         = "too_large"
	CodeFailed           = "failed" // any other failure
)

// Success returns an answer in JSON: "ok":true, which a plain tool leaves out, the fields of result, and the notes of
// the call. An answer that is too long for the tool is an error from [Failed].
func Success(result any, notes []string, tool contract.Tool) (string, error) {
	w := jsonText{buf: []byte("{")}
	if !tool.Plain {
		w.raw(`"ok":true`)
	}
	w.fields(reflect.Indirect(reflect.ValueOf(result)))
	w.endAnswer(notes)
	if n := utf8.RuneCount(w.buf); tool.MaxChars > 0 && n > tool.MaxChars {
		return "", Failed(&contract.Failure{
			Code: CodeTooLarge, Reason: fmt.Sprintf("The answer has %d characters, and at most %d are allowed: ask for less.", n, tool.MaxChars),
		}, notes)
	}
	return string(w.buf), nil
}

// endAnswer writes the notes of a call, if there are any, and the end of the answer.
func (w *jsonText) endAnswer(notes []string) {
	if len(notes) > 0 {
		w.name("notes")
		w.value(reflect.ValueOf(notes), false)
	}
	w.raw("}")
}

// Failed returns a [*contract.Error] whose message is a failure in JSON: {"ok":false,"code":"…","reason":"…"} and the
// notes. The code is that of a [*contract.Failure], or says that the arguments are invalid, or is CodeFailed. The other
// fields of the error are those of err.
func Failed(err error, notes []string) error {
	out := &contract.Error{Err: err}
	code, reason := CodeFailed, err.Error()
	if failure, ok := errors.AsType[*contract.Failure](err); ok {
		code, reason = failure.Code, failure.Reason
		out.Transient, out.Caller = failure.Transient, true
	} else if _, ok := errors.AsType[*contract.InvalidArguments](err); ok {
		code, out.Caller = CodeInvalidArguments, true
	} else if known, ok := errors.AsType[*contract.Error](err); ok {
		out.Transient, out.Caller, out.NoProject, out.Detail = known.Transient, known.Caller, known.NoProject, known.Detail
	}
	w := jsonText{buf: []byte(`{"ok":false`)}
	w.name("code")
	w.text(code)
	w.name("reason")
	w.text(reason)
	w.endAnswer(notes)
	out.Message = string(w.buf)
	return out
}
