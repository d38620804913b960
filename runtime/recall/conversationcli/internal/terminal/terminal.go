// Package terminal makes recorded text safe to show to people.
package terminal

import "github.com/convtools/convtools/runtime/base/text"

// AppendText is [text.AppendVisible].
func AppendText(dst, s []byte) []byte { return text.AppendVisible(dst, s) }

// AppendLine is [text.AppendCell].
func AppendLine(dst, s []byte) []byte { return text.AppendCell(dst, s) }

// Line is [text.Cell].
func Line(s string) string { return text.Cell(s) }

// Width is [text.Width].
func Width(s string) int { return text.Width(s) }

// Truncate is [text.Truncate].
func Truncate(s string, columns int) string { return text.Truncate(s, columns) }
