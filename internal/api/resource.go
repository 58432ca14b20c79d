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

// The functions below handle every kind of resource. D is a resource's type in the use cases, W is its type in the API, and B is a request body's
// type. A kind supplies its use case and a function that converts a D into a W.

// defaultLimit is the default of `limit` in the contract's lists.
const defaultLimit = 100

// value returns an optional parameter's value, or the zero value.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// reserve reserves memory for a response before the server reads the data. The memory stays reserved until the response is sent. keep reduces the
// reservation to a number of bytes.
func reserve(c echo.Context, bytes int) (keep func(bytes int), err error) {
	ctx := c.Request().Context()
	return tenancy.BudgetOf(ctx).Reserve(ctx, bytes)
}

// lister is a use case that reads one page of a project's resources.
type lister[D any] func(ctx context.Context, project string, limit int, cursor string, r usecase.Reading) (paging.Page[D], error)

// list returns one page of a project's resources.
func list[D, W any](c echo.Context, limit *int, cursor *string, project string,
	read lister[D], show func(D) W,
) error {
	return listFollowed(c, nil, limit, cursor, project, read, show)
}

// listFollowed does the same as list, for a kind in the change feed. The page contains a cursor, from which the caller can follow all later changes.
// followed reads the feed's position before it reads the page, so that no change is lost between the two. A page of stale data has no such cursor.
func listFollowed[D, W any](c echo.Context, use UseCases, limit *int, cursor *string, project string,
	read lister[D], show func(D) W,
) error {
	ctx, reading := c.Request().Context(), readingOf(c)
	follows := use != nil && reading.Behind == nil
	var mark storage.FeedState
	var err error
	if follows {
		if mark, err = use.ChangesMark(ctx); err != nil {
			return err
		}
	}
	keep, err := reserve(c, paging.MostBytes)
	if err != nil {
		return err
	}
	defer keep(0)
	page, err := read(ctx, project, codec.ValueOr(limit, defaultLimit), value(cursor), reading)
	if err != nil {
		return err
	}
	keep(page.Bytes)
	answer := codec.Page[W]{Items: codec.Each(page.Items, show), NextCursor: page.Next}
	if follows {
		answer.ChangesCursor = use.ChangesCursor(project, mark)
	}
	return sendOK(c, &answer)
}

// withArgument returns a list function that always uses one more argument, such as a filter or a pool's name.
func withArgument[A, D any](argument A,
	read func(ctx context.Context, project string, argument A, limit int, cursor string, r usecase.Reading) (paging.Page[D], error),
) lister[D] {
	return func(ctx context.Context, project string, limit int, cursor string, r usecase.Reading) (paging.Page[D], error) {
		return read(ctx, project, argument, limit, cursor, r)
	}
}

// sendOK sends the value that body points to, with status 200.
func sendOK(c echo.Context, body any) error { return codec.Answer(c.Response(), http.StatusOK, body) }

// reply sends a result that has no entity tag.
func reply[D, W any](c echo.Context, d D, err error, show func(D) W) error {
	if err != nil {
		return err
	}
	w := show(d)
	return sendOK(c, &w)
}

// get returns one resource in a project.
func get[D ipam.Resource, W any](c echo.Context, project, name string,
	read func(ctx context.Context, project, name string) (D, error), show func(D) W,
) error {
	d, err := read(c.Request().Context(), project, name)
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, d, show)
}

// post holds a POST's parameters outside its body.
type post struct {
	project string
	variant string // the query if it changes the body's meaning; a part of the fingerprint
	key     *string
	dryRun  *bool
}

// creation returns the request for a POST with a body.
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

// conditions holds a change's parameters outside its body.
type conditions struct {
	ifMatch, ifNoneMatch *string
	dryRun               *bool
}

// request returns the request for a change. The contract allows only * in If-None-Match.
func (p conditions) request() (usecase.Request, error) {
	match, err := parseMatch(contract.IfMatch, p.ifMatch)
	return usecase.Request{IfMatch: match, CreateOnly: p.ifNoneMatch != nil, DryRun: value(p.dryRun)}, err
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

// putBare does the same as put, but does not read a body: the request has none, or the caller of putBare has read the body.
func putBare[D ipam.Resource, W any](c echo.Context, p conditions,
	use func(ctx context.Context, r usecase.Request) (usecase.Result[D], error), show func(D) W,
) error {
	r, err := p.request()
	if err != nil {
		return err
	}
	made, err := use(c.Request().Context(), r)
	if err != nil {
		return err
	}
	path := c.Request().URL.Path
	return answerPut(c, r, made, path[:strings.LastIndexByte(path, '/')+1]+segment(made.Value.Meta().Name), show)
}

// answerPut sends a PUT's result. location is a created resource's path.
func answerPut[D ipam.Resource, W any](c echo.Context, r usecase.Request, made usecase.Result[D], location string, show func(D) W) error {
	mark(c, r.DryRun, false)
	if made.Existed {
		return answer(c, http.StatusOK, made.Value, show)
	}
	locate(c, location)
	return answer(c, http.StatusCreated, made.Value, show)
}

// patch changes a project's resource by a merge patch. parse converts the patch into a change.
func patch[D ipam.Resource, W any](c echo.Context, ifMatch *string, dryRun *bool, project, name string,
	parse func(body []byte) func(D) (D, error),
	use func(ctx context.Context, project, name string, r usecase.Request, mutate func(D) (D, error)) (D, error), show func(D) W,
) error {
	return patchBare(c, ifMatch, dryRun, func(ctx context.Context, body json.RawMessage, r usecase.Request) (D, error) {
		return use(ctx, project, name, r, parse(body))
	}, show)
}

// patchBare does the same as patch, but use itself parses the body.
func patchBare[D ipam.Resource, W any](c echo.Context, ifMatch *string, dryRun *bool,
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
	r := usecase.Request{IfMatch: match, DryRun: value(dryRun)}
	d, err := use(c.Request().Context(), body, r)
	if err != nil {
		return err
	}
	mark(c, r.DryRun, false)
	return answer(c, http.StatusOK, d, show)
}

// remove deletes a project's resource.
func remove(c echo.Context, ifMatch *string, dryRun *bool, project, name string,
	use func(ctx context.Context, project, name string, r usecase.Request) error,
) error {
	r, err := conditions{ifMatch, nil, dryRun}.request()
	if err != nil {
		return err
	}
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

// segment returns a name as a path segment. It escapes member names. It leaves the consumer * as it is, because * may stand in a path.
func segment(name string) string {
	if name == ipam.Everybody {
		return name
	}
	return url.PathEscape(name)
}
