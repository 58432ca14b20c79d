package main

import (
	"fmt"
	"runtime"
)

// version and commit are set by the build (-ldflags -X).
var (
	version = "dev"
	commit  = ""
)

// versionText returns the text for --version.
func versionText() string {
	built := ""
	if commit != "" {
		built = ", commit " + commit
	}
	return fmt.Sprintf("carve controller %s%s, %s\n", version, built, runtime.Version())
}
