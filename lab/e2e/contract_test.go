package e2e

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

// contractDoc is openapi.yaml with indexes, to find operations and to check responses.
type contractDoc struct {
	doc        *openapi3.T
	operations []*operation
	statuses   map[string]int // HTTP status of each problem code
}

// operation is one operation of the contract.
type operation struct {
	id       string
	method   string
	template []string // segments of the path
	params   openapi3.Parameters
	*openapi3.Operation
}

// contract loads the document once. Unlike clients, which must expect new fields, the tests forbid fields that the document does not describe.
var contract = sync.OnceValue(func() *contractDoc {
	doc, err := openapi3.NewLoader().LoadFromData(carve.OpenAPI)
	if err != nil {
		panic(err)
	}
	k := &contractDoc{doc: doc, statuses: map[string]int{}}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			k.operations = append(k.operations, &operation{
				id: op.OperationID, method: method, template: strings.Split(path, "/"),
				params: append(slices.Clone(item.Parameters), op.Parameters...), Operation: op,
			})
		}
	}
	slices.SortFunc(k.operations, func(a, b *operation) int { return strings.Compare(a.id, b.id) })
	for _, ref := range doc.Components.Schemas {
		if s := ref.Value; len(s.Properties) > 0 && s.AdditionalProperties.Schema == nil && s.AdditionalProperties.Has == nil {
			s.AdditionalProperties.Has = new(false)
		}
	}
	rows := regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| ([0-9]{3}) \\|")
	for _, row := range rows.FindAllStringSubmatch(doc.Components.Schemas["ProblemCode"].Value.Description, -1) {
		k.statuses[row[1]], _ = strconv.Atoi(row[2])
	}
	return k
})

// operation returns the operation of a request, or nil if the contract has none. HEAD counts as GET.
func (k *contractDoc) operation(method, path string) *operation {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	segments := strings.Split(path, "/")
	for _, op := range k.operations {
		if op.method == method && op.matches(segments) {
			return op
		}
	}
	return nil
}

// refusals returns the codes that an operation declares and that fit a response. A code fits if it has the response's status and, if the body has a
// code, equals it.
func (k *contractDoc) refusals(op *operation, a answer) []string {
	p, _ := problemOf(a)
	return slices.DeleteFunc(listed(op.Extensions), func(code string) bool {
		return k.statuses[code] != a.status || p.Code != "" && p.Code != code
	})
}

// listed returns the problem codes in the extension x-problems of an operation or a header.
func listed(extensions map[string]any) (codes []string) {
	all, _ := extensions["x-problems"].([]any)
	for _, code := range all {
		codes = append(codes, code.(string))
	}
	return codes
}

// among reports whether two lists have a code in common.
func among(codes, others []string) bool {
	return slices.ContainsFunc(codes, func(code string) bool { return slices.Contains(others, code) })
}

func (op *operation) matches(segments []string) bool {
	return slices.EqualFunc(op.template, segments, func(want, have string) bool {
		return want == have || strings.HasPrefix(want, "{") && have != ""
	})
}

// path returns an operation's path with the given values of its parameters.
func (op *operation) path(names map[string]string) string {
	segments := slices.Clone(op.template)
	for i, s := range segments {
		if name, ok := strings.CutPrefix(s, "{"); ok {
			segments[i] = names[strings.TrimSuffix(name, "}")]
		}
	}
	return strings.Join(segments, "/")
}

// bodySchema returns the schema and the media type of an operation's request body. The schema is nil if there is no body.
func (op *operation) bodySchema() (mediaType string, schema *openapi3.Schema) {
	if op.RequestBody == nil {
		return "", nil
	}
	for mediaType, content := range op.RequestBody.Value.Content {
		return mediaType, content.Schema.Value
	}
	return "", nil
}

// changes reports whether an operation changes something. An operation that needs only a read permission changes nothing, even if its method is not
// GET.
func (op *operation) changes() bool {
	return op.method != http.MethodGet && !strings.HasSuffix(op.permission(), ".read")
}

// repeatable lists the POSTs that are idempotent anyway and take no Idempotency-Key.
var repeatable = []string{"releaseClaims", "renewConsumers", "confirmExpiry", "retryWebhookDelivery"}

// creates reports whether an operation creates an object. Such an operation takes an Idempotency-Key.
func (op *operation) creates() bool {
	return op.method == http.MethodPost && op.changes() && !slices.Contains(repeatable, op.id)
}

// in returns the operation's parameters of one kind, such as query or header.
func (op *operation) in(kind string) (out []*openapi3.Parameter) {
	for _, p := range op.params {
		if p.Value.In == kind {
			out = append(out, p.Value)
		}
	}
	return out
}
