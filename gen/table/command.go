package table

import (
	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/runtime/commandline"
)

// Command returns a tool that runs a command line, for package commandline to interpret. schema is its input schema.
func Command(t *ir.Tool, schema string) *commandline.Tool {
	out := &commandline.Tool{
		Tool: Tool(t, schema), Command: *t.Command, Output: t.Output, Narrow: t.Narrow,
	}
	for _, a := range t.Aliases {
		out.Former = append(out.Former, commandline.Former{Name: a.Name, Until: a.Until})
	}
	if t.Answer != ir.JSONAnswer {
		out.Envelope = envelope(t)
	}
	return out
}

// envelope returns the envelope of a tool that runs a command. The only children of its root are records and notes.
func envelope(t *ir.Tool) commandline.Envelope {
	root := t.Envelope.Element(t.Envelope.Root)
	out := commandline.Envelope{Root: root.Name, Attributes: attributes(t, root.Attributes)}
	for i, c := range root.Children {
		child := t.Envelope.Element(c.Element)
		if c.From == "" { // notes
			out.Note, out.NotesFirst = element(t, child), i == 0
			continue
		}
		out.Record = element(t, child)
		for _, inner := range child.Children {
			e := element(t, t.Envelope.Element(inner.Element))
			e.Many, e.Optional = inner.Many, inner.Optional
			out.Record.Children = append(out.Record.Children, e)
		}
	}
	if t.Output.Form == commandline.Text {
		out.Record.From = []string{commandline.Text}
	}
	return out
}

func element(t *ir.Tool, e *ir.Element) commandline.Element {
	return commandline.Element{Name: e.Name, Attributes: attributes(t, e.Attributes), Body: string(e.Body), From: path(t, e.From), Beside: e.Beside}
}

func attributes(t *ir.Tool, list []ir.Attribute) []commandline.Attribute {
	var out []commandline.Attribute
	for _, a := range list {
		row := commandline.Attribute{Name: a.Name, Type: string(a.Type), Param: a.Param, Fixed: a.Fixed, Count: a.Counts}
		if a.Presence != ir.Always {
			row.Presence = string(a.Presence)
		}
		if !a.Counts { // the From of a count is no path
			row.From = path(t, a.From)
		}
		out = append(out, row)
	}
	return out
}

// path returns the path of a value in a record: steps in JSON, and the name of a field otherwise.
func path(t *ir.Tool, from string) []string {
	switch {
	case from == "":
		return nil
	case t.ReadsPaths():
		return ir.Steps(from)
	}
	return []string{from}
}
