// Package contract checks requests against openapi.yaml. It finds the operation of a path. It checks that the body is exactly one JSON value in
// strict syntax, and that the whole request fits the contract. Handlers bind the value that was checked, with names matched exactly.
package contract

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/routers"

	"github.com/carve-ipam/carve/internal/api/fastvalidate"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// Contract is openapi.yaml, indexed for the checks of requests. It has no router of its own, because a second router could match paths differently.
// It uses the path that echo's router has found.
type Contract struct {
	paths    map[string]map[string]*Operation // by path in echo's spelling, then by method
	patterns map[string]string                // error text by regular expression, for values that do not match
	written  []string                         // names of the metadata that only the server writes
}

// Operation is one operation of the contract.
type Operation struct {
	ID         string         // operationId
	Public     bool           // needs no credentials
	Permission tenancy.Action // permission that the caller needs; "" if public
	MediaType  string         // media type of the request body; "" if there is none
	Stale      bool           // whether the caller may ask for stale reads

	contract *Contract
	route    *routers.Route
	query    openapi3.Parameters
	header   openapi3.Parameters
	// uncondition maps each precondition that the operation does not support to its error text.
	uncondition map[string]string
	fast        fastChecks // fast path of validation
}

// Load returns the contract of this build.
func Load() (*Contract, error) { return load() }

// load indexes the document once, because it never changes.
var load = sync.OnceValues(func() (*Contract, error) {
	doc, err := gen.GetSpec()
	if err != nil {
		return nil, err
	}
	return arrange(doc)
})

// arrange indexes a document. It refuses an operation without a permission. Otherwise a forgotten permission would open the operation to everybody.
func arrange(doc *openapi3.T) (*Contract, error) {
	k := &Contract{paths: map[string]map[string]*Operation{}, patterns: patternSentences(doc), written: writtenMetadata(doc)}
	everywhere := doc.Security
	doc.Security, doc.Servers = nil, nil // the middleware authenticates callers; any host is valid
	compiler := fastvalidate.NewCompiler(fastvalidate.Limits{Tokens: maxTokens, Name: maxMember})
	for path, item := range doc.Paths.Map() {
		methods := map[string]*Operation{}
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
			o := &Operation{
				ID: op.OperationID, Public: len(security) == 0, Permission: permission, contract: k,
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
			o.Stale = o.query.GetByInAndName(openapi3.ParameterInQuery, ParamConsistency) != nil
			if op.RequestBody != nil {
				for mediaType := range op.RequestBody.Value.Content {
					o.MediaType = mediaType
				}
			}
			o.uncondition = uncondition(method, op, params)
			o.fast = newFastChecks(compiler, op, params, o.MediaType)
			methods[method] = o
		}
		k.paths[strings.NewReplacer("{", ":", "}", "").Replace(path)] = methods
	}
	return k, nil
}

// permissionExtension is the OpenAPI extension that names an operation's permission.
const permissionExtension = "x-permission"

func permissionOf(op *openapi3.Operation, public bool) (tenancy.Action, error) {
	value, given := op.Extensions[permissionExtension]
	name, isText := value.(string)
	action := tenancy.Action(name)
	switch {
	case public && given:
		return "", errors.New("needs no credentials, so the server cannot check its " + permissionExtension)
	case public:
		return "", nil
	case !given:
		return "", errors.New("has neither " + permissionExtension + " nor security: []")
	case !isText || !action.Known():
		return "", fmt.Errorf("has the %s %v, which is not an action", permissionExtension, value)
	default:
		return action, nil
	}
}

// Allowed lists the methods of a path, for the header Allow. GET includes HEAD.
func Allowed(methods map[string]*Operation) string {
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

// Methods returns the operations of a path by method, or nil for an unknown path. path is the route as echo writes it, with :name for a parameter.
func (k *Contract) Methods(path string) map[string]*Operation { return k.paths[path] }

// CoversReads reports whether the operation is a read that returns an entity tag.
func (op *Operation) CoversReads() bool {
	return op.route.Method == http.MethodGet && op.header.GetByInAndName(openapi3.ParameterInHeader, IfNoneMatch) != nil
}
