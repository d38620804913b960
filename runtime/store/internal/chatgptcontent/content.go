// Package chatgptcontent decodes the content of ChatGPT's messages: parts, which are texts, pictures, sound
// and more, or an object of some content type. It finds the texts in unknown types too, and returns a
// word such as "[image 640x480]" for media. It never opens a file.
package chatgptcontent

import (
	"bytes"
	"fmt"

	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// Parts returns the texts of a JSON array of the parts of a message, each on lines of its own. It returns false if raw is
// anything else, also an array of other values: a user can have written "[1, 2]" as a text.
func Parts(raw []byte) (text []byte, ok bool) {
	raw = bytes.TrimSpace(raw)
	if !bytes.HasPrefix(raw, []byte("[")) {
		return nil, false
	}
	if c := (jsontext.Cursor{Data: raw}); !c.Value(0) || c.Pos != len(raw) { // it is no JSON, or more follows
		return nil, false
	}
	for part := range jsontext.Elements(raw) {
		if !isPart(part) {
			return nil, false
		}
	}
	return appendParts(nil, raw), true
}

// isPart reports whether a JSON value is a part of a message: a text, null, or an object with a content type or a text.
func isPart(raw []byte) bool {
	var part struct {
		ContentType []byte `json:"content_type"`
		Text        []byte `json:"text"`
	}
	jsontext.Decode(raw, &part)
	isText, isNull := raw[0] == '"', raw[0] == 'n'
	return isText || isNull || part.ContentType != nil || part.Text != nil
}

// Content returns the text and the content type of a message's content. raw is the content in an export, a valid JSON
// value: a text, which has the content type "", or an object.
func Content(raw []byte) (text []byte, contentType string) {
	if _, ok := jsontext.Unquote(raw); ok {
		return AppendTexts(nil, raw, isForPeople), ""
	}
	for m := range jsontext.Members(raw) {
		switch quoted, isText := jsontext.Unquote(m.Value); {
		case isText && jsontext.KeyIs(m.Key, "content_type"):
			contentType = string(jsontext.Unescape(quoted))
		case jsontext.KeyIs(m.Key, "parts") && len(m.Value) > 0 && m.Value[0] == '[':
			text = appendParts(text, m.Value)
		case isForPeople(string(m.Key), isText): // no id, for example
			text = AppendTexts(text, m.Value, isForPeople)
		}
	}
	return text, contentType
}

// appendParts appends the texts of an array of parts, each on lines of its own.
func appendParts(dst, raw []byte) []byte {
	for part := range jsontext.Elements(raw) {
		if _, isText := jsontext.Unquote(part); isText {
			dst = AppendTexts(dst, part, isForPeople)
		} else {
			dst = AppendLine(dst, object(part))
		}
	}
	return dst
}

// object returns the text of a part that is an object: a word in brackets for media, its texts, or its content type.
func object(raw []byte) []byte {
	var part struct {
		ContentType string `json:"content_type"`
		Width       int64  `json:"width"`
		Height      int64  `json:"height"`
	}
	jsontext.Decode(raw, &part)
	word := part.ContentType
	switch part.ContentType {
	case "image_asset_pointer":
		word = "image"
	case "audio_asset_pointer":
		word = "audio"
	case "real_time_user_audio_video_asset_pointer", "video_container_asset_pointer", "video_asset_pointer":
		word = "video"
	default:
		if text := AppendTexts(nil, raw, isForPeople); len(text) > 0 || word == "" {
			return text
		}
	}
	if part.Width > 0 && part.Height > 0 {
		word += fmt.Sprintf(" %dx%d", part.Width, part.Height)
	}
	return []byte("[" + word + "]")
}

// isForPeople reports whether a member of an object can have a text for people.
func isForPeople(key string, _ bool) bool {
	switch key {
	case "content_type", "type", "language", "response_format_name", "direction", "metadata", // say what the text is
		"id", "source_analysis_msg_id", "decoding_id", "asset_pointer", "audio_asset_pointer", "video_container_asset_pointer", "frames_asset_pointers",
		"chunks": // repeat the text of another member
		return false
	}
	return true
}

// AppendTexts appends the texts in a JSON value in their order, each on lines of its own. Of an object it appends
// only the texts in members for which wanted returns true.
func AppendTexts(dst, raw []byte, wanted func(key string, isText bool) bool) []byte {
	if text, ok := jsontext.Unquote(raw); ok {
		return AppendLine(dst, transcript.AppendUnescaped(nil, text))
	}
	for m := range jsontext.Members(raw) {
		if _, isText := jsontext.Unquote(m.Value); wanted(string(m.Key), isText) {
			dst = AppendTexts(dst, m.Value, wanted)
		}
	}
	for element := range jsontext.Elements(raw) {
		dst = AppendTexts(dst, element, wanted)
	}
	return dst
}

// AppendLine appends a text on lines of its own, if there is any.
func AppendLine(dst, text []byte) []byte {
	if len(dst) > 0 && len(text) > 0 {
		dst = append(dst, '\n')
	}
	return append(dst, text...)
}
