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

// otherIDs says what the caller can do about an id.
const otherIDs = " conversation_list shows the ids there are; archived=true shows those of archived conversations."

// maxShown is how many characters of a path, or of a cause, a message repeats.
const maxShown = 1000

// shown makes a text from anywhere safe to show in a message.
func shown(s string) string { return clip(text.Line(s), maxShown) }

// failure returns err as a [*contract.Error]. Its Message is for a model and
// names no path of the user's machine; its Detail is for people.
func failure(ctx context.Context, err error) error {
	if worded, ok := errors.AsType[*contract.Error](err); ok {
		return worded
	}
	w := &contract.Error{Caller: true, Err: err}
	if e, ok := errors.AsType[*command.Error](err); ok {
		ofProgram(w, e)
		return w
	}
	if ctx.Err() != nil {
		w.Message, w.Transient, w.Caller = stopped(ctx), true, false
		return w
	}
	for cause := err; cause != nil && w.Message == ""; cause = next(cause) {
		ofLibrary(w, cause)
	}
	if w.Message == "" {
		unknown(w, "The conversations cannot be looked up", err)
	}
	return w
}

// next returns the error that err wraps, the first one of several.
func next(err error) error {
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		return several.Unwrap()[0]
	}
	return errors.Unwrap(err)
}

// unknown sets a message that gives the cause to people only.
func unknown(w *contract.Error, message string, cause error) {
	w.Message, w.Caller = message+".", false
	w.Detail = message + ": " + shown(cause.Error()) + "."
}

// ofLibrary sets the message for an error of a library. It sets none for any
// other error, or one that only wraps another.
func ofLibrary(w *contract.Error, err error) {
	switch e := err.(type) { //nolint:errorlint // failure walks the chain
	case *chatgpt.MissingError:
		message := "Database not found: the environment variable " + e.Variable + " names "
		w.Message = message + "a file that does not exist."
		w.Detail = message + shown(e.Path) + ", which does not exist."
	case *conversations.NoWorkspaceError:
		w.Message, w.Detail, w.NoProject = noWorkspace(e, filepath.Base(e.Dir)), noWorkspace(e, e.Dir), true
	case *conversations.ExcludedError:
		excluded(w, e)
	case *config.Error:
		unknown(w, "No conversations are looked up, because the user's settings about them cannot be used", e)
	case *config.OutsideError:
		const message = "The conversations of this workspace are not looked up: "
		w.Message = message + "the project's own files lead out of the project. The user can allow that in their own configuration: directories of [trust]."
		w.Detail = message + shown(e.Error()) + "."
	case *conversations.UnavailableError:
		if missing, ok := errors.AsType[*chatgpt.MissingError](e); ok {
			ofLibrary(w, missing)
			return
		}
		w.Message = "What is recorded cannot be read" + because(e.Err) + "."
		w.Detail = sentence(shown(e.Err.Error()))
		if path := shown(e.Path); !strings.Contains(w.Detail, path) {
			w.Detail = path + ": " + w.Detail
		}
	case *conversations.UnreadableError:
		w.Message = "Conversation " + string(e.ID) + " cannot be read" + because(e.Err) + "."
		w.Detail = sentence(shown(e.Err.Error()))
	case *conversations.BadIDError:
		w.Message = sentence(badIDs(w.Err)) + otherIDs
	case *conversations.NotFoundError:
		notFound(w, e)
	case *conversations.RangeError:
		w.Message = fmt.Sprintf("Turn %d out of range (conversation has %s). Turns count from 1; last=1 reads the last one.", e.N, text.Count(e.Of, "turn", "turns"))
		if e.Events {
			w.Message = fmt.Sprintf("Event %d out of range (conversation has %s). Events count from 1 through the whole conversation.", e.N, text.Count(e.Of, "event", "events"))
		}
	case *excerpt.PatternError:
		w.Message = badPattern(e)
	}
}

// stopped says why a context ended a call.
func stopped(ctx context.Context) string {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errTooLong):
		return fmt.Sprintf("Stopped because it did not finish within %v; ask for less.", callLimit)
	case errors.Is(cause, context.DeadlineExceeded):
		return "Stopped because the time for the whole request was up; ask for less, or allow the request more time."
	}
	return "Stopped because the request was canceled."
}

func excluded(w *contract.Error, e *conversations.ExcludedError) {
	w.Message = "The user has excluded the conversations of this project: they are not looked up."
	how := " does that."
	if e.Remembered != "" {
		how = " did that, and it stays so now that it is gone; convtools stores include " + shown(e.Remembered) + " takes it back."
	}
	w.Detail = w.Message + " " + shown(e.By) + how
}

// badIDs says what is wrong with each id that an error is about.
func badIDs(err error) string {
	several, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return shown(err.Error())
	}
	var texts []string
	for _, err := range several.Unwrap() {
		texts = append(texts, shown(err.Error()))
	}
	return bounded(texts, "; ", maxNames)
}

func notFound(w *contract.Error, e *conversations.NotFoundError) {
	what := either(len(e.IDs) > 1, "Conversations ", "Conversation ") + bounded(e.IDs, ", ", maxNames) + " not found in "
	rest := "."
	if len(e.Nearest) > 0 {
		rest += " Nearest ids: " + bounded(e.Nearest, ", ", maxNames) + "."
	}
	if len(e.Unread) > 0 {
		rest += " What could not be read may have more: " + listProblems(e.Unread) + "."
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

// ofProgram sets the message for the failure of an external program: what
// the program said, and the setting that chose it.
func ofProgram(w *contract.Error, e *command.Error) {
	w.Transient, w.Caller = e.Transient, e.Exit == 1 || e.Exit == 2
	said, blame := "", ""
	if e.Said != "" {
		said = " It said: " + sentences(e.Said)
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
		w.Message = "This jp cannot serve conversations yet: its conversation " + e.Command + " does not print with --format=json what is needed." + said
	case isOutput:
		w.Message = "The conversation command line did not print what was expected, one JSON array of records: " + shown(output.Reason) + "." + said
	default:
		w.Message = fmt.Sprintf("The conversation command line gave up with exit code %d and said", e.Exit) +
			either(said == "", " nothing.", ": "+sentences(e.Said))
	}
	w.Message += blame
}

// sentences makes sentences of the lines that a program wrote.
func sentences(said string) string {
	var all []string
	for line := range strings.Lines(said) {
		all = append(all, sentence(strings.TrimPrefix(strings.TrimSpace(line), "error: ")))
	}
	return strings.Join(strings.Fields(strings.Join(all, " ")), " ")
}

// sentence gives a text a capital and a full stop. A text that does not begin
// with a word, but with an id or a path, keeps its spelling.
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
