package storage

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// LatestRecord is the greatest possible delay between an event's time and its write. The event's id contains the event's time, so the feed uses this
// limit to find its start.
const LatestRecord = 10 * time.Second

// FeedPosition is a position in the order of the database's commits (ADR 32). A reader that continues after a position may read an event a second
// time. It never misses an event, because an event that commits later comes after the position.
type FeedPosition struct {
	Commit string    `json:"c"` // the position in the database engine's format
	Since  time.Time `json:"s"` // every event after the position has an id with this time or a later time
}

// CommitBefore reports whether commit position a is before commit position b. Both are decimal numbers.
func CommitBefore(a, b string) bool {
	wholeA, restA, _ := strings.Cut(a, ".")
	wholeB, restB, _ := strings.Cut(b, ".")
	return cmp.Or(cmp.Compare(len(wholeA), len(wholeB)), strings.Compare(wholeA, wholeB), strings.Compare(restA, restB)) < 0
}

// FeedState is a position with the values that protect a cursor to it.
type FeedState struct {
	FeedPosition

	Secret   string    // the secret that protects cursors; it changes after a restore and differs between databases
	KeptFrom time.Time // older events may have been deleted
}

// FeedRow is one transaction's record in a project's trail.
type FeedRow struct {
	ID     ipam.ID
	Commit string // a position at or before the transaction's commit
	Events []ipam.Event
}

// FeedPage is a page from a project's trail after a position.
type FeedPage struct {
	Now  FeedState // not later than the read; after several pages, the next read starts from the first page's state
	Read string    // the position of the read itself; after a crash, later commits may get this position again
	Rows []FeedRow
	More bool
}

// Feed reads changes.
type Feed interface {
	// RecentFeedState returns a state that is not later than now and at most a few seconds old. It usually needs no database request.
	RecentFeedState(ctx context.Context) (FeedState, error)
	// FeedRead returns up to limit rows from a project's trail after a position, in id order. after is the id of the last row that was read, or zero.
	FeedRead(ctx context.Context, project ProjectKey, from FeedPosition, after ipam.ID, limit int) (FeedPage, error)
}

// FeedReader reads changed objects by name, and omits missing objects.
type FeedReader interface {
	ClaimsNamed(ctx context.Context, project ProjectKey, names []string) ([]ipam.Claim, error)
	PoolsNamed(ctx context.Context, project ProjectKey, names []string) ([]ipam.Pool, error)
	// HoldingsNamed returns the allocations that a project's claims hold, and those that the project has retained.
	HoldingsNamed(ctx context.Context, project ProjectKey, ids []ipam.ID) ([]ipam.Allocation, error)
}
