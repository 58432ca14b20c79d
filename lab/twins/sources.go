package twins

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/carve-ipam/carve/lab/overlay"
)

// Variable is where a server finds the name of the twin that it is to be.
const Variable = "CARVE_TWIN"

// Names are the names of all twins.
func Names() (all []string) {
	for _, p := range places {
		all = append(all, p.twins...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// choice is the package by which a server knows which twin it is.
//
//go:embed switch.go.txt
var choice string

// clause is the package clause of a source.
var clause = regexp.MustCompile(`(?m)^package \w+\n`)

// Sources are those of a checkout that differ in a server of all twins. It refuses when a place is not as it was, since the twin would not be one.
func Sources(checkout string) (overlay.Sources, error) {
	root, err := filepath.Abs(checkout)
	if err != nil {
		return nil, err
	}
	out := overlay.Sources{filepath.Join(root, "internal", "twin", "twin.go"): choice}
	for _, p := range places {
		path := filepath.Join(root, p.file)
		source, known := out[path]
		if !known {
			text, err := os.ReadFile(path)
			if err != nil {
				return nil, fmt.Errorf("the twins %v: %w", p.twins, err)
			}
			source = clause.ReplaceAllString(string(text), "$0\nimport \"github.com/carve-ipam/carve/internal/twin\"\n")
		}
		if out[path], err = overlay.Replaced(source, p.was, p.lacking()); err != nil {
			return nil, fmt.Errorf("the twins %v have no place in %s any more: %w", p.twins, p.file, err)
		}
	}
	return out, nil
}

// lacking is the text of a place in a server of all twins.
func (p place) lacking() string {
	names := make([]string, len(p.twins))
	for i, name := range p.twins {
		names[i] = strconv.Quote(name)
	}
	return strings.ReplaceAll(p.is, "LACKS", "twin.Lacks("+strings.Join(names, ", ")+")")
}
