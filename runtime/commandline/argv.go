package commandline

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/convtools/convtools/runtime/coerce"
	"github.com/convtools/convtools/runtime/contract"
)

// call has the arguments of one call, with defaults.
type call struct {
	tool         *Tool
	args         coerce.Object
	conversation string
	problems     []contract.Problem
}

// Problems returns the problems of arguments that are valid by the spec: values that the program could take for an
// option, that are empty where an argument may not be, or that have a NUL character.
func (t *Tool) Problems(args coerce.Object) []contract.Problem {
	c := &call{tool: t, args: coerce.WithDefaults(&t.Tool, args)}
	c.argv()
	c.environment()
	return c.problems
}

// refuse adds the problem of a value that cannot be passed on.
func (c *call) refuse(path, must string, value any) {
	if !slices.ContainsFunc(c.problems, func(p contract.Problem) bool { return p.Path == path }) {
		c.problems = append(c.problems, contract.Mismatch(path, must, value, ""))
	}
}

// argv returns the arguments of the command line.
func (c *call) argv() []string {
	argv := []string{}
	for i := range c.tool.Command.Args {
		arg := &c.tool.Command.Args[i]
		if arg.When != "" && !c.isTrue(arg.When) {
			continue
		}
		if arg.Unless != "" && c.isTrue(arg.Unless) {
			continue
		}
		if len(arg.Value) == 0 {
			argv = append(argv, arg.Option...)
			continue
		}
		for _, text := range c.words(arg) {
			argv = append(append(argv, arg.Option...), text)
		}
	}
	return argv
}

// isTrue reports whether a boolean parameter is given and true.
func (c *call) isTrue(parameter string) bool {
	v, _ := c.args.Get(parameter)
	yes, _ := v.(bool)
	return yes
}

// words returns the words that an argument's value makes: none if a parameter in it is not given, one for each item if
// a parameter in it is a list, and otherwise one. Values that the program could misread become problems of the call.
func (c *call) words(arg *Arg) []string {
	words := []string{""} // each part makes the words longer
	for _, part := range arg.Value {
		if part.Value == "" {
			for j := range words {
				words[j] += part.Text
			}
			continue
		}
		beginsWord := slices.Contains(words, "") // nothing is before this part
		values, paths := c.texts(part.Value)     // none if the parameter is not given
		var longer []string                      // each word so far, followed by each value
		for j, value := range values {
			switch {
			case strings.ContainsRune(value, 0):
				c.refuse(paths[j], "not hold a NUL character", value)
			case value == "" && !arg.Empty:
				c.refuse(paths[j], "not be empty", value)
			case beginsWord && strings.HasPrefix(value, "-") && len(arg.Option) == 0 && !arg.Free:
				c.refuse(paths[j], `not begin with "-"`, value)
			}
			for _, word := range words {
				longer = append(longer, word+value)
			}
		}
		words = longer
	}
	return words
}

// texts returns the value of a parameter, or of CallingConversation, as strings, one for each item of a list, and their
// paths in the arguments. It leaves out a value that is not given, and items that are arrays or objects.
func (c *call) texts(name string) (values, paths []string) {
	if name == CallingConversation {
		if c.conversation == "" {
			return nil, nil
		}
		return []string{c.conversation}, []string{name}
	}
	v, _ := c.args.Get(name)
	list, isList := v.([]any)
	if !isList {
		list = []any{v}
	}
	for i, item := range list {
		path := name
		if isList {
			path = contract.Item(name, i)
		}
		if text, ok := scalar(item); ok {
			values, paths = append(values, text), append(paths, path)
		}
	}
	return values, paths
}

// scalar returns a string, a number or a boolean as a string, and false for any other value.
func scalar(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	}
	n, ok := coerce.Float(v)
	if !ok {
		return "", false
	}
	// A large integer has more digits than a float64 keeps.
	if whole, err := strconv.ParseInt(fmt.Sprint(v), 10, 64); err == nil {
		return strconv.FormatInt(whole, 10), true
	}
	return strconv.FormatFloat(n, 'f', -1, 64), true
}

// environment returns the variables that the tool sets, as NAME=value. A list in a value makes one for each item.
func (c *call) environment() []string {
	var env []string
	for _, v := range c.tool.Command.Env {
		for _, value := range c.words(&Arg{Value: v.Value, Empty: true, Free: true}) { // it may be empty or begin with "-"
			env = append(env, v.Name+"="+value)
		}
	}
	return env
}

// stdin returns the standard input of the program. It is nil if the tool has none, or if a parameter in it has no value or
// several. An array or object that is the whole input is written as JSON.
func (c *call) stdin() []byte {
	template := c.tool.Command.Stdin
	if template == nil {
		return nil
	}
	if len(template) == 1 {
		switch v, _ := c.args.Get(template[0].Value); v.(type) {
		case []any, coerce.Object:
			return []byte(coerce.JSON(v))
		}
	}
	var b strings.Builder
	for _, part := range template {
		text := part.Text
		if part.Value != "" {
			values, _ := c.texts(part.Value)
			if len(values) != 1 {
				return nil
			}
			text = values[0]
		}
		b.WriteString(text)
	}
	return []byte(b.String())
}
