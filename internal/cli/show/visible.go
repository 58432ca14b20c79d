package show

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
)

// hidden has the characters that a reader cannot see. They change the direction of text, have no width, break lines or are tags.
var hidden = []*unicode.RangeTable{
	unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point,
	{R32: []unicode.Range32{{Lo: 0xe0100, Hi: 0xe01ef, Stride: 1}}}, // the supplement with more variation selectors
}

// Clean makes a text from another source safe for one terminal line. Control characters become blanks. Hidden characters become visible.
func Clean(s string) string {
	return spelt(s, func(r rune) string {
		if unicode.IsControl(r) {
			return " "
		}
		return visible(r)
	})
}

// Visible makes a text of several lines safe for a terminal. Control characters except line feeds and tabs become blanks. Hidden characters become
// visible.
func Visible(s string) string {
	return spelt(s, func(r rune) string {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return " "
		}
		return visible(r)
	})
}

// visible returns a visible spelling for a hidden character, such as <U+202E>. For all other characters it returns "".
func visible(r rune) string {
	if unicode.In(r, hidden...) {
		return fmt.Sprintf("<%U>", r)
	}
	return ""
}

// escapedJSON replaces a JSON document's hidden characters with equivalent escapes.
func escapedJSON(doc string) string {
	return escaped(doc, func(r rune) string {
		high, low := utf16.EncodeRune(r)
		return fmt.Sprintf(`\u%04x\u%04x`, high, low)
	})
}

// escapedYAML replaces a YAML document's hidden characters with escapes. Each text with a hidden character is already in double quotes.
func escapedYAML(doc string) string {
	return escaped(doc, func(r rune) string { return fmt.Sprintf(`\U%08x`, r) })
}

// escaped replaces a document's hidden characters. large returns the escape for a character with more than 16 bits.
func escaped(doc string, large func(rune) string) string {
	return spelt(doc, func(r rune) string {
		switch {
		case !unicode.In(r, hidden...):
			return ""
		case r < 0x10000:
			return fmt.Sprintf(`\u%04x`, r)
		default:
			return large(r)
		}
	})
}

// hides reports whether a text has hidden characters.
func hides(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.In(r, hidden...) })
}

// spelt replaces each character with the text that the function as returns. If this text is "", spelt keeps the character.
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
