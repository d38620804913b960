package session

// Input is what can happen to a session.
type Input interface{ decide(*decision) *Refusal }

// Inputs from people and programs.
type (
	// Start starts the session with its root conversation. It is the first input.
	Start struct {
		Session string // the id, which the host picks
		Root    string // the id of the root conversation, a UUID in lower case
		Context Context
		Config  Config
		History []Item // what was said in the root before the session, oldest first; each call in it has its output
	}
	// Submit puts a submission in the queue; Step sets its ID. A call needs a CallID of its own in the conversation.
	Submit Submission
	// Interrupt ends the running task. The caller that waits for the task continues, with the status interrupted.
	Interrupt struct {
		Chain      bool         // ends everything on the stack as well: no caller continues; the queue stays
		Submission SubmissionID // if not 0, the only submission to interrupt; a submission that still waits leaves the queue
	}
	// Remove destroys a conversation. One that runs is interrupted; Remove is refused while it waits for an answer.
	Remove struct{ Conversation string }
	// Recover continues in a new process. A model is asked again. A tool is not: it may have had its effect.
	Recover struct{}
)

// Inputs that report [Work]. Task is the one of the work.
type (
	// Delta is a piece of a message that the model is writing.
	Delta struct {
		Task TaskID
		Text string
	}
	// Response is a whole response of the model, or why there is none. It ends a task that was asked to stop.
	Response struct {
		Task    TaskID
		Items   []Item // messages, reasoning, and calls with their requests
		Usage   Usage  // the tokens
		Failure Failure
	}
	// ToolDone is the output of a tool. It ends a task that was asked to stop.
	ToolDone struct {
		Task    TaskID
		Call    string // its CallID
		Content string
		Success bool
	}
)

// Work is what a session waits for: a [Response] or a [ToolDone]. The host reports it once nothing of it runs any more.
type Work struct {
	Task         TaskID
	Conversation *Conversation
	Call         *Item  // the call whose tool runs; nil if the model is asked
	Left         Budget // of the logical turn: the host limits a response to Left.Tokens, and stops work at Left.Deadline
	Stop         bool   // the work must end soon; the host reports how it ended
}

// Work returns the running task with the rest of its budget, or nil if no task runs.
func (s State) Work() *Work {
	t := s.task
	if t == nil {
		return nil
	}
	c := s.Conversation(t.conversation)
	left := Budget{}.within(c.turn.budget, c.turn.usage) // what is left of the turn's budget: within narrows Budget{}, which has no limits
	return &Work{Task: t.id, Conversation: c, Call: t.ordinaryCall(), Left: left, Stop: t.stop != nil}
}
