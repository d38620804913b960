package envelope

import (
	"reflect"
	"strings"
	"time"
)

// Document returns an element as text. element is a pointer to a struct with the tags of generated envelopes:
//
//	type ListEnvelope struct {
//		_       struct{} `element:"conversation_list,root"`    // or ",beside": on the line of the content before it
//		_       struct{} `attr:"version" fixed:"1"`            // is always there
//		Count   int      `attr:"count,omitzero"`               // nil pointers are always left out
//		Before  bool     `separator:"gap"`                     // if true, <gap/> before the element
//		Text    string   `body:"inline"`                       // lines, block, json
//		Notes   []string `element:"note,omitzero" body:"inline"` // elements that are only a body
//		Records []Record                                       // elements of their own
//	}
//
// Attributes are written in the order of the fields, then the contents.
func Document(element any) []byte {
	var w Writer
	w.Element(element)
	return w.Bytes()
}

// Element writes an element inside the current one; see [Document].
func (w *Writer) Element(element any) { w.element(reflect.ValueOf(element).Elem()) }

// element writes the element that a struct describes with its tags, see [Document]. First comes an empty element, such
// as <gap/>, for each true field with a separator tag; then the start tag with the attributes; then the contents. The
// element tag of the first field has the name.
func (w *Writer) element(v reflect.Value) {
	fields := v.Type()
	name, option, _ := strings.Cut(fields.Field(0).Tag.Get("element"), ",")
	for i := range v.NumField() {
		if separator := fields.Field(i).Tag.Get("separator"); separator != "" && v.Field(i).Bool() {
			w.Open(separator)
			w.Close()
		}
	}
	w.open(name, option)
	for i := range v.NumField() {
		if tag := fields.Field(i).Tag; tag.Get("attr") != "" {
			w.taggedAttribute(tag, v.Field(i))
		}
	}
	if option == "root" {
		w.Attribute("untrusted", true)
	}
	for i := 1; i < v.NumField(); i++ {
		tag := fields.Field(i).Tag
		if isContent := tag.Get("attr") == "" && tag.Get("separator") == ""; isContent {
			w.content(tag, v.Field(i))
		}
	}
	w.Close()
}

// open opens an element: on the line of the content before it if the option is "beside", otherwise on a new line.
func (w *Writer) open(name, option string) {
	if option == "beside" {
		w.OpenBeside(name)
	} else {
		w.Open(name)
	}
}

// taggedAttribute writes the attribute of a field: the fixed text in the tag, or the value v. It leaves out a nil
// pointer, and a zero value if the tag has the option omitzero.
func (w *Writer) taggedAttribute(tag reflect.StructTag, v reflect.Value) {
	name, option, _ := strings.Cut(tag.Get("attr"), ",")
	if fixed, ok := tag.Lookup("fixed"); ok {
		w.Attribute(name, fixed)
		return
	}
	if (v.Kind() == reflect.Pointer || option == "omitzero") && v.IsZero() {
		return
	}
	value := reflect.Indirect(v).Interface()
	if t, isTime := value.(time.Time); isTime && t.IsZero() && option == "omitzero" { // with a location, v is not zero
		return
	}
	w.Attribute(name, value)
}

// content writes a field that is a body, an element or a list of these. If the tag of a string names an element, the
// string is the body of a new element with that name. Otherwise the string is the body of the current element. With the
// option omitzero, an empty string has no new element.
func (w *Writer) content(tag reflect.StructTag, v reflect.Value) {
	switch v.Kind() {
	case reflect.Slice:
		for i := range v.Len() {
			w.content(tag, v.Index(i))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			w.element(v.Elem())
		}
	case reflect.Struct:
		w.element(v)
	case reflect.String:
		name, options, _ := strings.Cut(tag.Get("element"), ",")
		if name == "" {
			w.Body(tag.Get("body"), v.String())
			return
		}
		if v.Len() == 0 && strings.Contains(options, "omitzero") {
			return
		}
		w.open(name, strings.TrimSuffix(options, ",omitzero")) // "beside,omitzero" also has the option of open
		w.Body(tag.Get("body"), v.String())
		w.Close()
	}
}
