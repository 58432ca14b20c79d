package storage

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// LatestRecord is the largest age at which an event is written. The event's id contains its time, so the feed derives its start from this bound.
const LatestRecord = 10 * time.Second

// FeedPosition is a position in the database's commit order (ADR 32). A reader after a place may see again an event that was visible at that place. An event
// that was not visible comes after it, however late its commit.
type FeedPosition struct {
	Commit string    `json:"c"` // position in the engine's own format
	Since  time.Time `json:"s"` // every event after the place has an id that is not older
}

// CommitBefore reports whether commit position a is before b. Both are decimal numbers.
func CommitBefore(a, b string) bool {
	wholeA, restA, _ := strings.Cut(a, ".")
	wholeB, restB, _ := strings.Cut(b, ".")
	return cmp.Or(cmp.Compare(len(wholeA), len(wholeB)), strings.Compare(wholeA, wholeB), strings.Compare(restA, restB)) < 0
}

// FeedState is a place together with the values that seal its cursors.
type FeedState struct {
	FeedPosition

	Secret   string    // changes after a restore and differs between databases
	KeptFrom time.Time // older events may have been deleted
}

// FeedRow is the record of one transaction in a project's trail.
type FeedRow struct {
	ID     ipam.ID
	Commit string // a place at or before the commit; commits before a place have an earlier one
	Events []ipam.Event
}

// FeedPage is a page of a project's trail after a place.
type FeedPage struct {
	Now  FeedState // not later than the read; of several pages, the first one's mark is the place to continue
	Read string    // commit position of the read itself; a crashed database may pass it a second time, but never a place
	Rows []FeedRow
	More bool
}

// Feed reads changes.
type Feed interface {
	// RecentFeedState returns a mark that is not later than now and at most some seconds old, usually without a database request.
	RecentFeedState(ctx context.Context) (FeedState, error)
	// FeedRead returns up to limit rows of a project's trail after a place, ordered by id: all rows, or those after a row's last event.
	FeedRead(ctx context.Context, project ProjectKey, from FeedPosition, after ipam.ID, limit int) (FeedPage, error)
}

// FeedReader reads changed objects by name. It omits missing objects.
type FeedReader interface {
	ClaimsNamed(ctx context.Context, project ProjectKey, names []string) ([]ipam.Claim, error)
	PoolsNamed(ctx context.Context, project ProjectKey, names []string) ([]ipam.Pool, error)
	// HoldingsNamed returns the allocations that a project holds by claims or has retained.
	HoldingsNamed(ctx context.Context, project ProjectKey, ids []ipam.ID) ([]ipam.Allocation, error)
}
