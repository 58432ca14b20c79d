package transfer

import (
	"regexp"
	"strings"

	"github.com/carve-ipam/carve/internal/cli/source"
)

const longestName = 63

var (
	noName  = regexp.MustCompile(`[^a-z0-9-]`)
	noLabel = regexp.MustCompile(`[^A-Za-z0-9._]+`)
	noText  = regexp.MustCompile(`[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x{9f}]`)
	field   = regexp.MustCompile(`\{([^{}]*)\}`)
)

// asName makes a name of any text: a DNS label.
func asName(text string) string {
	name := noName.ReplaceAllString(strings.ToLower(text), "-")
	if len(name) > longestName {
		name = name[:longestName]
	}
	return strings.Trim(name, "-")
}

// withSuffix is a name with something behind it that has to stay.
func withSuffix(name, suffix string) string {
	if most := longestName - len(suffix) - 1; len(name) > most {
		name = strings.TrimRight(name[:most], "-")
	}
	return asName(name + "-" + suffix)
}

// asLabel makes a value of a label of any text.
func asLabel(text string) string {
	value := noLabel.ReplaceAllString(text, "-")
	for strings.Contains(value, "--") {
		value = strings.ReplaceAll(value, "--", "-")
	}
	if len(value) > longestName {
		value = value[:longestName]
	}
	return strings.Trim(value, "-._")
}

// asText makes a text of an annotation or a description: of so many bytes, without what breaks lines.
func asText(text string, most int) string {
	text = noText.ReplaceAllString(strings.ToValidUTF8(text, ""), "")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "")
	}
	return text
}

// expand fills a template in.
func expand(template string, r source.Record) string {
	return field.ReplaceAllStringFunc(template, func(hole string) string {
		for name := range strings.SplitSeq(strings.Trim(hole, "{}"), "|") {
			if value := r.Field(strings.TrimSpace(name)); value != "" {
				return value
			}
		}
		return ""
	})
}
