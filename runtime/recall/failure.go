package recall

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/conversations/excerpt"
	"github.com/convtools/convtools/runtime/process"
	"github.com/convtools/convtools/runtime/store/chatgpt"
	"github.com/convtools/convtools/runtime/store/command"
)

// errTooLong is the cause of a context that ends with [callLimit].
var errTooLong = errors.New("the time for a call is up")

// otherIDs is what the caller can do about an id.
const otherIDs = " conversation_list shows the ids there are; archived=true shows those of archived conversations."

// failure words what a source has failed with: for a model, which is
// not told where on the user's machine anything is, and for people.
func failure(ctx context.Context, err error) error {
	if worded, ok := errors.AsType[*contract.Error](err); ok {
		return worded
	}
	w := &contract.Error{Caller: true, Err: err}
	if e, ok := errors.AsType[*command.Error](err); ok {
		ofProgram(w, e)
	} else if ctx.Err() != nil {
		w.Message, w.Transient, w.Caller = stopped(ctx), true, false
	} else if !ofProject(w, err) && !ofConversation(w, err) {
		unknown(w, "The conversations cannot be looked up", err)
	}
	return w
}

// unknown words a failure of which only people are told the cause.
func unknown(w *contract.Error, message string, cause error) {
	w.Message, w.Caller = message+".", false
	w.Detail = message + ": " + shown(cause.Error()) + "."
}

// ofProject words a failure to open what is recorded of a project, and
// reports whether err is one.
func ofProject(w *contract.Error, err error) bool {
	if e, ok := errors.AsType[*chatgpt.MissingError](err); ok {
		message := "Database not found: the environment variable " + e.Variable + " names "
		w.Message = message + "a file that does not exist."
		w.Detail = message + shown(e.Path) + ", which does not exist."
		return true
	}
	if e, ok := errors.AsType[*conversations.NoWorkspaceError](err); ok {
		w.Message, w.Detail = noWorkspace(e, filepath.Base(e.Dir)), noWorkspace(e, e.Dir)
		w.NoProject = true
		return true
	}
	if e, ok := errors.AsType[*conversations.ExcludedError](err); ok {
		w.Message = "The user has excluded the conversations of this project: they are not looked up."
		how := " does that."
		if e.Remembered != "" {
			how = " did that, and it stays so now that it is gone; " + takeBack(e) + " takes it back."
		}
		w.Detail = w.Message + " " + shown(e.By) + how
		return true
	}
	if e, ok := errors.AsType[*config.Error](err); ok {
		unknown(w, "No conversations are looked up, because the user's settings about them cannot be used", e)
		return true
	}
	if e, ok := errors.AsType[*config.OutsideError](err); ok {
		const message = "The conversations of this workspace are not looked up: "
		w.Message = message + "the project's own files lead out of the project. The user can allow that in their own configuration: directories of [trust]."
		w.Detail = message + shown(e.Error()) + "."
		return true
	}
	e, ok := errors.AsType[*conversations.UnavailableError](err)
	if ok {
		w.Message = "What is recorded cannot be read" + because(e.Err) + "."
		w.Detail = sentence(shown(e.Err.Error()))
		if path := shown(e.Path); !strings.Contains(w.Detail, path) {
			w.Detail = path + ": " + w.Detail
		}
	}
	return ok
}

// ofConversation words a failure to find something in what is recorded,
// and reports whether err is one.
func ofConversation(w *contract.Error, err error) bool {
	if e, ok := errors.AsType[*conversations.BadIDError](err); ok {
		w.Message = sentence(badIDs(err, e)) + otherIDs
	} else if e, ok := errors.AsType[*conversations.NotFoundError](err); ok {
		notFound(w, e)
	} else if e, ok := errors.AsType[*conversations.RangeError](err); ok {
		w.Message = outOfRange(e)
	} else if e, ok := errors.AsType[*excerpt.PatternError](err); ok {
		w.Message = badPattern(e)
	} else if e, ok := errors.AsType[*conversations.UnreadableError](err); ok {
		w.Message = "Conversation " + string(e.ID) + " cannot be read" + because(e.Err) + "."
		w.Detail = sentence(shown(e.Err.Error()))
	}
	return w.Message != ""
}

// takeBack returns the command that takes back an exclusion that is
// remembered.
func takeBack(e *conversations.ExcludedError) string {
	return "convtools stores include " + shown(e.Remembered)
}

// outOfRange words that there is no turn, or no event, with a number.
func outOfRange(e *conversations.RangeError) string {
	what, of, how := "Turn", text.Count(e.Of, "turn", "turns"), "Turns count from 1; last=1 reads the last one."
	if e.Events {
		what, of, how = "Event", text.Count(e.Of, "event", "events"), "Events count from 1 through the whole conversation."
	}
	return fmt.Sprintf("%s %d out of range (conversation has %s). %s", what, e.N, of, how)
}

// stopped says why a context has ended a call.
func stopped(ctx context.Context) string {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errTooLong):
		return fmt.Sprintf("Stopped because it did not finish within %v; ask for less.", callLimit)
	case errors.Is(cause, context.DeadlineExceeded):
		return "Stopped because the time for the whole request was up; ask for less, or allow the request more time."
	}
	return "Stopped because the request was canceled."
}

// badIDs says what is wrong with the ids in an error, which may be
// about several, of which one is first.
func badIDs(err error, first *conversations.BadIDError) string {
	several, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return shown(first.Error())
	}
	var texts []string
	for _, err := range several.Unwrap() {
		texts = append(texts, shown(err.Error()))
	}
	return bounded(texts, "; ", maxNames)
}

func notFound(w *contract.Error, e *conversations.NotFoundError) {
	what := either(len(e.IDs) > 1, "Conversations ", "Conversation ") + bounded(names(e.IDs), ", ", maxNames) + " not found in "
	rest := "."
	if len(e.Nearest) > 0 {
		rest += " Nearest ids: " + bounded(names(e.Nearest), ", ", maxNames) + "."
	}
	if len(e.Unread) > 0 {
		rest += " What could not be read may have more: " + namely(e.Unread) + "."
	}
	w.Message = what + "this project" + rest + otherIDs
	if e.Place != "" {
		w.Detail = what + shown(e.Place) + rest + otherIDs
	}
}

func noWorkspace(e *conversations.NoWorkspaceError, dir string) string {
	const cannot = "Could not locate workspace: "
	if e.Missing {
		return cannot + shown(dir) + " does not exist; name a directory of a project that has a .jp directory."
	}
	return cannot + "no .jp directory in " + shown(dir) + " or above it, and no other program has recorded a conversation there; change to a project that has one, or name it with -w DIR."
}

// badPattern words why a pattern cannot be searched for.
func badPattern(e *excerpt.PatternError) string {
	if e.Reason != excerpt.PatternSyntax {
		return sentence(e.Error())
	}
	why := e.Err.Error()
	if syntactic, ok := errors.AsType[*syntax.Error](e.Err); ok {
		why = fmt.Sprintf("%v: %s", syntactic.Code, strings.TrimPrefix(syntactic.Expr, "(?i)"))
	}
	return "Invalid pattern: " + shown(why) + ". The syntax is RE2, without look-around and back-references; leave out regex to search for the text as it is."
}

// ofProgram words the failure of an external program. What it says is
// shown as what it said, with the setting that chose the program.
func ofProgram(w *contract.Error, e *command.Error) {
	w.Transient, w.Caller = e.Transient, e.Exit == 1 || e.Exit == 2
	said, blame := "", ""
	if e.Said != "" {
		said = " It said: " + saying(e.Said)
	}
	if e.Setting != "" {
		blame = fmt.Sprintf(" The environment variable %[1]s names it. Unset %[1]s to use the built-in one.", e.Setting)
	}
	if run, ok := errors.AsType[*process.Error](e.Err); ok {
		failed, limited := `The command line "conversation" failed: `, *run
		if e.Program == "" {
			failed = "The environment variable " + e.Setting + " does not hold a command line: "
		} else if run.Kind == process.Timeout || run.Kind == process.OutputTooLarge {
			limited.Hint = "ask for less" // the limits are no settings
		}
		w.Message = failed + limited.ForModel() + "." + blame
		w.Detail = failed + limited.Error() + "." + blame
		return
	}
	output, isOutput := errors.AsType[*command.OutputError](e.Err)
	switch {
	case e.Lacks():
		w.Message = "This jp cannot serve conversations yet: its conversation " + e.Command + " does not print with --format=json what is needed." + said + blame
	case isOutput:
		w.Message = "The conversation command line did not print what was expected, one JSON array of records: " + shown(output.Reason) + "." + said + blame
	case said == "":
		w.Message = fmt.Sprintf("The conversation command line gave up with exit code %d and said nothing.", e.Exit) + blame
	default:
		w.Message = fmt.Sprintf("The conversation command line gave up with exit code %d and said: %s", e.Exit, saying(e.Said)) + blame
	}
}

// saying makes sentences of the lines that a program wrote.
func saying(said string) string {
	var sentences []string
	for line := range strings.Lines(said) {
		sentences = append(sentences, sentence(strings.TrimPrefix(strings.TrimSpace(line), "error: ")))
	}
	return strings.Join(strings.Fields(strings.Join(sentences, " ")), " ")
}

// sentence gives text a capital and a full stop. Text that begins with
// something other than a word, such as an id or a path, keeps its
// spelling.
func sentence(s string) string {
	word, _, _ := strings.Cut(s, " ")
	isOther := func(r rune) bool { return !unicode.IsLower(r) }
	if s != "" && !strings.ContainsFunc(strings.TrimRight(word, ".,:;"), isOther) {
		first, size := utf8.DecodeRuneInString(s)
		s = string(unicode.ToUpper(first)) + s[size:]
	}
	if s != "" && !strings.ContainsAny(s[len(s)-1:], ".?!") {
		s += "."
	}
	return s
}
