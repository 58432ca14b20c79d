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

// Wrapped breaks a sentence into lines with at most width characters. It joins the lines with the text in the parameter between.
func Wrapped(sentence string, width int, between string) string {
	return strings.Join(filled(sentence, "", width), between)
}

// FirstOf returns the first value that is not "".
func FirstOf[T ~string](values ...T) T {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// Words joins the texts that are not empty.
func Words(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(t string) bool { return t == "" }), " ")
}

// RefText returns a resource's name as seen from a project. The result is `name` if the resource is in that project, and `project/name` otherwise.
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

// Percent formats a percentage.
func Percent(p float64) string { return strconv.FormatFloat(p, 'f', 2, 64) + "%" }

// JoinPairs formats labels, sorted by key.
func JoinPairs(m map[string]string) string {
	out := make([]string, 0, len(m))
	for _, key := range slices.Sorted(maps.Keys(m)) {
		out = append(out, key+"="+m[key])
	}
	return strings.Join(out, ",")
}

// PrefixLengthText formats a prefix length. For nil it returns "".
func PrefixLengthText(bits *int) string {
	if bits == nil {
		return ""
	}
	return "/" + strconv.Itoa(*bits)
}

// yesOrEmpty returns "yes" for true, and "" for false.
func yesOrEmpty(is bool) string {
	if is {
		return "yes"
	}
	return ""
}

// CountOf formats a number with its noun, as in "1 pool" and "2 pools".
func CountOf(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// Plural returns the plural of a kind's name.
func Plural(kind string) string {
	if strings.HasSuffix(kind, "s") {
		return kind + "es"
	}
	return kind + "s"
}

// Capital capitalizes the first letter.
func Capital(word string) string {
	for i, r := range word {
		return string(unicode.ToUpper(r)) + word[i+len(string(r)):]
	}
	return ""
}

// TimeText formats a time for people, in UTC.
func TimeText(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// JoinComma joins words with commas.
func JoinComma[T ~string](list []T) string { return strings.Join(Texts(list), ", ") }

// Texts converts words to strings.
func Texts[T ~string](list []T) []string { return WordsOf(list, func(w T) string { return string(w) }) }
