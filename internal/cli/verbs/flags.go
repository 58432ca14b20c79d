package verbs

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// Choice is a flag that takes one of a few words, in any case.
type Choice struct {
	value *string
	words []string
}

// NewChoice makes a [Choice] that keeps its word in value.
func NewChoice[T ~string](value *string, preset T, words ...T) *Choice {
	*value = string(preset)
	c := &Choice{value: value}
	for _, w := range words {
		c.words = append(c.words, string(w))
	}
	return c
}

// String, Set and Type implement pflag.Value.
func (c *Choice) String() string { return *c.value }

// Set takes one of the words.
func (c *Choice) Set(s string) error {
	for _, w := range c.words {
		if strings.EqualFold(s, w) {
			*c.value = w
			return nil
		}
	}
	return fmt.Errorf("must be one of %s", show.Words(c.words))
}

// Type is what the help calls the value.
func (*Choice) Type() string { return "word" }

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

// Length is a flag for a prefix length that may be absent: 24 or /24. In a `set` it can be none.
type Length struct {
	Bits      *int
	clearable bool
}

// String, Set and Type implement pflag.Value.
func (l *Length) String() string {
	if l.Bits == nil {
		return ""
	}
	return strconv.Itoa(*l.Bits)
}

// Set takes a number of bits, with or without its slash.
func (l *Length) Set(s string) error {
	if l.clearable && s == None {
		l.Bits = nil
		return nil
	}
	bits, err := strconv.Atoi(strings.TrimPrefix(s, "/"))
	if err != nil || bits < 0 || bits > 128 {
		return fmt.Errorf("must be a prefix length, 0 to 128")
	}
	l.Bits = &bits
	return nil
}

// Type is what the help calls the value.
func (*Length) Type() string { return "length" }

// PairsValue is a flag of key=value pairs that may be repeated.
type PairsValue map[string]string

// String, Set and Type implement pflag.Value.
func (p *PairsValue) String() string { return show.JoinPairs(*p) }

// Set adds one pair.
func (p *PairsValue) Set(s string) error {
	key, value, found := strings.Cut(s, "=")
	if !found || key == "" {
		return fmt.Errorf("must be key=value")
	}
	if _, twice := (*p)[key]; twice {
		return fmt.Errorf("sets %s twice", key)
	}
	if *p == nil {
		*p = PairsValue{}
	}
	(*p)[key] = value
	return nil
}

// Type is what the help calls the value.
func (*PairsValue) Type() string { return "key=value" }

// parseRef reads `name` or `project/name`.
func parseRef(flag, s string) (*client.Ref, error) {
	project, name, foreign := strings.Cut(s, "/")
	if !foreign {
		project, name = "", s
	}
	if !session.NameRE.MatchString(name) || foreign && !session.NameRE.MatchString(project) {
		return nil, exit.Usagef("--%s is a name or project/name, not %q", flag, s)
	}
	return &client.Ref{Project: project, Name: name}, nil
}
