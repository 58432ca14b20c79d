package pools

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// classes is the use cases on classes.
type classes struct{ *usecase.Core }

// GetClass reads one class that the project may use: its own, or else the platform's shared one.
func (s *classes) GetClass(ctx context.Context, project, name string, r usecase.Reading) (ipam.Class, error) {
	_, key, err := s.Enter(ctx, tenancy.ClassesRead, project)
	if err != nil {
		return ipam.Class{}, err
	}
	read := s.View(r)
	found, err := read.ClassesNamed(ctx, key, []string{name})
	if err != nil {
		return ipam.Class{}, err
	}
	if len(found) == 0 {
		return ipam.Class{}, storage.ClassNotFound(ipam.Ref{Project: project, Name: name})
	}
	return withClassStatus(ctx, read, key, usedBy(key, found[0]))
}

// usedBy is a class as a project may see it: who made it is the business of its own project.
func usedBy(key storage.ProjectKey, c ipam.Class) ipam.Class {
	if c.ProjectID != key.ID {
		c.CreatedBy = ""
	}
	return c
}

// maxClassPage bounds the classes of one page: each has its pools looked at.
const maxClassPage = 100

// classPlace is a place in a list of classes: by name, the project's own before the platform's.
type classPlace struct {
	Name    string `json:"n"`
	Foreign bool   `json:"f,omitempty"`
}

func (p classPlace) compare(q classPlace) int {
	if by := strings.Compare(p.Name, q.Name); by != 0 || p.Foreign == q.Foreign {
		return by
	}
	if p.Foreign {
		return 1
	}
	return -1
}

// ListClasses lists the classes that a project may use, its own and the platform's shared ones, by name, each with what stands behind it
// for the project.
func (s *classes) ListClasses(ctx context.Context, project string, f paging.Filter, limit int, cursor string, r usecase.Reading,
) (paging.Page[ipam.Class], error) {
	_, key, err := s.Enter(ctx, tenancy.ClassesRead, project)
	if err != nil {
		return paging.Page[ipam.Class]{}, err
	}
	place := func(c ipam.Class) classPlace { return classPlace{Name: c.Name, Foreign: c.ProjectID != key.ID} }
	read := s.View(r)
	var all []ipam.Class // there are at most 2 * MaxClasses, so they are read at once
	page, err := paging.Scan(ctx, s.Searching, paging.ListOf("classes", key.ID, f), cursor, min(limit, maxClassPage), func(after classPlace, n int) ([]ipam.Class, error) {
		if all == nil {
			all, err = read.ClassList(ctx, key)
			slices.SortFunc(all, func(a, b ipam.Class) int { return place(a).compare(place(b)) })
		}
		from, _ := slices.BinarySearchFunc(all, after, func(c ipam.Class, after classPlace) int {
			return cmp.Or(place(c).compare(after), -1) // behind the place itself
		})
		return all[from:min(from+n, len(all))], err
	}, func(c *ipam.Class) bool {
		*c = usedBy(key, *c)
		return f.MatchesLabels(c.Labels) && (f.Family == "" || f.Family == c.Spec.Family)
	}, place)
	if err != nil {
		return paging.Page[ipam.Class]{}, err
	}
	return page, fillClassStatus(ctx, read, key, page.Items)
}

// classesOf names the classes of a project for locks: whoever makes or changes one, or lists one in a pool, is alone with them, so that
// there is one default for a family, that a name means one class, and that the bounds of what there can be hold.
func classesOf(projectID ipam.ID) ipam.ID { return ipam.DerivedID(projectID, "classes") }

// checkClass validates a class that a project is about to have.
func checkClass(project string, spec ipam.ClassSpec) error {
	if err := spec.Check(); err != nil {
		return err
	}
	if project != ipam.PlatformProject && spec.Visibility != ipam.VisibilityConsumer {
		return ipam.Invalid("/spec/visibility", "must be consumer: only classes of the project %q can be used by others.", ipam.PlatformProject)
	}
	return nil
}

// recordedClass is the record of a class, in the words of its callers.
func recordedClass(c ipam.Class) *trail.Record {
	type lengths struct {
		Min *int `json:"min,omitempty"`
		Max *int `json:"max,omitempty"`
	}
	spec := struct {
		ipam.ClassSpec
		Allowed      lengths `json:"allowedPrefixLengths,omitzero"`
		Min          *int    `json:"minPrefixLength,omitempty"` // in Allowed
		Max          *int    `json:"maxPrefixLength,omitempty"` // likewise
		ReuseAfter   string  `json:"reuseAfter,omitempty"`
		ReuseLost    string  `json:"reuseAfterLost,omitempty"`
		EmptyPoolTTL string  `json:"emptyPoolTTL,omitempty"`
	}{
		ClassSpec: c.Spec, Allowed: lengths{c.Spec.MinPrefixLength, c.Spec.MaxPrefixLength},
		ReuseAfter: usecase.DurationText(c.Spec.ReuseAfter), EmptyPoolTTL: usecase.DurationText(c.Spec.EmptyPoolTTL),
		ReuseLost: usecase.DurationText(c.Spec.ReuseAfterLost),
	}
	return trail.Recorded(c.Metadata, spec)
}
