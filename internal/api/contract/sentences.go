package contract

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/getkin/kin-openapi/openapi3"

	"github.com/carve-ipam/carve/internal/api/refuse"
	"github.com/carve-ipam/carve/internal/ipam"
)

// explain stores the error texts for the contract's regular expressions. It finds an expression by its schema's name.
func (k *Contract) explain(doc *openapi3.T) {
	schemas, params := doc.Components.Schemas, doc.Components.Parameters
	add := func(ref *openapi3.SchemaRef, explains bool, sentence func(text string) string) {
		expression := ref.Value.Pattern
		k.patterns.Store(expression, pattern{regexp.MustCompile(expression), sentence, explains})
	}
	for name, sentence := range map[string]string{
		"Name":         "must be a DNS label: 1 to 63 of a-z, 0-9 and -, beginning and ending with a letter or digit.",
		"RefFilter":    "must be a name or project/name.",
		"Subject":      "must be 1 to 255 characters from A-Z a-z 0-9 . _ : @ | + = -.",
		"Consumer":     "must be the name of a project, or * for every project.",
		"Count":        "must be a whole number, written in digits.",
		"Time":         "must be a time from 1970 to 9999 such as 2026-03-02T12:00:00Z; in a query a + is written as %2B.",
		"IfMatchValue": `must be an entity tag in double quotes, a list of them, or *.`,
	} {
		add(schemas[name], false, constant(sentence))
	}
	add(schemas["UID"], true, constant("must be a UUID in lower case."))
	add(schemas["CIDR"], true, ipam.NotABlock)
	add(schemas["Address"], true, ipam.NotAnAddress)
	add(schemas["Duration"], true, constant(refuse.DurationSentence))
	add(schemas["CreateOnlyValue"], true, constant("must be *, which only creates; entity tags are not allowed here."))
	add(params["Cursor"].Value.Schema, false, constant("is not a cursor of this list; pass nextCursor of the previous page."))
	add(params["IdempotencyKey"].Value.Schema, false, constant("must be 1 to 255 visible ASCII characters."))
	add(schemas["CreateMetadata"].Value.Properties["generateName"], false,
		constant("must begin with a letter or digit and contain only a-z, 0-9 and -."))
	add(schemas["IPClassSpec"].Value.Properties["poolPer"].Value.Items, false,
		constant("must be the name of a role: 1 to 63 characters from [A-Za-z0-9._-], beginning and ending with a letter or digit."))
	add(schemas["LabelSelectorRequirement"].Value.Properties["key"], false,
		constant("is not a label key: [prefix/]name with a name of 1 to 63 characters from [A-Za-z0-9._-]."))
	add(schemas["Labels"].Value.AdditionalProperties.Schema, false,
		constant("must be empty or 1 to 63 characters from [A-Za-z0-9._-], beginning and ending with a letter or digit."))
	for name := range schemas["Metadata"].Value.Properties {
		if name != "name" && name != "labels" && name != "annotations" {
			k.written = append(k.written, name)
		}
	}
}

// unknownSentence returns the error text for an unknown member in the object at pointer. If responses have this member, the text explains that the
// server sets it. Otherwise the text suggests the closest known name and lists all known names.
func (k *Contract) unknownSentence(pointer, name string, s *openapi3.Schema) string {
	if k.isServerSet(pointer, name) {
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

// isServerSet reports whether responses have a member that requests must not have. A caller sends such a member when it sends back a resource that it
// has read.
func (k *Contract) isServerSet(pointer, name string) bool {
	inBatch := strings.HasPrefix(pointer, "/claims/") && strings.Count(pointer, "/") == 2
	switch {
	case pointer == "" || inBatch:
		return name == "status"
	case strings.HasSuffix(pointer, "/metadata"):
		return slices.Contains(k.written, name)
	default:
		return false
	}
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
