package coerce

import (
	"reflect"
	"slices"

	"github.com/convtools/convtools/runtime/contract"
)

// Params returns [Arguments] with defaults as a struct P, whose fields are the tool's parameters in their order.
func Params[P any](call *contract.Call, tool *contract.Tool) (P, error) {
	var params P
	args, err := Arguments(call, tool, nil)
	if err == nil {
		bindMembers(reflect.ValueOf(&params).Elem(), WithDefaults(tool, args), tool.Parameters)
	}
	return params, err
}

// WithDefaults returns the arguments of a tool, with the default of each parameter that is not given. In arguments that
// are objects, it also adds the default of each member that is not given. It does not change args.
func WithDefaults(tool *contract.Tool, args Object) Object {
	return withDefaults(args, &contract.Shape{Members: tool.Parameters})
}

// withDefaults returns a copy of an object of shape s with the defaults of absent members, also in the objects inside.
func withDefaults(o Object, s *contract.Shape) Object {
	declared, _ := declaredMembers(s, o)
	full := slices.Clone(o)
	for i := range declared {
		p := &declared[i]
		value, given := o.Get(p.Name)
		if !given {
			if p.Default == "" {
				continue
			}
			value, _ = decode([]byte(p.Default))     // the generator has checked that it is JSON
			full = append(full, Field{Name: p.Name}) // set below gives it the value
		}
		inner := p
		for inner.Items != nil { // an array, perhaps of arrays
			inner = inner.Items
		}
		full.set(p.Name, withDefaultsInside(value, inner.Shape))
	}
	return full
}

// withDefaultsInside returns a value with the defaults of s in it. The value is an object of shape s, or an array with
// such objects at any depth. If s is nil, the value has no objects.
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

// Arguments returns the arguments of a call, decoded and repaired, and adds a note of each repair to the call. The
// error is a [*contract.InvalidArguments] with the problems of the arguments and a corrected call. judge finds problems
// of arguments that are valid by the tool's spec; judge may be nil.
func Arguments(call *contract.Call, tool *contract.Tool, judge func(Object) []contract.Problem) (Object, error) {
	object, notes, err := DecodeObject(call.Arguments)
	if err != nil {
		e := contract.Unmet(call.Tool, nil, []contract.Problem{contract.Malformed(err.Error())})
		e.Corrected = tool.Example
		return nil, e
	}
	problemsIn := func(args Object) []contract.Problem { // those by the spec or, if there are none, those of judge
		problems := Problems(tool, args)
		if problems == nil && judge != nil {
			problems = judge(args)
		}
		return problems
	}
	isAccepted := func(raw string) bool { // reports whether arguments in JSON have no problems and need no repairs
		args, _, err := DecodeObject([]byte(raw))
		if err != nil || Problems(tool, args) != nil {
			return false
		}
		repaired, repairs := Repair(tool, args)
		return len(repairs) == 0 && problemsIn(repaired) == nil
	}
	args, repairs := Repair(tool, object)
	if problems := problemsIn(args); problems != nil {
		e := contract.Unmet(call.Tool, args.given(), problems)
		if !isAccepted(e.Corrected) { // each fix is right by itself, but not all of them together
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

// bind sets a variable to a valid value of a parameter. The variable stays zero if v is nil: the value is null or
// absent. A pointer is set to a new variable with the value, so that nil differs from 0 and "".
func bind(to reflect.Value, v any, p *contract.Parameter) {
	if to.Kind() == reflect.Pointer {
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
		// The struct has a pointer for each form. Only that of the form that the key selects is set.
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
