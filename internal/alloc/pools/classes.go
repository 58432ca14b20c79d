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

type classes struct{ *usecase.Core }

// GetClass reads one class that the project may use. This is the project's own class or else the platform's shared class.
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
	return withClassStatus(ctx, read, key, hideCreator(key, found[0]))
}

// hideCreator hides a class's creator from other projects.
func hideCreator(key storage.ProjectKey, c ipam.Class) ipam.Class {
	if c.ProjectID != key.ID {
		c.CreatedBy = ""
	}
	return c
}

// maxClassPage limits the classes on one page, because each class needs a read of its pools.
const maxClassPage = 100

// classPlace is a position in a list of classes. The list is ordered by name, and the project's own class comes before the platform's class with the
// same name.
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

// ListClasses lists the classes that a project may use, by name: its own classes and the platform's shared classes. Each class has its status for the
// project.
func (s *classes) ListClasses(ctx context.Context, project string, f paging.Filter, limit int, cursor string, r usecase.Reading,
) (paging.Page[ipam.Class], error) {
	_, key, err := s.Enter(ctx, tenancy.ClassesRead, project)
	if err != nil {
		return paging.Page[ipam.Class]{}, err
	}
	place := func(c ipam.Class) classPlace { return classPlace{Name: c.Name, Foreign: c.ProjectID != key.ID} }
	read := s.View(r)
	var all []ipam.Class // at most 2 * MaxClasses, so one read fetches them all
	page, err := paging.Scan(ctx, s.Searching, paging.ListOf("classes", key.ID, f), cursor, min(limit, maxClassPage), func(after classPlace, n int) ([]ipam.Class, error) {
		if all == nil {
			all, err = read.ClassList(ctx, key)
			slices.SortFunc(all, func(a, b ipam.Class) int { return place(a).compare(place(b)) })
		}
		from, _ := slices.BinarySearchFunc(all, after, func(c ipam.Class, after classPlace) int {
			return cmp.Or(place(c).compare(after), -1) // continue after the position itself
		})
		return all[from:min(from+n, len(all))], err
	}, func(c *ipam.Class) bool {
		*c = hideCreator(key, *c)
		return f.MatchesLabels(c.Labels) && (f.Family == "" || f.Family == c.Spec.Family)
	}, place)
	if err != nil {
		return paging.Page[ipam.Class]{}, err
	}
	return page, fillClassStatus(ctx, read, key, page.Items)
}

// classLock returns the lock id for a project's classes. A transaction that creates or changes a class, or lists a class in a pool, holds this lock
// exclusively. The lock protects three rules:
//   - A family has one default class.
//   - A name refers to one class.
//   - The numbers of classes and pools stay within their limits.
func classLock(projectID ipam.ID) ipam.ID { return ipam.DerivedID(projectID, "classes") }

func checkClass(project string, spec ipam.ClassSpec) error {
	if err := spec.Check(); err != nil {
		return err
	}
	if project != ipam.PlatformProject && spec.Visibility != ipam.VisibilityConsumer {
		return ipam.Invalid("/spec/visibility", "must be consumer: other projects can use only the classes of the project %q.", ipam.PlatformProject)
	}
	return nil
}

// recordedClass returns a class's record in an event, with the API's field names.
func recordedClass(c ipam.Class) *trail.Record {
	type lengths struct {
		Min *int `json:"min,omitempty"`
		Max *int `json:"max,omitempty"`
	}
	spec := struct {
		ipam.ClassSpec
		Allowed      lengths `json:"allowedPrefixLengths,omitzero"`
		Min          *int    `json:"minPrefixLength,omitempty"` // shown in Allowed instead
		Max          *int    `json:"maxPrefixLength,omitempty"` // shown in Allowed instead
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
