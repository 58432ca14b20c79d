package show

import (
	"strings"
	"unicode/utf8"
)

// Wrap breaks a text's paragraphs into lines with at most width characters. A longer word stays whole. Indented lines are a list or an example.
// Wrap breaks each indented line separately and indents its continuation too.
func Wrap(text string, width int) string {
	var out, paragraph []string
	end := func() {
		out = append(out, filled(strings.Join(paragraph, " "), "", width)...)
		paragraph = nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		words := strings.TrimLeft(line, " ")
		switch indent := line[:len(line)-len(words)]; {
		case words == "":
			end()
			out = append(out, "")
		case indent != "":
			end()
			out = append(out, filled(words, indent, width)...)
		default:
			paragraph = append(paragraph, line)
		}
	}
	end()
	return strings.Join(out, "\n")
}

// filled breaks a text into lines and indents each line. It keeps the blanks between words, except at line breaks.
func filled(text, indent string, width int) (lines []string) {
	for text != "" {
		room := max(width-len(indent), 1)
		if utf8.RuneCountInString(text) <= room {
			return append(lines, indent+text)
		}
		at := strings.LastIndex(string([]rune(text)[:room+1]), " ")
		if at <= 0 {
			if at = strings.Index(text, " "); at < 0 { // a word that is longer than the line
				return append(lines, indent+text)
			}
		}
		lines = append(lines, indent+strings.TrimRight(text[:at], " "))
		text = strings.TrimLeft(text[at:], " ")
	}
	return lines
}

// Hang breaks a line with two columns. The continuation is below the second column, which starts at the byte offset in at.
func Hang(line string, at, width int) string {
	lines := filled(line[at:], strings.Repeat(" ", at), width)
	if len(lines) == 0 {
		return line
	}
	lines[0] = line[:at] + strings.TrimLeft(lines[0], " ")
	return strings.Join(lines, "\n")
}
