// Package specs holds projects with mistakes: one archive a mistake, named after the
// rule it breaks, with what convgen prints about it and the same project without the
// mistake. Below breaking are changes of contracts: one archive a change, named after
// its rule, with the facts before and after, and what convgen breaking prints.
//
// The tests of gen/plan and gen/lock run them all; convgen explain shows them.
package specs

import "embed"

// Archives holds every archive, as RULE-mistake.txtar, breaking/RULE.txtar or
// breaking/RULE-change.txtar.
//
//go:embed *.txtar breaking/*.txtar
var Archives embed.FS
