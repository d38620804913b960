package recorded

// Asked is the ids of calls that ask the user something and have no answer yet.
type Asked map[string]bool

// maxAsked bounds how many questions wait for an answer.
const maxAsked = 1000

// Ask adds a call.
func (a *Asked) Ask(id string) {
	if *a == nil || len(*a) > maxAsked {
		*a = Asked{}
	}
	(*a)[id] = true
}

// Answers reports whether a result is the answer to one of the calls, which is over then.
func (a Asked) Answers(id []byte) bool {
	asked := a[string(id)]
	delete(a, string(id))
	return asked
}
