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

// profileName returns the file name of a cell's profile. It consists of the contestant and the parameters of the cell. All rounds use the same name,
// so only the profile of the last round remains.
func profileName(r *result) string {
	return fmt.Sprintf("%s-%d-clients-%d-held.pprof", strings.Trim(unfriendly.ReplaceAllString(r.Contestant, "-"), "-"), r.Clients, r.Held)
}

// profiled calls work. If dir is set, it writes a CPU profile of this process there. The profile includes the generator of the load.
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
