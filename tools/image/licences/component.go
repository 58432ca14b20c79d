// Package licences finds what is shipped that others wrote, reads under which licences, refuses those that nobody has agreed to,
// and writes down the texts that have to go with it.
package licences

import (
	"cmp"
	"slices"
	"strings"
)

// Component is something that others wrote and we ship.
type Component struct {
	// Name is a module's path, or a package's name at its registry.
	Name, Version string
	Kind          Kind
	// Licences are SPDX identifiers; all of them apply.
	Licences []string
	// Texts are the licence files and notices as they came.
	Texts []Text
	// In names what it is shipped in: the programs, the client, the image.
	In []string
}

// Kind is where a component comes from.
type Kind string

// The kinds.
const (
	Module   Kind = "Go module"
	Standard Kind = "Go distribution"
	NPM      Kind = "npm package"
)

// Text is a file with a licence or a notice.
type Text struct {
	// File is its name, relative to the component.
	File    string
	Content string
}

// Expression is the licences as SPDX writes several that all apply.
func (c Component) Expression() string { return strings.Join(c.Licences, " AND ") }

// sorted puts components and what is in them into one order.
func sorted(all map[string]*Component) []Component {
	var out []Component
	for _, c := range all {
		slices.Sort(c.Licences)
		c.Licences = slices.Compact(c.Licences)
		slices.Sort(c.In)
		c.In = slices.Compact(c.In)
		slices.SortFunc(c.Texts, func(a, b Text) int { return cmp.Compare(a.File, b.File) })
		out = append(out, *c)
	}
	slices.SortFunc(out, func(a, b Component) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name)) })
	return out
}
