package verbs

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// pairChanges is a flag of pairs to set (key=value) and to take away (key-).
type pairChanges map[string]*string

// String, Set and Type implement pflag.Value.
func (p *pairChanges) String() string {
	out := make([]string, 0, len(*p))
	for _, key := range slices.Sorted(maps.Keys(*p)) {
		if value := (*p)[key]; value != nil {
			out = append(out, key+"="+*value)
		} else {
			out = append(out, key+"-")
		}
	}
	return strings.Join(out, ",")
}

// Set adds one pair.
func (p *pairChanges) Set(s string) error {
	key, value, found := strings.Cut(s, "=")
	kept := &value
	if bare, away := strings.CutSuffix(s, "-"); !found && away {
		key, kept = bare, nil
	} else if !found {
		key = ""
	}
	if key == "" {
		return fmt.Errorf("must be key=value, or key- to take it away")
	}
	if _, twice := (*p)[key]; twice {
		return fmt.Errorf("sets %s twice", key)
	}
	if *p == nil {
		*p = pairChanges{}
	}
	(*p)[key] = kept
	return nil
}

// Type is what the help calls the value.
func (*pairChanges) Type() string { return "key=value" }
