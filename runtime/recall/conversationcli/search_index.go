package conversationcli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store"
)

func (s *searchCommands) indexCommand() *cobra.Command {
	remove, asJSON := false, false
	cmd := &cobra.Command{
		Use:   "index",
		Short: "Bring the index of all messages up to date",
		Long: `Makes an index of the messages of all stores, or brings it up to date, so that
searches need not read them. It stands in the user's cache directory, takes a
little more room than the texts, and can be removed at any time: answers are
the same without it. A store with less than 20 MB of text needs none.

Indexes of stores that are gone are removed; "search status" shows those of
stores that are not searched.

An MCP server makes indexes by itself once messages were searched. Lists of
many conversations keep titles, times and counts beside them, and --clear
removes those too. To keep none of it, write in convtools.toml:

  [index]
  off = true`,
		Example: cli.Examples(s.host.Name, "search index", "search index --clear"),
		Args:    cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			indexes := conversations.OpenIndexes(s.host.Getenv, s.host.Now)
			defer indexes.Close()
			if remove {
				return indexes.Clear()
			}
			return s.index(cmd.Context(), indexes, asJSON)
		},
	}
	cmd.Flags().BoolVar(&remove, "clear", false, "remove the index of every store")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print it as JSON")
	return cmd
}

// indexedStore is a store in the answer of the command "search index".
type indexedStore struct {
	Store         string `json:"store"`
	Place         string `json:"place"`
	State         string `json:"state"` // indexed, small, busy or failed
	Conversations int    `json:"conversations"`
	Messages      int    `json:"messages"`
	Changed       int    `json:"changed"`
	Removed       int    `json:"removed"`
	Bytes         int64  `json:"bytes"`
	Problem       string `json:"problem"`
}

func (s *searchCommands) index(ctx context.Context, indexes *conversations.Indexes, asJSON bool) error {
	library, err := conversations.Open(conversations.Options{
		Dir: s.host.Dir, AllProjects: true, Getenv: s.host.Getenv, Now: s.host.Now, Indexes: indexes,
	})
	if err != nil {
		return sourceFailure(err, nil)
	}
	reports, err := library.RefreshIndexes(ctx, s.indexProgress())
	if err != nil {
		return err
	}
	gone, err := library.RemoveGoneIndexes()
	if err != nil {
		return err
	}
	stores := []indexedStore{}
	for _, r := range reports {
		store := indexedStore{
			Store: r.Store, Place: r.Place, State: "indexed", Conversations: r.Conversations, Messages: r.Messages, Changed: r.Changed,
			Removed: r.Removed, Bytes: r.Bytes,
		}
		switch {
		case r.Err != nil:
			store.State, store.Problem = "failed", text.Line(r.Err.Error())
		case r.Busy:
			store.State = "busy"
		}
		stores = append(stores, store)
	}
	if asJSON {
		return cli.PrintJSON(s.host.Stdout, s.host.Terminal, map[string]any{"stores": stores, "gone": unusedOf(gone)})
	}
	return s.writeIndexed(stores, gone, indexes.Foreign())
}

// indexProgress returns what shows how far the making of an index is, on a terminal.
func (s *searchCommands) indexProgress() func(store.Store, int, int) {
	if !s.host.Terminal {
		return nil
	}
	var last time.Time
	return func(of store.Store, done, all int) {
		if now := s.host.Now(); now.Sub(last) > 100*time.Millisecond {
			last = now
			fmt.Fprintf(s.host.Stderr, "\r\x1b[K%s: %s of %s conversations", of.Name(), text.Number(done), text.Number(all))
		}
		if done == all-1 {
			fmt.Fprint(s.host.Stderr, "\r\x1b[K")
		}
	}
}

// unusedIndex is an index that no store has that is searched, as JSON.
type unusedIndex struct {
	Store string `json:"store"`
	Place string `json:"place"`
	Gone  bool   `json:"gone"` // nothing will use it again
	Bytes int64  `json:"bytes"`
}

func unusedOf(indexes []conversations.UnusedIndex) []unusedIndex {
	list := []unusedIndex{}
	for _, u := range indexes {
		list = append(list, unusedIndex{u.Store, u.Place, u.Gone, u.Bytes})
	}
	return list
}

// describeUnused describes an index that no store has that is searched.
func (s *searchCommands) describeUnused(u *conversations.UnusedIndex) string {
	of := "an index"
	if u.Store != "" {
		of += " of " + u.Store + " in " + s.shortPath(u.Place)
	}
	return fmt.Sprintf("%s, %.1f MB", of, float64(u.Bytes)/1e6)
}

// notOwn describes the directory of the cache that belongs to another user, where there is one.
func notOwn(dir string) []string {
	if dir == "" {
		return nil
	}
	return []string{dir + " belongs to another user: nothing in it is used"}
}

func (s *searchCommands) writeIndexed(stores []indexedStore, gone []conversations.UnusedIndex, foreign string) error {
	rows := [][]string{{"STORE", "INDEX", "CONVERSATIONS", "MESSAGES", "CHANGED", "MB"}}
	remarks := notOwn(foreign)
	for _, store := range stores {
		rows = append(rows, []string{
			store.Store, store.State, text.Number(store.Conversations), text.Number(store.Messages), text.Number(store.Changed + store.Removed),
			fmt.Sprintf("%.1f", float64(store.Bytes)/1e6),
		})
		if store.Problem != "" {
			remarks = append(remarks, store.Store+": "+store.Problem)
		}
	}
	for i := range gone {
		remarks = append(remarks, "removed, as nothing uses it again: "+s.describeUnused(&gone[i]))
	}
	head := ""
	if len(stores) == 0 {
		head, rows = "no index is kept\n", nil
	}
	return s.printTable(head, rows, func(column int) bool { return column > 1 }, remarks)
}
