package recall

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
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
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/chatgpt"
	"github.com/convtools/convtools/runtime/store/command"
	"github.com/convtools/convtools/runtime/store/jp"
)

// otherIDs says what the caller can do about an id.
const otherIDs = " conversation_list shows the ids there are; archived=true shows those of archived conversations."

// maxShown is how many characters of a path, or of a cause, a message repeats.
const maxShown = 1000

// shown makes a text from anywhere safe to show in a message.
func shown(s string) string { return clip(text.Line(s), maxShown) }

// failure returns err as a [*contract.Error], whose Message is for a model and names no path of the user's machine, and
// whose Detail is for people. It takes the first of these that there is: a [*contract.Error] in the chain of err; the
// failure of an external program; the end of ctx; an error in the chain that this package has a message for; err.
func failure(ctx context.Context, err error) error {
	if worded, ok := errors.AsType[*contract.Error](err); ok {
		return worded
	}
	w := &contract.Error{Caller: true, Err: err}
	if e, ok := errors.AsType[*command.Error](err); ok {
		setProgramMessage(w, e)
		return w
	}
	if ctx.Err() != nil {
		w.Message, w.Transient, w.Caller = "Stopped because the request was canceled.", true, false
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			w.Message = "Stopped because the time for the request was up; ask for less."
		}
		return w
	}
	for cause := err; cause != nil && w.Message == ""; cause = wrapped(cause) {
		setLibraryMessage(w, cause)
	}
	if w.Message == "" {
		setUnknownMessage(w, "The conversations cannot be looked up", err)
	}
	return w
}

// wrapped returns the error that err wraps, the first one of several; nil if there is none.
func wrapped(err error) error {
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		return several.Unwrap()[0]
	}
	return errors.Unwrap(err)
}

// setUnknownMessage sets a message, and for people also its cause. The caller is not at fault.
func setUnknownMessage(w *contract.Error, message string, cause error) {
	w.Message, w.Caller = message+".", false
	w.Detail = message + ": " + shown(cause.Error()) + "."
}

// setLibraryMessage sets w.Message, which models see, and often w.Detail, which people see instead and which may have
// paths. It sets them only if err itself is an error of the conversation library or its configuration: failure calls
// setLibraryMessage again for each error that err wraps.
func setLibraryMessage(w *contract.Error, err error) {
	switch e := err.(type) { //nolint:errorlint // failure walks the chain
	case *chatgpt.MissingError:
		message := "Database not found: the environment variable " + e.Variable + " names "
		w.Message = message + "a file that does not exist."
		w.Detail = message + shown(e.Path) + ", which does not exist."
	case *conversations.NoWorkspaceError:
		w.Message, w.Detail, w.NoProject = noWorkspace(e, filepath.Base(e.Dir)), noWorkspace(e, e.Dir), true
	case *conversations.ExcludedError:
		w.Message = "The user has excluded the conversations of this project: they are not looked up."
		w.Detail = w.Message + " " + shown(e.By) + " does that."
		if e.Remembered != "" { // the file e.By is gone
			w.Detail = w.Message + " " + shown(e.By) + " did that, and it stays so now that it is gone; convtools stores include " + shown(e.Remembered) + " takes it back."
		}
	case *config.Error:
		setUnknownMessage(w, "No conversations are looked up, because the user's settings about them cannot be used", e)
	case *config.OutsideError:
		const message = "The conversations of this workspace are not looked up: "
		w.Message = message + "the project's own files lead out of the project. The user can allow that in their own configuration: directories of [trust]."
		w.Detail = message + shown(e.Error()) + "."
	case *conversations.UnavailableError:
		if missing, ok := errors.AsType[*chatgpt.MissingError](e); ok {
			setLibraryMessage(w, missing)
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
		w.Message = sentence(badIDs(w.Err)) + otherIDs // w.Err is the whole error, which may join e and others
	case *conversations.NotFoundError:
		setNotFoundMessage(w, e)
	case *conversations.RangeError:
		w.Message = fmt.Sprintf("Turn %d out of range (conversation has %s). Turns count from 1; last=1 reads the last one.", e.N, text.Count(e.Of, "turn", "turns"))
		if e.Events {
			w.Message = fmt.Sprintf("Event %d out of range (conversation has %s). Events count from 1 through the whole conversation.", e.N, text.Count(e.Of, "event", "events"))
		}
	case *excerpt.PatternError:
		w.Message = badPattern(e)
	}
}

// badIDs returns what is wrong with each id that an error, or a join of errors, is about.
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

// setNotFoundMessage says which conversations are not found, which ids are near, and what could not be read.
func setNotFoundMessage(w *contract.Error, e *conversations.NotFoundError) {
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

// noWorkspace says that there is no workspace, with dir as the name of its directory, and what to do.
func noWorkspace(e *conversations.NoWorkspaceError, dir string) string {
	const cannot = "Could not locate workspace: "
	if e.Missing {
		return cannot + shown(dir) + " does not exist; name a directory of a project that has a .jp directory."
	}
	return cannot + "no .jp directory in " + shown(dir) + " or above it, and no other program has recorded a conversation there; change to a project that has one, or name it with -w DIR."
}

// badPattern says why a pattern is refused.
func badPattern(e *excerpt.PatternError) string {
	if e.Err == nil {
		return sentence(e.Error())
	}
	why := e.Err.Error()
	if syntactic, ok := errors.AsType[*syntax.Error](e.Err); ok {
		why = fmt.Sprintf("%v: %s", syntactic.Code, strings.TrimPrefix(syntactic.Expr, "(?i)"))
	}
	return "Invalid pattern: " + shown(why) + ". The syntax is RE2, without look-around and back-references; leave out regex to search for the text as it is."
}

// setProgramMessage sets the message for the failure of an external program: what failed, what the program said, and
// the environment variable that has its command line. If e.Program is "", the variable does not hold a command line.
func setProgramMessage(w *contract.Error, e *command.Error) {
	w.Transient, w.Caller = e.Transient, e.Exit == 1 || e.Exit == 2 // 1 is a failure such as an unknown id, 2 a bad argument
	said, blame := "", ""
	if e.Said != "" {
		said = " It said: " + sentences(e.Said)
	}
	if e.Setting != "" {
		blame = fmt.Sprintf(" The environment variable %[1]s names it. Unset %[1]s to use the built-in one.", e.Setting)
	}
	if run, ok := errors.AsType[*process.Error](e.Err); ok {
		failed, limited := `The command line "conversation" failed: `, *run // a copy, whose hint may be changed
		if e.Program == "" {
			failed = "The environment variable " + e.Setting + " does not hold a command line: "
		} else if run.Kind == process.Timeout || run.Kind == process.OutputTooLarge {
			limited.Hint = "ask for less" // the limits of time and output cannot be raised
		}
		w.Message = failed + limited.ForModel() + "." + blame
		w.Detail = failed + limited.Error() + "." + blame
		return
	}
	switch {
	case e.Lacks():
		w.Message = "This jp cannot serve conversations yet: its conversation " + e.Command + " does not print with --format=json what is needed." + said
	case e.Output != "":
		w.Message = "The conversation command line did not print what was expected, one JSON array of records: " + shown(e.Output) + "." + said
	default:
		w.Message = fmt.Sprintf("The conversation command line gave up with exit code %d and said", e.Exit) +
			either(said == "", " nothing.", ": "+sentences(e.Said))
	}
	w.Message += blame
}

// sentences returns the lines that a program wrote as sentences, on one line.
func sentences(said string) string {
	all := ""
	for line := range strings.Lines(said) {
		all += " " + sentence(strings.TrimPrefix(strings.TrimSpace(line), "error: "))
	}
	return strings.Join(strings.Fields(all), " ")
}

// sentence returns a text with a capital at its beginning and a full stop at its end. If the first word is not all
// lower-case letters, as an id or a path is not, the beginning stays as it is. The empty text stays empty.
func sentence(s string) string {
	if s == "" {
		return ""
	}
	word, _, _ := strings.Cut(s, " ")
	word = strings.TrimRight(word, ".,:;")
	if isAllLower := strings.TrimFunc(word, unicode.IsLower) == ""; isAllLower {
		first, size := utf8.DecodeRuneInString(s)
		s = string(unicode.ToUpper(first)) + s[size:]
	}
	if hasEnd := strings.ContainsAny(s[len(s)-1:], ".?!"); !hasEnd {
		s += "."
	}
	return s
}

// Bounds on what notes and errors repeat, in characters and in number.
const (
	maxRemark = 300
	maxReason = 160
	maxListed = 5
	maxNames  = 20 // in an error
)

// remarks returns the notes of a call, each on one line and cut, because a note may repeat arguments of any length.
func remarks(call contract.Call) []string {
	notes := make([]string, len(call.Notes))
	for i, note := range call.Notes {
		notes[i] = clip(text.Line(note), maxRemark)
	}
	return notes
}

// missedNotes returns a note about the problems because of which something was not searched; nil if there are none.
func missedNotes(problems []conversations.Problem) []string {
	var missed []conversations.Problem
	for _, p := range problems {
		if p.Kind != store.Duplicate && p.Kind != store.BadField {
			missed = append(missed, p)
		}
	}
	return problemNotes("Not searched: ", missed)
}

// problemNotes returns one note: opening, and the first of the problems. It returns nil if there are none.
func problemNotes(opening string, problems []conversations.Problem) []string {
	if len(problems) == 0 {
		return nil
	}
	return []string{opening + listProblems(problems) + "."}
}

// listProblems returns the descriptions of the first maxListed problems, and the number of the other problems.
func listProblems(problems []conversations.Problem) string {
	parts := make([]string, len(problems))
	for i := range problems {
		parts[i] = describe(&problems[i])
	}
	return bounded(parts, "; ", maxListed)
}

// describe returns what a problem is about, and in brackets what is wrong.
func describe(p *conversations.Problem) string {
	about, why := string(p.ID), ""
	switch {
	case about != "": // a conversation
	case p.Source != "" && p.Source != jp.Name:
		about = "some of " + p.Source
	default:
		about = "a whole store"
	}
	switch p.Kind {
	case store.DamagedEvents:
		return about + " from where it is damaged"
	case store.TooLarge:
		about, why = "some of "+about, p.Err.Error()
	case store.Unnamed:
		about, why = clip(text.Quote(p.File), maxReason), p.Err.Error()
	case store.SwitchedOff:
		about, why = p.Source, "the user's settings switch it off"
	case store.Reported:
		about, why = cmp.Or(string(p.ID), "one without an id"), "the conversation command line says so"
	case store.BadField:
		about, why = p.Field+" of "+about, "it cannot be used"
	case store.Duplicate:
		why = "another directory has the same id"
	case store.Outside:
		why = cmp.Or(p.File, "it") + " is a link that leads out of the store"
	case store.Linked:
		why = "it is a link; only directories are read"
	case store.Vanishing:
		why = "its directory is renamed or removed again and again"
	case store.BadMetadata:
		why = "its metadata cannot be used" + because(p.Err)
	default:
		why = "it cannot be read" + because(p.Err)
	}
	return about + " (" + why + ")"
}

// because returns a colon and the reason for an error, without a path or recorded text; "" for an error that is not one
// of the cases below.
func because(err error) string {
	var known interface{ ForModel() string }
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ": a file is missing"
	case errors.Is(err, fs.ErrPermission):
		return ": permission denied"
	case errors.As(err, &known):
		return ": " + known.ForModel()
	}
	return ""
}

// clip returns the first n characters of s, and an ellipsis where there are more.
func clip(s string, n int) string { return text.Cut(s, n+1) }

// join returns words between commas, and last, such as "or", before the last word.
func join(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " " + last + " " + words[len(words)-1]
}

// bounded joins the first most texts with a separator, and counts the rest: "a, b, and 3 more".
func bounded[T ~string](all []T, separator string, most int) string {
	var texts []string
	for _, s := range all[:min(len(all), most)] {
		texts = append(texts, string(s))
	}
	if rest := len(all) - most; rest > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", rest))
	}
	return strings.Join(texts, separator)
}

// either returns yes if is is true, and no otherwise.
func either[T any](is bool, yes, no T) T {
	if is {
		return yes
	}
	return no
}

// given returns the value of an optional parameter, zero if it is missing.
func given[T any](p *T) (value T) {
	if p != nil {
		value = *p
	}
	return value
}
