package licences

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// allowed lists the permitted licences of shipped code, with their obligations. A person must read a licence before it is added. Tools that only
// build and test Carve are not shipped and not checked.
var allowed = map[string]string{
	"Apache-2.0":   "keep the text and the notices",
	"BSD-2-Clause": "keep the text",
	"BSD-3-Clause": "keep the text",
	"ISC":          "keep the text",
	"MIT":          "keep the text",
	// The MPL applies only to its own files. Carve does not modify them, and the module's path names their source.
	"MPL-2.0": "keep the text, say where the source is, publish changes of its files",
}

// Allowed returns the permitted licences.
func Allowed() []string { return slices.Sorted(maps.Keys(allowed)) }

// Scan finds all shipped third-party code of the checkout in repo. A licence that cannot be read is an error.
func Scan(ctx context.Context, repo string) ([]Component, error) {
	all, err := linked(ctx, repo)
	if err != nil {
		return nil, err
	}
	for _, more := range []func(string) (map[string]*Component, error){vendored, published, authorities} {
		found, err := more(repo)
		if err != nil {
			return nil, err
		}
		for name, c := range found {
			if all[name] != nil {
				return nil, fmt.Errorf("two components are called %s", name)
			}
			all[name] = c
		}
	}
	return sorted(all), nil
}

// Refused returns an error that lists the components with licences that are not permitted, or nil.
func Refused(components []Component) error {
	var all []error
	for _, c := range components {
		if len(c.Licences) == 0 {
			all = append(all, fmt.Errorf("%s %s (in %s) has no licence", c.Name, c.Version, strings.Join(c.In, ", ")))
		}
		for _, id := range c.Licences {
			if _, ok := allowed[id]; !ok {
				all = append(all, fmt.Errorf("%s %s (in %s) is under %s: allowed are %s; another one is for a person to read (tools/image/licences/policy.go)",
					c.Name, c.Version, strings.Join(c.In, ", "), id, strings.Join(Allowed(), ", ")))
			}
		}
	}
	return errors.Join(all...)
}
