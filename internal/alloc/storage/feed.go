package storage

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// LatestRecord is how long before it is written the time of an event may be, which its id has: by that a feed knows where to begin.
const LatestRecord = 10 * time.Second

// Place is a place in the order in which a database commits (ADR 32). What can be read at a place may be read again behind it; what cannot is behind it,
// however late it is committed.
type Place struct {
	Commit string    `json:"c"` // in the words of the engine
	Since  time.Time `json:"s"` // no event that is behind the place has an id of before
}

// CommitBefore reports whether the commit of one place is before that of another: both are decimal numbers.
func CommitBefore(a, b string) bool {
	wholeA, restA, _ := strings.Cut(a, ".")
	wholeB, restB, _ := strings.Cut(b, ".")
	return cmp.Or(cmp.Compare(len(wholeA), len(wholeB)), strings.Compare(wholeA, wholeB), strings.Compare(restA, restB)) < 0
}

// Mark is a place, and what cursors are sealed with that are made of it.
type Mark struct {
	Place

	Secret   string    // another one after a restore, or on another database
	KeptFrom time.Time // events of before may have been deleted
}

// FeedRow is what a transaction recorded in a project's trail.
type FeedRow struct {
	ID     ipam.ID
	Commit string // a place before which it was not committed; what is committed before a place has an earlier one
	Events []ipam.Event
}

// FeedPage is a part of what was recorded in a project's trail behind a place.
type FeedPage struct {
	Now  Mark   // not later than the read: of several parts that of the first is where to go on
	Read string // the commit of the read itself, which a database that crashes may pass a second time; a place is one that it cannot
	Rows []FeedRow
	More bool
}

// Feed reads what changes.
type Feed interface {
	// FeedMark answers a mark that is not later than now and of some seconds ago at most, mostly without asking the database.
	FeedMark(ctx context.Context) (Mark, error)
	// FeedRead answers up to limit rows of a project's trail that are behind a place, in order of their ids: all, or those after the last event of a row.
	FeedRead(ctx context.Context, project ProjectKey, from Place, after ipam.ID, limit int) (FeedPage, error)
}

// FeedReader reads by name what has changed: what is not answered is not there.
type FeedReader interface {
	ClaimsNamed(ctx context.Context, project ProjectKey, names []string) ([]ipam.Claim, error)
	PoolsNamed(ctx context.Context, project ProjectKey, names []string) ([]ipam.Pool, error)
	// HoldingsNamed answers those of some allocations that a project holds by claims, or has retained of them.
	HoldingsNamed(ctx context.Context, project ProjectKey, ids []ipam.ID) ([]ipam.Allocation, error)
}
