package coerce

import (
	"reflect"
	"slices"

	"github.com/convtools/convtools/runtime/contract"
)

// Params returns the arguments of a call, decoded, repaired and with defaults, in a struct P whose fields are the
// parameters of the tool in their order. It adds a note of each repair to the call. The error is a
// [*contract.InvalidArguments].
func Params[P any](call *contract.Call, tool *contract.Tool) (P, error) {
	var params P
	args, err := Arguments(call, tool, nil)
	if err == nil {
		bindMembers(reflect.ValueOf(&params).Elem(), WithDefaults(tool, args), tool.Parameters)
	}
	return params, err
}

// WithDefaults returns the arguments of a tool with the defaults of parameters that are not given, and of members that
// are not given in objects among the arguments. It does not change args.
func WithDefaults(tool *contract.Tool, args Object) Object {
	return withDefaults(args, &contract.Shape{Members: tool.Parameters})
}

// withDefaults returns a copy of an object with the defaults of its shape.
func withDefaults(o Object, s *contract.Shape) Object {
	members, _ := members(s, o)
	full := slices.Clone(o)
	for i := range members {
		p := &members[i]
		value, given := o.Get(p.Name)
		if !given && p.Default == "" {
			continue
		}
		if !given {
			value, _ = decode([]byte(p.Default)) // the generator has checked it
			full = append(full, Field{Name: p.Name})
		}
		for p.Items != nil { // the shape is that of the items of an array
			p = p.Items
		}
		full.set(members[i].Name, withDefaultsInside(value, p.Shape))
	}
	return full
}

// withDefaultsInside returns a value with defaults in it: in an object of shape s, or in each such object of an array.
// s is nil if the value has no objects.
func withDefaultsInside(value any, s *contract.Shape) any {
	if s == nil {
		return value
	}
	switch value := value.(type) {
	case Object:
		return withDefaults(value, s)
	case []any:
		list := make([]any, len(value))
		for i := range value {
			list[i] = withDefaultsInside(value[i], s)
		}
		return list
	}
	return value
}

// Arguments returns the arguments of a call, decoded and repaired. It adds a note of each repair to the call. The error
// is a [*contract.InvalidArguments] with every problem and a call that works. judge may be nil; it returns the problems
// of arguments in which the spec finds none.
func Arguments(call *contract.Call, tool *contract.Tool, judge func(Object) []contract.Problem) (Object, error) {
	object, notes, err := DecodeObject(call.Arguments)
	if err != nil {
		e := contract.Unmet(call.Tool, nil, []contract.Problem{contract.Malformed(err.Error())})
		e.Corrected = tool.Example
		return nil, e
	}
	problemsIn := func(args Object) []contract.Problem {
		problems := Problems(tool, args)
		if problems == nil && judge != nil {
			problems = judge(args)
		}
		return problems
	}
	args, repairs := Repair(tool, object)
	if problems := problemsIn(args); problems != nil {
		e := contract.Unmet(call.Tool, args.given(), problems)
		// Each fix may be right, and the corrected call still need repairs or have problems: the example has none.
		corrected, _, err := DecodeObject([]byte(e.Corrected))
		unrepaired := Problems(tool, corrected)
		corrected, repairsOfCorrected := Repair(tool, corrected)
		if err != nil || len(repairsOfCorrected) > 0 || unrepaired != nil || problemsIn(corrected) != nil {
			e.Corrected = tool.Example
		}
		return nil, e
	}
	// A plain append could write into the caller's slice.
	call.Notes = slices.Concat(call.Notes, notes, repairs)
	return args, nil
}

// Unmet returns the error for a call with problems that only its tool finds: its arguments are valid by the spec. The
// error has the call with the fixes of these problems.
func Unmet(call *contract.Call, problems []contract.Problem) error {
	object, _, err := DecodeObject(call.Arguments)
	if err != nil {
		object = nil
	}
	return contract.Unmet(call.Tool, object.given(), problems)
}

// given returns the members of an object as arguments.
func (o Object) given() []contract.Argument {
	given := make([]contract.Argument, len(o))
	for i, f := range o {
		given[i] = contract.Argument{Name: f.Name, Value: JSON(f.Value)}
	}
	return given
}

// bindMembers sets the fields of a struct to the members of a valid object: field i to the declared member i.
func bindMembers(to reflect.Value, o Object, members []contract.Parameter) {
	for i := range members {
		v, _ := o.Get(members[i].Name)
		bind(to.Field(i), v, &members[i])
	}
}

// bind sets a variable to a valid value of a parameter. nil, for null or an absent value, leaves the variable zero.
func bind(to reflect.Value, v any, p *contract.Parameter) {
	if to.Kind() == reflect.Pointer { // null and absent values differ from zero
		if v != nil {
			to.Set(reflect.New(to.Type().Elem()))
			bind(to.Elem(), v, p)
		}
		return
	}
	switch v := v.(type) {
	case string:
		if to.Kind() == reflect.Slice { // one string where several are allowed
			bind(to, []any{v}, p)
			return
		}
		to.SetString(v)
	case bool:
		to.SetBool(v)
	case []any:
		to.Set(reflect.MakeSlice(to.Type(), len(v), len(v)))
		for i := range v {
			bind(to.Index(i), v[i], p.Items)
		}
	case Object:
		if p.Shape.Key == "" { // one form
			bindMembers(to, v, p.Shape.Members)
			return
		}
		for i, form := range p.Shape.Forms {
			if form.Value == v.Text(p.Shape.Key) {
				to.Field(i).Set(reflect.New(to.Field(i).Type().Elem()))
				bindMembers(to.Field(i).Elem(), v, form.Members)
			}
		}
	default: // a number
		if to.Kind() == reflect.Int {
			n, _ := Int(v)
			to.SetInt(n)
		} else if n, ok := Float(v); ok {
			to.SetFloat(n)
		}
	}
}
