package verbs

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/carve-ipam/carve/internal/cli/show"
)

// Differences collects what a plan says and a server has otherwise. What a plan does not say is not compared.
type Differences []string

// Field compares one value as text; an empty wish is none.
func (d *Differences) Field(name, want, got string) {
	if want != "" && want != got {
		if got == "" {
			got = "not set"
		}
		*d = append(*d, fmt.Sprintf("%s is %s, not %s", name, got, want))
	}
}

// Bits compares a prefix length.
func (d *Differences) Bits(name string, want, got *int) {
	d.Field(name, show.Slashed(want), show.Slashed(got))
}

// Pairs compares the labels, or whatever they are, that the plan names; others may be there.
func (d *Differences) Pairs(what string, want, got map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(want)) {
		value, found := got[key]
		switch {
		case !found:
			*d = append(*d, what+" "+key+" is not set")
		case value != want[key]:
			*d = append(*d, fmt.Sprintf("%s %s is %q, not %q", what, key, value, want[key]))
		}
	}
}

// String joins them.
func (d Differences) String() string { return strings.Join(d, "; ") }
