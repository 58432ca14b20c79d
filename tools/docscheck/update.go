package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// change is a new text for a block.
type change struct {
	block *block
	text  string
}

// consoleChange returns a block's text with new outputs below its commands.
func consoleChange(b *block, all []command, outputs []string) change {
	lines := strings.Split(strings.TrimSuffix(b.text, "\n"), "\n")
	var text strings.Builder
	at := 0
	for i, c := range all {
		for ; at < c.from; at++ {
			text.WriteString(lines[at] + "\n")
		}
		if outputs[i] != "" {
			text.WriteString(outputs[i] + "\n")
		}
		at = c.to
	}
	return change{b, text.String()}
}

// update writes a page with its changes.
func update(root string, p *page, changes []change) error {
	source := p.source
	slices.SortFunc(changes, func(a, b change) int { return b.block.from - a.block.from }) // from the end, so that positions stay valid
	for _, c := range changes {
		var text strings.Builder
		for line := range strings.Lines(c.text) {
			if strings.TrimSpace(line) != "" {
				line = c.block.indent + line
			}
			text.WriteString(line)
		}
		source = slices.Concat(source[:c.block.from], []byte(text.String()), source[c.block.to:])
	}
	return os.WriteFile(filepath.Join(root, filepath.FromSlash(p.path)), source, 0o644) //nolint:gosec // documentation
}
