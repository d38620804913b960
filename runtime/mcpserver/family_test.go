package mcpserver_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/toolset"
)

// conversations is a family without tools, with an address for each of a few
// conversations, prompts about them, and instructions.
func conversations() toolset.Family {
	complete := func(_ context.Context, prefix string) ([]string, error) { return titled(prefix), nil }
	return toolset.Family{
		Name:     "conversations",
		Declared: func() []contract.Tool { return nil },
		Instructions: func(_ context.Context, where contract.Context) string {
			if where.ConversationID == "" {
				return "Which conversation you are in is not known here."
			}
			return "The conversation you are in is left out of the results."
		},
		Resources: []toolset.Resources{{
			Name: "conversation", Title: "Earlier conversation", Description: "What was said in an earlier conversation.",
			MIMEType: "text/xml", Template: "conversation://{id}",
			Read: readConversation,
			Complete: func(ctx context.Context, _, prefix string, _ map[string]string) ([]string, error) {
				return complete(ctx, prefix)
			},
		}},
		Prompts: []toolset.Prompt{{
			Name: "recall", Title: "Recall a topic", Description: "Find out what was said about a topic",
			Arguments: []toolset.PromptArgument{{
				Name: "topic", Description: "What to look for, in a few words", Required: true, Words: true,
				Check: func(topic string) string {
					if strings.ContainsFunc(topic, unicode.IsControl) || utf8.RuneCountInString(topic) > 500 {
						return "topic has to be one line of at most 500 characters"
					}
					return ""
				},
			}},
			Write: func(arguments map[string]string) (string, error) {
				return "Find out what was said about " + strconv.Quote(arguments["topic"]) + " in the earlier conversations of this workspace.", nil
			},
		}, {
			Name: "resume", Title: "Resume a conversation", Description: "Pick up the work of an earlier conversation where it ended",
			Arguments: []toolset.PromptArgument{{
				Name: "id", Description: "The conversation; completes from its id or its title", Required: true, Complete: complete,
				Check: func(id string) string {
					if strings.ContainsAny(id, "/ ") {
						return "id has to be the id of a conversation, such as conversation_list gives"
					}
					return ""
				},
			}},
			Write: func(arguments map[string]string) (string, error) {
				return "Pick up the work of conversation " + arguments["id"] + " where it ended.", nil
			},
		}},
	}
}

// readConversation reads jp-c1, and fails in a way of its own for others.
func readConversation(_ context.Context, where contract.Context, uri string) (toolset.Contents, error) {
	switch id := strings.TrimPrefix(uri, "conversation://"); id {
	case "jp-c1":
		return toolset.Contents{Text: "<conversation_read from=" + strconv.Quote(where.ConversationID) + "/>", MIMEType: "text/xml"}, nil
	case "jp-workspace":
		return toolset.Contents{}, &contract.Error{Message: "Could not locate workspace.", Caller: true, NoProject: true}
	case "jp-broken":
		return toolset.Contents{}, errors.New("open /home/somebody/conversations: input/output error")
	default:
		return toolset.Contents{}, &toolset.NotFoundError{URI: uri, Reason: "Conversation " + strconv.Quote(id) + " not found."}
	}
}

// titled returns the conversations whose id or title begins with prefix, and then
// those that have it in their title.
func titled(prefix string) []string {
	prefix = strings.ToLower(prefix)
	var first, later []string
	for _, c := range [][2]string{{"jp-c17000000002", "about retry limits"}, {"jp-c17000000001", "retry with backoff"}, {"jp-c18000000000", ""}} {
		switch {
		case strings.HasPrefix(c[0], prefix), strings.HasPrefix(c[1], prefix):
			first = append(first, c[0])
		case strings.Contains(c[1], prefix):
			later = append(later, c[0])
		}
	}
	return append(first, later...)
}
