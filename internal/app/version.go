package app

import (
	"fmt"
	"runtime"
)

// version and commit are set by the build, with -ldflags -X.
var (
	version = "dev"
	commit  = ""
)

// Version returns this build's version and its commit ("" if the build did not set it).
func Version() (build, revision string) { return version, commit }

// versionText returns the output for --version. It has the same content as /v1/version, in one line.
func versionText() string {
	built := ""
	if commit != "" {
		built = ", commit " + commit
	}
	return fmt.Sprintf("carve server %s%s, %s\n", version, built, runtime.Version())
}
