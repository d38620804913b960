package recall_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

const grepArgs = "conversation grep --format=json --summary --max-line=400 "

// hit is a record of "conversation grep"; more is members that replace others.
func hit(id string, turn int, scope, line string, match bool, event, number int, more string) string {
	return object(`{"timestamp":"2026-03-06T09:27:11.5Z","title":"Retry policy","submatches":[]}`,
		fmt.Sprintf(`{"id":%s,"turn":%d,"scope":%s,"text":%s,"match":%v,"line":%d,"event":%d}`, text(id), turn, text(scope), text(line), match, number, event),
		"{"+strings.TrimPrefix(more, ",")+"}")
}

func titleHit(id, title string) string {
	return hit(id, 0, "title", title, true, 0, 0, `"turn":null,"timestamp":null,"line":null,"event":null,"title":`+text(title))
}

// hits is count matching lines of 100 characters.
func hits(count int, line string) []string {
	list := make([]string, count)
	for i := range list {
		list[i] = hit("jp-c17727547754", i/10+1, "tool-result", line, true, i/10, 2*i+1, "")
	}
	return list
}

func grepCases() []golden {
	const (
		a        = "jp-c17727547754"
		b        = "jp-c17700000002"
		defaults = "--ignore-case --context=0 --max-hits=50 -- retry"
	)
	none := func(more string) cli {
		return cli{exit: 1, stdout: `[{"summary":{"matches":0,"returned":0,"searched":131,"conversations":[],"conversations_matched":0,"excluded":[],"skipped":[]` + more + `}}]`}
	}
	with := func(c cli, args []string) cli {
		c.args = args
		return c
	}
	return []golden{
		{
			file: "groups", call: `{"pattern":"retry"}`,
			cli: cli{
				args: argv(grepArgs + defaults),
				stdout: listed([]string{
					titleHit(a, "retry or not"),
					hit(a, 141, "user", "retry it?", true, 3, 1, ""),
					hit(a, 142, "tool-call", "\t\"retry\": true,", true, 9, 4, ""),
					hit(b, 1, "assistant", "if a < b { retry() } ]]> </hit>", true, 5, 2, ""),
				}, `{"matches":4,"returned":4,"searched":131,"conversations":[{"id":"`+a+`","title":"retry or not","matches":3,"turns":142},{"id":"`+b+`","title":"Retry policy","matches":1,"turns":2}],"conversations_matched":2,"excluded":[],"skipped":[]}`),
			},
		},
		{
			file: "context", call: `{"pattern":"retry","context":1,"ignore_case":false,"scopes":["chat","tool_result"],"ids":[17727547754,"jp-c17700000002"]}`,
			cli: cli{
				args: argv(grepArgs + "--case-sensitive --context=1 --max-hits=50 --scope=chat --scope=tool-result --id=17727547754 --id=jp-c17700000002 -- retry"),
				stdout: listed([]string{
					hit(a, 141, "user", "before", false, 3, 1, ""),
					hit(a, 141, "user", "retry", true, 3, 2, ""),
					hit(a, 141, "user", "between", false, 3, 3, ""),
					hit(a, 141, "user", "retry", true, 3, 4, ""),
					hit(a, 141, "user", "after", false, 3, 5, ""),
					hit(a, 141, "user", "far below", false, 3, 80, ""),
					hit(a, 141, "user", "retry", true, 3, 81, ""),
					hit(a, 141, "assistant", "retry", true, 4, 1, ""),
					hit(b, 1, "assistant", "retry", true, 5, 2, ""),
				}, `{"matches":5,"returned":5,"searched":2,"conversations":[{"id":"`+a+`","matches":4,"turns":142},{"id":"`+b+`","matches":1,"turns":2}],"conversations_matched":2,"excluded":[],"skipped":[]}`),
			},
		},
		{
			file: "long_line", call: `{"pattern":"retry"}`,
			cli: cli{
				args:   argv(grepArgs + defaults),
				stdout: listed([]string{hit(a, 1, "tool-result", "…"+strings.Repeat("x", 197)+"retry"+strings.Repeat("y", 198)+"…", true, 0, 1, `,"chars":5321`)}, `{"matches":1,"searched":1,"conversations_matched":1,"conversations":[{"id":"`+a+`","matches":1,"turns":1}]}`),
			},
		},
		{
			file: "long_line_uncut", call: `{"pattern":"retry"}`,
			cli: cli{
				args:   argv(grepArgs + defaults),
				stdout: listed([]string{hit(a, 1, "tool-result", strings.Repeat("é", 3000)+"retry"+strings.Repeat("y", 3000), true, 0, 1, `,"submatches":[{"match":"retry","start":6000,"end":6005}]`)}, ""),
			},
		},
		{
			file: "truncated_by_limit", call: `{"pattern":"retry","limit":2}`,
			cli: cli{
				args:   argv(grepArgs + "--ignore-case --context=0 --max-hits=2 -- retry"),
				stdout: listed(hits(2, "retry"), `{"matches":73,"returned":2,"searched":131,"conversations":[{"id":"`+a+`","matches":70,"turns":142}],"conversations_matched":4,"excluded":[],"skipped":[]}`),
			},
		},
		{
			file: "truncated_by_greatest_limit", call: `{"pattern":"retry","limit":201,"ids":["17727547754"],"scopes":"[\"chat\"]"}`,
			cli: cli{
				args:   argv(grepArgs + "--ignore-case --context=0 --max-hits=200 --scope=chat --id=17727547754 -- retry"),
				stdout: listed(hits(40, "retry"), `{"matches":9000,"returned":40,"searched":1,"conversations":[{"id":"`+a+`","matches":9000,"turns":142}],"conversations_matched":1}`),
			},
		},
		{
			file: "truncated_by_cap", call: `{"pattern":"retry","context":1,"limit":120}`,
			cli: cli{
				args:   argv(grepArgs + "--ignore-case --context=1 --max-hits=120 -- retry"),
				stdout: listed(contextHits(120), `{"matches":120,"returned":120,"searched":131,"conversations":[{"id":"`+a+`","matches":120,"turns":142}],"conversations_matched":1}`),
			},
		},
		{
			file: "full_at_limit", call: `{"pattern":"retry"}`,
			cli: cli{
				args:   argv(grepArgs + defaults),
				stdout: listed(hits(50, strings.Repeat("y", 200)), `{"matches":180,"returned":50,"searched":131,"conversations":[{"id":"`+a+`","matches":180,"turns":142}],"conversations_matched":1}`),
			},
		},
		{
			file: "current_left_out", call: `{"pattern":"retry"}`, current: "17800836875",
			cli: cli{
				args:   argv(grepArgs + "--ignore-case --context=0 --max-hits=50 --exclude-id=jp-c17800836875 -- retry"),
				stdout: listed(hits(1, "retry"), `{"matches":1,"returned":1,"searched":130,"conversations":[{"id":"`+a+`","matches":1,"turns":142}],"conversations_matched":1,"excluded":["jp-c17800836875"],"skipped":[]}`),
			},
		},
		{
			file: "current_included", call: `{"pattern":"retry","include_current":true,"include_hidden":true}`, current: "17800836875",
			cli: cli{
				args:   argv(grepArgs + "--ignore-case --context=0 --max-hits=50 --hidden -- retry"),
				stdout: listed(hits(1, "retry"), `{"matches":1,"returned":1,"searched":130,"conversations":[{"id":"`+a+`","matches":1,"turns":142}],"conversations_matched":1,"excluded":[],"skipped":[]}`),
			},
		},
		{
			file: "only_current_named", call: `{"pattern":"retry","ids":["jp-c17800836875"]}`, current: "jp-c17800836875",
			cli: cli{
				args: argv(grepArgs + "--ignore-case --context=0 --max-hits=50 --id=jp-c17800836875 --exclude-id=jp-c17800836875 -- retry"),
				exit: 1, stdout: `[{"summary":{"matches":0,"returned":0,"searched":0,"conversations":[],"conversations_matched":0,"excluded":["jp-c17800836875"],"skipped":[]}}]`,
			},
		},
		{
			file: "nothing_but_current", call: `{"pattern":"retry"}`, current: "jp-c17800836875",
			cli: cli{exit: 1, stdout: `[{"summary":{"matches":0,"returned":0,"searched":0,"conversations":[],"conversations_matched":0,"excluded":["jp-c17800836875"],"skipped":[]}}]`},
		},
		{
			file: "no_conversations", call: `{"pattern":"retry"}`,
			cli: cli{exit: 1, stdout: `[{"summary":{"matches":0,"returned":0,"searched":0,"conversations":[],"conversations_matched":0,"excluded":[],"skipped":[]}}]`},
		},
		{
			file: "current_unknown_form", call: `{"pattern":"retry"}`, current: `a,b"--archived`,
			cli: with(none(""), argv(grepArgs+defaults)),
		},
		{file: "none", call: `{"pattern":"retry"}`, cli: with(none(""), argv(grepArgs+defaults))},
		{
			file: "none_of_several_words", call: `{"pattern":"-retry  \"policy\"","ignore_case":false}`,
			cli: with(none(""), argv(grepArgs+"--case-sensitive --context=0 --max-hits=50 --", `-retry  "policy"`)),
		},
		{
			file: "none_in_scopes_and_ids", call: `{"pattern":"retry","scopes":["chat"],"ids":["jp-c1"]}`,
			cli: with(none(""), argv(grepArgs+"--ignore-case --context=0 --max-hits=50 --scope=chat --id=jp-c1 -- retry")),
		},
		{
			file: "none_and_skipped", call: `{"pattern":"retry"}`,
			source: &source{matches: conversations.Matches{Searched: 131, Aside: conversations.Aside{
				Problems: []conversations.Problem{{ID: "jp-c17700000009", Kind: conversations.DamagedEvents, Event: 7, Err: endsInString}},
			}}},
		},
		{file: "none_no_summary", call: `{"pattern":"retry"}`, cli: cli{args: argv(grepArgs + defaults), exit: 1, stdout: "[]\n"}},
		{
			file: "skipped", call: `{"pattern":"retry"}`,
			source: &source{
				lines: []conversations.Line{{
					Conversation: &transcript.Conversation{ID: "jp-c17727547754"}, Scope: transcript.ScopeToolResult, Turn: 1, Number: 1,
					Time: time.Date(2026, 3, 6, 9, 27, 11, 0, time.UTC), Text: []byte("retry"), IsMatch: true,
				}},
				matches: conversations.Matches{
					Total: 1, Returned: 1, Searched: 130, Matched: 1,
					Conversations: []conversations.Match{{Conversation: transcript.Conversation{ID: "jp-c17727547754", Title: "Retry policy"}, Matches: 1, Turns: 142}},
					Aside: conversations.Aside{Problems: []conversations.Problem{
						{ID: "jp-c1", Kind: conversations.Unreadable, Err: fmt.Errorf("events.json: %w", fs.ErrNotExist)},
						{ID: "jp-c2", Kind: conversations.Unreadable, Err: errors.New(strings.Repeat("z", 900))},
					}},
				},
			},
		},
		{file: "no_summary", call: `{"pattern":"retry","limit":3}`, cli: cli{stdout: listed(hits(5, "retry"), "")}},
		{file: "invalid_empty", call: `{"pattern":""}`, notRun: true},
		{file: "invalid_blank", call: `{"pattern":" \t "}`, notRun: true},
		{file: "invalid_lines", call: `{"pattern":"a\nb"}`, notRun: true},
		{file: "invalid_nul", call: `{"pattern":"a\u0000b"}`, notRun: true},
		{file: "invalid_many", call: `{"patern":"a","scopes":["chats","tools"],"ids":["../x"],"limit":"0","context":-1}`, notRun: true},
	}
}

// contextHits is count matches, each between two lines of context, in events of
// their own.
func contextHits(count int) []string {
	var list []string
	for i := range count {
		for line, words := range []string{"before", "retry " + fmt.Sprint(i), "after"} {
			list = append(list, hit("jp-c17727547754", i+1, "user", words, line == 1, i, line+1, ""))
		}
	}
	return list
}
