package session

import (
	"regexp"
	"strings"

	"github.com/carve-ipam/carve/internal/cli/exit"
)

// NameRE matches a DNS label, which is the contract's form of a name. A UUID matches too.
var NameRE = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)

// CheckName refuses an invalid name before it becomes a part of a path. Otherwise `pool delete ..` would request the project itself.
func CheckName(what, name string) error {
	if !NameRE.MatchString(name) {
		return exit.Usagef("%q is not the name of a %s: names have 1 to 63 lower-case letters, digits and dashes", name, what)
	}
	return nil
}

// CheckRef refuses a text that has neither the form name nor the form project/name.
func CheckRef(what, ref string) error {
	project, name, foreign := strings.Cut(ref, "/")
	if !foreign {
		return CheckName(what, ref)
	}
	if !NameRE.MatchString(project) || !NameRE.MatchString(name) {
		return exit.Usagef("%q is not the name of a %s: use name, or project/name for another project", ref, what)
	}
	return nil
}
