package ipam

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Limits for scopes.
const (
	MaxRoles = 8 // in a class's poolPer, and in a claim's scope
)

// roleRE matches a label key's name part. It excludes "=" and ",", so that a scope's canonical text is unambiguous.
var roleRE = regexp.MustCompile(`^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`)

// ValidRole reports whether s is a valid role in a scope.
func ValidRole(s string) bool { return roleRE.MatchString(s) }

// roles returns the roles that need a value in a claim. It leaves out ScopeProject, because the server sets its value.
func (c Class) roles() []string {
	return slices.DeleteFunc(slices.Clone(c.Spec.PoolPer), func(role string) bool { return role == ScopeProject })
}

// MissingRoles returns the roles that the class requires and that the scope lacks, in PoolPer's order. An empty value counts as missing, because it
// is more likely an unset variable than an intended value.
func (c Class) MissingRoles(scope map[string]string) []string {
	return slices.DeleteFunc(c.roles(), func(role string) bool { return scope[role] != "" })
}

// ScopeKey returns the values in a scope for the roles that the class requires. The result key is the canonical text of these values: role=value
// pairs, sorted by role and joined by commas. ScopeKey ignores other roles.
func (c Class) ScopeKey(scope map[string]string) (values map[string]string, key string) {
	values = map[string]string{}
	for _, role := range c.roles() {
		if value, given := scope[role]; given {
			values[role] = value
		}
	}
	pairs := make([]string, 0, len(values))
	for _, role := range slices.Sorted(maps.Keys(values)) {
		pairs = append(pairs, role+"="+values[role])
	}
	return values, strings.Join(pairs, ",")
}

// ParseScope parses a scope's text in ScopeKey's format. The roles may be in any order. "-" is the empty scope. pointer is the text's position in the
// request.
func ParseScope(pointer, text string) (map[string]string, error) {
	if text == "-" {
		return nil, nil //nolint:nilnil // no roles
	}
	scope := map[string]string{}
	for pair := range strings.SplitSeq(text, ",") {
		role, value, is := strings.Cut(pair, "=")
		if _, twice := scope[role]; twice || !is || value == "" {
			return nil, Invalid(pointer, "must be role=value pairs separated by commas, each role once; or - for no roles.")
		}
		scope[role] = value
	}
	return scope, checkScope(pointer, scope)
}

// checkScope validates a claim's scope without a class.
func checkScope(pointer string, scope map[string]string) error {
	if len(scope) == 0 { // the usual case
		return nil
	}
	if err := checkCount(pointer, len(scope), MaxRoles); err != nil {
		return err
	}
	for _, role := range slices.Sorted(maps.Keys(scope)) {
		if !ValidRole(role) {
			return Invalid(pointer, "has a key that is not 1 to 63 characters from [A-Za-z0-9._-], beginning and ending with a letter or digit.")
		}
		if !labelValueRE.MatchString(scope[role]) {
			return Invalid(pointer+"/"+role, "must be empty or 1 to 63 characters from [A-Za-z0-9._-], beginning and ending with a letter or digit.")
		}
	}
	return nil
}
