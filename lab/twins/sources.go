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

// Variable is the environment variable that selects the server's twin.
const Variable = "CARVE_TWIN"

// Names returns the names of all twins.
func Names() (all []string) {
	for _, p := range places {
		all = append(all, p.twins...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// choice is the source of the package by which the server learns its twin.
//
//go:embed switch.go.txt
var choice string

// clause matches the package clause of a Go source.
var clause = regexp.MustCompile(`(?m)^package \w+\n`)

// Sources returns the sources of a checkout that the server of all twins replaces. It fails if a text to replace has changed in the checkout, because
// the twin would then have no effect.
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

// lacking returns the replacement of a place, in which LACKS is replaced by a condition on the twin's name.
func (p place) lacking() string {
	names := make([]string, len(p.twins))
	for i, name := range p.twins {
		names[i] = strconv.Quote(name)
	}
	return strings.ReplaceAll(p.is, "LACKS", "twin.Lacks("+strings.Join(names, ", ")+")")
}
