package session

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/text"
)

// Config is what a session is started with and keeps. Zero limits have the defaults given here.
type Config struct {
	MaxInterruptChainDepth   int `json:"max_interrupt_chain_depth"`            // batches on the stack; 4
	MaxInterruptsPerTurn     int `json:"max_interrupts_per_turn"`              // interrupting calls of a logical turn; 32
	MaxInterruptsPerResponse int `json:"max_interrupts_per_response"`          // interrupting calls of a response; 8
	MaxSamplesPerTurn        int `json:"max_samples_per_turn"`                 // requests to the model in a logical turn; 200
	MaxSamplesPerSubmission  int `json:"max_samples_per_submission,omitempty"` // of all logical turns that an input from outside starts, at first or at last hand; no limit
	MaxConversations         int `json:"max_conversations"`                    // that are not destroyed, the root among them; 64
	MaxResultBytes           int `json:"max_result_bytes"`                     // of a message that an answer carries; 65,536
	MaxHistoryBytes          int `json:"max_history_bytes"`                    // of the texts and images that conv.history returns; 262,144
	MaxInlineImageBytes      int `json:"max_inline_image_bytes"`               // of a data: URL that conv.history repeats; 4,096

	// Catalogue is the tools of each MCP server that is configured.
	Catalogue map[string][]string `json:"catalogue,omitempty"`
}

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

// Usage is what has been used. It adds up over a conversation, a logical turn and the session.
type Usage struct {
	InputTokens  int64 `json:"input_tokens"`
	OutputTokens int64 `json:"output_tokens"`
	Samples      int64 `json:"samples"`
	Calls        int64 `json:"calls"` // of tools, conv.* among them
}

func (u Usage) tokens() int64 { return u.InputTokens + u.OutputTokens }

// Add adds what has been used besides.
func (u *Usage) Add(v Usage) {
	u.InputTokens += v.InputTokens
	u.OutputTokens += v.OutputTokens
	u.Samples += v.Samples
	u.Calls += v.Calls
}

// Budget is what a logical turn, with all that its calls start, may use. A zero field is no limit, a negative one allows
// nothing.
type Budget struct {
	Tokens   int64     `json:"tokens,omitempty"` // no sample once the usage has reached it
	Calls    int64     `json:"calls,omitempty"`  // every further call is refused
	Deadline time.Time `json:"deadline,omitzero"`
}

// within returns b narrowed to what is left of a parent's budget. A parent that has nothing left leaves a
// budget that is used up: its tokens or calls are negative.
func (b Budget) within(parent Budget, used Usage) Budget {
	return Budget{
		Tokens:   narrow(b.Tokens, parent.Tokens, used.tokens()),
		Calls:    narrow(b.Calls, parent.Calls, used.Calls),
		Deadline: earlier(b.Deadline, parent.Deadline),
	}
}

func narrow(own, parent, used int64) int64 {
	if parent == 0 {
		return own
	}
	left := parent - used
	if left <= 0 {
		return -1
	}
	if own == 0 {
		return left
	}
	return min(own, left)
}

func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// spent returns which part of a budget does not allow another sample, and an empty string where all do.
func (b Budget) spent(used Usage, at time.Time) string {
	switch {
	case b.Tokens != 0 && used.tokens() >= b.Tokens:
		return "tokens"
	case !b.Deadline.IsZero() && !at.Before(b.Deadline):
		return "time"
	}
	return ""
}

// Capabilities is which tools a conversation may use. They only narrow from a caller to the conversations that it
// creates.
type Capabilities struct {
	// MCP is the MCP tools, as "server" or "server/tool", sorted.
	MCP      []string      `json:"mcp,omitzero"`
	Internal InternalTools `json:"internal,omitzero"`
}

// InternalTools is which of the tools of the host's own a conversation has, or which a call gives and takes; what is left
// out of that is as with the caller.
type InternalTools map[string]bool

// The tools of the host's own, which this program has two of.
const (
	PlanTool   = "plan"
	PatchTool  = "apply_patch"
	SearchTool = "web_search"
	ShellTool  = "streamable_shell"
	ConvTools  = "conv"
)

// narrow returns the capabilities of a conversation that a conversation with c creates.
func (c Capabilities) narrow(config Config, allowlist []string, overrides InternalTools) (Capabilities, *Refusal) {
	narrowed := c
	if allowlist != nil {
		narrowed.MCP = []string{}
		for _, name := range allowlist {
			if !config.offers(name) {
				return c, &Refusal{Code: CodeInvalidArguments, Field: "mcp_allowlist", Reason: "there is no MCP server or tool " + text.Quote(name) + " here"}
			}
			narrowed.MCP = append(narrowed.MCP, intersect(c.MCP, name)...)
		}
		slices.Sort(narrowed.MCP)
		narrowed.MCP = slices.Compact(narrowed.MCP)
	}
	narrowed.Internal = maps.Clone(c.Internal)
	for _, tool := range slices.Sorted(maps.Keys(overrides)) {
		if overrides[tool] && !c.Internal[tool] {
			return c, &Refusal{Code: CodeUnavailable, Field: "internal_tools." + parameterOf(tool), Reason: "the calling conversation does not have this tool, so it cannot give it"}
		}
		if !overrides[tool] {
			delete(narrowed.Internal, tool)
		}
	}
	return narrowed, nil
}

// parameterOf returns the member of internal_tools that gives or takes a tool.
func parameterOf(tool string) string {
	return map[string]string{
		PlanTool: "include_plan_tool", PatchTool: "include_apply_patch_tool", SearchTool: "web_search_request",
		ShellTool: "use_streamable_shell_tool", ConvTools: "include_conv_tools",
	}[tool]
}

// offers reports whether a name of an allowlist is a configured server or one of its tools.
func (c Config) offers(name string) bool {
	server, tool, one := strings.Cut(name, "/")
	tools, ok := c.Catalogue[server]
	return ok && (!one || slices.Contains(tools, tool))
}

// intersect returns the entries of a view that are within a name: the name itself where the view covers it, and
// otherwise the tools of that server that it holds.
func intersect(view []string, name string) []string {
	switch {
	case holds(view, name):
		return []string{name}
	case strings.Contains(name, "/"):
		return nil
	}
	return slices.DeleteFunc(slices.Clone(view), func(entry string) bool { return !strings.HasPrefix(entry, name+"/") })
}

// holds reports whether a view covers a server or a tool of one.
func holds(view []string, name string) bool {
	server, _, _ := strings.Cut(name, "/")
	return slices.Contains(view, name) || slices.Contains(view, server)
}

// Allows reports whether a conversation may use a tool of an MCP server.
func (c Capabilities) Allows(server, tool string) bool { return holds(c.MCP, server+"/"+tool) }

// AllowsSome reports whether a conversation may use any tool of an MCP server.
func (c Capabilities) AllowsSome(server string) bool {
	return slices.ContainsFunc(c.MCP, func(entry string) bool {
		name, _, _ := strings.Cut(entry, "/")
		return name == server
	})
}
