package contract

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/getkin/kin-openapi/openapi3"
)

// unknownSentence returns the error text for an unknown member of the object at pointer. If responses have this member, the text explains that the
// server sets it. Otherwise the text suggests the closest known name and lists all known names.
func (t *translation) unknownSentence(pointer, name string, s *openapi3.Schema) string {
	if t.served(pointer, name) {
		return "is set by the server; leave it out."
	}
	names := slices.Sorted(maps.Keys(s.Properties))
	if len(names) == 0 {
		return "is not a field; this object has none."
	}
	there := "he fields are " + strings.Join(names, ", ") + "."
	if meant := nearName(name, names); meant != "" {
		return fmt.Sprintf("is not a field; did you mean %s? T%s", meant, there)
	}
	return "is not a field; t" + there
}

// served reports whether responses have a member that requests must not have. A caller sends such a member if it sends back a resource that it has
// read.
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

// writtenMetadata returns the names of the metadata that callers may not set.
func writtenMetadata(doc *openapi3.T) []string {
	all := doc.Components.Schemas["Metadata"]
	if all == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(all.Value.Properties)), func(name string) bool {
		return name == "name" || name == "labels" || name == "annotations"
	})
}

// nearName returns the closest known name, or "" if none is close.
func nearName(name string, names []string) string {
	const longest = 64 // longer names are not compared
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
