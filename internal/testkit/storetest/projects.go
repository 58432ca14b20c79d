package storetest

import (
	"context"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

var projects = map[string]func(*suite){
	"AllFieldsRoundTrip": func(s *suite) {
		p := s.project("blue")
		everyFieldHasAValue(s, []ipam.Project{p}, ".Metadata.Project", ".Metadata.Region")
		s.write(storage.Changes{ProjectInsert: &p})
		reads(s, p)(s.Store.ProjectGet(s.ctx, "blue"))
	},
	"AbsentLabelsStayAbsent": func(s *suite) {
		p := s.project("blue")
		p.Labels, p.Annotations = nil, nil
		s.write(storage.Changes{ProjectInsert: &p})
		reads(s, p)(s.Store.ProjectGet(s.ctx, "blue"))
	},
	"UpdateReplacesMutableFields": func(s *suite) {
		p := s.project("blue")
		s.write(storage.Changes{ProjectInsert: &p})
		now := p
		now.Metadata = updated(p.Metadata)
		now.Spec = ipam.ProjectSpec{DisplayName: "Another", Description: ""}
		s.write(storage.Changes{ProjectUpdate: &storage.ProjectUpdate{Was: p.Revision, Now: now}})
		reads(s, now)(s.Store.ProjectGet(s.ctx, "blue"))
	},
	"ListIsByNameInPages": func(s *suite) {
		for _, name := range names {
			p := s.project(name)
			s.write(storage.Changes{ProjectInsert: &p})
		}
		inPages(s, "", func(after string, limit int) ([]ipam.Project, error) {
			return s.Store.ProjectList(s.ctx, after, limit)
		}, func(p ipam.Project) string { return p.Name }, names)
	},
	"ListNamedReturnsExistingProjectsByName": func(s *suite) {
		for _, name := range names {
			p := s.project(name)
			s.write(storage.Changes{ProjectInsert: &p})
		}
		for _, c := range []struct{ ask, want []string }{
			{[]string{"z", "none", "a", "a-b", "a"}, []string{"a", "a-b", "z"}}, {[]string{"none"}, nil}, {nil, nil}, {names, names},
		} {
			got, err := s.Store.ProjectListNamed(s.ctx, c.ask)
			require.NoError(s, err)
			var found []string
			for _, p := range got {
				found = append(found, p.Name)
			}
			require.Equal(s, c.want, found)
		}
	},
	"HoldingsCountPoolsClaimsAndNondefaultSpaces": func(s *suite) {
		w := s.world()
		other := s.project("red")
		extra := s.space(w.project, "lab")
		s.write(storage.Changes{ProjectInsert: &other, SpaceInsert: []ipam.Space{extra, s.space(other, "default")}})
		reads(s, storage.Holdings{Pools: 2, Claims: 1, Spaces: 1})(s.Store.ProjectHoldings(s.ctx, w.project.UID))
		reads(s, storage.Holdings{})(s.Store.ProjectHoldings(s.ctx, other.UID))
	},
	"DeleteRemovesItsStoredResponses": func(s *suite) {
		p, other := s.project("blue"), s.project("red")
		s.write(storage.Changes{ProjectInsert: &p, StoredResponses: []storage.StoredResponse{s.storedResponse(p, "key"), s.storedResponse(other, "key")}})
		s.write(storage.Changes{ProjectDelete: &p})
		_, err := s.Store.ProjectGet(s.ctx, "blue")
		require.True(s, ipam.IsCode(err, ipam.CodeNotFound), "%v", err)
		for id, want := range map[ipam.ID]bool{p.UID: false, other.UID: true} {
			_, ok, err := s.Store.StoredResponseGet(s.ctx, id, "key", born)
			require.NoError(s, err)
			require.Equal(s, want, ok)
		}
	},
	"NonemptyProjectIsInUse": func(s *suite) {
		w := s.world()
		s.changesNothing(func() {
			err := s.Store.InTx(s.ctx, "project_delete", storage.Locks{}, func(ctx context.Context, tx storage.Tx) error {
				return tx.Write(ctx, storage.Changes{ProjectDelete: &w.project})
			})
			require.True(s, ipam.IsCode(err, ipam.CodeInUse), "%v", err)
			err = s.Store.InTx(s.ctx, "space_delete", storage.Locks{}, func(ctx context.Context, tx storage.Tx) error {
				return tx.Write(ctx, storage.Changes{SpaceDelete: []ipam.Space{w.space}})
			})
			require.True(s, ipam.IsCode(err, ipam.CodeInUse), "%v", err)
		})
	},
}

var spaces = map[string]func(*suite){
	"AllFieldsRoundTrip": func(s *suite) {
		w := s.world()
		everyFieldHasAValue(s, []ipam.Space{w.space})
		reads(s, w.space)(s.Store.SpaceGet(s.ctx, w.key, "default"))
	},
	"UpdateReplacesMutableFields": func(s *suite) {
		w := s.world()
		now := w.space
		now.Metadata = updated(w.space.Metadata)
		now.Spec.Description = "another"
		s.write(storage.Changes{SpaceUpdate: &storage.SpaceUpdate{Was: w.space.Revision, Now: now}})
		reads(s, now)(s.Store.SpaceGet(s.ctx, w.key, "default"))
	},
	"ListOfAProjectIsByNameInPages": func(s *suite) {
		p, other := s.project("blue"), s.project("red")
		s.write(storage.Changes{ProjectInsert: &p})
		s.write(storage.Changes{ProjectInsert: &other})
		for _, name := range names {
			s.write(storage.Changes{SpaceInsert: []ipam.Space{s.space(p, name), s.space(other, name+"-of-red")}})
		}
		inPages(s, "", func(after string, limit int) ([]ipam.Space, error) {
			return s.Store.SpaceList(s.ctx, storage.Key(p), after, limit)
		}, func(sp ipam.Space) string { return sp.Name }, names)
	},
}

// updated returns metadata after an update in which every mutable field has changed.
func updated(m ipam.Metadata) ipam.Metadata {
	m.Labels, m.Annotations = map[string]string{"new": "1"}, nil
	m.Generation++
	m.Revision = ipam.NewID()
	m.UpdatedAt = m.UpdatedAt.Add(time.Hour)
	return m
}
