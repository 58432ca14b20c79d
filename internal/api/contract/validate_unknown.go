package contract

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/getkin/kin-openapi/openapi3"
)

// unknownSentence says what there is in place of a member that the schema of the object at pointer does not have: nothing that a caller
// writes, if answers have it there, or what is probably meant, and what else there is.
func (t *translation) unknownSentence(pointer, name string, s *openapi3.Schema) string {
	if t.served(pointer, name) {
		return "is written by the server alone; leave it out."
	}
	names := slices.Sorted(maps.Keys(s.Properties))
	if len(names) == 0 {
		return "is not a field; there are none here."
	}
	there := "here are " + strings.Join(names, ", ") + "."
	if meant := nearName(name, names); meant != "" {
		return fmt.Sprintf("is not a field; did you mean %s? T%s", meant, there)
	}
	return "is not a field; t" + there
}

// served reports whether answers have a member at a place where the contract, of a request, has not: what was read is sent back whole.
func (t *translation) served(pointer, name string) bool {
	inBatch := strings.HasPrefix(pointer, "/claims/") && strings.Count(pointer, "/") == 2
	switch {
	case pointer == "" || inBatch:
		return name == "status"
	case strings.HasSuffix(pointer, "/metadata"):
		return slices.Contains(t.written, name)
	default:
		return false
	}
}

// writtenMetadata is the metadata that callers do not write.
func writtenMetadata(doc *openapi3.T) []string {
	all := doc.Components.Schemas["Metadata"]
	if all == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(all.Value.Properties)), func(name string) bool {
		return name == "name" || name == "labels" || name == "annotations"
	})
}

// nearName is the name that was probably meant; "" when none is near.
func nearName(name string, names []string) string {
	const longest = 64 // of a name that is worth the comparison
	if len(name) > longest {
		return ""
	}
	best, distance := "", min(3, max(1, len(name)/2))+1
	for _, n := range names {
		if d := levenshtein.ComputeDistance(strings.ToLower(name), strings.ToLower(n)); d < distance {
			best, distance = n, d
		}
	}
	return best
}
