package coerce

import (
	"reflect"
	"slices"

	"github.com/convtools/convtools/runtime/contract"
)

// Params decodes, repairs and validates the arguments of a call. It returns them, with defaults, in a struct whose
// fields are the parameters of the tool in their order. Repairs become notes of the call. An error is a
// [*contract.InvalidArguments].
func Params[P any](call *contract.Call, tool *contract.Tool) (P, error) {
	var params P
	args, err := Arguments(call, tool, nil)
	if err == nil {
		bindMembers(reflect.ValueOf(&params).Elem(), WithDefaults(tool, args), tool.Parameters)
	}
	return params, err
}

// WithDefaults returns the arguments of a tool with the defaults of those that are not given, and of members inside
// them.
func WithDefaults(tool *contract.Tool, args Object) Object {
	return withDefaults(args, &contract.Shape{Members: tool.Parameters})
}

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
		for p.Items != nil {
			p = p.Items
		}
		full.set(members[i].Name, inside(value, p.Shape))
	}
	return full
}

// inside returns a value with defaults in each object in it. The objects have that shape; it is nil if there are none.
func inside(value any, s *contract.Shape) any {
	if s == nil {
		return value
	}
	switch value := value.(type) {
	case Object:
		return withDefaults(value, s)
	case []any:
		list := make([]any, len(value))
		for i := range value {
			list[i] = inside(value[i], s)
		}
		return list
	}
	return value
}

// Arguments decodes, repairs and validates the arguments of a call. Repairs become notes of the call. An error is a
// [*contract.InvalidArguments] with every problem and a call that works. judge may be nil; it returns problems of
// arguments that are valid as far as the spec declares.
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
		// The fixes together may not be a call that works without repairs.
		corrected, _, err := DecodeObject([]byte(e.Corrected))
		asItStands := Problems(tool, corrected)
		corrected, again := Repair(tool, corrected)
		if err != nil || len(again) > 0 || asItStands != nil || problemsIn(corrected) != nil {
			e.Corrected = tool.Example
		}
		return nil, e
	}
	// A plain append could write into the caller's slice.
	call.Notes = slices.Concat(call.Notes, notes, repairs)
	return args, nil
}

// Unmet returns the error for a call whose valid arguments have problems that only its tool finds, with a call that
// works.
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

// bindMembers sets the fields of a struct to the members of a valid object, in declared order.
func bindMembers(to reflect.Value, o Object, members []contract.Parameter) {
	for i := range members {
		v, _ := o.Get(members[i].Name)
		bind(to.Field(i), v, &members[i])
	}
}

// bind sets a variable to a valid value. An absent value or null leaves it zero.
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
		if p.Shape.Key == "" {
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
