// Package specs holds projects with mistakes: one archive a mistake, named after the
// rule it breaks, with what convgen prints about it and the same project without the
// mistake. The tests of gen/plan run them all; convgen explain shows them.
package specs

import "embed"

// Archives holds every archive, as RULE-mistake.txtar.
//
//go:embed *.txtar
var Archives embed.FS
