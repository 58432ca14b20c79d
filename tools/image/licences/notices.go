package licences

import (
	"fmt"
	"strings"
)

const rule = "--------------------------------------------------------------------------------"

// Notices is THIRD_PARTY_LICENSES: what is shipped, under which licences, and their texts. Texts that are alike to the letter are
// there once, with the names of all that they belong to.
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

// tidy takes the ends of lines and of the text away, which differ where the words do not.
func tidy(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}
