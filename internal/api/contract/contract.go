// Package contract is openapi.yaml as requests are checked against it: which operation there is at a path, whether a body is
// strictly one JSON value, whether all of a request is as the contract describes it, and in our own words what is not. What is
// bound is the value that was checked, with names matched exactly.
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

	"github.com/carve-ipam/carve/internal/api/certain"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// Contract is openapi.yaml, arranged for looking up what a request is checked against. The router that matches a request
// is the one that calls its handler: a second one could match differently.
type Contract struct {
	paths    map[string]map[string]*Operation // by echo's spelling of the path, then by method
	patterns map[string]string                // what to say about a value that a regular expression refuses
	written  []string                         // metadata that the server writes alone
}

// Operation is one operation of the contract.
type Operation struct {
	ID         string         // operationId
	Public     bool           // needs no credentials
	Permission tenancy.Action // what the caller must be allowed to do; "" when public
	MediaType  string         // of the request body; "" when the operation takes none
	Stale      bool           // whether the caller may ask for what the region knows

	contract *Contract
	route    *routers.Route
	query    openapi3.Parameters
	header   openapi3.Parameters
	// uncondition is the preconditions that it does not have, and why not.
	uncondition map[string]string
	certainly   certainly // what needs no validator
}

// Load is the contract of this build.
func Load() (*Contract, error) { return load() }

// load arranges the document once: it never changes, and nobody writes to it.
var load = sync.OnceValues(func() (*Contract, error) {
	doc, err := gen.GetSpec()
	if err != nil {
		return nil, err
	}
	return arrange(doc)
})

// arrange arranges a document. One with an operation that does not say who may call it is refused: nothing is open because
// somebody forgot to close it.
func arrange(doc *openapi3.T) (*Contract, error) {
	k := &Contract{paths: map[string]map[string]*Operation{}, patterns: patternSentences(doc), written: writtenMetadata(doc)}
	everywhere := doc.Security
	doc.Security, doc.Servers = nil, nil // callers are authenticated by our own middleware; any host is ours
	compiler := certain.NewCompiler(certain.Limits{Tokens: maxTokens, Name: maxMember})
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
			o.certainly = newCertainly(compiler, op, params, o.MediaType)
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

// Allowed lists the methods of a path. HEAD goes with GET.
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

// Methods is the operations of a path, in echo's spelling, by method; nil where there is no such path.
func (k *Contract) Methods(path string) map[string]*Operation { return k.paths[path] }

// CoversReads reports whether the operation is a read of which an entity tag covers the answer.
func (op *Operation) CoversReads() bool {
	return op.route.Method == http.MethodGet && op.header.GetByInAndName(openapi3.ParameterInHeader, IfNoneMatch) != nil
}
