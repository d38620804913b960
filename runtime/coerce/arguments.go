package coerce

import (
	"slices"

	"github.com/convtools/convtools/runtime/contract"
)

// Arguments decodes, repairs and validates the arguments of a call. What was
// repaired becomes notes of the call. An error is a [*contract.InvalidArguments]
// that names every problem at once, with a call that works.
func Arguments(call *contract.Call, repair func(*Args), validate func(Object) []contract.Problem, example string) (Object, error) {
	object, repairs, err := DecodeObject(call.Arguments)
	if err != nil {
		e := contract.Unmet(call.Tool, nil, []contract.Problem{contract.Malformed(err.Error())})
		e.Corrected = example
		return nil, e
	}
	args := Args{Object: object, Repairs: repairs}
	repair(&args)
	if problems := validate(args.Object); problems != nil {
		e := contract.Unmet(call.Tool, args.Object.given(), problems)
		// The fixes of single arguments may not add up to a call that works without
		// repairs.
		corrected, _, err := DecodeObject([]byte(e.Corrected))
		trial := Args{Object: corrected}
		repair(&trial)
		if err != nil || len(trial.Repairs) > 0 || validate(trial.Object) != nil {
			e.Corrected = example
		}
		return nil, e
	}
	// The caller's notes may have room behind them that is not ours.
	call.Notes = slices.Clip(call.Notes)
	for _, repair := range args.Repairs {
		call.Notes = append(call.Notes, repair.Note)
	}
	return args.Object, nil
}

// Unmet returns the error for a call whose arguments are valid as far as they were declared,
// and have problems that only its tool finds, with a call that has not.
func Unmet(call *contract.Call, problems []contract.Problem) error {
	object, _, err := DecodeObject(call.Arguments)
	if err != nil {
		object = nil
	}
	return contract.Unmet(call.Tool, object.given(), problems)
}

// given is the members of an object as arguments.
func (o Object) given() []contract.Argument {
	given := make([]contract.Argument, len(o))
	for i, f := range o {
		given[i] = contract.Argument{Name: f.Name, Value: JSON(f.Value)}
	}
	return given
}
