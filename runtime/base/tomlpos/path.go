package tomlpos

// Step is one step of a [Path]: the name of a key in a table, or the index of an element in an array.
type Step struct {
	key   string
	index int
	elem  bool
}

// Key is the step into a table's key.
func Key(name string) Step { return Step{key: name} }

// Elem is the step to element i of an array, counted from 0. It goes for `[[array.of.tables]]` and for `[a, b]`.
func Elem(i int) Step { return Step{index: i, elem: true} }

// Path leads from the root of a document to a value. The empty path is the document itself.
type Path []Step

// Key returns the path to a key of the table p leads to. It leaves p alone, also when several paths grow from it.
func (p Path) Key(name string) Path { return p.step(Key(name)) }

// Elem returns the path to element i of the array p leads to. It leaves p alone.
func (p Path) Elem(i int) Path { return p.step(Elem(i)) }

func (p Path) step(s Step) Path {
	longer := make(Path, len(p)+1) // many are kept: none has more room than it needs
	copy(longer, p)
	longer[len(p)] = s
	return longer
}

func isBareKeyByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}
