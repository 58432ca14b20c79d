package provider

import (
	"fmt"
	"math/big"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"
)

// check returns the fault of a value. If the value is valid, it returns an empty text.
type check func(v any) string

// pattern returns a check that a text matches a regular expression.
func pattern(what, expression string) check {
	re := regexp.MustCompile("^(?:" + expression + ")$")
	return func(v any) string {
		if s, ok := v.(string); ok && !re.MatchString(s) {
			return fmt.Sprintf("%q is not %s.", s, what)
		}
		return ""
	}
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
)

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

func isAddress(v any) string {
	if s, ok := v.(string); ok {
		if _, err := netip.ParseAddr(s); err != nil {
			return fmt.Sprintf("%q is not an IP address.", s)
		}
	}
	return ""
}

var durationRE = regexp.MustCompile(`^([0-9]{1,4}h)?([0-9]{1,6}m)?([0-9]{1,8}s)?$`)

func isDuration(v any) string {
	if s, ok := v.(string); ok && (s == "" || !durationRE.MatchString(s)) {
		return fmt.Sprintf("%q is not a duration, such as 72h or 1h30m.", s)
	}
	return ""
}

func isTime(v any) string {
	if s, ok := v.(string); ok {
		if _, err := time.Parse(time.RFC3339, s); err != nil {
			return fmt.Sprintf("%q is not a time, such as 2030-01-31T12:00:00Z.", s)
		}
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

// all returns a check that applies c to each element of a list.
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

func isInteger(v any) bool {
	_, is := v.(int64)
	return is
}

// notInteger returns the fault of a number with a fraction or of a number that is too large.
func notInteger(v any) string {
	n, ok := v.(*big.Float)
	switch {
	case !ok:
		return "must be a whole number."
	case n.IsInt():
		return fmt.Sprintf("must be a whole number of at most 64 bits, not %s.", n.Text('g', 10))
	default:
		return fmt.Sprintf("must be a whole number, not %s.", n.Text('g', 10))
	}
}

// wrong returns the fault of a value. If the value is valid, it returns an empty text.
func (f field) wrong(v any) string {
	switch {
	case v == nil || !known(v):
		return ""
	case f.form == number && !isInteger(v):
		return notInteger(v)
	case f.required && v == "":
		return "must not be empty."
	case len(f.oneOf) > 0:
		return oneOf(f.oneOf...)(v)
	case f.check != nil:
		return f.check(v)
	}
	return ""
}

// sameBy returns a function that converts all spellings of a value to one spelling. If it cannot parse a text, it returns the text unchanged.
func sameBy[T any](parse func(string) (T, error), write func(T) any) func(v any) any {
	return func(v any) any {
		s, ok := v.(string)
		if !ok {
			return v
		}
		parsed, err := parse(s)
		if err != nil {
			return v
		}
		return write(parsed)
	}
}

var (
	sameDuration = sameBy(time.ParseDuration, func(d time.Duration) any { return d })
	sameCIDR     = sameBy(netip.ParsePrefix, func(p netip.Prefix) any { return p })
	sameAddress  = sameBy(netip.ParseAddr, func(a netip.Addr) any { return a })
	sameTime     = sameBy(func(s string) (time.Time, error) { return time.Parse(time.RFC3339, s) }, func(t time.Time) any { return t.UnixMicro() })
)

// sameCount removes leading zeros from a count.
func sameCount(v any) any {
	s, _ := v.(string)
	if short := strings.TrimLeft(s, "0"); short != "" || s == "" {
		return short
	}
	return "0"
}
