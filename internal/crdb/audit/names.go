package audit

import (
	"maps"
	"slices"
	"strings"
)

// Invariant is one thing that an audit proves.
type Invariant struct {
	Name  string // as findings name it
	Holds string // what holds, in a sentence without its full stop
}

// Invariants are what [Run] proves, by name.
func Invariants() []Invariant {
	invariants := statements()
	out := make([]Invariant, 0, len(invariants)+2)
	for _, name := range slices.Sorted(maps.Keys(invariants)) {
		first, _, _ := strings.Cut(invariants[name], "\n")
		out = append(out, Invariant{name, strings.TrimPrefix(first, "-- purpose: ")})
	}
	out = append(out, // read in SQL and compared in Go
		Invariant{"fences", "every container has a fence in each of its regions, and besides projects nothing else has one; its stock is what is free and what is cooling down there"},
		Invariant{"reservations", "the blocks that are held for the reservations of a pool are those that its spec comes to"},
	)
	slices.SortFunc(out, func(a, b Invariant) int { return strings.Compare(a.Name, b.Name) })
	return out
}
