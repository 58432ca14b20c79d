package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
)

// objectData is the data source that reads one object of a kind.
type objectData struct {
	kind
	api *api
}

// Metadata sets the data source's name.
func (l *objectData) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_" + l.name
}

// Configure stores the provider's client.
func (l *objectData) Configure(_ context.Context, req datasource.ConfigureRequest, _ *datasource.ConfigureResponse) {
	l.api, _ = req.ProviderData.(*api)
}

// Schema builds the schema from the kind's fields.
func (l *objectData) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	attributes := map[string]schema.Attribute{}
	for _, f := range l.data() {
		attributes[f.name] = f.shown(f.key && f.required, f.key && !f.required)
	}
	resp.Schema = schema.Schema{MarkdownDescription: "Reads one existing object. " + l.about, Attributes: attributes}
}

// ValidateConfig checks the keys.
func (l *objectData) ValidateConfig(_ context.Context, req datasource.ValidateConfigRequest, resp *datasource.ValidateConfigResponse) {
	config := read(req.Config.Raw)
	for _, f := range l.fields {
		if f.key {
			for _, wrong := range f.faults(path.Root(f.name), config[f.name]) {
				resp.Diagnostics.AddAttributeError(wrong.at, "Invalid "+wrong.name, wrong.detail)
			}
		}
	}
}

// Read reads the object.
func (l *objectData) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	config := read(req.Config.Raw)
	if !l.api.inProject(config, &resp.Diagnostics) {
		return
	}
	for _, f := range l.fields {
		if f.key && config[f.name] == nil {
			config[f.name] = f.def
		}
	}
	ctx, cancel := context.WithTimeout(ctx, defaultTimeout)
	defer cancel()
	d, err := l.fetch(ctx, l.api, config)
	if err != nil {
		diagnose(&resp.Diagnostics, l.kind, l.data(), err, "")
		return
	}
	resp.State.Raw = write(ctx, req.Config.Raw.Type(), l.data(), l.state(d, config, l.data()))
}
