package api

import (
	"errors"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/alloc/feed"
	"github.com/carve-ipam/carve/internal/api/codec"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/api/limits"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// rightsEvery is the interval between two checks of the caller's right to follow the changes. The caches of keys and members can be some seconds old
// too, so a shorter interval would gain little.
const rightsEvery = 3 * time.Second

func (s *server) ListChanges(c echo.Context, project string, p gen.ListChangesParams) error {
	labels, err := codec.LabelFilter(value(p.LabelSelector))
	if err != nil {
		return err
	}
	f := feed.Filter{Name: value(p.ResourceName), Labels: labels}
	for _, kind := range p.ResourceKind {
		f.Kinds = append(f.Kinds, string(kind))
	}
	after := codec.ValueOr(p.LastEventID, value(p.After))
	follower, err := s.use.Follow(c.Request().Context(), project, after, f)
	if err != nil {
		return err
	}
	defer follower.Close()
	limits.ReleaseSlot(c.Request().Context())
	if wantsStream(operationOf(c), c.Request()) {
		return s.stream(c, follower)
	}
	return s.poll(c, follower, codec.ValueOr(p.Limit, defaultLimit), time.Duration(value(p.WaitSeconds))*time.Second)
}

// poll returns the pending changes. If there are none, it waits for the next ones, at most for the duration wait.
func (s *server) poll(c echo.Context, follower *feed.Follower, limit int, wait time.Duration) error {
	control := http.NewResponseController(c.Response())
	if wait > 0 {
		_ = control.SetReadDeadline(time.Time{}) // without a read deadline, the server still notices a client that disconnects
		_ = control.SetWriteDeadline(time.Now().Add(wait + writeLimit))
	}
	began := time.Now()
	changes, err := follower.Next(c.Request().Context(), wait, limit)
	callOf(c).waited = time.Since(began)
	if err == nil && wait > 0 {
		err = s.recheck(c, follower)
	}
	if err != nil {
		return err
	}
	tenancy.BudgetOf(c.Request().Context()).Add(tenancy.RowWork(len(changes), feed.SizeOf(changes)))
	if err := follower.Reserve(c.Request().Context(), changes); err != nil {
		return err
	}
	page := gen.ChangeList{Items: make([]gen.Change, len(changes)), Cursor: follower.Cursor()}
	for i, change := range changes {
		if page.Items[i], err = showChange(change, s.cfg.Clock()); err != nil {
			return err
		}
	}
	return sendOK(c, &page)
}

// recheck checks again that the caller's credentials are valid and that the caller may follow the changes.
func (s *server) recheck(c echo.Context, follower *feed.Follower) error {
	who, err := s.cfg.Authenticator.Authenticate(c.Request())
	if err != nil {
		return err
	}
	return follower.CheckAccess(tenancy.WithPrincipal(c.Request().Context(), who))
}

// refusalOf converts the error that ends a stream into an error that the caller may see.
func refusalOf(err error) *ipam.Error {
	refused, ok := errors.AsType[*ipam.Error](err)
	if !ok {
		return ipam.Errorf(ipam.CodeInternal, "The changes cannot be read.")
	}
	return refused
}
