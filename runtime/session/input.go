package session

// Input is what can happen to a session.
type Input interface{ decide(*decision) error }

// What people and programs outside ask for.
type (
	// Start starts the session with its root conversation. It is the first input.
	Start struct {
		Session string // an id that the host picks
		Root    string // the id of the root conversation, a UUID in lower case
		Context Context
		Config  Config
		// History is what was said in the root before the session, the oldest first; each call in it has its output.
		History []Item
	}
	// Submit puts a submission at the end of the queue; its ID is not for the host to pick. An input that cannot wait
	// needs an Interrupt as well. A call has an id that is the only one of the conversation, and its output is found there.
	Submit Submission
	// Interrupt ends the task that runs. The caller that waits for it continues with the status interrupted.
	Interrupt struct {
		// Chain ends everything on the stack too. Every call that waits is closed, with its result where it has one,
		// and no caller continues. The queue stays.
		Chain bool
		// Submission, unless it is 0, is the only one whose task or chain is ended. One that waits is taken from the
		// queue.
		Submission SubmissionID
	}
	// Remove destroys a conversation. One that runs is interrupted, and its caller continues; one that waits for an answer
	// is refused.
	Remove struct{ Conversation string }
	// Recover continues after Fold, in a new process: nothing that runs according to the state does run. A sample is
	// asked for again; a tool that was running is not run again, since it may have had its effect.
	Recover struct{}
)

// What the host reports of the effects that it carries out. Task is the one of the effect. An input for a task that
// does not run, or does not wait for it, is an [InputError], which the host may ignore.
type (
	// Delta is a piece of a message that is being written.
	Delta struct {
		Task TaskID
		Text string
	}
	// Response is a whole response of the model, or why there is none after all attempts. One that calls is to be read
	// to its end, with its usage, as it may call again.
	Response struct {
		Task    TaskID
		Items   []Item // messages, reasoning, and calls with what they ask for
		Usage   Usage  // the tokens
		Failure Failure
	}
	// ToolDone is the output of an ordinary call.
	ToolDone struct {
		Task    TaskID
		Call    string
		Content string
		Success bool
	}
	// Stopped reports that nothing of a task runs any more, after [Cancel].
	Stopped struct{ Task TaskID }
	// Expire ends the task that runs because its deadline has passed.
	Expire struct{ Task TaskID }
)

// Effect is what the host has to do once the events of the step are synced: a [Sample], a [RunTool] or a [Cancel].
type Effect any

type (
	// Sample asks the model for a response to the history of a conversation.
	Sample struct {
		Task         TaskID
		Conversation string
		// Left is what is left of the budget of the logical turn: the host limits the response to its tokens, and
		// reports [Expire] at its deadline.
		Left Budget
	}
	// RunTool runs the tool of an ordinary call.
	RunTool struct {
		Task         TaskID
		Conversation string
		Call         Item
	}
	// Cancel ends all that runs of a task; [Stopped] reports that it has.
	Cancel struct{ Task TaskID }
)
