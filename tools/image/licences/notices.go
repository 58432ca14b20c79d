package licences

import (
	"fmt"
	"strings"
)

const rule = "--------------------------------------------------------------------------------"

// Notices returns the text of THIRD_PARTY_LICENSES. It has the shipped components, their licences, and the licence texts. Identical texts occur once,
// with the names of all their components.
func Notices(components []Component) string {
	var out strings.Builder
	out.WriteString("Carve is under the Apache License 2.0 (see LICENSE). What it is shipped with was written by others.\n" +
		"This file is made by `make licences`, from the sources that are linked; do not edit it.\n\n")
	for _, c := range components {
		name := c.Name
		if c.Version != "" {
			name += " " + c.Version
		}
		fmt.Fprintf(&out, "* %s\n    %s; %s, in %s\n", name, c.Expression(), c.Kind, strings.Join(c.In, ", "))
	}
	type group struct {
		of   []string
		text string
	}
	var groups []*group
	byText := map[string]*group{}
	for _, c := range components {
		for _, t := range c.Texts {
			text := tidy(t.Content)
			g := byText[text]
			if g == nil {
				g = &group{text: text}
				byText[text] = g
				groups = append(groups, g)
			}
			g.of = append(g.of, c.Name+" ("+t.File+")")
		}
	}
	for _, g := range groups {
		fmt.Fprintf(&out, "\n%s\n%s\n%s\n\n%s\n", rule, strings.Join(g.of, "\n"), rule, g.text)
	}
	return out.String()
}

// tidy removes trailing white space and line-end differences, so that equal texts compare equal.
func tidy(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}
