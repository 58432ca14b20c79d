package api

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/routers"
	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/api/certain"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/api/refuse"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// contract is openapi.yaml, arranged for looking up what a request is checked against. The router that matches a request
// is the one that calls its handler: a second one could match differently.
type contract struct {
	paths    map[string]map[string]*operation // by echo's spelling of the path, then by method
	patterns map[string]string                // what to say about a value that a regular expression refuses
	written  []string                         // metadata that the server writes alone
}

// operation is one operation of the contract.
type operation struct {
	id         string // operationId
	route      *routers.Route
	query      openapi3.Parameters
	header     openapi3.Parameters
	public     bool           // needs no credentials
	permission tenancy.Action // what the caller must be allowed to do; "" when public
	mediaType  string         // of the request body; "" when the operation takes none
	stale      bool           // whether the caller may ask for what the region knows
	// uncondition is the preconditions that it does not have, and why not.
	uncondition map[string]string
	certainly   certainly // what needs no validator
}

// loadContract arranges the document of this build, once: it never changes, and nobody writes to it.
var loadContract = sync.OnceValues(func() (*contract, error) {
	doc, err := gen.GetSpec()
	if err != nil {
		return nil, err
	}
	return newContract(doc)
})

// newContract arranges a document. One with an operation that does not say who may call it is refused: nothing is open because
// somebody forgot to close it.
func newContract(doc *openapi3.T) (*contract, error) {
	k := &contract{paths: map[string]map[string]*operation{}, patterns: patternSentences(doc), written: writtenMetadata(doc)}
	everywhere := doc.Security
	doc.Security, doc.Servers = nil, nil // callers are authenticated by our own middleware; any host is ours
	compiler := certain.NewCompiler(certain.Limits{Tokens: maxTokens, Name: maxMember})
	for path, item := range doc.Paths.Map() {
		methods := map[string]*operation{}
		for method, op := range item.Operations() {
			security := everywhere
			if op.Security != nil {
				security = *op.Security
			}
			permission, err := permissionOf(op, len(security) == 0)
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", method, path, err)
			}
			op.Security = nil
			o := &operation{
				id: op.OperationID, public: len(security) == 0, permission: permission,
				route: &routers.Route{Spec: doc, Path: path, PathItem: item, Method: method, Operation: op},
			}
			params := append(slices.Clone(item.Parameters), op.Parameters...)
			for _, p := range params {
				switch p.Value.In {
				case openapi3.ParameterInQuery:
					o.query = append(o.query, p)
				case openapi3.ParameterInHeader:
					o.header = append(o.header, p)
				}
			}
			o.stale = o.query.GetByInAndName(openapi3.ParameterInQuery, paramConsistency) != nil
			if op.RequestBody != nil {
				for mediaType := range op.RequestBody.Value.Content {
					o.mediaType = mediaType
				}
			}
			o.uncondition = uncondition(method, op, params)
			o.certainly = newCertainly(compiler, op, params, o.mediaType)
			methods[method] = o
		}
		k.paths[strings.NewReplacer("{", ":", "}", "").Replace(path)] = methods
	}
	return k, nil
}

// permissionExtension is where an operation of the contract says what its caller must be allowed to do.
const permissionExtension = "x-permission"

func permissionOf(op *openapi3.Operation, public bool) (tenancy.Action, error) {
	value, given := op.Extensions[permissionExtension]
	name, isText := value.(string)
	action := tenancy.Action(name)
	switch {
	case public && given:
		return "", errors.New("needs no credentials, so nobody can be checked for its " + permissionExtension)
	case public:
		return "", nil
	case !given:
		return "", errors.New("has neither " + permissionExtension + " nor security: []")
	case !isText || !action.Known():
		return "", fmt.Errorf("has the %s %v, which is no action", permissionExtension, value)
	default:
		return action, nil
	}
}

// match finds the operation of a request.
func (a *adapter) match(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		methods, ok := a.contract.paths[c.Path()]
		if !ok {
			return next(c)
		}
		// The router gives the last parameter of a path everything that is left, slashes included.
		if slices.ContainsFunc(c.ParamValues(), func(v string) bool { return v == "" || strings.Contains(v, "/") }) {
			return echo.ErrNotFound
		}
		op, ok := methods[c.Request().Method]
		if !ok {
			c.Response().Header().Set(echo.HeaderAllow, allowed(methods))
			return ipam.Errorf(ipam.CodeMethodNotAllowed, "This path does not have the method %s; it has %s.",
				refuse.Clip(c.Request().Method), allowed(methods))
		}
		if k, ok := c.(*call); ok {
			k.op = op
		}
		return next(c)
	}
}

// allowed lists the methods of a path. HEAD goes with GET.
func allowed(methods map[string]*operation) string {
	names := make([]string, 0, len(methods)+1)
	for m := range methods {
		names = append(names, m)
	}
	if _, ok := methods[http.MethodGet]; ok {
		names = append(names, http.MethodHead)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
