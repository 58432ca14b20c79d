package main

import (
	"fmt"
	"runtime"
)

// version and commit are stamped by the build (-ldflags -X).
var (
	version = "dev"
	commit  = ""
)

// versionText is what --version prints.
func versionText() string {
	built := ""
	if commit != "" {
		built = ", commit " + commit
	}
	return fmt.Sprintf("carve controller %s%s, %s\n", version, built, runtime.Version())
}
