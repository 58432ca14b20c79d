package skew

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// added is what the time package gets besides: a file of its own.
//
//go:embed shift.go.txt
var added []byte

// What is replaced, and by what.
const (
	was = "func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n"
	is  = was + "\tsec, nsec = shifted(sec, nsec)\n"
)

// readers are the files of the time package that ask the runtime for the time of day, and how often. The one in time.go is Now; the others ask which
// rule of a time zone is in force, for which twenty minutes are nothing.
var readers = map[string]int{"time.go": 1, "zoneinfo_read.go": 1, "zoneinfo_plan9.go": 1}

// Overlay writes an overlay for the Go installation at goroot into a directory, and answers where it is. It refuses when the time package is not the one
// that it was written for, since the clock of what would be built might then be right after all.
func Overlay(goroot, dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	original := filepath.Join(goroot, "src", "time")
	source, err := os.ReadFile(filepath.Join(original, "time.go"))
	if err != nil {
		return "", err
	}
	shifting, err := replaced(string(source))
	if err != nil {
		return "", fmt.Errorf("%s: %w", original, err)
	}
	if err := check(original); err != nil {
		return "", fmt.Errorf("%s: %w", original, err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // sources
		return "", err
	}
	replace := map[string]string{}
	for name, text := range map[string]string{"time.go": shifting, "shift.go": string(added)} {
		beside := filepath.Join(dir, name+".txt") // not a package of the module that the directory lies in
		replace[filepath.Join(original, name)] = beside
		if err := os.WriteFile(beside, []byte(text), 0o644); err != nil { //nolint:gosec // sources
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

// replaced is the source of time.go with a Now that is off.
func replaced(source string) (string, error) {
	if n := strings.Count(source, was); n != 1 {
		return "", fmt.Errorf("time.Now does not begin as it did (%d times %q): see how it reads the time of day now", n, was)
	}
	return strings.Replace(source, was, is, 1), nil
}

// check refuses a time package in which others than those we know read the time of day.
func check(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return err
	}
	found := map[string]int{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		source := string(text)
		calls := strings.Count(source, "runtimeNow()") - strings.Count(source, "func runtimeNow()")
		calls += strings.Count(source, " now()") - strings.Count(source, "func now()")
		if calls > 0 {
			found[filepath.Base(file)] = calls
		}
	}
	if !maps.Equal(found, readers) {
		return fmt.Errorf("the time of day is read in other places than before: %v, not %v", inOrder(found), inOrder(readers))
	}
	return nil
}

func inOrder(counts map[string]int) (out []string) {
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, fmt.Sprintf("%s %d", name, counts[name]))
	}
	return out
}
