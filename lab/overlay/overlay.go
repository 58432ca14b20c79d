// Package overlay builds programs from modified sources with `go build -overlay`. So the product needs no switches for the variants that the lab
// builds.
package overlay

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Sources maps paths of source files to the contents that a build uses. A path that does not exist becomes an additional file.
type Sources map[string]string

// Write writes the sources and an overlay file for them into a directory. It returns the path of the overlay file.
func (s Sources) Write(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // sources
		return "", err
	}
	replace := map[string]string{}
	for i, path := range slices.Sorted(maps.Keys(s)) {
		beside := filepath.Join(dir, fmt.Sprintf("%02d-%s.txt", i, filepath.Base(path))) // outside the module's packages
		replace[path] = beside
		if err := os.WriteFile(beside, []byte(s[path]), 0o644); err != nil { //nolint:gosec // sources
			return "", err
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, text, 0o644) //nolint:gosec // sources
}

// Replaced replaces a text in a source. It returns an error unless the text occurs exactly once.
func Replaced(source, was, is string) (string, error) {
	if n := strings.Count(source, was); n != 1 {
		return "", fmt.Errorf("it was to have this once, and has it %d times: %q", n, was)
	}
	return strings.Replace(source, was, is, 1), nil
}
