package skew

import (
	_ "embed"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/carve-ipam/carve/lab/overlay"
)

// added is a file to add to package time.
//
//go:embed shift.go.txt
var added string

// The text to replace in package time, and its replacement.
const (
	was = "func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n"
	is  = was + "\tsec, nsec = shifted(sec, nsec)\n"
)

// readers lists the files in package time that read the time of day from the runtime, with the number of reads. The read in time.go is time.Now. The
// other reads choose the rule of a time zone, for which a wrong time of twenty minutes does not matter.
var readers = map[string]int{"time.go": 1, "zoneinfo_read.go": 1, "zoneinfo_plan9.go": 1}

// Sources returns package time of the Go installation at goroot, with an adjustable clock. It fails for an unknown version of the package, because
// the clock of the built program might not follow the shift.
func Sources(goroot string) (overlay.Sources, error) {
	original := filepath.Join(goroot, "src", "time")
	source, err := os.ReadFile(filepath.Join(original, "time.go"))
	if err != nil {
		return nil, err
	}
	shifting, err := overlay.Replaced(string(source), was, is)
	if err != nil {
		return nil, fmt.Errorf("%s: time.Now does not begin as it did; see how it reads the time of day now: %w", original, err)
	}
	if err := check(original); err != nil {
		return nil, fmt.Errorf("%s: %w", original, err)
	}
	return overlay.Sources{filepath.Join(original, "time.go"): shifting, filepath.Join(original, "shift.go"): added}, nil
}

// check returns an error if other files in package time read the time of day.
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
