package app

import (
	"fmt"
	"runtime"
)

// version and commit are stamped by the build (-ldflags -X).
var (
	version = "dev"
	commit  = ""
)

// Version of this build, and the commit it was built from ("" when it was not stamped).
func Version() (build, revision string) { return version, commit }

// versionText is what --version prints: what /v1/version answers, in a line.
func versionText() string {
	built := ""
	if commit != "" {
		built = ", commit " + commit
	}
	return fmt.Sprintf("carve server %s%s, %s\n", version, built, runtime.Version())
}
