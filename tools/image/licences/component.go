// Package licences finds shipped third-party code, reads its licences, refuses licences that are not permitted, and collects the texts that must
// accompany the code.
package licences

import (
	"cmp"
	"slices"
	"strings"
)

// Component is shipped third-party code.
type Component struct {
	// Name is a module's path, or a package's name at its registry.
	Name, Version string
	Kind          Kind
	// Licences are SPDX identifiers; all of them apply.
	Licences []string
	// Texts are the unchanged licence files and notices.
	Texts []Text
	// In names the products that contain the component. A product is a program, a client or the image.
	In []string
}

// Kind is a component's origin.
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

// Expression returns the licences as an SPDX expression in which all apply.
func (c Component) Expression() string { return strings.Join(c.Licences, " AND ") }

// sorted sorts components and their contents.
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
