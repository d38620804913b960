package toolset_test

import (
	"context"
	"strings"
	"testing"

	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/toolset"
)

// A call by any name of a tool reaches its family, and no two tools share a name.
func TestAliases(t *testing.T) {
	t.Parallel()
	family := func(name string, tools ...contract.Tool) toolset.Family {
		return toolset.Family{
			Name:     name,
			Declared: func() []contract.Tool { return tools },
			Call:     func(_ context.Context, call contract.Call) (string, error) { return name + ": " + call.Tool, nil },
		}
	}
	conv := family("conv", contract.Tool{Name: "conv.create", Aliases: []string{"conv_create", "conversation_open"}})
	registry, err := toolset.NewRegistry(conv)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"conv.create", "conv_create", "conversation_open"} {
		if got, err := registry.Call(t.Context(), contract.Call{Tool: name}); err != nil || got != "conv: "+name {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if _, err := registry.Call(t.Context(), contract.Call{Tool: "create"}); err == nil {
		t.Error("a tool answers to a part of its name")
	}
	_, err = toolset.NewRegistry(conv, family("other", contract.Tool{Name: "conv_create"}))
	if err == nil || !strings.Contains(err.Error(), "the family conv and the family other both have the tool conv_create") {
		t.Errorf("two tools of one name: %v", err)
	}
}
