package web

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/conversations"
)

// query is the question and the filters of a list, which the address of its page has.
type query struct {
	Words    string // ranks conversations by what was said
	All      bool   // of all projects
	Program  string // as [conversations.SourceOf], or jp
	Project  string // a directory
	File     string // that a conversation has changed, as [conversations.Filter.File]
	From, To time.Time
	Page     int // from 1
}

// maxWords is the number of bytes of a question.
const maxWords = 2000

// queryOf returns the query of a request. Values that cannot be read are left out.
func queryOf(r *http.Request) query {
	values := r.URL.Query()
	q := query{Words: strings.TrimSpace(values.Get("q")), All: values.Get("all") != "", Program: values.Get("program"), Project: values.Get("project"), File: strings.TrimSpace(values.Get("file"))}
	if len(q.Words) > maxWords {
		q.Words = strings.ToValidUTF8(q.Words[:maxWords], "")
	}
	q.From, _ = time.ParseInLocation(time.DateOnly, values.Get("from"), time.Local)
	q.To, _ = time.ParseInLocation(time.DateOnly, values.Get("to"), time.Local)
	q.Page, _ = strconv.Atoi(values.Get("page"))
	q.Page = max(q.Page, 1)
	return q
}

// Address returns the address of the list of a query.
func (q query) Address() string {
	values := url.Values{}
	set := func(name, value string) {
		if value != "" {
			values.Set(name, value)
		}
	}
	set("q", q.Words)
	set("program", q.Program)
	set("project", q.Project)
	set("file", q.File)
	set("from", q.FromDay())
	set("to", q.ToDay())
	if q.All {
		set("all", "1")
	}
	if q.Page > 1 {
		set("page", strconv.Itoa(q.Page))
	}
	if len(values) == 0 {
		return "/"
	}
	return "/?" + values.Encode()
}

// FromDay and ToDay return the first and the last day as [dayOf] does.
func (q query) FromDay() string { return dayOf(q.From) }
func (q query) ToDay() string   { return dayOf(q.To) }

// dayOf returns the local day of a time as YYYY-MM-DD; empty for the zero time.
func dayOf(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format(time.DateOnly)
}

// AtPage returns the query for the page n.
func (q query) AtPage(n int) query {
	q.Page = n
	return q
}

// InAll returns the query for all projects, or for the one of the server.
func (q query) InAll(all bool) query {
	q.All, q.Page, q.Project = all, 1, ""
	return q
}

// Widened returns the query without filters.
func (q query) Widened() query { return query{Words: q.Words, All: q.All, Page: 1} }

// IsNarrow reports whether there is a filter.
func (q query) IsNarrow() bool {
	return q.Program != "" || q.Project != "" || q.File != "" || !q.From.IsZero() || !q.To.IsZero()
}

// until returns the last moment of the last day; the zero time for no bound.
func (q query) until() time.Time {
	if q.To.IsZero() {
		return q.To
	}
	return q.To.AddDate(0, 0, 1).Add(-time.Nanosecond)
}

// isIn reports whether a time is within the days.
func (q query) isIn(t time.Time) bool {
	return (q.From.IsZero() || !t.Before(q.From)) && (q.To.IsZero() || !t.After(q.until()))
}

// selects reports whether a conversation passes the filters by program and project.
func (q query) selects(c *conversations.Listed) bool {
	return (q.Program == "" || q.Program == programOf(c)) && (q.Project == "" || q.Project == c.Dir)
}
