package provider

import (
	"context"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
)

// dataSource is a data source. It reads one object, lists objects or explains a claim.
type dataSource struct {
	kind
	api             *api
	typeName        string // without the provider's name
	summary         string // the description
	inputs, outputs []field
	rule            func(v values) []fault // returns a fault for each input that contradicts another one
	// read returns the values for all attributes. The configuration has all keys.
	read func(ctx context.Context, a *api, config values) (values, error)
}

// objectData returns the data source that reads one object.
func objectData(k kind) *dataSource {
	s := &dataSource{kind: k, typeName: k.name, summary: "Reads one existing object. " + k.definition()}
	for _, f := range k.data() {
		if f.key {
			s.inputs = append(s.inputs, f)
		} else {
			s.outputs = append(s.outputs, f)
		}
	}
	s.read = func(ctx context.Context, a *api, config values) (values, error) {
		d, err := k.fetch(ctx, a, config)
		return k.state(d, config, k.data()), err
	}
	return s
}

// attributes returns all attributes.
func (s *dataSource) attributes() []field { return append(slices.Clone(s.inputs), s.outputs...) }

// Metadata sets the data source's name.
func (s *dataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_" + s.typeName
}

// Configure stores the provider's client.
func (s *dataSource) Configure(_ context.Context, req datasource.ConfigureRequest, _ *datasource.ConfigureResponse) {
	s.api, _ = req.ProviderData.(*api)
}

// Schema builds the schema from the inputs and outputs.
func (s *dataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	attributes := map[string]schema.Attribute{}
	for _, f := range s.inputs {
		attributes[f.name] = f.attribute(field.asInput)
	}
	for _, f := range s.outputs {
		attributes[f.name] = f.attribute(field.asOutput)
	}
	resp.Schema = schema.Schema{MarkdownDescription: s.summary, Attributes: attributes}
}

// ValidateConfig checks the inputs without a request to the server.
func (s *dataSource) ValidateConfig(_ context.Context, req datasource.ValidateConfigRequest, resp *datasource.ValidateConfigResponse) {
	validate(&resp.Diagnostics, s.inputs, read(req.Config.Raw), s.rule)
}

// Read adds the default keys to the configuration and reads the data.
func (s *dataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	config := read(req.Config.Raw)
	if !s.api.inProject(config, &resp.Diagnostics) {
		return
	}
	for _, f := range s.inputs {
		if f.key && config[f.name] == nil {
			config[f.name] = f.def
		}
	}
	ctx, cancel := context.WithTimeout(ctx, defaultTimeout)
	defer cancel()
	v, err := s.read(ctx, s.api, config)
	if err != nil {
		diagnose(&resp.Diagnostics, s.kind, s.attributes(), err, "")
		return
	}
	resp.State.Raw = write(ctx, s.attributes(), v)
}
