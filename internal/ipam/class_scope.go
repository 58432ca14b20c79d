package ipam

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Bounds of scopes.
const (
	MaxRoles = 8 // of a class's poolPer, and of a claim's scope
)

// roleRE is the name part of a label key. It has neither "=" nor ",", so that the canonical text of a scope has one reading.
var roleRE = regexp.MustCompile(`^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`)

// ValidRole reports whether s can be a role of a scope.
func ValidRole(s string) bool { return roleRE.MatchString(s) }

// roles are those whose values a claim has to give: the project is the claiming one.
func (c Class) roles() []string {
	return slices.DeleteFunc(slices.Clone(c.Spec.PoolPer), func(role string) bool { return role == ScopeProject })
}

// MissingRoles answers the roles that the class asks for and the scope does not give, in the class's order. An empty value gives nothing: it
// is more likely a variable that was not set than a place that is meant.
func (c Class) MissingRoles(scope map[string]string) []string {
	return slices.DeleteFunc(c.roles(), func(role string) bool { return scope[role] != "" })
}

// ScopeKey answers of a scope what the class asks for, and that as canonical text: role=value, sorted by role, joined by commas. Other roles
// make no difference.
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

// ParseScope reads the values of a scope from its canonical text, in whichever order; "-" is none. pointer is where the text is in the request.
func ParseScope(pointer, text string) (map[string]string, error) {
	if text == "-" {
		return nil, nil //nolint:nilnil // no roles
	}
	scope := map[string]string{}
	for pair := range strings.SplitSeq(text, ",") {
		role, value, is := strings.Cut(pair, "=")
		if _, twice := scope[role]; twice || !is || value == "" {
			return nil, Invalid(pointer, "must be role=value pairs of different roles, with commas between them, or -.")
		}
		scope[role] = value
	}
	return scope, checkScope(pointer, scope)
}

// checkScope validates what a claim says of its scope, whatever a class asks for.
func checkScope(pointer string, scope map[string]string) error {
	switch {
	case len(scope) == 0: // as mostly
		return nil
	case len(scope) > MaxRoles:
		return Invalid(pointer, "has %d entries; at most %d are allowed.", len(scope), MaxRoles)
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
