package rivals

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/pprof"
	"strings"
)

var unfriendly = regexp.MustCompile(`[^a-zA-Z0-9]+`)

// profileName returns the name of a cell's profile: its contestant, in letters and digits, and the cell's parameters. The profile of the last round
// stays.
func profileName(r *result) string {
	return fmt.Sprintf("%s-%d-clients-%d-held.pprof", strings.Trim(unfriendly.ReplaceAllString(r.Contestant, "-"), "-"), r.Clients, r.Held)
}

// profiled runs work and, if dir is set, writes a CPU profile of this process there. The profile contains the generator.
func profiled(dir string, r *result, work func()) (err error) {
	if dir == "" {
		work()
		return nil
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(dir, profileName(r)))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := pprof.StartCPUProfile(f); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	work()
	return nil
}
