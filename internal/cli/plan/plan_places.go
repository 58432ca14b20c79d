package plan

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/carve-ipam/carve/internal/cli/exit"
)

// planFault is one fault of a plan: its place, and the rest of a sentence about the place.
type planFault struct{ at, why string }

// planFaults are all faults of a plan.
type planFaults []planFault

func (f *planFaults) add(at, format string, args ...any) {
	*f = append(*f, planFault{at, fmt.Sprintf(format, args...)})
}

// mostFaults is the maximum number of faults in a message: the first ones often explain the others.
const mostFaults = 10

// in returns an error with the file, the line if known, and the place of each fault.
func (f planFaults) in(files planFiles) error {
	text := make([]string, 0, len(f))
	for i, fault := range f {
		if i == mostFaults {
			text = append(text, fmt.Sprintf("%s: and %d more", nameOf(files.paths()), len(f)-i))
			break
		}
		where, line := files.where(fault.at)
		if line > 0 {
			where += ":" + strconv.Itoa(line)
		}
		text = append(text, where+": "+strings.TrimSpace(fault.at+" "+fault.why))
	}
	return exit.Usagef("%s", strings.Join(text, "\n"))
}

// linesOf returns the lines for all places in a YAML or JSON document, by place: pools[0].cidr.
func linesOf(text []byte) map[string]int {
	lines := map[string]int{}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return lines // a text that cannot be parsed was refused before, with its line
	}
	for _, n := range doc.Content {
		noteLines(lines, "", n)
	}
	return lines
}

// noteLines walks the written document. An alias has the line of its use, not of its anchor.
func noteLines(lines map[string]int, at string, n *yaml.Node) {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := within(at, n.Content[i].Value)
			lines[key] = n.Content[i].Line
			noteLines(lines, key, n.Content[i+1])
			if name := n.Content[i].Value; name == "metadata" || name == "spec" { // flatten moves their members up
				noteLines(lines, at, n.Content[i+1])
			}
		}
	case yaml.SequenceNode:
		for i, c := range n.Content {
			item := at + "[" + strconv.Itoa(i) + "]"
			lines[item] = c.Line
			noteLines(lines, item, c)
		}
	case yaml.DocumentNode, yaml.ScalarNode, yaml.AliasNode:
	}
}

// lineOf returns the line of a place, or of the nearest place around it; 0 is unknown.
func lineOf(lines map[string]int, at string) int {
	for at != "" {
		if line, found := lines[at]; found {
			return line
		}
		at = at[:max(strings.LastIndexAny(at, ".["), 0)]
	}
	return 0
}

// within returns the place of a member.
func within(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}
