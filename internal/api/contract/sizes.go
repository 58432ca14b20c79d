package contract

import (
	"github.com/getkin/kin-openapi/openapi3"
)

// maxEntries is the largest number of members or items in an object or array for which the contract sets no limit.
const maxEntries = 1024

// sizes is the largest number of entries in an object or array, by the name of the member that contains it. If the contract uses a name several
// times, the largest limit counts. sizes protects the validator and all other code from bodies that are larger than any valid body. The validator
// then checks the exact limit.
type sizes map[string]int

// note adds the limits of a schema, which describes the value of the member name. It also adds the limits of all schemas inside.
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

// most returns the largest number of entries in the value of a member.
func (z sizes) most(name string) int {
	if n := z[name]; n > 0 {
		return n
	}
	return maxEntries
}
