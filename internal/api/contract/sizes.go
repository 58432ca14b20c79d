package contract

import (
	"github.com/getkin/kin-openapi/openapi3"
)

// maxEntries limits the members of objects and the items of arrays for which the contract sets no size.
const maxEntries = 1024

// sizes is the maximum number of entries in an object or array, by the name of its member: the largest maximum of that name in the contract. It
// protects the validator and all other code from bodies that are larger than any valid one; the validator still decides.
type sizes map[string]int

// note walks a schema that describes the value of a named member.
func (z sizes) note(name string, ref *openapi3.SchemaRef, seen map[*openapi3.Schema]bool) {
	if ref == nil || ref.Value == nil {
		return
	}
	s := ref.Value
	for _, most := range []*uint64{s.MaxProps, s.MaxItems} {
		if most != nil {
			z[name] = max(z[name], int(*most)) //nolint:gosec // the limits come from Carve's contract
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

// most returns the maximum number of entries in a member's value.
func (z sizes) most(name string) int {
	if n := z[name]; n > 0 {
		return n
	}
	return maxEntries
}
