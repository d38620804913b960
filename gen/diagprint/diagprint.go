// Package diagprint prints lists of findings: [Text] for people, [JSON] for programs,
// [GitHub] for annotations on a pull request, and [SARIF] for services that collect them.
//
// The package must never read or write files: sources come in from the caller, output
// goes to the caller's writer. What it prints comes from files that may be hostile, so no
// printer lets a control character through.
package diagprint
