package envelope

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/contract"
)

// JSON writes a JSON text in the order it is told, without reflection. Whoever uses it
// keeps to the grammar: a name before every value in an object, and each object and
// array ended. The zero value is ready to use.
type JSON struct{ buf []byte }

// String returns the text so far.
func (w *JSON) String() string { return string(w.buf) }

// next puts a comma where a value or a name follows another.
func (w *JSON) next() {
	if n := len(w.buf); n > 0 {
		switch w.buf[n-1] {
		case '{', '[', ':':
		default:
			w.buf = append(w.buf, ',')
		}
	}
}

// Object begins an object.
func (w *JSON) Object() { w.next(); w.buf = append(w.buf, '{') }

// EndObject ends it.
func (w *JSON) EndObject() { w.buf = append(w.buf, '}') }

// Array begins an array.
func (w *JSON) Array() { w.next(); w.buf = append(w.buf, '[') }

// EndArray ends it.
func (w *JSON) EndArray() { w.buf = append(w.buf, ']') }

// Name writes the name of the member that follows, and returns the writer.
func (w *JSON) Name(name string) *JSON {
	w.Text(name)
	w.buf = append(w.buf, ':')
	return w
}

// Optional writes a member that is left out where its value is nil.
func Optional[T any](w *JSON, name string, value *T, write func(*JSON, T)) {
	if value != nil {
		write(w.Name(name), *value)
	}
}

// Integer writes a whole number.
func (w *JSON) Integer(n int) { w.next(); w.buf = strconv.AppendInt(w.buf, int64(n), 10) }

// Number writes a number. What JSON has no number for becomes null.
func (w *JSON) Number(n float64) {
	if math.IsNaN(n) || math.IsInf(n, 0) {
		w.Null()
		return
	}
	w.next()
	form := byte('f')
	if size := math.Abs(n); size != 0 && (size < 1e-6 || size >= 1e21) {
		form = 'e'
	}
	w.buf = strconv.AppendFloat(w.buf, n, form, -1, 64)
}

// Boolean writes true or false.
func (w *JSON) Boolean(b bool) { w.next(); w.buf = strconv.AppendBool(w.buf, b) }

// Null writes null.
func (w *JSON) Null() { w.next(); w.buf = append(w.buf, "null"...) }

// Text writes a string. Its characters are unchanged, those that JSON or a line cannot
// hold are escaped, and bytes that are no UTF-8 become U+FFFD.
func (w *JSON) Text(s string) {
	w.next()
	w.buf = append(w.buf, '"')
	for _, r := range s { // of what is no UTF-8, every byte is U+FFFD
		switch {
		case r == '"' || r == '\\':
			w.buf = append(w.buf, '\\', byte(r))
		case r == '\n':
			w.buf = append(w.buf, `\n`...)
		case r < 0x20 || r == 0x7f || r == '\u2028' || r == '\u2029':
			w.buf = fmt.Appendf(w.buf, `\u%04x`, r)
		default:
			w.buf = utf8.AppendRune(w.buf, r)
		}
	}
	w.buf = append(w.buf, '"')
}

// Fields is what a tool that answers in JSON returns.
type Fields interface {
	// AppendFields writes the members of an object, each with its name.
	AppendFields(w *JSON)
}

// Fields writes an object.
func (w *JSON) Fields(f Fields) {
	w.Object()
	f.AppendFields(w)
	w.EndObject()
}

// Codes of failures that every tool has that answers in JSON.
const (
	CodeInvalidArguments = "invalid_arguments"
	CodeTooLarge         = "too_large"
	CodeFailed           = "failed" // any other failure
)

// Success returns an answer in its form for success: {"ok":true, …}, with the notes
// of the call, if there are any, at its end. An answer of more than maxChars
// characters is an error, except that 0 is no limit.
func Success(fields Fields, notes []string, maxChars int) (string, error) {
	var w JSON
	w.Object()
	w.Name("ok")
	w.Boolean(true)
	return w.finish(fields, notes, maxChars)
}

// Plain is Success without ok.
func Plain(fields Fields, notes []string, maxChars int) (string, error) {
	var w JSON
	w.Object()
	return w.finish(fields, notes, maxChars)
}

// finish writes what follows in an answer in its form for success.
func (w *JSON) finish(fields Fields, notes []string, maxChars int) (string, error) {
	fields.AppendFields(w)
	w.end(notes)
	if n := utf8.RuneCount(w.buf); maxChars > 0 && n > maxChars {
		return "", Failed(&contract.Failure{
			Code: CodeTooLarge, Reason: fmt.Sprintf("The answer has %d characters, and at most %d are allowed: ask for less.", n, maxChars),
		}, notes)
	}
	return w.String(), nil
}

// end writes the notes of a call and ends the answer.
func (w *JSON) end(notes []string) {
	if len(notes) > 0 {
		w.Name("notes")
		w.Array()
		for _, note := range notes {
			w.Text(note)
		}
		w.EndArray()
	}
	w.EndObject()
}

// Failed returns an error whose message is an answer in its form for failure:
// {"ok":false,"code":"…","reason":"…"}.
func Failed(err error, notes []string) error {
	told := &contract.Error{Err: err}
	code, reason := CodeFailed, err.Error()
	var failure *contract.Failure
	var invalid *contract.InvalidArguments
	var known *contract.Error
	switch {
	case errors.As(err, &failure):
		code, reason, told.Transient, told.Caller = failure.Code, failure.Reason, failure.Transient, true
	case errors.As(err, &invalid):
		code, told.Caller = CodeInvalidArguments, true
	case errors.As(err, &known):
		told.Transient, told.Caller, told.NoProject = known.Transient, known.Caller, known.NoProject
		if known.Detail != "" {
			told.Detail = known.Detail
		}
	}
	var w JSON
	w.Object()
	w.Name("ok")
	w.Boolean(false)
	w.Name("code")
	w.Text(code)
	w.Name("reason")
	w.Text(reason)
	w.end(notes)
	told.Message = w.String()
	return told
}
