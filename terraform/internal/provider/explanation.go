package provider

import (
	"context"
	"net/http"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
)

// explanation is the data source that explains the block that the server would assign to a claim.
type explanation struct{ api *api }

// explained describes the attributes of the data source in the form of a kind. They are the attributes of a claim and the server's explanation.
func explained() kind {
	from := map[string]string{
		"class": "/className", "pool": "/poolRef", "cidr": "/allocatedCIDR", "prefix_length": "/prefixLength", "reclaim_policy": "/reclaimPolicy",
	}
	fields := []field{projectField}
	for _, f := range claimSpec() {
		if f.form == object {
			continue
		}
		f.from, f.derive = from[f.name], nil
		fields = append(fields, f)
	}
	sentence := []field{{name: "detail", about: "Explanation in one sentence."}}
	return kind{
		name:    "claim_explanation",
		about:   "Explains which block a claim would get now, and why. It allocates nothing. Its attributes are those of a claim; the server fills in the values that the claim would have.",
		invalid: func(v values) []fault { return append(claimInvalid(v), claimIncoherent(v)...) },
		fields: append(fields,
			field{name: "outcome", from: "/outcome", computed: true, about: "`Bound` or `Refused`."},
			field{name: "code", from: "/code", computed: true, about: "Refusal code; null if the claim would be bound."},
			field{name: "detail", from: "/detail", computed: true, about: "The outcome in one sentence."},
			field{name: "steps", form: objects, from: "/steps", computed: true, about: "Steps in the decision, in order.", fields: append([]field{
				{name: "kind", about: "Kind of the object that the step examined, such as a pool."}, {name: "name", about: "The object, as `project/name`."},
				{name: "outcome", about: "Result of the step."}, {name: "code", about: "Reason why the object was not used; null if there is none."},
			}, sentence...)},
			field{name: "remedies", form: objects, from: "/remedies", computed: true, about: "Changes that would make the claim succeed.", fields: append([]field{
				{name: "pointer", about: "JSON pointer to the value to change in the request."}, {name: "value", about: "The value to set there."},
			}, sentence...)},
		),
	}
}

// Metadata sets the data source's name.
func (e *explanation) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_" + explained().name
}

// Configure stores the provider's client.
func (e *explanation) Configure(_ context.Context, req datasource.ConfigureRequest, _ *datasource.ConfigureResponse) {
	e.api, _ = req.ProviderData.(*api)
}

// Schema builds the schema from the fields.
func (e *explanation) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	attributes := map[string]schema.Attribute{}
	for _, f := range explained().fields {
		attributes[f.name] = f.shown(false, f.settable())
	}
	resp.Schema = schema.Schema{MarkdownDescription: explained().about, Attributes: attributes}
}

// ValidateConfig checks the configuration without a request to the server.
func (e *explanation) ValidateConfig(_ context.Context, req datasource.ValidateConfigRequest, resp *datasource.ValidateConfigResponse) {
	for _, f := range faults(explained(), explained().fields, read(req.Config.Raw)) {
		resp.Diagnostics.AddAttributeError(f.at, "Invalid "+f.name, f.detail)
	}
}

// Read requests the explanation from the server.
func (e *explanation) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	k, config := explained(), read(req.Config.Raw)
	if !e.api.inProject(config, &resp.Diagnostics) {
		return
	}
	body := document{"spec": map[string]any{}}
	for _, f := range k.fields {
		if v := config[f.name]; v != nil && f.settable() && !f.local() && (f.redundant == nil || !f.redundant(config)) {
			body.set(f.pointer(), f.toAPI(v))
		}
	}
	ctx, cancel := context.WithTimeout(ctx, defaultTimeout)
	defer cancel()
	d, err := e.api.call(ctx, http.MethodPost, fill("/v1/projects/{project}/claim-explanations", config), "", body)
	if err != nil {
		diagnose(&resp.Diagnostics, k, k.fields, err, "")
		return
	}
	v := values{}
	for _, f := range k.fields {
		if v[f.name] = config[f.name]; v[f.name] == nil && f.from != "" {
			v[f.name] = f.fromAPI(d.get(f.from))
		}
	}
	resp.State.Raw = write(ctx, req.Config.Raw.Type(), k.fields, v)
}
