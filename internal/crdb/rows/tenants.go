package rows

import (
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

type projectRow = labelled[ipam.Project]

// Projects maps projects to rows.
var Projects = labelledKind(func(v *ipam.Project) *ipam.Metadata { return &v.Metadata }, table[projectRow]{
	plain("name", func(r *projectRow) *string { return &r.object.Name }),
	plain("display_name", func(r *projectRow) *string { return &r.object.Spec.DisplayName }),
	plain("description", func(r *projectRow) *string { return &r.object.Spec.Description }),
}, nil)

type spaceRow = labelled[ipam.Space]

// Spaces maps spaces to rows. A space that is read lacks its project's name.
var Spaces = labelledKind(func(v *ipam.Space) *ipam.Metadata { return &v.Metadata }, table[spaceRow]{
	id("project_id", func(r *spaceRow) *ipam.ID { return &r.object.ProjectID }),
	plain("name", func(r *spaceRow) *string { return &r.object.Name }),
	id("container_v4", func(r *spaceRow) *ipam.ID { return &r.object.ContainerV4 }),
	id("container_v6", func(r *spaceRow) *ipam.ID { return &r.object.ContainerV6 }),
	plain("region", func(r *spaceRow) *string { return &r.object.Region }),
	plain("description", func(r *spaceRow) *string { return &r.object.Spec.Description }),
}, nil)

type classRow = labelled[ipam.Class]

// Classes maps classes to rows.
var Classes = labelledKind(func(v *ipam.Class) *ipam.Metadata { return &v.Metadata }, table[classRow]{
	id("project_id", func(r *classRow) *ipam.ID { return &r.object.ProjectID }),
	plain("project", func(r *classRow) *string { return &r.object.Project }),
	plain("name", func(r *classRow) *string { return &r.object.Name }),
	document("spec", func(r *classRow) *ipam.ClassSpec { return &r.object.Spec }, func(r *classRow) *string { return &r.spec }),
	writeOnly(plain("af", func(r *classRow) *int16 { return &r.family })),
	writeOnly(text("visibility", func(r *classRow) *ipam.Visibility { return &r.object.Spec.Visibility })),
	writeOnly(plain("is_default", func(r *classRow) *bool { return &r.object.Spec.IsDefault })),
}, func(r *classRow, d *documents) {
	r.spec, r.family = d.encode(r.object.Spec), FamilyNumber(r.object.Spec.Family)
})

// Members maps members to rows. The reader of a row must set the member's project.
var Members = kindOf(append(
	recordColumns(func(r *ipam.Member) *ipam.Metadata { return &r.Metadata }),
	plain("subject", func(r *ipam.Member) *string { return &r.Name }),
	plain("role", func(r *ipam.Member) *string { return &r.Spec.Role }),
), asItIs, asRead)

type keyRow = labelled[ipam.APIKey]

// Keys maps API keys to rows.
var Keys = labelledKind(func(v *ipam.APIKey) *ipam.Metadata { return &v.Metadata }, table[keyRow]{
	id("project_id", func(r *keyRow) *ipam.ID { return &r.object.ProjectID }),
	plain("project", func(r *keyRow) *string { return &r.object.Project }),
	plain("name", func(r *keyRow) *string { return &r.object.Name }),
	raw("hash", func(r *keyRow) *[]byte { return &r.object.Hash }),
	plain("role", func(r *keyRow) *string { return &r.object.Spec.Role }),
	plain("description", func(r *keyRow) *string { return &r.object.Spec.Description }),
	nullableMoment("expires_at", func(r *keyRow) *time.Time { return &r.object.Spec.ExpiresAt }),
	nullableMoment("last_used_at", func(r *keyRow) *time.Time { return &r.object.LastUsedAt }),
}, nil)

// Grants maps grants to rows. A grant that is read lacks its project.
var Grants = kindOf(append(
	recordColumns(func(r *ipam.Grant) *ipam.Metadata { return &r.Metadata }),
	text("kind", func(r *ipam.Grant) *ipam.GrantKind { return &r.Kind }),
	id("subject_id", func(r *ipam.Grant) *ipam.ID { return &r.SubjectID }),
	plain("consumer", func(r *ipam.Grant) *string { return &r.Name }),
), asItIs, asRead)
