package verbs

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/carve-ipam/carve/internal/cli/show"
)

// Differences collects the differences between a plan and the objects on the server. It compares only the fields that the plan has.
type Differences []string

// Field compares one value as text. If the plan has no value, it ignores the field.
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
	d.Field(name, show.PrefixLengthText(want), show.PrefixLengthText(got))
}

// Pairs compares the plan's labels or annotations. The server may have additional ones.
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

// String joins the differences.
func (d Differences) String() string { return strings.Join(d, "; ") }
