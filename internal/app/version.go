package app

import "runtime/debug"

// version is stamped by the build (-ldflags -X); "dev" when it was not.
var version = "dev"

// commit is the revision that Go recorded in the binary; "" when it recorded none.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}

// Version of this build, and the commit it was built from ("" when Go recorded none).
func Version() (build, revision string) { return version, commit() }
