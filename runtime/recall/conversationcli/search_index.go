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
			options := s.options()
			options.AllProjects = true
			defer options.Indexes.Close()
			if remove {
				return options.Indexes.Clear()
			}
			return s.index(cmd.Context(), options, asJSON)
		},
	}
	cmd.Flags().BoolVar(&remove, "clear", false, "remove the index of every store")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print it as JSON")
	return cmd
}

func (s *searchCommands) index(ctx context.Context, options conversations.Options, asJSON bool) error {
	library, err := conversations.Open(options)
	if err != nil {
		return sourceFailure(err, nil)
	}
	stores, err := library.RefreshIndexes(ctx, newProgress(s.host.Stderr, s.host.Now).indexed)
	if err != nil {
		return err
	}
	gone, err := library.RemoveGoneIndexes()
	if err != nil {
		return err
	}
	if !asJSON {
		return s.writeIndexed(stores, gone, options.Indexes.Foreign())
	}
	return s.printObject(object{"gone", unusedIndexes(gone), "stores", objects(stores, func(store conversations.IndexReport) object {
		state, problem := stateOfIndex(&store)
		return object{
			"store", store.Store, "place", store.Place, "state", state,
			"conversations", store.Conversations, "messages", store.Messages,
			"changed", store.Changed, "removed", store.Removed, "bytes", store.Bytes, "problem", problem,
		}
	})})
}

// stateOfIndex says what became of an index, and why it failed where it did.
func stateOfIndex(r *conversations.IndexReport) (state, problem string) {
	switch {
	case r.Err != nil:
		return "failed", text.Line(r.Err.Error())
	case r.Busy:
		return "busy", ""
	}
	return "indexed", ""
}

// unusedIndexes are indexes that no store has that is searched.
func unusedIndexes(indexes []conversations.UnusedIndex) []object {
	return objects(indexes, func(u conversations.UnusedIndex) object {
		return object{"store", u.Store, "place", u.Place, "gone", u.Gone, "bytes", u.Bytes}
	})
}

// describeUnused describes an index that no store has that is searched.
func (s *searchCommands) describeUnused(u *conversations.UnusedIndex) string {
	of := "an index"
	if u.Store != "" {
		of += " of " + u.Store + " in " + s.shortPath(u.Place)
	}
	return of + ", " + megabytes(u.Bytes) + " MB"
}

// notOwn describes the directory of the cache that belongs to another user, where there is one.
func notOwn(dir string) []string {
	if dir == "" {
		return nil
	}
	return []string{dir + " belongs to another user: nothing in it is used"}
}

func (s *searchCommands) writeIndexed(stores []conversations.IndexReport, gone []conversations.UnusedIndex, foreign string) error {
	rows := [][]string{{"STORE", "INDEX", "CONVERSATIONS", "MESSAGES", "CHANGED", "MB"}}
	remarks := notOwn(foreign)
	for i := range stores {
		store := &stores[i]
		state, problem := stateOfIndex(store)
		rows = append(rows, []string{
			store.Store, state, text.Number(store.Conversations), text.Number(store.Messages), text.Number(store.Changed + store.Removed), megabytes(store.Bytes),
		})
		if problem != "" {
			remarks = append(remarks, store.Store+": "+problem)
		}
	}
	for i := range gone {
		remarks = append(remarks, "removed, as nothing uses it again: "+s.describeUnused(&gone[i]))
	}
	if len(stores) == 0 {
		return s.printTable("no index is kept\n", nil, remarks)
	}
	return s.printTable("", rows, remarks, 2, 3, 4, 5)
}

func megabytes(bytes int64) string { return fmt.Sprintf("%.1f", float64(bytes)/1e6) }

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
	store                   string
	conversations, messages int
	newest                  time.Time
	problems                []string
	indexBytes              int64     // of all stores of the kind; 0 where there is no index
	indexedAt               time.Time // when the newest index was written
	unread                  bool      // nothing is known but its problem
}

func (s *searchCommands) status(ctx context.Context, asJSON bool) error {
	options := s.options()
	options.AllProjects, options.Once = true, true
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
	var stores []searchedStore
	for _, source := range sources {
		store, err := s.searched(ctx, library, source)
		if err != nil && (ctx.Err() != nil || len(sources) == 1) {
			return sourceFailure(err, nil)
		}
		if err != nil { // the others are there
			store = searchedStore{problems: []string{text.Line(sourceFailure(err, nil).Error())}, unread: true}
		}
		if store.conversations == 0 && len(store.problems) == 0 {
			continue
		}
		store.store = source
		for _, r := range indexes {
			if r.Store == source && r.Bytes > 0 {
				store.indexBytes += r.Bytes
				store.indexedAt = time.Unix(max(r.Updated, store.indexedAt.Unix()), 0)
			}
		}
		stores = append(stores, store)
	}
	unused, err := library.UnusedIndexes()
	if err != nil {
		return err
	}
	if !asJSON {
		return s.writeStatus(stores, unused, options.Indexes.Foreign())
	}
	listed := objects(stores, func(store searchedStore) object {
		return object{
			"store", store.store, "conversations", store.conversations, "messages", store.messages,
			"newest", nano(store.newest), "problems", store.problems,
			"index_bytes", store.indexBytes, "indexed_at", nano(store.indexedAt),
		}
	})
	return s.printObject(object{"stores", listed, "unused_indexes", unusedIndexes(unused)})
}

// searched returns what there is in a kind of store.
func (s *searchCommands) searched(ctx context.Context, library *conversations.Library, source string) (searchedStore, error) {
	filter := conversations.Filter{Sources: []string{source}}
	found, err := library.Messages(ctx, conversations.MessageQuery{Filter: filter, Limit: 1, MaxText: 1})
	if err != nil {
		return searchedStore{}, err
	}
	store := searchedStore{messages: found.Total}
	for i := range found.Aside.Problems {
		store.problems = append(store.problems, s.describe(&found.Aside.Problems[i]))
	}
	if len(found.Messages) > 0 {
		store.newest = found.Messages[0].Position.Time
	}
	filter.Both = true
	listing, err := library.List(ctx, conversations.ListQuery{Filter: filter, NoEvents: true, Sort: conversations.ByID})
	store.conversations = listing.Total
	return store, err
}

func (s *searchCommands) writeStatus(stores []searchedStore, unused []conversations.UnusedIndex, foreign string) error {
	rows := [][]string{{"STORE", "CONVERSATIONS", "MESSAGES", "NEWEST", "INDEX"}}
	remarks := notOwn(foreign)
	for _, store := range stores {
		row := []string{store.store, text.Number(store.conversations), text.Number(store.messages), "-", "-"}
		if store.unread {
			row[1], row[2] = "-", "-"
		}
		if !store.newest.IsZero() {
			row[3] = s.when(store.newest, false)
		}
		if store.indexBytes > 0 {
			row[4] = megabytes(store.indexBytes) + " MB, " + s.when(store.indexedAt, false)
		}
		rows = append(rows, row)
		remarks = append(remarks, problemsOf(store.store, store.problems)...)
	}
	for i := range unused {
		why := "not searched"
		if unused[i].Gone {
			why = "gone, and removed by search index"
		}
		remarks = append(remarks, s.describeUnused(&unused[i])+": "+why)
	}
	return s.printTable("", rows, remarks, 1, 2)
}
