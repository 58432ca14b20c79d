package audit

import (
	"maps"
	"slices"
	"strings"
)

// Invariant is one property that an audit checks.
type Invariant struct {
	Name  string // as findings name it
	Holds string // the property, as a sentence without its full stop
}

// Invariants returns the invariants that [Run] checks, sorted by name.
func Invariants() []Invariant {
	invariants := statements()
	out := make([]Invariant, 0, len(invariants)+2)
	for _, name := range slices.Sorted(maps.Keys(invariants)) {
		first, _, _ := strings.Cut(invariants[name], "\n")
		out = append(out, Invariant{name, strings.TrimPrefix(first, "-- purpose: ")})
	}
	out = append(out, // read with SQL and compared in Go
		Invariant{"fences", "every container has a fence in each of its regions, and besides projects nothing else has one; its stock is what is free and what is cooling down there"},
		Invariant{"reservations", "the blocks that are held for the reservations of a pool are those that its spec comes to"},
	)
	slices.SortFunc(out, func(a, b Invariant) int { return strings.Compare(a.Name, b.Name) })
	return out
}
