package api

import (
	"errors"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/alloc/feed"
	"github.com/carve-ipam/carve/internal/api/auth"
	"github.com/carve-ipam/carve/internal/api/codec"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/api/limits"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// changeHandlers serves the feed of changes.
type changeHandlers struct {
	use           Changes
	authenticator auth.Authenticator
	clock         func() time.Time
}

// rightsEvery is the interval between checks that the caller may still follow the changes. The caches of keys and members are also some seconds old.
const rightsEvery = 3 * time.Second

func (s changeHandlers) ListChanges(c echo.Context, project string, p gen.ListChangesParams) error {
	labels, err := codec.LabelFilter(codec.ValueOr(p.LabelSelector, ""))
	if err != nil {
		return err
	}
	f := feed.Filter{Name: codec.ValueOr(p.ResourceName, ""), Labels: labels}
	for _, kind := range p.ResourceKind {
		f.Kinds = append(f.Kinds, string(kind))
	}
	after := codec.ValueOr(p.LastEventID, codec.ValueOr(p.After, ""))
	follower, err := s.use.Follow(c.Request().Context(), project, after, f)
	if err != nil {
		return err
	}
	defer follower.Close()
	limits.ReleaseSlot(c.Request().Context())
	if streams(operationOf(c), c.Request()) {
		return s.stream(c, follower)
	}
	return s.poll(c, follower, codec.ValueOr(p.Limit, defaultLimit), time.Duration(codec.ValueOr(p.WaitSeconds, 0))*time.Second)
}

// poll returns the pending changes. If there are none, it waits up to wait for the next ones.
func (s changeHandlers) poll(c echo.Context, follower *feed.Follower, limit int, wait time.Duration) error {
	control := http.NewResponseController(c.Response())
	if wait > 0 {
		_ = control.SetReadDeadline(time.Time{}) // without a read deadline, the server still notices a client that disconnects
		_ = control.SetWriteDeadline(time.Now().Add(wait + writeLimit))
	}
	began := time.Now()
	changes, err := follower.Next(c.Request().Context(), wait, limit)
	callOf(c).waited = time.Since(began)
	if err == nil && wait > 0 {
		err = s.may(c, follower)
	}
	if err != nil {
		return err
	}
	tenancy.BudgetOf(c.Request().Context()).Add(tenancy.Work{Rows: len(changes)})
	if err := follower.Reserve(c.Request().Context(), changes); err != nil {
		return err
	}
	page := gen.ChangeList{Items: make([]gen.Change, len(changes)), Cursor: follower.Cursor()}
	for i, change := range changes {
		if page.Items[i], err = showChange(change, s.clock()); err != nil {
			return err
		}
	}
	return codec.Answer(c.Response(), http.StatusOK, &page)
}

// may checks again that the caller's credentials are valid and that the caller may follow the changes.
func (s changeHandlers) may(c echo.Context, follower *feed.Follower) error {
	who, err := s.authenticator.Authenticate(c.Request())
	if err != nil {
		return err
	}
	return follower.May(tenancy.WithPrincipal(c.Request().Context(), who))
}

// refusalOf converts the error that ends a stream into an error that the caller may see.
func refusalOf(err error) *ipam.Error {
	refused, ok := errors.AsType[*ipam.Error](err)
	if !ok {
		return ipam.Errorf(ipam.CodeInternal, "The changes cannot be read.")
	}
	return refused
}
