// Package contract checks requests against openapi.yaml. It finds a path's operation. It checks that the body is exactly one JSON value in strict
// syntax, and that the whole request fits the contract. Handlers bind the value that was checked, with names matched exactly.
//
// It supports only the keywords that the requests in openapi.yaml use. TestCheckAgreesWithTheValidator compares it with kin-openapi's validator on
// random requests (ADR 18).
package contract

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// Contract is openapi.yaml, indexed for checks on requests. It has no router, because a second router could match paths differently. It uses the path
// that echo's router has found.
type Contract struct {
	paths    map[string]map[string]*Operation // by path in echo's spelling, then by method
	patterns sync.Map                         // patterns by regular expression
	written  []string                         // metadata names that only the server writes
}

// Operation is one operation in the contract.
type Operation struct {
	ID         string         // operationId
	Public     bool           // needs no credentials
	Permission tenancy.Action // permission that the caller needs; "" if public
	MediaType  string         // the request body's media type; "" if there is none
	Stale      bool           // whether the caller may ask for stale reads

	contract   *Contract
	method     string
	parameters openapi3.Parameters
	body       *openapi3.Schema // nil: the operation takes no body
}

// Load returns the contract of this build. It indexes the document once, because the document never changes.
var Load = sync.OnceValues(func() (*Contract, error) {
	doc, err := gen.GetSpec()
	if err != nil {
		return nil, err
	}
	return newContract(doc)
})

// newContract indexes a document. It refuses an operation without a permission, because a forgotten permission would otherwise open the operation to
// everybody.
func newContract(doc *openapi3.T) (*Contract, error) {
	k := &Contract{paths: map[string]map[string]*Operation{}}
	k.explain(doc)
	for path, item := range doc.Paths.Map() {
		methods := map[string]*Operation{}
		for method, op := range item.Operations() {
			security := doc.Security
			if op.Security != nil {
				security = *op.Security
			}
			permission, err := permissionOf(op, len(security) == 0)
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", method, path, err)
			}
			o := &Operation{
				ID: op.OperationID, Public: len(security) == 0, Permission: permission, contract: k, method: method,
				parameters: slices.Concat(item.Parameters, op.Parameters),
			}
			o.Stale = o.parameters.GetByInAndName(openapi3.ParameterInQuery, ParamConsistency) != nil
			if op.RequestBody != nil {
				for mediaType, content := range op.RequestBody.Value.Content {
					o.MediaType, o.body = mediaType, resolve(content.Schema)
				}
			}
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

// Allowed lists a path's methods, for the header Allow. GET includes HEAD.
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

// Methods returns a path's operations by method, or nil for an unknown path. path is the route as echo writes it, with :name for a parameter.
func (k *Contract) Methods(path string) map[string]*Operation { return k.paths[path] }

// ReadsWithTag reports whether the operation is a read that returns an entity tag.
func (op *Operation) ReadsWithTag() bool {
	return op.method == http.MethodGet && op.takes(IfNoneMatch)
}
