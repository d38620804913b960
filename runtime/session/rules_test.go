package session

import (
	"slices"
	"strings"
	"testing"
)

// Each case plays a script (see script) and compares its trace. A line of … stands for any lines.
func TestRules(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		config Config
		script string
		want   string
	}{
		{
			name:   "create replaces the task, runs the target, continues with its message",
			script: `create hello`,
			want: `
				0 starts
				0 hears: go
				0 calls k1 conv.create
				0 replaced
				1 opened by 0
				1 starts
				1 hears 0: hello
				1 says: end
				1 complete
				0 continues k1
				0 gets k1 1 completed: end
				0 says: end
				0 complete`,
		},
		{
			name: "send runs the target with its history",
			script: `
				create hello
				say first
				send 1 again
				history 1
				say second`,
			want: `
				…
				0 gets k1 1 completed: first
				0 calls k1 conv.send
				0 replaced
				1 starts
				1 hears 0: again
				1 calls k1 conv.history
				1 gets k1 user:hello|assistant:first|user:again
				1 says: second
				1 complete
				0 continues k1
				0 gets k1 1 completed: second
				…`,
		},
		{
			name:   "list, history and destroy interrupt nothing",
			script: `list + history 0 + destroy 7`,
			want: `
				0 starts
				0 hears: go
				0 calls k1 conv.list
				0 calls k2 conv.history
				0 calls k3 conv.destroy
				0 gets k1 0:1:running
				0 gets k2 user:go
				0 gets k3 not_found
				0 says: end
				0 complete`,
		},
		{
			name:   "history has messages only, those of conv.send as the user's",
			script: "think + say before + tool\ncreate x\nhistory 0 + history 1",
			want: `
				…
				1 gets k1 user:go|assistant:before
				1 gets k2 user:x
				…`,
		},
		{
			name:   "what destroy refuses, and a tombstone",
			script: "create x\nsay done\ndestroy 0 + destroy 1 + destroy 1 + destroy x + list\nsend 1 x + history 1",
			want: `
				…
				0 gets k1 root
				1 destroyed
				0 gets k2 {"ok":true}
				0 gets k3 destroyed
				0 gets k4 invalid_id
				0 gets k5 0:1:running
				0 calls k1 conv.send
				0 calls k2 conv.history
				0 gets k2 destroyed
				0 gets k1 destroyed
				0 says: end
				0 complete`,
		},
		{
			name:   "a nested chain is a stack, not a queue",
			script: "create x\ncreate y\nsay inner\nsay middle\nsay outer",
			want: `
				0 starts
				0 hears: go
				0 calls k1 conv.create
				0 replaced
				1 opened by 0
				1 starts
				1 hears 0: x
				1 calls k1 conv.create
				1 replaced
				2 opened by 1
				2 starts
				2 hears 1: y
				2 says: inner
				2 complete
				1 continues k1
				1 gets k1 2 completed: inner
				1 says: middle
				1 complete
				0 continues k1
				0 gets k1 1 completed: middle
				0 says: outer
				0 complete`,
		},
		{
			name:   "submissions wait for the whole chain, in their order",
			script: "create x\n!submit 0 second\n!submit 1 third\nsay done",
			want: `
				…
				1 says: done
				1 complete
				0 continues k1
				0 gets k1 1 completed: done
				0 says: end
				0 complete
				0 starts
				0 hears: second
				0 says: end
				0 complete
				1 starts
				1 hears: third
				…`,
		},
		{
			name:   "all items of a response are kept when it replaces its own task",
			script: "think + say aside + create x + say after",
			want: `
				0 starts
				0 hears: go
				0 reasoning
				0 says: aside
				0 calls k3 conv.create
				0 says: after
				0 replaced
				…`,
		},
		{
			name:   "a frame is not resolved by a replaced task of its target",
			script: "create x\nsay too early + create y\nsay inner\nsay real",
			want: `
				…
				1 says: too early
				1 calls k2 conv.create
				1 replaced
				2 opened by 1
				…
				1 says: real
				1 complete
				0 continues k1
				0 gets k1 1 completed: real
				…`,
		},
		{
			name:   "nobody sends to itself or to who waits for it",
			script: "create x\nsend 1 x + send 0 x + destroy 0 + destroy 1",
			want: `
				…
				1 gets k3 root
				1 gets k4 self
				1 gets k1 self
				1 gets k2 suspended_in_chain
				1 says: end
				…`,
		},
		{
			name:   "a failed target closes the call, without a message of an earlier turn",
			script: "create x\nsay old\nsend 1 x\nfail\nsay so be it",
			want: `
				…
				1 starts
				1 hears 0: x
				1 failed overloaded
				0 continues k1
				0 gets k1 1 failed: 
				0 says: so be it
				0 complete`,
		},
		{
			name:   "no message is no message, whatever was said before in the conversation",
			script: "create x\nsay old\nsend 1 x\nthink",
			want: `
				…
				1 reasoning
				1 complete
				0 continues k1
				0 gets k1 1 no_message: 
				…`,
		},
		{
			name:   "parallel calls run in order, after the others, and are closed together",
			script: "create x + tool + create y + list\nsay one\nsay two",
			want: `
				0 starts
				0 hears: go
				0 calls k1 conv.create
				0 calls k2 tool
				0 calls k3 conv.create
				0 calls k4 conv.list
				0 gets k2 done
				0 gets k4 0:1:running
				0 replaced
				1 opened by 0
				2 opened by 0
				1 starts
				1 hears 0: x
				1 says: one
				1 complete
				2 starts
				2 hears 0: y
				2 says: two
				2 complete
				0 continues k1 k3
				0 gets k1 1 completed: one
				0 gets k3 2 completed: two
				0 says: end
				0 complete`,
		},
		{
			name:   "calls of one response are limited",
			config: Config{MaxInterruptsPerResponse: 1},
			script: "create x + create y",
			want: `
				…
				0 gets k2 depth_exceeded
				0 replaced
				1 opened by 0
				…
				0 continues k1
				…`,
		},
		{
			name:   "a call that is not valid interrupts nothing",
			script: "create + send 0 + invalid",
			want: `
				0 starts
				0 hears: go
				0 calls k1 conv.create
				0 calls k2 conv.send
				0 calls k3 conv.create
				0 gets k3 unreadable_file
				0 gets k1 invalid_arguments
				0 gets k2 invalid_arguments
				0 says: end
				0 complete`,
		},
		{
			name:   "depth is limited, and the task goes on",
			config: Config{MaxInterruptChainDepth: 2},
			script: "create x\ncreate x\ncreate x\nsay fine",
			want: `
				…
				2 gets k1 depth_exceeded
				2 says: fine
				2 complete
				1 continues k1
				…`,
		},
		{
			name:   "interrupting calls of a logical turn are limited, and start again with the next",
			config: Config{MaxInterruptsPerTurn: 1},
			script: "create x\nsay ok\nsend 1 x\nsay enough\n!submit 0 more\nsend 1 x",
			want: `
				…
				0 calls k1 conv.send
				0 gets k1 depth_exceeded
				0 says: enough
				0 complete
				0 starts
				0 hears: more
				0 calls k1 conv.send
				0 replaced
				…`,
		},
		{
			name:   "live conversations are limited, destroyed ones do not count",
			config: Config{MaxConversations: 2},
			script: "create x + create y\nsay ok\ndestroy 1 + create z",
			want: `
				…
				0 gets k2 conversations_exceeded
				0 replaced
				1 opened by 0
				…
				1 destroyed
				0 gets k1 {"ok":true}
				0 replaced
				3 opened by 0
				…`,
		},
		{
			name:   "a running conversation that the host destroys is interrupted, and its caller continues",
			script: "create x\n!destroy 1\nsay well",
			want: `
				…
				1 hears 0: x
				1 interrupted
				1 destroyed
				0 continues k1
				0 gets k1 1 destroyed: 
				0 says: well
				0 complete`,
		},
		{
			name:   "a suspended conversation is not destroyed",
			script: "create x\ncreate y\n!destroy 1\nsay well",
			want: `
				…
				2 says: well
				2 complete
				1 continues k1
				…`,
		},
		{
			name:   "what waits for a destroyed conversation is dropped, or resolved as destroyed; children stay",
			script: "create x\ncreate y\nsay c\nsay b\nsend 2 x + send 1 x\n!submit 1 news\ndestroy 1 + list\nsay c2\nsay root",
			want: `
				…
				1 dropped
				1 destroyed
				2 gets k1 {"ok":true}
				2 gets k2 0:1:suspended 2:3:running
				2 says: c2
				2 complete
				0 continues k1 k2
				0 gets k1 2 completed: c2
				0 gets k2 1 destroyed: 
				0 says: root
				0 complete`,
		},
		{
			name:   "interrupting the chain closes every call once, and nobody continues",
			script: "create x + create y\ncreate z\n!submit 0 next\n!chain",
			want: `
				…
				3 interrupted
				1 gets k1 3 interrupted: 
				1 closed
				0 gets k1 1 interrupted: 
				0 gets k2 2 interrupted: 
				0 closed
				0 starts
				0 hears: next
				0 says: end
				0 complete`,
		},
		{
			name:   "a chain that is interrupted keeps the results that there are",
			script: "create x + create y\nsay one\n!chain",
			want: `
				…
				2 interrupted
				0 gets k1 1 completed: one
				0 gets k2 2 interrupted: 
				0 closed`,
		},
		{
			name:   "interrupting one task lets its caller continue",
			script: "create x\n!interrupt\nsay well",
			want: `
				…
				1 interrupted
				0 continues k1
				0 gets k1 1 interrupted: 
				0 says: well
				0 complete`,
		},
		{
			name:   "open calls of an interrupted task are closed, those that have not started too",
			script: "create x + tool + list\n!interrupt",
			want: `
				…
				0 calls k3 conv.list
				0 gets k1 interrupted
				0 gets k2 interrupted
				0 gets k3 interrupted
				0 interrupted`,
		},
		{
			name:   "a crash in the target: the call gets the real answer, once",
			script: "create x\n!crash\nsay real\n!crash\nsay outer",
			want: `
				…
				1 hears 0: x
				1 recovered
				1 says: real
				1 complete
				0 continues k1
				0 gets k1 1 completed: real
				0 recovered
				0 says: outer
				0 complete`,
		},
		{
			name:   "a crash while an ordinary tool runs closes its call, and the others go on",
			script: "tool + tool + create x\n!crash",
			want: `
				…
				0 calls k3 conv.create
				0 recovered
				0 gets k1 interrupted
				0 gets k2 done
				0 replaced
				1 opened by 0
				…`,
		},
		{
			name:   "a response with one id for two calls fails the task and is not kept",
			script: "create x\ntwice",
			want: `
				…
				1 hears 0: x
				1 failed invalid_response
				0 continues k1
				0 gets k1 1 failed: 
				…`,
		},
		{
			name:   "a model that calls for ever runs out of samples",
			config: Config{MaxSamplesPerTurn: 3},
			script: "send 0 x\nsend 0 x\nsend 0 x\nsend 0 x",
			want: `
				…
				0 gets k1 self
				0 failed samples_exceeded`,
		},
		{
			name:   "models that call each other for ever run out of samples together",
			config: Config{MaxSamplesPerTurn: 3, MaxSamplesPerSubmission: 4},
			script: "create x\nsay a\nsend 1 y\nsay b",
			want: `
				…
				1 hears 0: y
				1 says: b
				1 complete
				0 continues k1
				0 gets k1 1 completed: b
				0 failed samples_exceeded`,
		},
		{
			name:   "the host's input for nobody, and interrupts of nothing, do nothing",
			script: "say hello\n!submit 9 x\n!submit x x\n!interrupt\n!chain\n!destroy 0",
			want: `
				0 starts
				0 hears: go
				0 says: hello
				0 complete`,
		},
		{
			name:   "a call of a program outside is no message and no sample: it is replaced, answered and at its end",
			script: "say hello\n!create plan\nsay the plan\n!send 1 again\n!send 0 self\nsay once more",
			want: `
				…
				0 starts
				0 calls o1 conv.create
				0 replaced
				1 opened by 0
				1 starts
				1 hears 0: plan
				1 says: the plan
				1 complete
				0 continues o1
				0 gets o1 1 completed: the plan
				0 complete
				0 starts
				0 calls o conv.send
				0 replaced
				1 starts
				1 hears 0: again
				1 says: once more
				1 complete
				0 continues o
				0 gets o 1 completed: once more
				0 complete
				0 starts
				0 calls o conv.send
				0 gets o self
				0 complete`,
		},
		{
			name:   "a call of a program outside that is interrupted has an output, and nobody is asked",
			script: "say hello\n!create plan\n!crash\n!chain",
			want: `
				…
				1 hears 0: plan
				1 recovered
				1 interrupted
				0 gets o1 1 interrupted: 
				0 closed`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := play(t, test.config, dedent(test.script)...)
			want := strings.Split(strings.ReplaceAll(strings.Trim(test.want, "\n"), "\t", ""), "\n")
			if !matches(want, got) {
				t.Errorf("trace:\n%s\n\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// matches reports whether lines are those of a pattern, in which … stands for any.
func matches(pattern, lines []string) bool {
	if len(pattern) == 0 {
		return len(lines) == 0
	}
	if pattern[0] != "…" {
		return len(lines) > 0 && lines[0] == pattern[0] && matches(pattern[1:], lines[1:])
	}
	for i := range len(lines) + 1 {
		if matches(pattern[1:], lines[i:]) {
			return true
		}
	}
	return false
}

func TestMatches(t *testing.T) {
	t.Parallel()
	lines := strings.Fields("a b c")
	for pattern, want := range map[string]bool{"a b c": true, "a …": true, "… c": true, "a … c": true, "a c": false, "… b": false, "b …": false, "a b c d": false} {
		if got := matches(strings.Fields(pattern), slices.Clone(lines)); got != want {
			t.Errorf("%q: %v", pattern, got)
		}
	}
}
