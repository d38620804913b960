// Package diagprint prints lists of diagnostics: [Text] for people, [JSON] for programs, [GitHub] for annotations on
// a pull request, and [SARIF] for code scanning services.
//
// The package must never read or write files: callers pass sources and writers. The text it prints may come from
// hostile files, so every printer escapes control characters.
package diagprint
