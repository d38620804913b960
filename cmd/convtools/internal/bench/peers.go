package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/convtools/convtools/cmd/convtools/internal/table"
)

// peer is a generator of Go code from descriptions of another kind.
type peer struct {
	name, pkg string // of its command, with the version
	// input writes a description of so many operations into dir, and returns the
	// arguments to generate from there.
	input func(dir string, operations int) (args []string, err error)
}

// peerRuns is how often a peer runs: one of them takes half a minute.
const peerRuns = 2

// peers are those that generating is compared with.
func peers() []peer {
	return []peer{
		{"oapi-codegen", "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.5.0", openAPI},
		{"sqlc", "github.com/sqlc-dev/sqlc/cmd/sqlc@v1.29.0", queries},
	}
}

// beside measures peers on as many operations as ours, runs of convgen from nothing,
// had tools. A peer that cannot be built here is a row that states so.
func (b *builds) beside(ctx context.Context, t *table.Table, ours measured) error {
	for _, p := range peers() {
		name := fmt.Sprintf("convgen, %d specs: beside %s", b.plan.tools, p.name)
		bin := filepath.Join(b.dir, p.name)
		install := program{path: b.goCommand, args: []string{"install", p.pkg}, env: []string{"GOBIN=" + bin, "GOFLAGS="}}
		if _, err := install.output(ctx, b.dataDir); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			t.Add(table.Row{Name: name, Result: "skipped", Detail: "cannot be built: " + lastLine(err.Error())})
			continue
		}
		dir := filepath.Join(b.dir, "input of "+p.name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			return fmt.Errorf("making a folder for %s: %w", p.name, err)
		}
		args, err := p.input(dir, b.plan.tools)
		if err != nil {
			return fmt.Errorf("writing the input of %s: %w", p.name, err)
		}
		run := program{path: filepath.Join(bin, p.name), args: args}
		if runtime.GOOS == "windows" {
			run.path += ".exe"
		}
		var theirs measured
		for range min(b.plan.runs, peerRuns) {
			one, err := b.once(ctx, run)
			if err != nil {
				return err
			}
			theirs.times = append(theirs.times, one.times...)
			theirs.peak = max(theirs.peak, one.peak)
		}
		slices.Sort(theirs.times)
		row, ratio := compare(name, p.name, ours, theirs)
		row.AtMost(ratio, 1)
		row.Detail += "; at most " + megabytes(ours.peak) + " resident; peer " + megabytes(theirs.peak)
		t.Add(row)
	}
	return nil
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// openAPI describes operations with the parameters of [plantest.Project], for
// oapi-codegen: types, a client, a server, and the document.
func openAPI(dir string, operations int) ([]string, error) {
	type object = map[string]any
	text := func(more object) object {
		more["type"] = "string"
		return more
	}
	parameter := func(name, summary string, required bool, schema object) object {
		return object{"name": name, "in": "query", "description": summary, "required": required, "schema": schema}
	}
	parameters := []object{
		parameter("query", "Text to look for", true, text(object{"maxLength": 500})),
		parameter("kinds", "Only records of these kinds", false, object{
			"type": "array", "maxItems": 4, "items": text(object{"enum": []string{"note", "task", "event", "mail"}}),
		}),
		parameter("limit", "Most records to return", false, object{"type": "integer", "default": 20, "minimum": 1, "maximum": 100}),
		parameter("sort", "Order of the records", false, text(object{"enum": []string{"newest", "oldest", "title"}, "default": "newest"})),
		parameter("id", "Only this record", false, text(object{"pattern": "^[a-z]{1,8}-[0-9]{1,11}$"})),
		parameter("archived", "Also archived records", false, object{"type": "boolean", "default": false}),
	}
	answer := object{"type": "array", "items": object{"type": "object", "required": []string{"id"}, "properties": object{
		"id": text(object{}), "title": text(object{}), "created_at": text(object{"format": "date-time"}), "archived": object{"type": "boolean"},
	}}}
	paths := object{}
	for i := range operations {
		paths[fmt.Sprintf("/records%d", i)] = object{"get": object{
			"operationId": fmt.Sprintf("listRecords%d", i),
			"summary":     fmt.Sprintf("List the records of family %d", i),
			"description": "Lists the records, newest first. Use it to find a record by its title, or to see what there is.",
			"parameters":  parameters,
			"responses": object{"200": object{
				"description": "The records", "content": object{"application/json": object{"schema": answer}},
			}},
		}}
	}
	data, err := json.Marshal(object{"openapi": "3.0.3", "info": object{"title": "records", "version": "1"}, "paths": paths})
	if err != nil {
		return nil, err
	}
	name := filepath.Join(dir, "openapi.json")
	return []string{"-generate", "types,client,std-http,spec", "-package", "many", "-o", filepath.Join(dir, "many.go"), name}, os.WriteFile(name, data, 0o600)
}

// queries describes operations as annotated queries, for sqlc: a family of them, as
// [plantest.Project] has it, is a table.
func queries(dir string, operations int) ([]string, error) {
	const inFamily = 25
	var schema, query strings.Builder
	for i := range operations {
		if i%inFamily == 0 {
			fmt.Fprintf(&schema, "CREATE TABLE records%d (id TEXT PRIMARY KEY, kind TEXT NOT NULL, title TEXT, archived INTEGER NOT NULL, created_at TEXT NOT NULL);\n", i/inFamily)
		}
		fmt.Fprintf(&query, `-- name: ListRecords%d :many
SELECT id, title, created_at, archived FROM records%d
WHERE title LIKE sqlc.arg(query) AND kind IN (sqlc.slice(kinds)) AND archived = sqlc.arg(archived) AND (sqlc.narg(id) IS NULL OR id = sqlc.narg(id))
ORDER BY created_at LIMIT sqlc.arg(most);

`, i, i/inFamily)
	}
	config := filepath.Join(dir, "sqlc.json")
	for name, text := range map[string]string{
		config:                           `{"version":"2","sql":[{"engine":"sqlite","queries":"query.sql","schema":"schema.sql","gen":{"go":{"package":"many","out":"out"}}}]}`,
		filepath.Join(dir, "schema.sql"): schema.String(),
		filepath.Join(dir, "query.sql"):  query.String(),
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	return []string{"generate", "-f", config}, nil
}
