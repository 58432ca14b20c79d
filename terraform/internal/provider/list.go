package provider

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
)

// listData is the data source that lists a kind's objects.
type listData struct {
	kind
	api *api
}

// mostListed is the default for the largest number of objects in a list.
const mostListed = 10_000

var maxItemsField = field{
	name: "max_items", form: number, at: "-", check: between(1, 100_000),
	about: "Maximum number of objects in the list, " + strconv.Itoa(mostListed) + " by default. A list with more objects is refused, not cut off.",
}

// plural returns the name of the data source. The attribute that contains the objects has the same name.
func (k kind) plural() string {
	if strings.HasSuffix(k.name, "s") {
		return k.name + "es"
	}
	return k.name + "s"
}

// objects returns the plural as messages write it.
func (k kind) objects() string { return strings.ReplaceAll(k.plural(), "_", " ") }

// own returns the last part of an object's key. Only this part differs between the objects of one list.
func (k kind) own() string {
	keys := k.keys()
	return keys[len(keys)-1]
}

// listFields returns the attributes that a list configuration can have. These are the keys in the path, the API's filters, and max_items.
func (k kind) listFields() []field {
	var fields []field
	for _, f := range k.fields {
		if f.key && f.name != k.own() && f.from == "" {
			fields = append(fields, f)
		}
	}
	return append(append(fields, k.filters...), maxItemsField)
}

func (k kind) listAttributes() []field {
	return append(k.listFields(), field{name: k.plural(), form: objects, computed: true, fields: k.data(), about: "The objects, in the API's order."})
}

// listPath returns the path of the list with its filters in the query.
func (k kind) listPath(config values) string {
	at := k.at(config)
	query := url.Values{"limit": {"500"}}
	for _, f := range k.filters {
		switch v := config[f.name].(type) {
		case string:
			query.Set(camel(f.name), v)
		case bool:
			query.Set(camel(f.name), strconv.FormatBool(v))
		}
	}
	return at[:strings.LastIndex(at, "/")] + "?" + query.Encode()
}

// item returns the state of one listed object.
func (k kind) item(d document, config values) values {
	keys := values{}
	for _, f := range k.fields {
		if !f.key {
			continue
		}
		switch keys[f.name] = config[f.name]; {
		case f.from != "":
			keys[f.name] = d.text(f.from)
		case f.name == k.own():
			keys[f.name] = d.text("/metadata/name")
		}
	}
	return k.state(d, keys, k.data())
}

// Metadata sets the data source's name.
func (l *listData) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_" + l.plural()
}

// Configure stores the provider's client.
func (l *listData) Configure(_ context.Context, req datasource.ConfigureRequest, _ *datasource.ConfigureResponse) {
	l.api, _ = req.ProviderData.(*api)
}

// Schema builds the schema from the filters and the attributes of the objects.
func (l *listData) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	attributes := map[string]schema.Attribute{}
	for _, f := range l.listAttributes() {
		attributes[f.name] = f.shown(f.required, !f.required && (!f.computed || f.key))
	}
	resp.Schema = schema.Schema{MarkdownDescription: "Lists all " + l.objects() + " that match the filters. " + l.about, Attributes: attributes}
}

// ValidateConfig refuses filters that the API would refuse.
func (l *listData) ValidateConfig(_ context.Context, req datasource.ValidateConfigRequest, resp *datasource.ValidateConfigResponse) {
	config := read(req.Config.Raw)
	for _, f := range faults(kind{}, l.listFields(), config) {
		resp.Diagnostics.AddAttributeError(f.at, "Invalid "+f.name, f.detail)
	}
	if l.choice != nil {
		for _, f := range l.choice(config) {
			resp.Diagnostics.AddAttributeError(path.Root(f.name), "Invalid "+f.name, f.detail)
		}
	}
}

// Read reads all pages of the list.
func (l *listData) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	config := read(req.Config.Raw)
	if !l.api.inProject(config, &resp.Diagnostics) {
		return
	}
	asked := values{}
	for _, f := range l.listFields() {
		if asked[f.name] = config[f.name]; f.key && asked[f.name] == nil {
			asked[f.name] = f.def
		}
	}
	most := int64(mostListed)
	if n, given := config[maxItemsField.name].(int64); given {
		most = n
	}
	ctx, cancel := context.WithTimeout(ctx, defaultTimeout)
	defer cancel()
	items := []any{}
	for d, err := range l.api.list(ctx, l.listPath(asked)) {
		if err != nil {
			diagnose(&resp.Diagnostics, l.kind, l.listAttributes(), err, "")
			return
		}
		if int64(len(items)) == most {
			l.tooMany(&resp.Diagnostics, most)
			return
		}
		items = append(items, map[string]any(l.item(d, asked)))
	}
	asked[maxItemsField.name], asked[l.plural()] = config[maxItemsField.name], items
	resp.State.Raw = write(ctx, req.Config.Raw.Type(), l.listAttributes(), asked)
}

func (l *listData) tooMany(to *diag.Diagnostics, most int64) {
	remedy := "Raise max_items."
	if len(l.filters) > 0 {
		var names []string
		for _, f := range l.filters {
			names = append(names, f.name)
		}
		remedy = "Use a filter (" + strings.Join(names, ", ") + "), or raise max_items."
	}
	to.AddAttributeError(path.Root(maxItemsField.name), "The list is too long", fmt.Sprintf(
		"More than %d %s match, so the list would be incomplete. %s", most, l.objects(), remedy))
}
