package session

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/text"
)

// Config is what a session is started with, and keeps. A limit that is 0 has the default given here.
type Config struct {
	MaxInterruptChainDepth   int `json:"max_interrupt_chain_depth"`            // batches on the stack; 4
	MaxInterruptsPerTurn     int `json:"max_interrupts_per_turn"`              // interrupting calls of a logical turn; 32
	MaxInterruptsPerResponse int `json:"max_interrupts_per_response"`          // interrupting calls of a response; 8
	MaxSamplesPerTurn        int `json:"max_samples_per_turn"`                 // samples of a logical turn; 200
	MaxSamplesPerSubmission  int `json:"max_samples_per_submission,omitempty"` // of all logical turns of a submission; no limit
	MaxConversations         int `json:"max_conversations"`                    // not destroyed, with the root; 64
	MaxResultBytes           int `json:"max_result_bytes"`                     // of the message in the output of a call; 65,536
	MaxHistoryBytes          int `json:"max_history_bytes"`                    // of the texts and images of conv.history; 262,144
	MaxInlineImageBytes      int `json:"max_inline_image_bytes"`               // of a data: URL in conv.history; 4,096

	Catalogue map[string][]string `json:"catalogue,omitempty"` // the tools of each MCP server that is configured
}

// withDefaults returns the configuration with the default of each limit that is 0. MaxSamplesPerSubmission has none.
func (c Config) withDefaults() Config {
	c.MaxInterruptChainDepth = cmp.Or(c.MaxInterruptChainDepth, 4)
	c.MaxInterruptsPerTurn = cmp.Or(c.MaxInterruptsPerTurn, 32)
	c.MaxInterruptsPerResponse = cmp.Or(c.MaxInterruptsPerResponse, 8)
	c.MaxSamplesPerTurn = cmp.Or(c.MaxSamplesPerTurn, 200)
	c.MaxConversations = cmp.Or(c.MaxConversations, 64)
	c.MaxResultBytes = cmp.Or(c.MaxResultBytes, 64<<10)
	c.MaxHistoryBytes = cmp.Or(c.MaxHistoryBytes, 256<<10)
	c.MaxInlineImageBytes = cmp.Or(c.MaxInlineImageBytes, 4<<10)
	return c
}

// Usage is what samples and calls have used.
type Usage struct {
	InputTokens  int64 `json:"input_tokens"`
	OutputTokens int64 `json:"output_tokens"`
	Samples      int64 `json:"samples"`
	Calls        int64 `json:"calls"` // of all tools
}

func (u Usage) tokens() int64 { return u.InputTokens + u.OutputTokens }

// Add adds v to u.
func (u *Usage) Add(v Usage) {
	u.InputTokens += v.InputTokens
	u.OutputTokens += v.OutputTokens
	u.Samples += v.Samples
	u.Calls += v.Calls
}

// Budget is what a logical turn may use, with all that its calls start. 0 is no limit; a negative field allows nothing.
type Budget struct {
	Tokens   int64     `json:"tokens,omitempty"` // no sample once the usage has reached it
	Calls    int64     `json:"calls,omitempty"`  // any more are refused
	Deadline time.Time `json:"deadline,omitzero"`
}

// within returns b, narrowed to the rest of a parent's budget, of which the parent has used a part.
func (b Budget) within(parent Budget, used Usage) Budget {
	b.Tokens = narrowLimit(b.Tokens, parent.Tokens, used.tokens())
	b.Calls = narrowLimit(b.Calls, parent.Calls, used.Calls)
	isUnlimited, parentIsLimited := b.Deadline.IsZero(), !parent.Deadline.IsZero()
	if parentIsLimited && (isUnlimited || parent.Deadline.Before(b.Deadline)) {
		b.Deadline = parent.Deadline
	}
	return b
}

// narrowLimit returns own, but at most parent-used. 0 is no limit, so the result is -1 if nothing of parent is left.
func narrowLimit(own, parent, used int64) int64 {
	switch left := parent - used; {
	case parent == 0:
		return own
	case left <= 0:
		return -1
	case own == 0:
		return left
	default:
		return min(own, left)
	}
}

// spent returns the part of a budget that is used up: "tokens", "time" or "". For calls, see recordBudgeted.
func (b Budget) spent(used Usage, at time.Time) string {
	switch {
	case b.Tokens != 0 && used.tokens() >= b.Tokens:
		return "tokens"
	case !b.Deadline.IsZero() && !at.Before(b.Deadline):
		return "time"
	}
	return ""
}

// Capabilities is the tools that a conversation may use. A conversation gives those that it creates at most its own.
type Capabilities struct {
	MCP      []string      `json:"mcp,omitzero"` // "server" or "server/tool", sorted
	Internal InternalTools `json:"internal,omitzero"`
}

// InternalTools is the host's own tools that a conversation has, or that a call gives and takes away.
type InternalTools map[string]bool

// The names of internal tools. This program has only SearchTool and ConvTools.
const (
	PlanTool   = "plan"
	PatchTool  = "apply_patch"
	SearchTool = "web_search"
	ShellTool  = "streamable_shell"
	ConvTools  = "conv"
)

// parameterOf returns the argument of conv.create that gives or takes an internal tool.
func parameterOf(tool string) string {
	return "internal_tools." + map[string]string{
		PlanTool: "include_plan_tool", PatchTool: "include_apply_patch_tool", SearchTool: "web_search_request",
		ShellTool: "use_streamable_shell_tool", ConvTools: "include_conv_tools",
	}[tool]
}

// narrow returns the capabilities of a new conversation. Its creator has the capabilities c. The new conversation gets
// the MCP servers and tools in c that the allowlist names, or all in c if the allowlist is nil. It gets the internal
// tools in c, without those that overrides sets to false. narrow refuses an allowlist with a name of no configured
// server or tool. It also refuses overrides that set an internal tool to true if c does not have the tool.
func (c Capabilities) narrow(config Config, allowlist []string, overrides InternalTools) (Capabilities, *Refusal) {
	narrowed := Capabilities{MCP: c.MCP, Internal: maps.Clone(c.Internal)}
	if allowlist != nil {
		narrowed.MCP = nil
	}
	for _, name := range allowlist {
		if !config.offers(name) {
			return c, &Refusal{Code: CodeInvalidArguments, Field: "mcp_allowlist", Reason: "there is no MCP server or tool " + text.Quote(name) + " here"}
		}
		for _, entry := range c.MCP {
			if covers(entry, name) { // c has all of name: entry is name or its server
				narrowed.MCP = append(narrowed.MCP, name)
			} else if covers(name, entry) { // name is a server, of which c has the tool entry
				narrowed.MCP = append(narrowed.MCP, entry)
			}
		}
	}
	narrowed.MCP = slices.Compact(slices.Sorted(slices.Values(narrowed.MCP)))
	for _, tool := range slices.Sorted(maps.Keys(overrides)) {
		switch isGiven := overrides[tool]; {
		case isGiven && !c.Internal[tool]:
			return c, &Refusal{Code: CodeUnavailable, Field: parameterOf(tool), Reason: "the calling conversation does not have this tool, so it cannot give it"}
		case !isGiven:
			delete(narrowed.Internal, tool)
		}
	}
	return narrowed, nil
}

// offers reports whether a name of an allowlist is a configured server or one of its tools.
func (c Config) offers(name string) bool {
	server, tool, hasTool := strings.Cut(name, "/")
	tools, ok := c.Catalogue[server]
	return ok && (!hasTool || slices.Contains(tools, tool))
}

// covers reports whether entry, "server" or "server/tool", is other or the server of other.
func covers(entry, other string) bool { return entry == other || strings.HasPrefix(other, entry+"/") }

// Allows reports whether a conversation may use a tool of an MCP server.
func (c Capabilities) Allows(server, tool string) bool {
	return slices.ContainsFunc(c.MCP, func(entry string) bool { return covers(entry, server+"/"+tool) })
}

// AllowsSome reports whether a conversation may use any tool of an MCP server.
func (c Capabilities) AllowsSome(server string) bool {
	return slices.ContainsFunc(c.MCP, func(entry string) bool { return covers(server, entry) })
}
