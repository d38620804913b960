// Package chatgptcontent reads what ChatGPT records as the content of a message: parts,
// which are texts, pictures, sound and more, or an object of some content type. It finds
// the text in types that it does not know too, and writes media as words such as
// "[image 640x480]".
//
// It follows no pointer to a file, and holds nothing but parts of what it was given.
package chatgptcontent

import (
	"bytes"
	"slices"

	"github.com/convtools/convtools/runtime/store/internal/recorded"
	"github.com/convtools/convtools/runtime/store/jsontext"
)

// AppendParts appends the text of a JSON array of parts, and reports whether raw is one.
// Any other text is none: a user may have written an array of numbers.
func AppendParts(dst []recorded.Piece, raw []byte) ([]recorded.Piece, bool) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '[' {
		return dst, false
	}
	if c := (jsontext.Cursor{Data: raw}); !c.Value(0) || c.Pos != len(raw) {
		return dst, false
	}
	for part := range jsontext.Elements(raw) {
		if !isPart(part) {
			return dst, false
		}
	}
	return appendParts(dst, raw), true
}

// isPart reports whether a JSON value is a part of a message.
func isPart(raw []byte) bool {
	switch raw[0] {
	case '"':
		return true
	case 'n':
		return true // null
	case '{':
		for m := range jsontext.Members(raw) {
			if _, ok := jsontext.Unquote(m.Value); ok && (jsontext.KeyIs(m.Key, "content_type") || jsontext.KeyIs(m.Key, "text")) {
				return true
			}
		}
	}
	return false
}

func appendParts(dst []recorded.Piece, raw []byte) []recorded.Piece {
	for part := range jsontext.Elements(raw) {
		if text, ok := jsontext.Unquote(part); ok {
			dst = appendText(dst, text)
		} else {
			dst = appendPart(dst, part)
		}
	}
	return dst
}

func appendText(dst []recorded.Piece, raw []byte) []recorded.Piece {
	if len(raw) == 0 {
		return dst
	}
	return append(dst, recorded.Piece{Raw: raw})
}

// media are the words for what is no text, by content type.
func media(contentType []byte) string {
	switch string(contentType) {
	case "image_asset_pointer":
		return "image"
	case "audio_asset_pointer":
		return "audio"
	case "real_time_user_audio_video_asset_pointer", "video_container_asset_pointer", "video_asset_pointer":
		return "video"
	}
	return ""
}

// appendPart appends what stands for a part that is an object.
func appendPart(dst []recorded.Piece, raw []byte) []recorded.Piece {
	var contentType, width, height []byte
	for m := range jsontext.Members(raw) {
		switch text, isText := jsontext.Unquote(m.Value); {
		case isText && jsontext.KeyIs(m.Key, "content_type"):
			contentType = text
		case jsontext.KeyIs(m.Key, "width"):
			width = m.Value
		case jsontext.KeyIs(m.Key, "height"):
			height = m.Value
		}
	}
	if word := media(contentType); word != "" {
		if isSize(width) && isSize(height) {
			word += " " + string(width) + "x" + string(height)
		}
		return append(dst, recorded.Piece{Raw: []byte("[" + word + "]")})
	}
	before := len(dst)
	if dst = appendStrings(dst, raw); len(dst) > before || len(contentType) == 0 {
		return dst
	}
	return append(dst, recorded.Piece{Raw: []byte("[")}, recorded.Piece{Raw: contentType, Joined: true}, recorded.Piece{Raw: []byte("]"), Joined: true})
}

// isSize reports whether a JSON value is a number of pixels.
func isSize(raw []byte) bool {
	const digits = 6
	return 0 < len(raw) && len(raw) <= digits && !slices.ContainsFunc(raw, func(c byte) bool { return c < '0' || '9' < c })
}

// AppendContent appends the text of the content of a message in an export, which is a
// JSON object that a cursor has walked, and returns its content type as it stands between
// its quotes.
func AppendContent(dst []recorded.Piece, raw []byte) (pieces []recorded.Piece, contentType []byte) {
	if text, ok := jsontext.Unquote(raw); ok {
		return appendText(dst, text), nil
	}
	for m := range jsontext.Members(raw) {
		switch text, isText := jsontext.Unquote(m.Value); {
		case isText && jsontext.KeyIs(m.Key, "content_type"):
			contentType = text
		case jsontext.KeyIs(m.Key, "parts") && len(m.Value) > 0 && m.Value[0] == '[':
			dst = appendParts(dst, m.Value)
		default:
			dst = appendMember(dst, m)
		}
	}
	return dst, contentType
}

// appendStrings appends all texts in a JSON value, in their order.
func appendStrings(dst []recorded.Piece, raw []byte) []recorded.Piece {
	if text, ok := jsontext.Unquote(raw); ok {
		return appendText(dst, text)
	}
	for m := range jsontext.Members(raw) {
		dst = appendMember(dst, m)
	}
	for element := range jsontext.Elements(raw) {
		dst = appendStrings(dst, element)
	}
	return dst
}

// appendMember appends the texts in a member of an object, but for what is there for
// programs: names of forms, pointers, and what repeats another member.
func appendMember(dst []recorded.Piece, m jsontext.Member) []recorded.Piece {
	switch string(m.Key) {
	case "content_type", "type", "id", "language", "response_format_name", "source_analysis_msg_id", "metadata", "chunks", "direction", "decoding_id",
		"asset_pointer", "audio_asset_pointer", "video_container_asset_pointer", "frames_asset_pointers":
		return dst
	}
	return appendStrings(dst, m.Value)
}
