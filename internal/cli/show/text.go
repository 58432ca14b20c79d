package show

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/carve-ipam/carve/client"
)

// Wrapped breaks a sentence into lines of so many characters, with a text between them.
func Wrapped(sentence string, width int, between string) string {
	var b strings.Builder
	column := 0
	for i, word := range strings.Fields(sentence) {
		switch {
		case i == 0:
		case column+1+len(word) > width:
			b.WriteString(between)
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	return b.String()
}

// FirstOf is the first value that is given.
func FirstOf[T ~string](values ...T) T {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// RefText names a resource as seen from a project: `name`, or `project/name` where that is another one.
func RefText(ref *client.ResolvedRef, from string) string {
	switch {
	case ref == nil:
		return ""
	case ref.Project == from:
		return ref.Name
	default:
		return ref.Project + "/" + ref.Name
	}
}

// Percent shows how much of a hundred.
func Percent(p float64) string { return strconv.FormatFloat(p, 'f', 2, 64) + "%" }

// JoinPairs shows labels in a fixed order.
func JoinPairs(m map[string]string) string {
	out := make([]string, 0, len(m))
	for _, key := range slices.Sorted(maps.Keys(m)) {
		out = append(out, key+"="+m[key])
	}
	return strings.Join(out, ",")
}

// Slashed shows a prefix length; nil is empty.
func Slashed(bits *int) string {
	if bits == nil {
		return ""
	}
	return "/" + strconv.Itoa(*bits)
}

// Number shows a count; nil is empty.
func Number(n *int64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatInt(*n, 10)
}

// Yes shows what is so, and nothing otherwise.
func Yes(is bool) string {
	if is {
		return "yes"
	}
	return ""
}

// CountOf is so many of something: 1 pool, 2 pools.
func CountOf(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// Plural is the word for several of a kind.
func Plural(kind string) string {
	if strings.HasSuffix(kind, "s") {
		return kind + "es"
	}
	return kind + "s"
}

// Capital begins a sentence.
func Capital(word string) string {
	for i, r := range word {
		return string(unicode.ToUpper(r)) + word[i+len(string(r)):]
	}
	return ""
}

// TimeText shows a time to people.
func TimeText(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// Words lists alternatives for a sentence.
func Words[T ~string](list []T) string {
	text := make([]string, len(list))
	for i, w := range list {
		text[i] = string(w)
	}
	return strings.Join(text, ", ")
}
