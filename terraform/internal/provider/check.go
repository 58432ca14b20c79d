package provider

import (
	"cmp"
	"fmt"
	"math/big"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"
)

// check returns a value's fault. If the value is valid, it returns an empty text.
type check func(v any) string

// valid returns a check that refuses the texts that are not valid. what describes the valid texts.
func valid(what string, is func(s string) bool) check {
	return func(v any) string {
		if s, ok := v.(string); ok && !is(s) {
			return fmt.Sprintf("%q is not %s.", s, what)
		}
		return ""
	}
}

// pattern returns a check that a text matches a regular expression.
func pattern(what, expression string) check {
	return valid(what, regexp.MustCompile("^(?:"+expression+")$").MatchString)
}

const label = `[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?`

var (
	isName     = pattern("a name: up to 63 lower-case letters, digits and hyphens", label)
	isRef      = pattern("a name, or project/name", "("+label+"/)?"+label)
	isConsumer = pattern(`the name of a project, or "*"`, `[*]|`+label)
	isSubject  = pattern("a subject, such as corp:alice@example.com", `[A-Za-z0-9._:@|+=-]{1,255}`)
	isUID      = pattern("a consumer's UID", `[A-Za-z0-9]([-A-Za-z0-9._:]{0,126}[A-Za-z0-9])?`)
	isCount    = pattern("a count in decimal digits", `[0-9]{1,48}`)
	isURL      = pattern("a URL, such as https://inventory.example.com/carve", `https?://[!-~]+`)
	isDuration = pattern("a duration, such as 72h or 1h30m", `[0-9]{1,4}h([0-9]{1,6}m)?([0-9]{1,8}s)?|[0-9]{1,6}m([0-9]{1,8}s)?|[0-9]{1,8}s`)
	isAddress  = valid("an IP address", parses(netip.ParseAddr))
	isTime     = valid("a time, such as 2030-01-31T12:00:00Z", parses(parseTime))
)

// parses returns a function that reports whether parse accepts a text.
func parses[T any](parse func(string) (T, error)) func(s string) bool {
	return func(s string) bool {
		_, err := parse(s)
		return err == nil
	}
}

// parseTime parses a time to microseconds, the server's precision.
func parseTime(s string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, s)
	return t.UTC().Truncate(time.Microsecond), err
}

func isCIDR(v any) string {
	s, ok := v.(string)
	if !ok {
		return ""
	}
	switch p, err := netip.ParsePrefix(s); {
	case err != nil:
		return fmt.Sprintf("%q is not a block in CIDR notation, such as 10.0.0.0/16.", s)
	case p.Masked() != p:
		return fmt.Sprintf("%q has bits set after its prefix; the block is %s.", s, p.Masked())
	}
	return ""
}

// isUnmarked refuses the annotations that the provider writes itself.
func isUnmarked(v any) string {
	all, _ := v.(map[string]any)
	for _, name := range marks {
		if all[name] != nil {
			return fmt.Sprintf("must not have %q, because the provider writes it: set `owner` in the provider instead.", name)
		}
	}
	return ""
}

func between(low, high int64) check {
	return func(v any) string {
		if n, ok := v.(int64); ok && (n < low || n > high) {
			return fmt.Sprintf("must be %d to %d, not %d.", low, high, n)
		}
		return ""
	}
}

// oneOf returns a check that a text is in a list.
func oneOf(texts ...string) check {
	return func(v any) string {
		if s, ok := v.(string); ok && !slices.Contains(texts, s) {
			return fmt.Sprintf("must be one of %s, not %q.", strings.Join(texts, ", "), s)
		}
		return ""
	}
}

// all returns a check that applies c to each element in a list.
func all(c check) check {
	return func(v any) string {
		list, _ := v.([]any)
		for _, element := range list {
			if wrong := c(element); wrong != "" {
				return wrong
			}
		}
		return ""
	}
}

// wrong returns a value's fault. If the value is valid, it returns an empty text.
func (f field) wrong(v any) string {
	if n, is := v.(*big.Float); is {
		limit := ""
		if n.IsInt() {
			limit = " of at most 64 bits"
		}
		return fmt.Sprintf("must be a whole number%s, not %s.", limit, n.Text('g', 10))
	}
	switch {
	case !known(v):
		return ""
	case f.required && v == "":
		return "must not be empty."
	case len(f.oneOf) > 0:
		return oneOf(f.oneOf...)(v)
	case f.ref:
		return isRef(v)
	case f.check != nil:
		return f.check(v)
	}
	return ""
}

// sameBy returns a function that parses a text, so that all spellings are equal. If that function cannot parse a text, it returns the text unchanged.
func sameBy[T any](parse func(string) (T, error)) func(s string) any {
	return func(s string) any {
		if parsed, err := parse(s); err == nil {
			return parsed
		}
		return s
	}
}

var (
	sameDuration = sameBy(time.ParseDuration)
	sameCIDR     = sameBy(netip.ParsePrefix)
	sameAddress  = sameBy(netip.ParseAddr)
	sameTime     = sameBy(parseTime)
)

// sameCount removes leading zeros from a count.
func sameCount(s string) any { return cmp.Or(strings.TrimLeft(s, "0"), "0") }

// atMostOne and exactlyOne are rules for attributes. An unknown value may still become null. It therefore counts neither as given nor as missing.
func atMostOne(v values, names ...string) []fault {
	var given []string
	for _, name := range names {
		if v[name] != nil && v[name] != (unknown{}) {
			given = append(given, name)
		}
	}
	if len(given) < 2 {
		return nil
	}
	return []fault{{given[1], fmt.Sprintf("At most one of %s can be set.", strings.Join(names, ", "))}}
}

func exactlyOne(v values, names ...string) []fault {
	for _, name := range names {
		if v[name] != nil {
			return atMostOne(v, names...)
		}
	}
	return []fault{{names[0], fmt.Sprintf("One of %s must be set.", strings.Join(names, ", "))}}
}

// lengthOf refuses a prefix_length that differs from the length that a block or an address has.
func lengthOf(v values, name string) []fault {
	bits, is := blockLength(v.text(name))
	if n, given := v["prefix_length"].(int64); given && is && n != bits {
		return []fault{{"prefix_length", fmt.Sprintf("prefix_length is %d, but the prefix length of %s is %d: remove one of the two.", n, name, bits)}}
	}
	return nil
}

func blockLength(text string) (int64, bool) {
	if p, err := netip.ParsePrefix(text); err == nil {
		return int64(p.Bits()), true
	}
	if a, err := netip.ParseAddr(text); err == nil {
		return int64(a.BitLen()), true
	}
	return 0, false
}

// isGiven returns a function that reports whether at least one attribute has a value.
func isGiven(names ...string) func(values) bool {
	return func(v values) bool {
		return slices.ContainsFunc(names, func(name string) bool { return v.text(name) != "" })
	}
}
