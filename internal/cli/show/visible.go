package show

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
)

// hidden are the invisible characters: they change a text's direction, have no width, break lines or are tags.
var hidden = []*unicode.RangeTable{
	unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point,
	{R32: []unicode.Range32{{Lo: 0xe0100, Hi: 0xe01ef, Stride: 1}}}, // the supplement of variation selectors
}

// Clean makes foreign text safe for one line of a terminal: control characters become blanks, and hidden characters become visible.
func Clean(s string) string {
	return spelt(s, func(r rune) string {
		if unicode.IsControl(r) {
			return " "
		}
		return visible(r)
	})
}

// Visible makes hidden characters visible in a text of several lines, and replaces terminal control characters.
func Visible(s string) string {
	return spelt(s, func(r rune) string {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return " "
		}
		return visible(r)
	})
}

// visible spells out a hidden character, as in <U+202E>; it returns "" for all others.
func visible(r rune) string {
	if unicode.In(r, hidden...) {
		return fmt.Sprintf("<%U>", r)
	}
	return ""
}

// escapedJSON replaces the hidden characters of a JSON document by equivalent escapes.
func escapedJSON(doc string) string {
	return spelt(doc, func(r rune) string {
		switch high, low := utf16.EncodeRune(r); {
		case !unicode.In(r, hidden...):
			return ""
		case r < 0x10000:
			return fmt.Sprintf(`\u%04x`, r)
		default:
			return fmt.Sprintf(`\u%04x\u%04x`, high, low)
		}
	})
}

// escapedYAML replaces the hidden characters of a YAML document by escapes. All texts that contain any are in double quotes.
func escapedYAML(doc string) string {
	return spelt(doc, func(r rune) string {
		switch {
		case !unicode.In(r, hidden...):
			return ""
		case r < 0x10000:
			return fmt.Sprintf(`\u%04x`, r)
		default:
			return fmt.Sprintf(`\U%08x`, r)
		}
	})
}

// hides reports whether a text has hidden characters.
func hides(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.In(r, hidden...) })
}

// spelt replaces characters; as returns "" to keep one.
func spelt(s string, as func(rune) string) string {
	var b strings.Builder
	for _, r := range s {
		if text := as(r); text != "" {
			b.WriteString(text)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
