package conversationcli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/conversations"
)

func (s *searchCommands) statusCommand() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:     "status",
		Short:   "Show what is searched, and how much there is",
		Long:    cli.Fill("Shows the stores that are searched, with the conversations and messages in each, the newest of them, and their index. What has no index is read for that."),
		Example: cli.Examples(s.host.Name, "search status"),
		Args:    cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return s.status(cmd.Context(), asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print it as JSON")
	return cmd
}

// searchedStore is a kind of store in the answer of the command "search status".
type searchedStore struct {
	Store         string     `json:"store"`
	Conversations int        `json:"conversations"`
	Messages      int        `json:"messages"`
	Newest        *time.Time `json:"newest"`
	Problems      []string   `json:"problems"`
	IndexBytes    int64      `json:"index_bytes"` // 0 where there is no index
	IndexedAt     *time.Time `json:"indexed_at"`  // when the newest index was written

	unread bool // nothing is known but its problem
}

// addIndex adds the index of one of the stores of the kind.
func (s *searchedStore) addIndex(r *conversations.IndexReport) {
	if r.Store != s.Store || r.Bytes == 0 {
		return
	}
	s.IndexBytes += r.Bytes
	if at := time.Unix(r.Updated, 0).UTC(); s.IndexedAt == nil || at.After(*s.IndexedAt) {
		s.IndexedAt = &at
	}
}

func (s *searchCommands) status(ctx context.Context, asJSON bool) error {
	options := conversations.Options{Dir: s.host.Dir, AllProjects: true, Getenv: s.host.Getenv, Now: s.host.Now, Once: true, Indexes: conversations.OpenIndexes(s.host.Getenv, s.host.Now)}
	sources, err := conversations.SearchSources(options)
	if err != nil {
		return sourceFailure(err, nil)
	}
	library, err := conversations.Open(options)
	if err != nil {
		return sourceFailure(err, nil)
	}
	defer library.Close()
	indexes := library.IndexReports()
	stores := []searchedStore{}
	for _, source := range sources {
		store, err := s.searched(ctx, library, source)
		if err != nil && (ctx.Err() != nil || len(sources) == 1) {
			return sourceFailure(err, nil)
		}
		if err != nil { // the others are there
			store = &searchedStore{Store: source, Problems: []string{text.Line(sourceFailure(err, nil).Error())}, unread: true}
		}
		if store != nil {
			for _, r := range indexes {
				store.addIndex(&r)
			}
			stores = append(stores, *store)
		}
	}
	unused, err := library.UnusedIndexes()
	if err != nil {
		return err
	}
	if asJSON {
		return cli.PrintJSON(s.host.Stdout, s.host.Terminal, map[string]any{"stores": stores, "unused_indexes": unusedOf(unused)})
	}
	return s.writeStatus(stores, unused, options.Indexes.Foreign())
}

// searched returns what there is in a kind of store; nil where there is nothing.
func (s *searchCommands) searched(ctx context.Context, library *conversations.Library, source string) (*searchedStore, error) {
	filter := conversations.Filter{Sources: []string{source}}
	found, err := library.Messages(ctx, conversations.MessageQuery{Filter: filter, Limit: 1, MaxText: 1})
	if err != nil {
		return nil, err
	}
	store := &searchedStore{Store: source, Messages: found.Total, Problems: []string{}}
	for i := range found.Aside.Problems {
		store.Problems = append(store.Problems, s.describe(&found.Aside.Problems[i]))
	}
	if len(found.Messages) > 0 && !found.Messages[0].Position.Time.IsZero() {
		newest := found.Messages[0].Position.Time.UTC()
		store.Newest = &newest
	}
	filter.Both = true
	listing, err := library.List(ctx, conversations.ListQuery{Filter: filter, NoEvents: true, Sort: conversations.ByID})
	if err != nil {
		return nil, err
	}
	if store.Conversations = listing.Total; store.Conversations == 0 && len(store.Problems) == 0 {
		return nil, nil
	}
	return store, nil
}

// indexOf describes the index of a store.
func (s *searchCommands) indexOf(store *searchedStore) string {
	if store.IndexedAt == nil {
		return "-"
	}
	return fmt.Sprintf("%.1f MB, %s", float64(store.IndexBytes)/1e6, s.when(*store.IndexedAt, false))
}

func (s *searchCommands) writeStatus(stores []searchedStore, unused []conversations.UnusedIndex, foreign string) error {
	rows := [][]string{{"STORE", "CONVERSATIONS", "MESSAGES", "NEWEST", "INDEX"}}
	remarks := notOwn(foreign)
	for _, store := range stores {
		newest := "-"
		if store.Newest != nil {
			newest = s.when(*store.Newest, false)
		}
		row := []string{store.Store, text.Number(store.Conversations), text.Number(store.Messages), newest, s.indexOf(&store)}
		if store.unread {
			row[1], row[2] = "-", "-"
		}
		rows = append(rows, row)
		remarks = append(remarks, problemsOf(store.Store, store.Problems)...)
	}
	for i := range unused {
		why := "not searched"
		if unused[i].Gone {
			why = "gone, and removed by search index"
		}
		remarks = append(remarks, s.describeUnused(&unused[i])+": "+why)
	}
	return s.printTable("", rows, func(column int) bool { return column == 1 || column == 2 }, remarks)
}
