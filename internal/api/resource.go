package api

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/api/codec"
	"github.com/carve-ipam/carve/internal/api/contract"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// The functions below handle every kind of resource. D is the type of a resource in the use cases, W is its type in the API, and B is the type of a
// request body. A kind supplies its use case and a function that converts a D into a W.

// defaultLimit is the default of `limit` in the contract's lists.
const defaultLimit = 100

// list returns one page of a project's resources.
func list[D, W any](c echo.Context, limit *int, cursor *string, project string,
	read func(ctx context.Context, project string, limit int, cursor string, r usecase.Reading) (paging.Page[D], error), show func(D) W,
) error {
	keep, err := reserve(c, paging.MostBytes)
	if err != nil {
		return err
	}
	defer keep(0)
	page, err := read(c.Request().Context(), project, codec.ValueOr(limit, defaultLimit), codec.ValueOr(cursor, ""), readingOf(c))
	if err != nil {
		return err
	}
	keep(page.Bytes)
	return codec.Answer(c.Response(), http.StatusOK, &codec.Page[W]{Items: codec.Each(page.Items, show), NextCursor: page.Next})
}

// reserve reserves memory for a response before the server reads the data. The memory stays reserved until the response is sent. keep reduces the
// reservation to the given number of bytes.
func reserve(c echo.Context, bytes int) (keep func(bytes int), err error) {
	ctx := c.Request().Context()
	return tenancy.BudgetOf(ctx).Reserve(ctx, bytes)
}

// followed is list for a kind in the change feed. The page contains a cursor, from which the caller can follow all later changes. followed reads the
// feed's position before it reads the page, so that no change is lost between the two. A page of stale data has no such cursor.
func followed[D, W any](c echo.Context, use Changes, limit *int, cursor *string, project string,
	read func(ctx context.Context, project string, limit int, cursor string, r usecase.Reading) (paging.Page[D], error), show func(D) W,
) error {
	stale := readingOf(c).Behind != nil
	var mark storage.FeedState
	if !stale {
		var err error
		if mark, err = use.ChangesMark(c.Request().Context()); err != nil {
			return err
		}
	}
	keep, err := reserve(c, paging.MostBytes)
	if err != nil {
		return err
	}
	defer keep(0)
	page, err := read(c.Request().Context(), project, codec.ValueOr(limit, defaultLimit), codec.ValueOr(cursor, ""), readingOf(c))
	if err != nil {
		return err
	}
	keep(page.Bytes)
	answer := codec.Page[W]{Items: codec.Each(page.Items, show), NextCursor: page.Next}
	if !stale {
		answer.ChangesCursor = use.ChangesCursor(project, mark)
	}
	return codec.Answer(c.Response(), http.StatusOK, &answer)
}

// filtered returns a list function that always uses the filter f.
func filtered[D any](f paging.Filter,
	read func(ctx context.Context, project string, f paging.Filter, limit int, cursor string, r usecase.Reading) (paging.Page[D], error),
) func(ctx context.Context, project string, limit int, cursor string, r usecase.Reading) (paging.Page[D], error) {
	return func(ctx context.Context, project string, limit int, cursor string, r usecase.Reading) (paging.Page[D], error) {
		return read(ctx, project, f, limit, cursor, r)
	}
}

// get returns one resource of a project.
func get[D ipam.Resource, W any](c echo.Context, project, name string,
	read func(ctx context.Context, project, name string) (D, error), show func(D) W,
) error {
	d, err := read(c.Request().Context(), project, name)
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, d, show)
}

// post holds the parameters of a POST outside its body.
type post struct {
	project string
	variant string // the query if it changes the meaning of the body; part of the fingerprint
	key     *string
	dryRun  *bool
}

// creation returns the request of a POST with a body.
func (p post) creation(c echo.Context, body any) (usecase.Request, error) {
	who, _ := tenancy.From(c.Request().Context())
	return creation(who, operationOf(c).ID, c.Request().URL.Path+p.variant, body, p.key, p.dryRun)
}

// create creates a resource that parse reads from the body.
func create[B any, D ipam.Resource, W any](c echo.Context, p post, parse func(project string, body B) (D, error),
	use func(ctx context.Context, project string, d D, r usecase.Request) (usecase.Result[D], error), show func(D) W,
) error {
	var body B
	if err := c.Bind(&body); err != nil {
		return err
	}
	d, err := parse(p.project, body)
	if err != nil {
		return err
	}
	r, err := p.creation(c, &body)
	if err != nil {
		return err
	}
	made, err := use(c.Request().Context(), p.project, d, r)
	if err != nil {
		return err
	}
	mark(c, r.DryRun, made.Replayed)
	locate(c, c.Request().URL.Path+"/"+made.Value.Meta().Name)
	return answer(c, http.StatusCreated, made.Value, show)
}

// conditions holds the parameters of a PUT outside its body.
type conditions struct {
	ifMatch, ifNoneMatch *string
	dryRun               *bool
}

// put creates or replaces the named resource. parse reads the resource from the body.
func put[B any, D ipam.Resource, W any](c echo.Context, p conditions, project, name string, parse func(project, name string, body B) (D, error),
	use func(ctx context.Context, project string, d D, r usecase.Request) (usecase.Result[D], error), show func(D) W,
) error {
	var body B
	if err := c.Bind(&body); err != nil {
		return err
	}
	d, err := parse(project, name, body)
	if err != nil {
		return err
	}
	return putBare(c, p, func(ctx context.Context, r usecase.Request) (usecase.Result[D], error) {
		return use(ctx, project, d, r)
	}, show)
}

// putBare does the same as put for a resource that the path defines. Such a request has no body, or the caller has read it.
func putBare[D ipam.Resource, W any](c echo.Context, p conditions,
	use func(ctx context.Context, r usecase.Request) (usecase.Result[D], error), show func(D) W,
) error {
	match, err := parseMatch(contract.IfMatch, p.ifMatch)
	if err != nil {
		return err
	}
	// The contract allows only * in If-None-Match.
	r := usecase.Request{IfMatch: match, CreateOnly: p.ifNoneMatch != nil, DryRun: codec.ValueOr(p.dryRun, false)}
	made, err := use(c.Request().Context(), r)
	if err != nil {
		return err
	}
	mark(c, r.DryRun, false)
	if made.Existed {
		return answer(c, http.StatusOK, made.Value, show)
	}
	path := c.Request().URL.Path
	locate(c, path[:strings.LastIndexByte(path, '/')+1]+segment(made.Value.Meta().Name))
	return answer(c, http.StatusCreated, made.Value, show)
}

// patch changes a resource by a merge patch.
func patch[D ipam.Resource, W any](c echo.Context, ifMatch *string, dryRun *bool,
	use func(ctx context.Context, body json.RawMessage, r usecase.Request) (D, error), show func(D) W,
) error {
	var body json.RawMessage
	if err := c.Bind(&body); err != nil {
		return err
	}
	match, err := requiredMatch(ifMatch)
	if err != nil {
		return err
	}
	r := usecase.Request{IfMatch: match, DryRun: codec.ValueOr(dryRun, false)}
	d, err := use(c.Request().Context(), body, r)
	if err != nil {
		return err
	}
	mark(c, r.DryRun, false)
	return answer(c, http.StatusOK, d, show)
}

// remove deletes a resource of a project.
func remove(c echo.Context, ifMatch *string, dryRun *bool, project, name string,
	use func(ctx context.Context, project, name string, r usecase.Request) error,
) error {
	match, err := parseMatch(contract.IfMatch, ifMatch)
	if err != nil {
		return err
	}
	r := usecase.Request{IfMatch: match, DryRun: codec.ValueOr(dryRun, false)}
	if err := use(c.Request().Context(), project, name, r); err != nil {
		return err
	}
	mark(c, r.DryRun, false)
	return c.NoContent(http.StatusNoContent)
}

// answer sends one resource with its entity tag.
func answer[D ipam.Resource, W any](c echo.Context, status int, d D, show func(D) W) error {
	setHeader(c, "Etag", etag(d.Meta().Revision))
	w := show(d)
	return codec.Answer(c.Response(), status, &w)
}

// mark sets the response headers for a dry run and for a repeated request.
func mark(c echo.Context, dryRun, replayed bool) {
	if dryRun {
		setHeader(c, "Dry-Run", "true")
	}
	if replayed {
		setHeader(c, "Idempotency-Replayed", "true")
	}
}

func locate(c echo.Context, path string) { setHeader(c, "Location", path) }

// segment returns a name as a path segment. It escapes the names of members. It leaves the consumer * as it is, because * may stand in a path.
func segment(name string) string {
	if name == ipam.Everybody {
		return name
	}
	return url.PathEscape(name)
}
