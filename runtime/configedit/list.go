package configedit

import (
	"bytes"
	"slices"

	"github.com/tailscale/hujson"
)

// List returns the decoded items of the list at path in a JSON document, or no items if there is nothing at path. If the
// value at path is not a list, the error is a *ConflictError.
func List(src []byte, path []string) ([]any, error) {
	doc, err := decode(JSON, src)
	if err != nil {
		return nil, err
	}
	value, exists := lookup(doc, path)
	list, isList := value.([]any)
	if exists && !isList {
		return nil, &ConflictError{Path: path, Detail: "is not a list in brackets", Fix: "remove it, or make it one"}
	}
	return list, nil
}

// Append returns a JSON document with an object at the end of the list at path. It makes the list, and the objects
// around it, if they are missing. All other items keep their bytes.
func Append(src []byte, path []string, object []Member) ([]byte, error) {
	list, err := List(src, path)
	if err != nil {
		return nil, err
	}
	last := len(path) - 1
	if len(list) == 0 {
		return Set(JSON, src, path[:last], []Member{{path[last], [][]Member{object}}})
	}
	edited, err := editList(src, path, func(items []hujson.Value) []hujson.Value {
		before := items[len(items)-1].BeforeExtra
		layout := layout{unit: indentUnit(src), space: " "}
		if bytes.Contains(before, []byte("\n")) { // the last item is on a line of its own
			layout.eol = newline(src)
		}
		text := layout.render(object, indentAt(before, len(before)))
		return append(items, hujson.Value{BeforeExtra: before, Value: hujson.Literal(text)})
	})
	if err != nil {
		return nil, err
	}
	return checkEdit(JSON, src, edited, path, append(slices.Clip(list), decoded(object)))
}

// RemoveItem returns a JSON document without an item, which must exist, of the list at path. An empty list stays.
func RemoveItem(src []byte, path []string, index int) ([]byte, error) {
	list, err := List(src, path)
	if err != nil {
		return nil, err
	}
	edited, err := editList(src, path, func(items []hujson.Value) []hujson.Value {
		return slices.Delete(items, index, index+1)
	})
	if err != nil {
		return nil, err
	}
	return checkEdit(JSON, src, edited, path, slices.Delete(slices.Clone(list), index, index+1))
}

// editList returns a JSON document in which the existing list at path has the items that edit returns for its items.
func editList(src []byte, path []string, edit func([]hujson.Value) []hujson.Value) ([]byte, error) {
	bom, body := splitBOM(src)
	root, err := parseJSONC(body)
	if err != nil {
		return nil, err
	}
	value, _, err := walk(&root, path)
	if err != nil {
		return nil, err
	}
	array, _ := value.Value.(*hujson.Array) // List has checked that it is one
	array.Elements = edit(array.Elements)
	return append(bom, pack(&root)...), nil
}
