package envelope

import (
	"context"

	"github.com/convtools/convtools/runtime/coerce"
	"github.com/convtools/convtools/runtime/contract"
)

// Text answers a call with the text that do returns for the call's arguments. It adds the notes of the call that are not
// in the text. The error is that of the arguments or of do.
func Text[P any](ctx context.Context, call contract.Call, tool contract.Tool, do func(context.Context, contract.Call, P) (string, error)) (string, error) {
	answer, err := run(ctx, &call, tool, do)
	if err != nil {
		return "", err
	}
	return call.Noted(answer), nil
}

// Answer answers a call with the envelope that do returns for the call's arguments. The call that do gets has notes of
// repaired arguments; the envelope has to include these notes. The error is that of the arguments or of do.
func Answer[P, E any](ctx context.Context, call contract.Call, tool contract.Tool, do func(context.Context, contract.Call, P) (*E, error)) (string, error) {
	answer, err := run(ctx, &call, tool, do)
	if err != nil {
		return "", err
	}
	return string(Document(answer)), nil
}

// Result answers a call in JSON, with the result that do returns for the call's arguments and with the notes of the
// call. [Failed] makes every error: for invalid arguments, for an error of do, and for an answer that is too long.
func Result[P, R any](ctx context.Context, call contract.Call, tool contract.Tool, do func(context.Context, contract.Call, P) (R, error)) (string, error) {
	result, err := run(ctx, &call, tool, do)
	if err != nil {
		return "", Failed(err, call.Notes)
	}
	return Success(result, call.Notes, tool) // fails if the answer is too long
}

// run returns what do returns for the call's arguments, and adds notes of repairs to the call.
func run[P, R any](ctx context.Context, call *contract.Call, tool contract.Tool, do func(context.Context, contract.Call, P) (R, error)) (result R, err error) {
	params, err := coerce.Params[P](call, &tool)
	if err != nil {
		return result, err
	}
	return do(ctx, *call, params)
}
