package recall

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"regexp/syntax"
	"slices"
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
	"github.com/convtools/convtools/runtime/transcript"
)

// errTooLong is the cause of a context that ends with [callLimit].
var errTooLong = errors.New("the time for a call is up")

// otherIDs is what the caller can do about an id.
const otherIDs = " conversation_list shows the ids there are; archived=true shows those of archived conversations."

// failure words what a source has failed with: for a model, which is not told where
// on the user's machine anything is, and for people.
func failure(ctx context.Context, err error) error {
	var (
		worded      *contract.Error
		bad         *conversations.BadIDError
		missing     *conversations.NotFoundError
		nowhere     *conversations.NoWorkspaceError
		excluded    *conversations.ExcludedError
		settings    *config.Error
		outside     *config.OutsideError
		beyond      *conversations.RangeError
		pattern     *excerpt.PatternError
		unreadable  *conversations.UnreadableError
		unavailable *conversations.UnavailableError
		program     *command.Error
		database    *chatgpt.MissingError
	)
	fixable := func(message, detail string) error {
		return &contract.Error{Message: message, Detail: detail, Caller: true, Err: err}
	}
	private := func(message string, cause error) error {
		return &contract.Error{Message: message + ".", Detail: message + ": " + shown(cause.Error()) + ".", Err: err}
	}
	switch {
	case errors.As(err, &worded):
		return worded
	case errors.As(err, &database):
		message := "Database not found: the environment variable " + database.Variable + " names "
		return fixable(message+"a file that does not exist.", message+shown(database.Path)+", which does not exist.")
	case errors.As(err, &program):
		return ofProgram(program)
	case ctx.Err() != nil:
		return &contract.Error{Message: stopped(ctx), Transient: true, Err: err}
	case errors.As(err, &bad):
		return fixable(sentence(badIDs(err))+otherIDs, "")
	case errors.As(err, &missing):
		return notFound(missing, err)
	case errors.As(err, &nowhere):
		return noWorkspace(nowhere)
	case errors.As(err, &excluded):
		const message = "The user has excluded the conversations of this project: they are not looked up. "
		how := " does that."
		if excluded.Remembered != "" {
			how = " did that, and it stays so now that it is gone; " + takeBack(excluded) + " takes it back."
		}
		return fixable(strings.TrimSpace(message), message+shown(excluded.By)+how)
	case errors.As(err, &settings):
		return private("No conversations are looked up, because the user's settings about them cannot be used", settings)
	case errors.As(err, &outside):
		const message = "The conversations of this workspace are not looked up: "
		return fixable(message+"the project's own files lead out of the project. The user can allow that in their own configuration: directories of [trust].",
			message+shown(outside.Error())+".")
	case errors.As(err, &beyond) && !beyond.Events:
		return fixable(outOfRange("turn", beyond.N, beyond.Of)+" Turns count from 1; last=1 reads the last one.", "")
	case beyond != nil:
		return fixable(outOfRange("event", beyond.N, beyond.Of)+" Events count from 1 through the whole conversation.", "")
	case errors.As(err, &pattern):
		return fixable(badPattern(pattern), "")
	case errors.As(err, &unreadable):
		return fixable("Conversation "+string(unreadable.ID)+" cannot be read"+because(unreadable.Err)+".", sentence(shown(unreadable.Err.Error())))
	case errors.As(err, &unavailable):
		return ofStore(unavailable)
	default:
		return private("The conversations cannot be looked up", err)
	}
}

// takeBack is the command that takes back an exclusion that is remembered.
func takeBack(e *conversations.ExcludedError) string {
	return "convtools stores include " + shown(e.Remembered)
}

// outOfRange words that there is no turn, or no event, with a number. Numbers that are
// larger than any are read as the largest, which nobody asked for.
func outOfRange(what string, n, all int) string {
	problem := fmt.Sprintf("%s %d out of range", strings.ToUpper(what[:1])+what[1:], n)
	if n == math.MaxInt {
		problem = "There is no such " + what + ": it is out of range"
	}
	return fmt.Sprintf("%s (conversation has %s).", problem, text.Count(all, what, what+"s"))
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

// badIDs is what is wrong with the ids in an error, which may be about several.
func badIDs(err error) string {
	var bad *conversations.BadIDError
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		var texts []string
		for _, err := range several.Unwrap() {
			texts = append(texts, badIDs(err))
		}
		return bounded(texts, "; ", maxNames)
	} else if errors.As(err, &bad) {
		err = bad
	}
	return shown(err.Error())
}

func notFound(e *conversations.NotFoundError, err error) error {
	what := either(len(e.IDs) > 1, "Conversations ", "Conversation ") + bounded(names(e.IDs), ", ", maxNames) + " not found in "
	rest := "."
	if len(e.Nearest) > 0 {
		rest += " Nearest ids: " + bounded(names(e.Nearest), ", ", maxNames) + "."
	}
	if len(e.Unread) > 0 {
		rest += " What could not be read may have more: " + namely(e.Unread, true) + "."
	}
	worded := &contract.Error{Message: what + "this project" + rest + otherIDs, Caller: true, Err: err}
	if e.Place != "" {
		worded.Detail = what + shown(e.Place) + rest + otherIDs
	}
	return worded
}

func names(ids []transcript.ID) []string {
	var texts []string
	for _, id := range ids {
		texts = append(texts, string(id))
	}
	return texts
}

func noWorkspace(e *conversations.NoWorkspaceError) error {
	const cannot = "Could not locate workspace: "
	word := func(dir string) string {
		if e.Missing {
			return cannot + shown(dir) + " does not exist; name a directory of a project that has a .jp directory."
		}
		return cannot + "no .jp directory in " + shown(dir) + " or above it, and no other program has recorded a conversation there; change to a project that has one, or name it with -w DIR."
	}
	return &contract.Error{Message: word(filepath.Base(e.Dir)), Detail: word(e.Dir), Caller: true, NoProject: true, Err: e}
}

// badPattern words why a pattern cannot be searched for.
func badPattern(e *excerpt.PatternError) string {
	if e.Reason != excerpt.PatternSyntax {
		return "The pattern " + [...]string{
			excerpt.PatternEmpty: "is empty.", excerpt.PatternHasNUL: "contains a NUL byte.",
			excerpt.PatternHasLines: "has more than one line, and the search goes line by line.",
			excerpt.PatternNotUTF8:  "is not valid UTF-8.", excerpt.PatternTooLarge: "is too long. Use a shorter one.",
		}[e.Reason]
	}
	why := e.Err.Error()
	var syntactic *syntax.Error
	if errors.As(e.Err, &syntactic) {
		why = fmt.Sprintf("%v: %s", syntactic.Code, strings.TrimPrefix(syntactic.Expr, "(?i)"))
	}
	return "Invalid pattern: " + shown(why) + ". The syntax is RE2, without look-around and back-references; leave out regex to search for the text as it is."
}

// ofStore is the error for conversations that cannot be read.
func ofStore(e *conversations.UnavailableError) error {
	worded := &contract.Error{Message: "What is recorded cannot be read" + because(e.Err) + ".", Caller: true, Err: e}
	if e.Err != nil {
		worded.Detail = sentence(shown(e.Err.Error()))
	}
	if e.Path != "" && !strings.Contains(worded.Detail, shown(e.Path)) {
		worded.Detail = fmt.Sprintf("%s: %s", shown(e.Path), worded.Detail)
	}
	return worded
}

// ofProgram is the error for an external program. What it says is shown as what it
// said, with the setting that chose the program.
func ofProgram(e *command.Error) error {
	worded := &contract.Error{Err: e, Transient: e.Transient, Caller: e.Exit == 1 || e.Exit == 2}
	blame, said := "", " It said: "+saying(e.Said)
	if e.Setting != "" {
		blame = " The environment variable " + e.Setting + " names it. Unset " + e.Setting + " to use the built-in one."
	}
	if e.Said == "" {
		said = ""
	}
	var run *process.Error
	var output *command.OutputError
	switch {
	case errors.As(e.Err, &run):
		failed, limited := `The command line "conversation" failed: `, *run
		if e.Program == "" {
			failed = "The environment variable " + e.Setting + " does not hold a command line: "
			blame = " Unset " + e.Setting + " to use the built-in one."
		} else if run.Kind == process.Timeout || run.Kind == process.OutputTooLarge {
			limited.Hint = "ask for less" // the limits are no settings
		}
		worded.Message = failed + limited.ForModel() + "." + blame
		worded.Detail = failed + limited.Error() + "." + blame
	case e.Lacks():
		worded.Message = lacking(e) + said
		if e.Setting != "" {
			worded.Message += " Unset " + e.Setting + ": the built-in command line reads the same files."
		}
	case errors.As(e.Err, &output):
		worded.Message = "The conversation command line did not print what was expected, one JSON array of records: " + shown(output.Reason) + "." + said + blame
	case said == "":
		worded.Message = fmt.Sprintf("The conversation command line gave up with exit code %d and said nothing.", e.Exit) + blame
	default:
		worded.Message = fmt.Sprintf("The conversation command line gave up with exit code %d and said: %s", e.Exit, saying(e.Said)) + blame
	}
	return worded
}

// lacking words what a jp does not do that is asked of a conversation command line.
func lacking(e *command.Error) string {
	what := "prints the headings of its table as keys with --format=json, where keys in snake_case are needed"
	switch {
	case e.Exit != 0:
		what = "does not know all the flags that are needed, or cannot use their values"
	case e.Command == "print":
		what = "prints prose with --format=json, where events are needed"
	}
	return "This jp cannot serve conversations yet: its conversation " + e.Command + " " + what + "."
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
// something other than a word, such as an id or a path, keeps its spelling.
func sentence(s string) string {
	word, _, _ := strings.Cut(s, " ")
	if s != "" && !strings.ContainsFunc(strings.TrimRight(word, ".,:;"), func(r rune) bool { return !unicode.IsLower(r) }) {
		first, size := utf8.DecodeRuneInString(s)
		s = string(unicode.ToUpper(first)) + s[size:]
	}
	if s != "" && !strings.ContainsAny(s[len(s)-1:], ".?!") {
		s += "."
	}
	return s
}

// maxNames is how many of anything an error names.
const maxNames = 20

// bounded joins the first of some texts, and counts the others.
func bounded(texts []string, separator string, most int) string {
	if more := len(texts) - most; more > 0 {
		texts = append(slices.Clone(texts[:most]), fmt.Sprintf("and %d more", more))
	}
	return strings.Join(texts, separator)
}

// shown makes a text that may come from anywhere safe to show in a message.
func shown(s string) string { return clip(text.Line(s), maxShown) }

// maxShown is how many characters of a path, or of a cause, a message repeats.
const maxShown = 1000
