package oidc

import (
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// rule is a validated Rule.
type rule struct {
	claim   string
	value   string
	pattern *regexp.Regexp // nil: compare with value
	project string         // "": the pattern's group project
	role    tenancy.Role   // "": the pattern's group role
}

const (
	projectGroup = "project"
	roleGroup    = "role"
)

func (r Rule) compile() (rule, error) {
	out := rule{claim: r.Claim, value: r.Value, project: r.Project, role: tenancy.Role(r.Role)}
	if r.Claim == "" {
		return rule{}, errors.New("claim is missing")
	}
	if (r.Value == "") == (r.Pattern == "") {
		return rule{}, errors.New("needs either value or pattern")
	}
	var groups []string
	if r.Pattern != "" {
		p, err := regexp.Compile(`^(?:` + r.Pattern + `)$`)
		if err != nil {
			return rule{}, fmt.Errorf("pattern: %w", err)
		}
		out.pattern, groups = p, p.SubexpNames()
	}
	for _, part := range []struct{ name, value string }{{projectGroup, r.Project}, {roleGroup, r.Role}} {
		switch in := slices.Contains(groups, part.name); {
		case in && part.value != "":
			return rule{}, fmt.Errorf("%s is set, and the pattern also has a group of that name; keep only one", part.name)
		case !in && part.value == "":
			return rule{}, fmt.Errorf("%s is missing: set it, or add a group (?P<%s>...) to the pattern", part.name, part.name)
		}
	}
	if r.Project != "" && !ipam.ValidName(r.Project) {
		return rule{}, fmt.Errorf("project %q is not a DNS label", r.Project)
	}
	if r.Role != "" && !out.role.Valid() {
		return rule{}, fmt.Errorf("role %q is not one of %v", r.Role, tenancy.Roles())
	}
	return out, nil
}

// grant returns the role that a claim's value gives. ok is false if the value gives no role. A pattern's group cannot select the project platform.
// Otherwise a user who may create groups at the issuer could become platform admin. A rule gives roles in that project only if its configuration
// names the project.
func (r rule) grant(value string) (project string, role tenancy.Role, ok bool) {
	project, role = r.project, r.role
	if r.pattern == nil {
		return project, role, value == r.value
	}
	m := r.pattern.FindStringSubmatch(value)
	if m == nil {
		return "", "", false
	}
	if project == "" {
		project = m[r.pattern.SubexpIndex(projectGroup)]
		if project == ipam.PlatformProject {
			return "", "", false
		}
	}
	if role == "" {
		role = tenancy.Role(m[r.pattern.SubexpIndex(roleGroup)])
	}
	return project, role, ipam.ValidName(project) && role.Valid()
}

// rolesOf returns the roles that a token's claims give, by project.
func rolesOf(rules []rule, claims map[string]any) map[string]tenancy.Role {
	roles := map[string]tenancy.Role{}
	for _, r := range rules {
		for _, value := range stringsOf(find(claims, r.claim)) {
			if project, role, ok := r.grant(value); ok {
				roles[project] = tenancy.Larger(roles[project], role)
			}
		}
	}
	return roles
}
