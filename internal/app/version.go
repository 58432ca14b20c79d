package app

// version and commit are stamped by the build (-ldflags -X).
var (
	version = "dev"
	commit  = ""
)

// Version of this build, and the commit it was built from ("" when it was not stamped).
func Version() (build, revision string) { return version, commit }
