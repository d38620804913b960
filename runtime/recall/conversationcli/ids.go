package conversationcli

import (
	"context"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

// bare parts an id into the name of the program that recorded the conversation and the
// program's own id.
func bare(id transcript.ID) (program, own string) {
	if own, ok := strings.CutPrefix(string(id), "jp-c"); ok {
		return "jp", own
	}
	if program, own, ok := strings.Cut(string(id), "-"); ok {
		return program, own
	}
	return "", string(id)
}

// begun returns the conversations of a list whose ids begin with a text, with or without the
// name of the program: the one that has the text as its id, or else sessions before parts
// of them. The part of a session, after the dot, may be a prefix too.
func begun(list []conversations.Listed, text string) (found []conversations.Listed) {
	if id, err := conversations.ParseID(text); err == nil {
		if i := indexOf(list, id); i >= 0 {
			return list[i : i+1]
		}
	}
	session, part, _ := strings.Cut(strings.ToLower(text), ".")
	begins := func(id string) bool {
		ofSession, ofPart, _ := strings.Cut(strings.ToLower(id), ".")
		return session != "" && strings.HasPrefix(ofSession, session) && strings.HasPrefix(ofPart, part)
	}
	isPart := func(l conversations.Listed) bool { return strings.Contains(string(l.ID), ".") }
	for _, l := range list {
		if _, own := bare(l.ID); begins(own) || begins(string(l.ID)) {
			found = append(found, l)
		}
	}
	if sessions := slices.DeleteFunc(slices.Clone(found), isPart); part == "" && len(sessions) > 0 {
		return sessions
	}
	return found
}

// one returns the conversation of a list whose id is a text or begins with it; nil for none.
// Where there are several it names them.
func (c *commands) one(list []conversations.Listed, text string) (*conversations.Listed, error) {
	found := begun(list, text)
	if len(found) == 0 {
		return nil, nil
	}
	if len(found) == 1 {
		return &found[0], nil
	}
	for _, l := range found[:min(len(found), maxNamed)] {
		c.note("%s", strings.TrimSpace(acted("", l)))
	}
	return nil, failed("write more of the id that is meant", "%q begins the ids of %s", text, plural(len(found), "conversation"))
}

// whole replaces texts that begin the id of one conversation by the id. Others stay as they
// are: an id of a conversation, and what begins none.
func (c *commands) whole(ctx context.Context, texts []string) ([]string, error) {
	if !slices.ContainsFunc(texts, isShort) {
		return texts, nil
	}
	if _, err := c.all(ctx, conversations.Filter{IDs: texts}); err == nil {
		return texts, nil
	}
	lists := map[string][]conversations.Listed{} // by archive; those of programs by ""
	ids := slices.Clone(texts)
	for i, text := range texts {
		archive := conversations.SourceOf(transcript.ID(text))
		if conversations.IsProgram(archive) {
			archive = ""
		}
		if _, ok := lists[archive]; !ok { // an error is that of the command, which looks for the text then
			lists[archive], _ = c.all(ctx, conversations.Filter{Both: true, Hidden: true, Sources: filled(archive)})
		}
		l, err := c.one(lists[archive], text)
		if err != nil {
			return nil, err
		}
		if l != nil {
			ids[i] = string(l.ID)
		}
	}
	return ids, nil
}

// isShort reports whether a text may be the beginning of a longer id.
func isShort(text string) bool {
	id, err := conversations.ParseID(text)
	isArchived := !conversations.IsProgram(conversations.SourceOf(id))
	return err != nil || isArchived || len(id) < len("jp-c17737387251") || strings.Contains(string(id), ".")
}

// shortID is how many characters of a program's own id a terminal shows at least.
const shortID = 8

// short returns how a list shows ids: on a terminal without the name of the program, and as
// much as is needed to tell each from those of all others. The ids of archives keep the
// name, without which they are not looked for.
func (c *commands) short(all []conversations.Listed) func(transcript.ID) string {
	if !c.out.isTable() {
		return func(id transcript.ID) string { return string(id) }
	}
	beside := map[string][]string{} // sessions by "", and the parts of a session by it
	for _, l := range all {
		_, own := bare(l.ID)
		session, part, _ := strings.Cut(strings.ToLower(own), ".")
		beside[""] = append(beside[""], session)
		if part != "" {
			beside[session] = append(beside[session], part)
		}
	}
	for in, names := range beside {
		slices.Sort(names)
		beside[in] = slices.Compact(names)
	}
	return func(id transcript.ID) string {
		program, own := bare(id)
		session, part, _ := strings.Cut(own, ".")
		shown := apart(beside[""], session)
		if part != "" {
			shown += "." + apart(beside[strings.ToLower(session)], part)
		}
		return either(conversations.IsProgram(conversations.SourceOf(id)), "", program+"-") + shown
	}
}

// apart returns the beginning of a name that no other of some sorted names has, of shortID
// characters at least.
func apart(names []string, name string) string {
	lower, length := strings.ToLower(name), shortID
	at, _ := slices.BinarySearch(names, lower)
	for _, other := range names[max(at-1, 0):min(at+2, len(names))] {
		n := 0
		for n < min(len(other), len(lower)) && other[n] == lower[n] {
			n++
		}
		if other != lower {
			length = max(length, n+1)
		}
	}
	return name[:min(length, len(name))]
}
