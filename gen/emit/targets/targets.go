// Package targets lists all output formats of a contract beside Go and the lock.
package targets

import (
	"github.com/convtools/convtools/gen/emit"
	"github.com/convtools/convtools/gen/emit/docs"
	"github.com/convtools/convtools/gen/emit/jp"
	"github.com/convtools/convtools/gen/emit/plugin"
	"github.com/convtools/convtools/gen/emit/schema"
	"github.com/convtools/convtools/gen/emit/toollist"
)

// All returns every target, in the order in which reports list them.
func All() []emit.Target {
	return []emit.Target{
		schema.Target(),
		jp.Target(),
		plugin.Target(),
		toollist.MCP(),
		toollist.OpenAI(),
		toollist.Anthropic(),
		toollist.Responses(),
		docs.Target(),
	}
}
