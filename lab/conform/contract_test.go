package conform

import (
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"

	carve "github.com/carve-ipam/carve"
)

// contractDoc is openapi.yaml with indexes, to make requests and to judge responses.
type contractDoc struct {
	doc        *openapi3.T
	operations []*operation // sorted by id, because a seed's decisions must not depend on the order of a map
	statuses   map[string]int
}

// operation is one operation of the contract.
type operation struct {
	*openapi3.Operation
	id       string
	method   string
	template string
	params   []*openapi3.Parameter
	public   bool                    // needs no credentials
	codes    map[int]map[string]bool // declared codes of refusals, by status
	body     *openapi3.Schema        // nil without a body
	media    string                  // media type of the body
	byName   map[string]*openapi3.Parameter
}

// contract loads the document once. Unlike clients, which must expect new fields, the tests forbid fields that the document does not describe.
var contract = sync.OnceValue(func() *contractDoc {
	doc, err := openapi3.NewLoader().LoadFromData(carve.OpenAPI)
	if err != nil {
		panic(err)
	}
	k := &contractDoc{doc: doc, statuses: map[string]int{}}
	rows := regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| ([0-9]{3}) \\|")
	for _, row := range rows.FindAllStringSubmatch(doc.Components.Schemas["ProblemCode"].Value.Description, -1) {
		k.statuses[row[1]], _ = strconv.Atoi(row[2])
	}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			k.operations = append(k.operations, k.arrange(path, method, item, op))
		}
	}
	slices.SortFunc(k.operations, func(a, b *operation) int { return strings.Compare(a.id, b.id) })
	for _, ref := range doc.Components.Schemas {
		if s := ref.Value; len(s.Properties) > 0 && s.AdditionalProperties.Schema == nil && s.AdditionalProperties.Has == nil {
			s.AdditionalProperties.Has = new(false)
		}
	}
	return k
})

func (k *contractDoc) arrange(path, method string, item *openapi3.PathItem, op *openapi3.Operation) *operation {
	o := &operation{
		Operation: op, id: op.OperationID, method: method, template: path, codes: map[int]map[string]bool{}, byName: map[string]*openapi3.Parameter{},
		public: op.Security != nil && len(*op.Security) == 0,
	}
	for _, ref := range slices.Concat(item.Parameters, op.Parameters) {
		o.params = append(o.params, ref.Value)
		o.byName[ref.Value.Name] = ref.Value
	}
	if op.RequestBody != nil {
		for media, content := range op.RequestBody.Value.Content {
			o.media, o.body = media, content.Schema.Value
		}
	}
	for _, code := range listed(op.Extensions) {
		status := k.statuses[code]
		if o.codes[status] == nil {
			o.codes[status] = map[string]bool{}
		}
		o.codes[status][code] = true
	}
	return o
}

// listed returns the problem codes in the extension x-problems of an operation or a header.
func listed(extensions map[string]any) (codes []string) {
	all, _ := extensions["x-problems"].([]any)
	for _, code := range all {
		codes = append(codes, code.(string))
	}
	return codes
}

// declared returns the response that an operation declares for a status, or nil. All refusals share one declared response.
func (op *operation) declared(status int) *openapi3.Response {
	ref := op.Responses.Status(status)
	if op.codes[status] != nil {
		ref = op.Responses.Default()
	}
	if ref == nil {
		return nil
	}
	return ref.Value
}

// in returns the operation's parameters of one kind, such as query or header.
func (op *operation) in(kind string) (out []*openapi3.Parameter) {
	for _, p := range op.params {
		if p.In == kind {
			out = append(out, p)
		}
	}
	return out
}

// has reports whether the operation has a parameter.
func (op *operation) has(name string) bool { return op.byName[name] != nil }

// permission returns the permission that an operation requires.
func (op *operation) permission() string {
	action, _ := op.Extensions["x-permission"].(string)
	return action
}

// reads reports whether an operation writes nothing, whatever its method is.
func (op *operation) reads() bool {
	return op.method == http.MethodGet || strings.HasSuffix(op.permission(), ".read")
}

// operation returns the operation of a request, or nil if the contract has none. HEAD counts as GET.
func (k *contractDoc) operation(method, path string) *operation {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	for _, op := range k.operations {
		if op.method == method && fits(op.template, path) {
			return op
		}
	}
	return nil
}

// named returns an operation by its id.
func (k *contractDoc) named(id string) *operation {
	i := slices.IndexFunc(k.operations, func(op *operation) bool { return op.id == id })
	return k.operations[i]
}

// methods returns the methods that the contract has for a path, in order.
func (k *contractDoc) methods(template string) []string {
	var out []string
	for _, op := range k.operations {
		if op.template == template {
			out = append(out, op.method)
			if op.method == http.MethodGet {
				out = append(out, http.MethodHead)
			}
		}
	}
	slices.Sort(out)
	return out
}

// fits reports whether a path matches a template.
func fits(template, path string) bool {
	return slices.EqualFunc(strings.Split(template, "/"), strings.Split(path, "/"), func(want, have string) bool {
		return want == have || strings.HasPrefix(want, "{") && have != ""
	})
}
