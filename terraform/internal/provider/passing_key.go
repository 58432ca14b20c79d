package provider

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
)

// passingKey is the ephemeral resource for an API key that exists for one Terraform run. Neither the plan nor the state contains the key.
type passingKey struct{ api *api }

// opened is the name of an entry in the resource's private data. The entry identifies the API key; Open writes it, and Close reads it.
const opened = "opened"

// openedKey is this entry: the key's path, and its ETag.
type openedKey struct{ Path, Tag string }

// passingFields returns the attributes.
func passingFields() []field {
	return []field{
		projectField,
		{name: "role", required: true, oneOf: roles, about: "The key's permissions."},
		{name: "valid_for", at: "-", check: isDuration, about: "Time after which the key expires, in case Terraform cannot delete it; `1h` by default."},
		descriptionField,
		{name: "name", from: "/metadata/name", computed: true, about: "The key's name."},
		{name: "key_id", from: "/status/keyId", computed: true, about: "The public part of the key."},
		{name: "token", from: "/token", computed: true, secret: true, about: "The key itself."},
	}
}

// Metadata sets the resource's name.
func (e *passingKey) Metadata(_ context.Context, req ephemeral.MetadataRequest, resp *ephemeral.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_api_key"
}

// Configure stores the provider's client.
func (e *passingKey) Configure(_ context.Context, req ephemeral.ConfigureRequest, _ *ephemeral.ConfigureResponse) {
	e.api, _ = req.ProviderData.(*api)
}

// Schema builds the schema from the fields.
func (e *passingKey) Schema(_ context.Context, _ ephemeral.SchemaRequest, resp *ephemeral.SchemaResponse) {
	attributes := map[string]schema.Attribute{}
	for _, f := range passingFields() {
		attributes[f.name] = f.attribute(field.inResource)
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "An API key for one run. Terraform creates it when it is needed, stores it in no plan and no state, and deletes it at the end.", Attributes: attributes,
	}
}

// ValidateConfig checks the configuration without a request to the server.
func (e *passingKey) ValidateConfig(_ context.Context, req ephemeral.ValidateConfigRequest, resp *ephemeral.ValidateConfigResponse) {
	validate(&resp.Diagnostics, passingFields(), read(req.Config.Raw), nil)
}

// Open creates the key.
func (e *passingKey) Open(ctx context.Context, req ephemeral.OpenRequest, resp *ephemeral.OpenResponse) {
	v := read(req.Config.Raw)
	if !e.api.inProject(v, &resp.Diagnostics) {
		return
	}
	valid := time.Hour
	if s := v.text("valid_for"); s != "" {
		valid, _ = time.ParseDuration(s) // ValidateConfig has checked it
	}
	v["expires_at"] = time.Now().Add(valid).UTC().Format(time.RFC3339)
	ctx, cancel := context.WithTimeout(ctx, defaultTimeout)
	defer cancel()
	d, at, err := e.create(ctx, v)
	if err != nil {
		diagnose(&resp.Diagnostics, apiKey(), passingFields(), err, "")
		return
	}
	v["key_id"], v["token"] = d.get("/status/keyId"), d["token"]
	private, err := json.Marshal(openedKey{at, revision(d)})
	if err != nil {
		resp.Diagnostics.AddError("The key cannot be stored", err.Error())
		return
	}
	resp.Diagnostics.Append(resp.Private.SetKey(ctx, opened, private)...)
	resp.Result.Raw = write(ctx, passingFields(), v)
}

// create creates a key with a new name and returns the key with its path. If the response with the token was lost, create deletes that key and makes
// another one, because the server returns a token only once.
func (e *passingKey) create(ctx context.Context, v values) (d document, at string, err error) {
	for k := apiKey(); ; {
		v["name"] = "terraform-" + strings.ToLower(uuid.NewString())
		at = k.at(v)
		d, err = e.api.call(ctx, http.MethodPost, collection(at), "", k.body(v, nil))
		if err != nil || d["token"] != nil {
			return d, at, err
		}
		if err := e.api.remove(ctx, at, revision(d)); err != nil {
			return nil, "", err
		}
	}
}

// Close deletes the key.
func (e *passingKey) Close(ctx context.Context, req ephemeral.CloseRequest, resp *ephemeral.CloseResponse) {
	text, diags := req.Private.GetKey(ctx, opened)
	resp.Diagnostics.Append(diags...)
	var made openedKey
	if err := json.Unmarshal(text, &made); err != nil {
		resp.Diagnostics.AddError("The key to delete is not known", err.Error())
		return
	}
	ctx, cancel := context.WithTimeout(ctx, defaultTimeout)
	defer cancel()
	if err := e.api.remove(ctx, made.Path, made.Tag); err != nil {
		diagnose(&resp.Diagnostics, apiKey(), passingFields(), err, "")
	}
}
