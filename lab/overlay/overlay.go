// Package overlay has programs built from sources that differ from those of the checkout, by `go build -overlay`: the product has no switch then for
// what only the laboratory wants of it.
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

// Sources are files as a build is to see them, by their paths. Those that do not exist are added.
type Sources map[string]string

// Write writes the sources and an overlay of them into a directory, and answers where the overlay is.
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
		beside := filepath.Join(dir, fmt.Sprintf("%02d-%s.txt", i, filepath.Base(path))) // not a package of the module that the directory lies in
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

// Replaced is a source in which a text that stands there exactly once is replaced.
func Replaced(source, was, is string) (string, error) {
	if n := strings.Count(source, was); n != 1 {
		return "", fmt.Errorf("it was to have this once, and has it %d times: %q", n, was)
	}
	return strings.Replace(source, was, is, 1), nil
}
