package contract

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/carve-ipam/carve/internal/api/refuse"
)

// anyValue is the schema that allows every value.
var anyValue = &openapi3.Schema{}

// resolve returns the schema behind a reference. A schema with allOf has one part and no other keyword, because code generators need this form for a
// reference with a description. plain returns everything for a nil reference.
func resolve(ref *openapi3.SchemaRef) *openapi3.Schema {
	switch {
	case ref == nil:
		return anyValue
	case len(ref.Value.AllOf) == 1:
		return resolve(ref.Value.AllOf[0])
	default:
		return ref.Value
	}
}

// fault returns the error text for a value, or "" for a valid one. It does not look into objects and arrays. text is the value of a string, or the
// characters of a number.
func (k *Contract) fault(s *openapi3.Schema, kind jsontext.Kind, text []byte) string {
	switch {
	case s == anyValue, kind == jsontext.KindNull && s.Nullable:
		return ""
	case kind == jsontext.KindNull:
		return "must not be null; leave it out or give it a value."
	case len(s.Enum) > 0:
		if kind == jsontext.KindString && slices.ContainsFunc(s.Enum, func(choice any) bool { return choice == string(text) }) {
			return ""
		}
		return choices(s.Enum)
	case s.Type.Is(openapi3.TypeObject):
		return faultUnless(kind == jsontext.KindBeginObject, "must be an object.")
	case s.Type.Is(openapi3.TypeArray):
		return faultUnless(kind == jsontext.KindBeginArray, "must be an array.")
	case s.Type.Is(openapi3.TypeBoolean):
		return faultUnless(kind == jsontext.KindTrue || kind == jsontext.KindFalse, "must be true or false.")
	case s.Type.Is(openapi3.TypeInteger):
		return integerFault(s, kind, text)
	case kind != jsontext.KindString:
		return "must be a string."
	}
	return k.textFault(s, text)
}

// integerFault accepts an integer as JSON writes it, without a plus sign and leading zeros. The parameter decoders would accept both.
func integerFault(s *openapi3.Schema, kind jsontext.Kind, text []byte) string {
	n, err := strconv.ParseInt(string(text), 10, 64)
	asked := "must be an integer, %.0f to %.0f."
	switch {
	case kind != jsontext.KindNumber:
	case errors.Is(err, strconv.ErrRange), err == nil && (float64(n) < *s.Min || float64(n) > *s.Max):
		asked = "must be %.0f to %.0f."
	case err == nil && strconv.FormatInt(n, 10) == strings.Replace(string(text), "-0", "0", 1):
		return ""
	}
	return fmt.Sprintf(asked, *s.Min, *s.Max)
}

func (k *Contract) textFault(s *openapi3.Schema, text []byte) string {
	length, p := uint64(utf8.RuneCount(text)), k.pattern(s.Pattern) //nolint:gosec // not negative
	short, long := length < s.MinLength, s.MaxLength != nil && length > *s.MaxLength
	switch {
	case (short || long) && p.explains:
		return p.sentence(string(text))
	case short:
		return fmt.Sprintf("must have at least %s.", refuse.Count(s.MinLength, "character", "characters"))
	case long:
		return fmt.Sprintf("must have at most %s.", refuse.Count(*s.MaxLength, "character", "characters"))
	case !p.re.Match(text), s.Format == "date-time" && !isMoment(text):
		return p.sentence(string(text))
	}
	return ""
}

// isMoment reports whether a text that matches the pattern for times is a valid time. Some texts match the pattern and are not valid times: 31
// February, the zone +99:99, and the year 0000, which some zones cannot express.
func isMoment(text []byte) bool {
	var t time.Time
	err := t.UnmarshalText(text)
	year := t.UTC().Year()
	return err == nil && year >= 1970 && year <= 9999
}

// entriesFault returns the error text for an array with n items or an object with n members.
func entriesFault(s *openapi3.Schema, n uint64) string {
	least, most, one, many := s.MinItems, s.MaxItems, "item", "items"
	if s.Type.Is(openapi3.TypeObject) {
		least, most, one, many = s.MinProps, s.MaxProps, "entry", "entries"
	}
	switch {
	case n < least:
		return fmt.Sprintf("must have at least %s.", refuse.Count(least, one, many))
	case most != nil && n > *most:
		return fmt.Sprintf("must have at most %s.", refuse.Count(*most, one, many))
	}
	return ""
}

// faultUnless returns "" if valid is true, and fault otherwise.
func faultUnless(valid bool, fault string) string {
	if valid {
		return ""
	}
	return fault
}

// choices returns the error text for a value that is not in a list.
func choices(enum []any) string {
	var names []string
	for _, v := range enum {
		if v != nil {
			names = append(names, fmt.Sprint(v))
		}
	}
	if len(names) == 1 {
		return "must be " + names[0] + "."
	}
	return "must be one of " + strings.Join(names, ", ") + "."
}

// pattern is a regular expression in the contract.
type pattern struct {
	re       *regexp.Regexp
	sentence func(text string) string // the error text for a text that does not match
	explains bool                     // whether the sentence replaces the one about the length; for a UUID, for example, the length limits help no caller
}

// pattern returns a regular expression with its error text. It compiles the expression once.
func (k *Contract) pattern(expression string) pattern {
	known, _ := k.patterns.Load(expression)
	if p, ok := known.(pattern); ok {
		return p
	}
	p := pattern{re: regexp.MustCompile(expression), sentence: constant("has a character that is not allowed here.")}
	if strings.HasPrefix(expression, `^[^\x00-`) {
		p.sentence = constant("must not contain control characters.")
	}
	k.patterns.Store(expression, p)
	return p
}

func constant(sentence string) func(string) string { return func(string) string { return sentence } }
