package search

import (
	"cmp"
	"context"
	"strings"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/ipam"
)

// findNames finds resources whose name equals a text or begins with it.
func (l *look) findNames(ctx context.Context, text string) error {
	if name := strings.ToLower(text); name != "" && (ipam.ValidName(name) || ipam.ValidName(name+"0")) {
		if err := l.findLabelNames(ctx, name); err != nil {
			return err
		}
	}
	if text != "" && len(l.in.projects) > 0 && l.wants(trail.KindConsumer) {
		consumers, err := l.read.ConsumersBeginning(ctx, l.in.ids(), ipam.DefaultRealm, text, l.limit+1)
		if err != nil {
			return err
		}
		for _, c := range consumers {
			l.add(text, Item{Kind: trail.KindConsumer, Project: l.in.name(c.ProjectID), Name: c.Name})
		}
	}
	l.sort(func(a, b Item) int { return cmp.Compare(a.Name, b.Name) }) // puts an exact match first
	return nil
}

// add adds an item if its name begins with a text. The check is necessary because the database may order strings differently from Go.
func (l *look) add(text string, item Item) {
	switch {
	case item.Name == text:
		item.Why = ReasonName
	case strings.HasPrefix(item.Name, text):
		item.Why = ReasonNamePrefix
	default:
		l.seen++
		return
	}
	l.found = append(l.found, item)
}

// findLabelNames finds resources whose kind has DNS labels as names. It reads with one statement for each kind that the search includes.
func (l *look) findLabelNames(ctx context.Context, text string) error {
	if l.wants(trail.KindProject) {
		projects, err := l.projects(ctx, text)
		if err != nil {
			return err
		}
		for _, p := range projects {
			l.add(text, Item{Kind: trail.KindProject, Name: p.Name})
		}
	}
	ids, n := l.in.ids(), l.limit+1
	if len(ids) == 0 {
		return nil
	}
	if l.wants(trail.KindSpace) {
		spaces, err := l.read.SpacesBeginning(ctx, ids, text, n)
		if err != nil {
			return err
		}
		for _, s := range spaces {
			l.add(text, Item{Kind: trail.KindSpace, Project: l.in.name(s.ProjectID), Name: s.Name})
		}
	}
	if l.wants(trail.KindPool) {
		pools, err := l.read.PoolsBeginning(ctx, ids, text, n)
		if err != nil {
			return err
		}
		for _, p := range pools {
			l.add(text, poolItem(p, ""))
		}
	}
	if l.wants(trail.KindClass) {
		classes, err := l.read.ClassesBeginning(ctx, ids, text, n)
		if err != nil {
			return err
		}
		for _, c := range classes {
			l.add(text, Item{Kind: trail.KindClass, Project: c.Project, Name: c.Name})
		}
	}
	if l.wants(trail.KindClaim) {
		claims, err := l.read.ClaimsBeginning(ctx, ids, text, n)
		if err != nil {
			return err
		}
		for _, a := range claims {
			l.add(text, claimItem(a, ""))
		}
	}
	return nil
}

// projects returns projects whose name may equal or begin with a text. For a platform admin, it reads from all projects.
func (l *look) projects(ctx context.Context, text string) ([]ipam.Project, error) {
	switch {
	case l.in.singleProject:
		return nil, nil
	case !l.in.allProjects:
		return l.in.projects, nil
	}
	exact, err := l.read.ProjectListNamed(ctx, []string{text})
	if err != nil {
		return nil, err
	}
	after, err := l.read.ProjectList(ctx, text, l.limit+1)
	return append(exact, after...), err
}

// findByLabels finds pools with a label. No index has labels, so findByLabels reads each project's pools, up to maxLabelled pools in total.
func (s *Searches) findByLabels(ctx context.Context, l *look, findByLabels map[string]string) error {
	if len(l.in.projects) == 0 {
		return nil
	}
	leave, err := s.Searching.AcquireForWork(ctx, l.in.projects[0].UID)
	if err != nil {
		return err
	}
	defer leave()
	want := ipam.Selector{MatchLabels: findByLabels}
	for _, p := range l.in.projects {
		for after := ""; ; {
			n := min(500, maxLabelled-l.seen)
			if n <= 0 || len(l.found) > l.limit {
				l.truncated = true
				return nil
			}
			pools, err := l.read.PoolList(ctx, storage.Key(p), after, n)
			if err != nil {
				return err
			}
			for _, pool := range pools {
				if after = pool.Name; want.Matches(pool.Labels) {
					l.found = append(l.found, poolItem(pool, ReasonLabel))
				}
			}
			if l.seen += len(pools); len(pools) < n {
				break
			}
		}
	}
	return nil
}
