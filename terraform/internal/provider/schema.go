package provider

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// Schema builds the schema from the kind's fields. [managed.UpgradeState] has an entry for each earlier version.
func (r *managed) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	attributes := map[string]schema.Attribute{}
	for _, f := range r.all() {
		attributes[f.name] = f.attribute(field.inResource)
	}
	resp.Schema = schema.Schema{Version: 1, MarkdownDescription: r.about, Attributes: attributes}
}

// IdentitySchema contains the keys that identify an object.
func (r *managed) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	keys := map[string]identityschema.Attribute{}
	for _, f := range r.keys() {
		keys[f.name] = identityschema.StringAttribute{RequiredForImport: f.required, OptionalForImport: !f.required, Description: f.about}
	}
	resp.IdentitySchema = identityschema.Schema{Attributes: keys}
}

// says returns an attribute's description.
func (f field) says() string {
	s := f.about
	if len(f.oneOf) > 0 {
		s += " One of `" + strings.Join(f.oneOf, "`, `") + "`."
	}
	if f.def != nil {
		s += fmt.Sprintf(" `%v` by default.", f.def)
	}
	if f.forces() {
		s += " Changing it forces a new resource."
	}
	return s
}

// access describes an attribute in a schema: its description, and whether the configuration or the server sets it.
type access struct {
	about                        string
	required, optional, computed bool
}

// inResource returns the access to an attribute in a resource.
func (f field) inResource() access {
	return access{about: f.says(), required: f.required, optional: !f.required && f.settable() && f.name != "id", computed: f.optionalComputed()}
}

// asInput returns the access to an attribute that a data source's configuration sets.
func (f field) asInput() access {
	return access{about: f.about, required: f.required, optional: !f.required, computed: !f.required}
}

// asOutput returns the access to an attribute that only the data source sets.
func (f field) asOutput() access { return access{about: f.about, computed: true} }

// attribute returns the attribute for a schema. Data sources and ephemeral resources have other schema types, which accept the same attributes.
func (f field) attribute(as func(field) access) schema.Attribute {
	a := as(f)
	switch f.form {
	case number:
		return schema.NumberAttribute{MarkdownDescription: a.about, Required: a.required, Optional: a.optional, Computed: a.computed}
	case flag:
		return schema.BoolAttribute{MarkdownDescription: a.about, Required: a.required, Optional: a.optional, Computed: a.computed}
	case texts:
		return schema.ListAttribute{
			MarkdownDescription: a.about, Required: a.required, Optional: a.optional, Computed: a.computed, ElementType: types.StringType,
		}
	case textSet:
		return schema.SetAttribute{MarkdownDescription: a.about, Required: a.required, Optional: a.optional, Computed: a.computed, ElementType: types.StringType}
	case textMap:
		return schema.MapAttribute{MarkdownDescription: a.about, Required: a.required, Optional: a.optional, Computed: a.computed, ElementType: types.StringType}
	case object, objects:
		inner := map[string]schema.Attribute{}
		for _, i := range f.fields {
			inner[i.name] = i.attribute(as)
		}
		if f.form == objects {
			return schema.ListNestedAttribute{
				MarkdownDescription: a.about, Required: a.required, Optional: a.optional, Computed: a.computed,
				NestedObject: schema.NestedAttributeObject{Attributes: inner},
			}
		}
		return schema.SingleNestedAttribute{MarkdownDescription: a.about, Required: a.required, Optional: a.optional, Computed: a.computed, Attributes: inner}
	default:
		return schema.StringAttribute{MarkdownDescription: a.about, Required: a.required, Optional: a.optional, Computed: a.computed, Sensitive: f.secret}
	}
}
