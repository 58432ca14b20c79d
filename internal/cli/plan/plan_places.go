package plan

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/carve-ipam/carve/internal/cli/exit"
)

// planFault is one fault in a plan. The field at contains the position. The field why contains the rest of a sentence whose subject is the position.
type planFault struct{ at, why string }

type planFaults []planFault

func (f *planFaults) add(at, format string, args ...any) {
	*f = append(*f, planFault{at, fmt.Sprintf(format, args...)})
}

// maxFaults limits the faults in a message. Later faults are often only consequences.
const maxFaults = 10

// in returns an error that lists the faults. Each line names the file, the line if it is known, and the position.
func (f planFaults) in(files planFiles) error {
	text := make([]string, 0, len(f))
	for i, fault := range f {
		if i == maxFaults {
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

// linesOf maps each position in a YAML or JSON document, such as pools[0].cidr, to its line.
func linesOf(text []byte) map[string]int {
	lines := map[string]int{}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return lines // an earlier check has already refused such a text, with its line
	}
	for _, n := range doc.Content {
		noteLines(lines, "", n)
	}
	return lines
}

// noteLines visits all nodes. An alias gets the line that uses it, and not its anchor's line.
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

// lineOf returns a position's line. If it is unknown, lineOf returns the line of the nearest enclosing position, or 0 if that is unknown too.
func lineOf(lines map[string]int, at string) int {
	for at != "" {
		if line, found := lines[at]; found {
			return line
		}
		at = at[:max(strings.LastIndexAny(at, ".["), 0)]
	}
	return 0
}

func within(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}
