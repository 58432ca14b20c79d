package contract

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/carve-ipam/carve/internal/api/codec"
	"github.com/carve-ipam/carve/internal/api/refuse"
	"github.com/carve-ipam/carve/internal/ipam"
)

// sentence returns the error text for a value. The text describes the schema's requirement.
func (t *translation) sentence(e *openapi3.SchemaError) string {
	s := e.Schema
	switch e.SchemaField {
	case "required":
		return "is required."
	case "type":
		return literalSentence(s)
	case "nullable":
		return "must not be null; leave it out or give it a value."
	case "enum":
		return "must be " + choices(s.Enum) + "."
	case "pattern":
		return t.patternSentence(s.Pattern, e.Value)
	case "minimum", "maximum":
		return boundsSentence(s)
	case "minLength", "maxLength":
		// "5 is too short" would lack the unit, and a length of 35 characters does not explain a UUID.
		switch said := t.patterns[s.Pattern]; said {
		case refuse.DurationSentence, uidSentence, createOnlySentence:
			return said
		case blockSentence, addressSentence:
			return t.patternSentence(s.Pattern, e.Value)
		}
		if e.SchemaField == "maxLength" {
			return fmt.Sprintf("must have at most %s.", refuse.Count(*s.MaxLength, "character", "characters"))
		}
		return fmt.Sprintf("must have at least %s.", refuse.Count(s.MinLength, "character", "characters"))
	case "minItems":
		return fmt.Sprintf("must have at least %s.", refuse.Count(s.MinItems, "item", "items"))
	case "maxItems":
		return fmt.Sprintf("must have at most %s.", refuse.Count(*s.MaxItems, "item", "items"))
	case "minProperties":
		return fmt.Sprintf("must have at least %s.", refuse.Count(s.MinProps, "entry", "entries"))
	case "maxProperties":
		return fmt.Sprintf("must have at most %s.", refuse.Count(*s.MaxProps, "entry", "entries"))
	case "uniqueItems":
		return "must not repeat an item."
	case "oneOf", "anyOf":
		return "matches none of the allowed forms."
	case "format":
		if s.Format == codec.FormatMoment {
			return codec.MomentSentence
		}
		return "is not a valid " + s.Format + "."
	default:
		return "is not as the contract describes it."
	}
}

// Error texts for values whose length limit would not help a caller.
const (
	blockSentence      = "is not a CIDR."
	addressSentence    = "is not an IP address."
	uidSentence        = "must be a UUID in lower case."
	createOnlySentence = "must be *, which only creates; entity tags are not allowed here."
)

func boundsSentence(s *openapi3.Schema) string {
	switch {
	case s.Min != nil && s.Max != nil:
		return fmt.Sprintf("must be %.0f to %.0f.", *s.Min, *s.Max)
	case s.Min != nil:
		return fmt.Sprintf("must be at least %.0f.", *s.Min)
	default:
		return fmt.Sprintf("must be at most %.0f.", *s.Max)
	}
}

// literalSentence returns the error text for a value of the wrong type.
func literalSentence(s *openapi3.Schema) string {
	switch {
	case s.Type.Is(openapi3.TypeInteger) && s.Min != nil && s.Max != nil:
		return fmt.Sprintf("must be an integer, %.0f to %.0f.", *s.Min, *s.Max)
	case s.Type.Is(openapi3.TypeInteger):
		return "must be an integer."
	case s.Type.Is(openapi3.TypeBoolean):
		return "must be true or false."
	case s.Type.Is(openapi3.TypeArray):
		return "must be an array."
	case s.Type.Is(openapi3.TypeObject):
		return "must be an object."
	case s.Type.Is(openapi3.TypeString):
		return "must be a string."
	default:
		return "is of the wrong type."
	}
}

func choices(enum []any) string {
	var names []string
	for _, v := range enum {
		if v != nil {
			names = append(names, fmt.Sprint(v))
		}
	}
	if len(names) == 1 {
		return names[0]
	}
	return "one of " + strings.Join(names, ", ")
}

// unknownName extracts the name of an unknown member from the error text. No other part of the validator's error contains the name.
func unknownName(e *openapi3.SchemaError) string {
	quoted := strings.TrimSuffix(strings.TrimPrefix(e.Reason, "property "), " is unsupported")
	name, err := strconv.Unquote(quoted)
	if err != nil {
		return ""
	}
	return name
}

// patternSentence returns the error text for a value that does not match a regular expression.
func (t *translation) patternSentence(pattern string, value any) string {
	text, _ := value.(string) // every value with a pattern is a string
	switch sentence, ok := t.patterns[pattern]; {
	case sentence == blockSentence:
		return ipam.NotABlock(text)
	case sentence == addressSentence:
		return ipam.NotAnAddress(text)
	case ok:
		return sentence
	case strings.HasPrefix(pattern, `^[^\x00-`):
		return "must not contain control characters."
	default:
		return "has a character that is not allowed here."
	}
}

// patternSentences maps the regular expressions of the contract to their error texts. It finds an expression by the name of its schema.
func patternSentences(doc *openapi3.T) map[string]string {
	found := map[string]string{}
	add := func(ref *openapi3.SchemaRef, sentence string) {
		if ref != nil && ref.Value != nil && ref.Value.Pattern != "" {
			found[ref.Value.Pattern] = sentence
		}
	}
	schemas, params := doc.Components.Schemas, doc.Components.Parameters
	property := func(of, name string) *openapi3.SchemaRef {
		if ref := schemas[of]; ref != nil {
			return ref.Value.Properties[name]
		}
		return nil
	}
	add(schemas["Name"], "must be a DNS label: 1 to 63 of a-z, 0-9 and -, beginning and ending with a letter or digit.")
	add(schemas["UID"], uidSentence)
	add(schemas["CIDR"], blockSentence)
	add(schemas["Address"], addressSentence)
	add(schemas["RefFilter"], "must be a name or project/name.")
	add(schemas["Subject"], "must be 1 to 255 characters from A-Z a-z 0-9 . _ : @ | + = -.")
	add(schemas["Consumer"], "must be the name of a project, or * for every project.")
	add(schemas["Count"], "must be a whole number, written in digits.")
	add(schemas["Time"], codec.MomentSentence)
	add(schemas["Duration"], refuse.DurationSentence)
	add(schemas["CreateOnlyValue"], createOnlySentence)
	add(schemas["IfMatchValue"], `must be an entity tag in double quotes, a list of them, or *.`)
	add(property("CreateMetadata", "generateName"), "must begin with a letter or digit and contain only a-z, 0-9 and -.")
	if roles := property("IPClassSpec", "poolPer"); roles != nil {
		add(roles.Value.Items, "must be the name of a role: 1 to 63 characters from [A-Za-z0-9._-], beginning and ending with a letter or digit.")
	}
	add(property("LabelSelectorRequirement", "key"), "is not a label key: [prefix/]name with a name of 1 to 63 characters from [A-Za-z0-9._-].")
	if labels := schemas["Labels"]; labels != nil {
		add(labels.Value.AdditionalProperties.Schema, "must be empty or 1 to 63 characters from [A-Za-z0-9._-], beginning and ending with a letter or digit.")
	}
	for name, sentence := range map[string]string{
		"Cursor":         "is not a cursor of this list; pass nextCursor of the previous page.",
		"IdempotencyKey": "must be 1 to 255 visible ASCII characters.",
	} {
		if p := params[name]; p != nil {
			add(p.Value.Schema, sentence)
		}
	}
	return found
}
