// Package coerce decodes and checks the arguments of calls. It decodes one JSON object strictly, repairs mistakes
// that models are known to make if the spec declares the repair, and reports every repair.
//
// It never guesses: it leaves a value that no declared repair fits, for validation to refuse.
package coerce

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Bounds on the arguments of one call.
const (
	MaxBytes   = 1 << 20 // bytes of JSON text
	MaxDepth   = 32      // levels of arrays and objects
	MaxMembers = 1000    // members of one object; each name is compared with all before it
)

// Field is one member of an object, in the given order.
type Field struct {
	Name  string
	Value any // nil, bool, json.Number, string, []any or Object
}

// Object is a decoded JSON object. Names are unique.
type Object []Field

// Get returns the value of a member, and whether there is such a member.
func (o Object) Get(name string) (any, bool) {
	for i := range o {
		if o[i].Name == name {
			return o[i].Value, true
		}
	}
	return nil, false
}

// set sets the value of a member. It does nothing if there is no such member.
func (o Object) set(name string, value any) {
	for i := range o {
		if o[i].Name == name {
			o[i].Value = value
			return
		}
	}
}

// without returns the object without a member. It reuses o.
func (o Object) without(name string) Object {
	return slices.DeleteFunc(o, func(f Field) bool { return f.Name == name })
}

// MarshalJSON keeps the order of the members.
func (o Object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(f.Name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(f.Value)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// DecodeObject decodes exactly one JSON object. It refuses duplicate names, invalid UTF-8, text after the object, and
// what is beyond the bounds of this package. Empty input and null, which hosts send, are an object without members. For
// a JSON string that holds an object it returns that object and a note.
func DecodeObject(raw []byte) (object Object, notes []string, err error) {
	if len(raw) > MaxBytes {
		return nil, nil, fmt.Errorf("%d bytes are more than the %d allowed", len(raw), MaxBytes)
	}
	if !utf8.Valid(raw) {
		return nil, nil, errors.New("the text is not valid UTF-8")
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, nil, nil
	}
	value, err := decode(raw)
	if err != nil {
		return nil, nil, err
	}
	switch v := value.(type) {
	case nil:
		return nil, nil, nil
	case Object:
		return v, nil, nil
	case string:
		if inner, err := decode([]byte(v)); err == nil {
			if object, ok := inner.(Object); ok {
				return object, []string{"The arguments came as a string and were read as the JSON object inside it."}, nil
			}
		}
		return nil, nil, errors.New("got a string")
	case []any:
		return nil, nil, errors.New("got an array")
	case bool:
		return nil, nil, errors.New("got a boolean")
	default:
		return nil, nil, errors.New("got a number")
	}
}

// decode returns the one JSON value in a text: nil, bool, json.Number, string, []any or Object.
func decode(raw []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	value, err := decodeValue(dec, 0)
	if err != nil {
		return nil, describe(err, dec.InputOffset())
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("there is more text after the value, at byte %d", dec.InputOffset())
	}
	return value, nil
}

// describe returns a decoder's error with a text that can end a sentence. offset is where the decoder stopped.
func describe(err error, offset int64) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the JSON text ends too early")
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("%s, at byte %d", strings.TrimPrefix(syntax.Error(), "json: "), offset)
	}
	return err
}

// decodeValue decodes the next value, which is inside depth arrays and objects.
func decodeValue(dec *json.Decoder, depth int) (any, error) {
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	delim, ok := token.(json.Delim)
	if !ok { // neither an array nor an object
		return token, nil
	}
	if depth >= MaxDepth {
		return nil, fmt.Errorf("values are nested deeper than %d levels", MaxDepth)
	}
	if delim == '[' {
		list := []any{}
		for dec.More() {
			v, err := decodeValue(dec, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := dec.Token() // the closing bracket
		return list, err
	}
	object := Object{}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return nil, err
		}
		name, ok := token.(string)
		if !ok {
			return nil, fmt.Errorf("a member's name must be a string, at byte %d", dec.InputOffset())
		}
		if len(object) == MaxMembers {
			return nil, fmt.Errorf("an object has more than %d members", MaxMembers)
		}
		if _, given := object.Get(name); given {
			return nil, fmt.Errorf("%s is given twice", strconv.Quote(name))
		}
		v, err := decodeValue(dec, depth+1)
		if err != nil {
			return nil, err
		}
		object = append(object, Field{name, v})
	}
	_, err = dec.Token() // the closing brace
	return object, err
}

// Int returns a json.Number that is an integer; false for anything else. As in JSON Schema, 5, 5.0 and 5e0 are the same
// integer. An integer beyond int64 becomes the nearest int64, so that range checks are still right.
func Int(v any) (int64, bool) {
	number, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	if n, err := strconv.ParseInt(string(number), 10, 64); err == nil {
		return n, true
	}
	return decimalInt(string(number))
}

// Float returns a json.Number as the nearest float64, also if it is out of range; false for anything else.
func Float(v any) (float64, bool) {
	number, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseFloat(string(number), 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return math.Copysign(math.MaxFloat64, n), true
	case err != nil:
		return 0, false
	}
	return n, true
}

// decimalInt parses a JSON number with a fraction, an exponent or many digits; false if it is no integer. Out of range
// it returns the nearest int64. The memory it uses does not depend on the exponent, which a caller chooses.
func decimalInt(s string) (int64, bool) {
	unsigned, negative := strings.CutPrefix(s, "-")
	mantissa, exponent := unsigned, 0
	if i := strings.IndexAny(unsigned, "eE"); i >= 0 {
		mantissa, exponent = unsigned[:i], boundedExponent(unsigned[i+1:])
	}
	// The number is digits times 10 to the power of exponent, without zeros at the ends of digits.
	whole, fraction, _ := strings.Cut(mantissa, ".")
	exponent -= len(fraction)
	digits := strings.TrimLeft(whole+fraction, "0")
	zeros := len(digits) - len(strings.TrimRight(digits, "0"))
	digits, exponent = digits[:len(digits)-zeros], exponent+zeros
	if digits == "" {
		return 0, true
	}
	if exponent < 0 { // the last digit, which is not 0, is behind the decimal point
		return 0, false
	}
	sign, nearest := "", int64(math.MaxInt64)
	if negative {
		sign, nearest = "-", math.MinInt64
	}
	if len(digits)+exponent > len("9223372036854775807") {
		return nearest, true
	}
	n, err := strconv.ParseInt(sign+digits+strings.Repeat("0", exponent), 10, 64)
	if err != nil {
		return nearest, true
	}
	return n, true
}

// boundedExponent returns s, the exponent of a JSON number, as an integer. An exponent that is not between -MaxBytes
// and MaxBytes is cut to the nearer of these: no argument has that many digits.
func boundedExponent(s string) int {
	e, _ := strconv.Atoi(s) // the nearest int if out of range
	return max(-MaxBytes, min(e, MaxBytes))
}
