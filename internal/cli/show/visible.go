package show

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
)

// hidden has the characters without a shape: they change the direction of a text, have no width, break lines or are tags.
var hidden = []*unicode.RangeTable{
	unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point,
	{R32: []unicode.Range32{{Lo: 0xe0100, Hi: 0xe01ef, Stride: 1}}}, // the supplement of variation selectors
}

// Clean makes text from elsewhere fit for one line of a terminal: control characters become blanks, and hidden characters become visible.
func Clean(s string) string {
	return spelt(s, func(r rune) string {
		if unicode.IsControl(r) {
			return " "
		}
		return visible(r)
	})
}

// Visible makes hidden characters visible in a text of several lines, and takes away what controls a terminal.
func Visible(s string) string {
	return spelt(s, func(r rune) string {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return " "
		}
		return visible(r)
	})
}

// visible spells a hidden character, as in <U+202E>; it answers an empty text for all others.
func visible(r rune) string {
	if unicode.In(r, hidden...) {
		return fmt.Sprintf("<%U>", r)
	}
	return ""
}

// escapedJSON writes the hidden characters of a JSON document as escapes, which mean the same.
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

// escapedYAML writes the hidden characters of a YAML document as escapes. The texts that have any stand in double quotes.
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

// spelt replaces characters; an empty answer keeps one.
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
