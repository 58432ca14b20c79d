package contract

import (
	"github.com/getkin/kin-openapi/openapi3"
)

// maxEntries bounds the members of objects, and the items of arrays, of whose size the contract says nothing.
const maxEntries = 1024

// sizes is how many entries an object or array may have, by the name of the member that it is the value of: the most that any schema of
// the contract allows there. The validator decides; this keeps it, and all else, from what is larger than anything that is valid.
type sizes map[string]int

// note walks a schema that describes the value of a member of some name.
func (z sizes) note(name string, ref *openapi3.SchemaRef, seen map[*openapi3.Schema]bool) {
	if ref == nil || ref.Value == nil {
		return
	}
	s := ref.Value
	for _, most := range []*uint64{s.MaxProps, s.MaxItems} {
		if most != nil {
			z[name] = max(z[name], int(*most)) //nolint:gosec // of our own contract
		}
	}
	if seen[s] {
		return
	}
	seen[s] = true
	for property, value := range s.Properties {
		z.note(property, value, seen)
	}
	z.note("", s.Items, seen)
	z.note("", s.AdditionalProperties.Schema, seen)
	for _, parts := range []openapi3.SchemaRefs{s.AllOf, s.AnyOf, s.OneOf} {
		for _, part := range parts {
			z.note(name, part, seen)
		}
	}
}

// most is how many entries the value of a member may have.
func (z sizes) most(name string) int {
	if n := z[name]; n > 0 {
		return n
	}
	return maxEntries
}
