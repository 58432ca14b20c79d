package rows

import (
	"slices"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

type projectRow struct {
	ipam.Project
	metadata
}

// Projects maps projects to rows.
var Projects = kindOf(slices.Concat(
	recordColumns(func(r *projectRow) *ipam.Metadata { return &r.Metadata }),
	labelColumns(func(r *projectRow) *ipam.Metadata { return &r.Metadata }, func(r *projectRow) *metadata { return &r.metadata }),
	table[projectRow]{
		plain("name", func(r *projectRow) *string { return &r.Name }),
		plain("display_name", func(r *projectRow) *string { return &r.Spec.DisplayName }),
		plain("description", func(r *projectRow) *string { return &r.Spec.Description }),
	},
), func(p ipam.Project, d *documents) projectRow {
	return projectRow{p, d.metadata(p.Metadata)}
}, func(r *projectRow) (ipam.Project, error) {
	normalize(&r.Metadata)
	return r.Project, nil
})

type spaceRow struct {
	ipam.Space
	metadata
}

// Spaces maps spaces to rows. A space that is read lacks the name of its project.
var Spaces = kindOf(slices.Concat(
	recordColumns(func(r *spaceRow) *ipam.Metadata { return &r.Metadata }),
	labelColumns(func(r *spaceRow) *ipam.Metadata { return &r.Metadata }, func(r *spaceRow) *metadata { return &r.metadata }),
	table[spaceRow]{
		id("project_id", func(r *spaceRow) *ipam.ID { return &r.ProjectID }),
		plain("name", func(r *spaceRow) *string { return &r.Name }),
		id("container_v4", func(r *spaceRow) *ipam.ID { return &r.ContainerV4 }),
		id("container_v6", func(r *spaceRow) *ipam.ID { return &r.ContainerV6 }),
		plain("region", func(r *spaceRow) *string { return &r.Region }),
		plain("description", func(r *spaceRow) *string { return &r.Spec.Description }),
	},
), func(s ipam.Space, d *documents) spaceRow {
	return spaceRow{s, d.metadata(s.Metadata)}
}, func(r *spaceRow) (ipam.Space, error) {
	normalize(&r.Metadata)
	return r.Space, nil
})

type classRow struct {
	ipam.Class
	metadata
	spec   string
	family int16
}

// Classes maps classes to rows.
var Classes = kindOf(slices.Concat(
	recordColumns(func(r *classRow) *ipam.Metadata { return &r.Metadata }),
	labelColumns(func(r *classRow) *ipam.Metadata { return &r.Metadata }, func(r *classRow) *metadata { return &r.metadata }),
	table[classRow]{
		id("project_id", func(r *classRow) *ipam.ID { return &r.ProjectID }),
		plain("project", func(r *classRow) *string { return &r.Project }),
		plain("name", func(r *classRow) *string { return &r.Name }),
		document("spec", func(r *classRow) *ipam.ClassSpec { return &r.Spec }, func(r *classRow) *string { return &r.spec }),
		written(plain("af", func(r *classRow) *int16 { return &r.family })),
		written(text("visibility", func(r *classRow) *ipam.Visibility { return &r.Spec.Visibility })),
		written(plain("is_default", func(r *classRow) *bool { return &r.Spec.IsDefault })),
	},
), func(c ipam.Class, d *documents) classRow {
	return classRow{c, d.metadata(c.Metadata), d.of(c.Spec), FamilyNumber(c.Spec.Family)}
}, func(r *classRow) (ipam.Class, error) {
	normalize(&r.Metadata)
	return r.Class, nil
})

// Members maps members to rows. A member that is read lacks its project.
var Members = kindOf(append(
	recordColumns(func(r *ipam.Member) *ipam.Metadata { return &r.Metadata }),
	plain("subject", func(r *ipam.Member) *string { return &r.Name }),
	plain("role", func(r *ipam.Member) *string { return &r.Spec.Role }),
), asItIs, asRead)

type keyRow struct {
	ipam.APIKey
	metadata
}

// Keys maps API keys to rows.
var Keys = kindOf(slices.Concat(
	recordColumns(func(r *keyRow) *ipam.Metadata { return &r.Metadata }),
	labelColumns(func(r *keyRow) *ipam.Metadata { return &r.Metadata }, func(r *keyRow) *metadata { return &r.metadata }),
	table[keyRow]{
		id("project_id", func(r *keyRow) *ipam.ID { return &r.ProjectID }),
		plain("project", func(r *keyRow) *string { return &r.Project }),
		plain("name", func(r *keyRow) *string { return &r.Name }),
		raw("hash", func(r *keyRow) *[]byte { return &r.Hash }),
		plain("role", func(r *keyRow) *string { return &r.Spec.Role }),
		plain("description", func(r *keyRow) *string { return &r.Spec.Description }),
		maybeMoment("expires_at", func(r *keyRow) *time.Time { return &r.Spec.ExpiresAt }),
		maybeMoment("last_used_at", func(r *keyRow) *time.Time { return &r.LastUsedAt }),
	},
), func(k ipam.APIKey, d *documents) keyRow {
	return keyRow{k, d.metadata(k.Metadata)}
}, func(r *keyRow) (ipam.APIKey, error) {
	normalize(&r.Metadata)
	return r.APIKey, nil
})

// Grants maps grants to rows. A grant that is read lacks its project.
var Grants = kindOf(append(
	recordColumns(func(r *ipam.Grant) *ipam.Metadata { return &r.Metadata }),
	text("kind", func(r *ipam.Grant) *ipam.GrantKind { return &r.Kind }),
	id("subject_id", func(r *ipam.Grant) *ipam.ID { return &r.SubjectID }),
	plain("consumer", func(r *ipam.Grant) *string { return &r.Name }),
), asItIs, asRead)
