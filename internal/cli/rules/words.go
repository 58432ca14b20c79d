package rules

import (
	"regexp"
	"strings"

	"github.com/carve-ipam/carve/internal/cli/source"
)

// longestName is a name's maximum length in characters.
const longestName = 63

var (
	noName  = regexp.MustCompile(`[^a-z0-9-]`)
	noLabel = regexp.MustCompile(`[^A-Za-z0-9._]+`)
	noText  = regexp.MustCompile(`[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x{9f}]`)
	field   = regexp.MustCompile(`\{([^{}]*)\}`)
)

// Name converts any text into a name, which is a DNS label.
func Name(text string) string {
	name := noName.ReplaceAllString(strings.ToLower(text), "-")
	if len(name) > longestName {
		name = name[:longestName]
	}
	return strings.Trim(name, "-")
}

// WithSuffix appends a suffix to a name. If the result is too long, it shortens the name and keeps the suffix.
func WithSuffix(name, suffix string) string {
	if limit := longestName - len(suffix) - 1; len(name) > limit {
		name = strings.TrimRight(name[:limit], "-")
	}
	return Name(name + "-" + suffix)
}

// Label converts any text into a label's value.
func Label(text string) string {
	value := noLabel.ReplaceAllString(text, "-")
	for strings.Contains(value, "--") {
		value = strings.ReplaceAll(value, "--", "-")
	}
	if len(value) > longestName {
		value = value[:longestName]
	}
	return strings.Trim(value, "-._")
}

// Text converts a text for an annotation or a description. It removes control characters except tabs and line ends. limit is the maximum size in
// bytes.
func Text(text string, limit int) string {
	text = noText.ReplaceAllString(strings.ToValidUTF8(text, ""), "")
	if len(text) > limit {
		text = strings.ToValidUTF8(text[:limit], "")
	}
	return text
}

// Expand replaces the fields in a template with a record's values.
func Expand(template string, r *source.Record) string {
	return field.ReplaceAllStringFunc(template, func(hole string) string {
		for name := range strings.SplitSeq(strings.Trim(hole, "{}"), "|") {
			if value := r.Field(strings.TrimSpace(name)); value != "" {
				return value
			}
		}
		return ""
	})
}
