package rules

import (
	"regexp"
	"strings"

	"github.com/carve-ipam/carve/internal/cli/source"
)

// LongestName is how many characters a name has at most.
const LongestName = 63

var (
	noName  = regexp.MustCompile(`[^a-z0-9-]`)
	noLabel = regexp.MustCompile(`[^A-Za-z0-9._]+`)
	noText  = regexp.MustCompile(`[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x{9f}]`)
	field   = regexp.MustCompile(`\{([^{}]*)\}`)
)

// Name makes a name of any text: a DNS label.
func Name(text string) string {
	name := noName.ReplaceAllString(strings.ToLower(text), "-")
	if len(name) > LongestName {
		name = name[:LongestName]
	}
	return strings.Trim(name, "-")
}

// WithSuffix is a name with something behind it that has to stay.
func WithSuffix(name, suffix string) string {
	if most := LongestName - len(suffix) - 1; len(name) > most {
		name = strings.TrimRight(name[:most], "-")
	}
	return Name(name + "-" + suffix)
}

// Label makes a value of a label of any text.
func Label(text string) string {
	value := noLabel.ReplaceAllString(text, "-")
	for strings.Contains(value, "--") {
		value = strings.ReplaceAll(value, "--", "-")
	}
	if len(value) > LongestName {
		value = value[:LongestName]
	}
	return strings.Trim(value, "-._")
}

// Text makes a text of an annotation or a description: of so many bytes, without what breaks lines.
func Text(text string, most int) string {
	text = noText.ReplaceAllString(strings.ToValidUTF8(text, ""), "")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "")
	}
	return text
}

// Expand fills a template in.
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
