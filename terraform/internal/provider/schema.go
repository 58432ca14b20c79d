package provider

import (
	"context"
	"strings"

	datasource "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// schemaVersion is the version of every resource's schema.
const schemaVersion = 1

// Schema builds the schema from the kind's fields.
func (r *managed) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	attributes := map[string]schema.Attribute{}
	for _, f := range r.all() {
		attributes[f.name] = f.attribute()
	}
	resp.Schema = schema.Schema{Version: schemaVersion, MarkdownDescription: r.about, Attributes: attributes}
}

// IdentitySchema contains the keys that identify an object.
func (r *managed) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	attributes := map[string]identityschema.Attribute{}
	for _, f := range r.fields {
		if f.key {
			attributes[f.name] = identityschema.StringAttribute{
				RequiredForImport: f.required, OptionalForImport: !f.required, Description: f.about,
			}
		}
	}
	resp.IdentitySchema = identityschema.Schema{Attributes: attributes}
}

// says returns an attribute's description.
func (f field) says() string {
	s := f.about
	if len(f.oneOf) > 0 {
		s += " One of `" + strings.Join(f.oneOf, "`, `") + "`."
	}
	if d, ok := f.def.(string); ok {
		s += " `" + d + "` by default."
	}
	if f.form == flag && f.def != nil {
		s += " `false` by default."
	}
	if f.replace {
		s += " Changing it forces a new resource."
	}
	return s
}

// attribute returns the attribute for the schema of a resource.
func (f field) attribute() schema.Attribute {
	about, required := f.says(), f.required
	computed := f.computed || f.optionalComputed()
	optional := !required && f.settable() && f.name != "id"
	switch f.form {
	case number:
		return schema.NumberAttribute{MarkdownDescription: about, Required: required, Optional: optional, Computed: computed}
	case flag:
		return schema.BoolAttribute{MarkdownDescription: about, Required: required, Optional: optional, Computed: computed}
	case texts:
		return schema.ListAttribute{
			MarkdownDescription: about, Required: required, Optional: optional, Computed: computed, ElementType: types.StringType,
		}
	case textSet:
		return schema.SetAttribute{MarkdownDescription: about, Required: required, Optional: optional, Computed: computed, ElementType: types.StringType}
	case textMap:
		return schema.MapAttribute{MarkdownDescription: about, Required: required, Optional: optional, Computed: computed, ElementType: types.StringType}
	case object, objects:
		inner := map[string]schema.Attribute{}
		for _, i := range f.fields {
			inner[i.name] = i.attribute()
		}
		if f.form == objects {
			return schema.ListNestedAttribute{
				MarkdownDescription: about, Required: required, Optional: optional, NestedObject: schema.NestedAttributeObject{Attributes: inner},
			}
		}
		return schema.SingleNestedAttribute{MarkdownDescription: about, Required: required, Optional: optional, Attributes: inner}
	default:
		return schema.StringAttribute{MarkdownDescription: about, Required: required, Optional: optional, Computed: computed, Sensitive: f.secret}
	}
}

// shown returns the attribute for the schema of a data source. The keys and the filters are inputs. All other attributes are computed.
func (f field) shown(required, optional bool) datasource.Attribute {
	about, computed := f.about, !required
	switch f.form {
	case number:
		return datasource.NumberAttribute{MarkdownDescription: about, Required: required, Optional: optional, Computed: computed}
	case flag:
		return datasource.BoolAttribute{MarkdownDescription: about, Required: required, Optional: optional, Computed: computed}
	case texts:
		return datasource.ListAttribute{MarkdownDescription: about, Computed: true, ElementType: types.StringType}
	case textSet:
		return datasource.SetAttribute{MarkdownDescription: about, Computed: true, ElementType: types.StringType}
	case textMap:
		return datasource.MapAttribute{MarkdownDescription: about, Optional: optional, Computed: computed, ElementType: types.StringType}
	case object, objects:
		inner := map[string]datasource.Attribute{}
		for _, i := range f.fields {
			inner[i.name] = i.shown(false, false)
		}
		if f.form == objects {
			return datasource.ListNestedAttribute{MarkdownDescription: about, Computed: true, NestedObject: datasource.NestedAttributeObject{Attributes: inner}}
		}
		return datasource.SingleNestedAttribute{MarkdownDescription: about, Computed: true, Attributes: inner}
	default:
		return datasource.StringAttribute{MarkdownDescription: about, Required: required, Optional: optional, Computed: computed}
	}
}
