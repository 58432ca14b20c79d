package pgfault

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
)

// When narrows a fault to the events that match.
func When(match func(Event) bool, f Fault) Fault {
	return func(e Event) Action {
		if !match(e) {
			return Action{}
		}
		return f(e)
	}
}

// On narrows a fault to one kind of event.
func On(kind Kind, f Fault) Fault {
	return When(func(e Event) bool { return e.Kind == kind }, f)
}

// OnlySQL narrows a fault to statements whose normalised text (Event.SQL) contains part.
func OnlySQL(part string, f Fault) Fault {
	return When(func(e Event) bool { return strings.Contains(e.SQL, part) }, f)
}

// OnlyTable narrows a fault to statements that name the table.
func OnlyTable(table string, f Fault) Fault {
	return When(func(e Event) bool { return slices.Contains(e.Tables, table) }, f)
}

// Nth injects a fault only at its n-th matching event, counted from 1 over all connections.
func Nth(n int, f Fault) Fault {
	seen := 0
	return func(e Event) Action {
		a := f(e)
		if a == (Action{}) {
			return a
		}
		if seen++; seen != n {
			return Action{}
		}
		return a
	}
}

// First injects a fault at its first n matching events.
func First(n int, f Fault) Fault {
	return func(e Event) Action {
		if n <= 0 {
			return Action{}
		}
		a := f(e)
		if a != (Action{}) {
			n--
		}
		return a
	}
}

// Once injects a fault only at its first matching event.
func Once(f Fault) Fault { return First(1, f) }

// Probability injects a fault with probability p in [0, 1]. The choice depends only on the seed, the fault's name, and the event's Conn and Seq. It
// does not depend on how connections interleave. Two faults with the same seed choose different events.
func Probability(p float64, seed uint64, f Fault) Fault {
	return func(e Event) Action {
		a := f(e)
		if a == (Action{}) || uniform(seed, a.Name, e.Conn, e.Seq) >= p {
			return Action{}
		}
		return a
	}
}

// Named counts a fault's injections under the given name.
func Named(name string, f Fault) Fault {
	return func(e Event) Action {
		a := f(e)
		if a != (Action{}) {
			a.Name = name
		}
		return a
	}
}

// uniform maps its arguments to [0, 1).
func uniform(seed uint64, name string, conn, seq int) float64 {
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%d/%s/%d/%d", seed, name, conn, seq) // a hash never fails
	return float64(mix(h.Sum64())>>11) / (1 << 53)
}

// mix spreads differences in a few bits over all bits. It is the last step of SplitMix64 (Steele, Lea, Flood: Fast
// splittable pseudorandom number generators, 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
