package cli

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/carve-ipam/carve/client"
)

// choice is a flag that takes one of a few words, in any case.
type choice struct {
	value *string
	words []string
}

func newChoice[T ~string](value *string, preset T, words ...T) *choice {
	*value = string(preset)
	c := &choice{value: value}
	for _, w := range words {
		c.words = append(c.words, string(w))
	}
	return c
}

// String, Set and Type implement pflag.Value.
func (c *choice) String() string { return *c.value }

// Set takes one of the words.
func (c *choice) Set(s string) error {
	for _, w := range c.words {
		if strings.EqualFold(s, w) {
			*c.value = w
			return nil
		}
	}
	return fmt.Errorf("must be one of %s", words(c.words))
}

// Type is what the help calls the value.
func (*choice) Type() string { return "word" }

// family is a flag for an address family; the contract says IPv4, hands say 4.
type family string

// String, Set and Type implement pflag.Value.
func (f *family) String() string { return string(*f) }

// Set takes 4, v4, ipv4, 6, v6, ipv6.
func (f *family) Set(s string) error {
	switch strings.ToLower(s) {
	case "4", "v4", "ipv4":
		*f = family(client.IPFamilyIPv4)
	case "6", "v6", "ipv6":
		*f = family(client.IPFamilyIPv6)
	default:
		return fmt.Errorf("must be IPv4 or IPv6")
	}
	return nil
}

// Type is what the help calls the value.
func (*family) Type() string { return "family" }

// length is a flag for a prefix length that may be absent: 24 or /24. In a `set` it can be none.
type length struct {
	bits      *int
	clearable bool
}

// String, Set and Type implement pflag.Value.
func (l *length) String() string {
	if l.bits == nil {
		return ""
	}
	return strconv.Itoa(*l.bits)
}

// Set takes a number of bits, with or without its slash.
func (l *length) Set(s string) error {
	if l.clearable && s == none {
		l.bits = nil
		return nil
	}
	bits, err := strconv.Atoi(strings.TrimPrefix(s, "/"))
	if err != nil || bits < 0 || bits > 128 {
		return fmt.Errorf("must be a prefix length, 0 to 128")
	}
	l.bits = &bits
	return nil
}

// Type is what the help calls the value.
func (*length) Type() string { return "length" }

// pairsValue is a flag of key=value pairs that may be repeated.
type pairsValue map[string]string

// String, Set and Type implement pflag.Value.
func (p *pairsValue) String() string { return joinPairs(*p) }

// Set adds one pair.
func (p *pairsValue) Set(s string) error {
	key, value, found := strings.Cut(s, "=")
	if !found || key == "" {
		return fmt.Errorf("must be key=value")
	}
	if _, twice := (*p)[key]; twice {
		return fmt.Errorf("sets %s twice", key)
	}
	if *p == nil {
		*p = pairsValue{}
	}
	(*p)[key] = value
	return nil
}

// Type is what the help calls the value.
func (*pairsValue) Type() string { return "key=value" }

// nameRE is a DNS label: what the contract calls a name. A UUID is one too.
var nameRE = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)

// checkName refuses what is not a name before it gets near a path: `pool delete ..` must not ask for the project.
func checkName(what, name string) error {
	if !nameRE.MatchString(name) {
		return usagef("%q is not the name of a %s: names have 1 to 63 lower-case letters, digits and dashes", name, what)
	}
	return nil
}

// parseRef reads `name` or `project/name`.
func parseRef(flag, s string) (*client.Ref, error) {
	project, name, foreign := strings.Cut(s, "/")
	if !foreign {
		project, name = "", s
	}
	if !nameRE.MatchString(name) || foreign && !nameRE.MatchString(project) {
		return nil, usagef("--%s is a name or project/name, not %q", flag, s)
	}
	return &client.Ref{Project: project, Name: name}, nil
}

// words lists alternatives for a sentence.
func words[T ~string](list []T) string {
	text := make([]string, len(list))
	for i, w := range list {
		text[i] = string(w)
	}
	return strings.Join(text, ", ")
}
