// Package provider is the Terraform provider for Carve. A table describes each resource. It lists the attributes and their positions in the
// API's documents. All kinds share the code that uses these tables.
package provider

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/carve-ipam/carve/client"
)

// Address is the provider's source address in configurations.
const Address = "registry.terraform.io/carve-ipam/carve"

// Provider implements the provider.
type Provider struct {
	version  string
	registry *registry
}

var _ provider.ProviderWithEphemeralResources = &Provider{}

// New returns a constructor for the provider. version is the provider's version.
func New(version string) func() provider.Provider {
	return func() provider.Provider { return &Provider{version: version, registry: newRegistry()} }
}

// kinds returns all resource kinds.
func kinds() []kind {
	return []kind{project(), space(), pool(), class(), claim(), grant(), quota(), member(), apiKey(), consumer(), consumerAttachment(), alertRule(), webhook()}
}

// Metadata sets the provider's name and version.
func (p *Provider) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName, resp.Version = "carve", p.version
}

// Schema describes the provider's settings.
func (p *Provider) Schema(_ context.Context, _ provider.SchemaRequest, resp *provider.SchemaResponse) {
	optional := func(about string) schema.Attribute {
		return schema.StringAttribute{Optional: true, MarkdownDescription: about}
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "Carve hands out IP address space. The provider reads settings that are missing here from the environment, and then from the current context of `ipamctl`.",
		Attributes: map[string]schema.Attribute{
			"server":  optional("Base URL of the server, such as `https://carve.example.com`. Environment: `CARVE_SERVER`."),
			"project": optional("Default project for resources that name none. Environment: `CARVE_PROJECT`."),
			"api_key": schema.StringAttribute{
				Optional: true, Sensitive: true, MarkdownDescription: "An API key, or a token from an OpenID Connect issuer. Prefer the environment variable `CARVE_API_KEY`.",
			},
			"api_key_file": optional("File with the API key. Environment: `CARVE_API_KEY_FILE`."),
			"ca_file":      optional("File with CA certificates to trust (default: the system's). Environment: `CARVE_CA_FILE`."),
			"context":      optional("The context of `ipamctl` to use. Environment: `CARVE_CONTEXT`."),
			"owner": optional("A name for this configuration and its state, such as `network/prod`. It must be unique. The provider writes it into each object that it creates, " +
				"so that an apply finds the objects of an earlier apply that was cut off. Grants, quotas, members, consumers and attachments cannot contain it: " +
				"a create takes over an existing one only if the same credential created it with equal values, and warns. It never changes an existing one. " +
				"Environment: `CARVE_OWNER`. All `provider` blocks without an `owner` read it: with several blocks, set `owner` in each."),
			"insecure_http": schema.BoolAttribute{
				Optional: true, MarkdownDescription: "Allow plain http to another machine. The network between them can read the credential.",
			},
		},
	}
}

// Configure makes the client.
func (p *Provider) Configure(_ context.Context, req provider.ConfigureRequest, resp *provider.ConfigureResponse) {
	config := read(req.Config.Raw)
	for name, v := range config {
		if name != "project" && !known(v) {
			return // the value becomes known only during apply
		}
	}
	a, err := p.connect(config)
	if err != nil {
		resp.Diagnostics.AddError("Invalid provider configuration", err.Error())
		return
	}
	_, a.open = config["project"].(unknown)
	resp.ResourceData, resp.DataSourceData, resp.EphemeralResourceData = a, a, a
}

// These are the limits for one server: the concurrent requests, the longest pause that a busy server can ask for, the time for one send, and the
// attempts in one call.
const (
	mostAtOnce   = 16
	longestPause = time.Minute
	longestSend  = time.Minute
	mostAttempts = 9
)

func (p *Provider) connect(config values) (*api, error) {
	s, err := settle(config, os.Getenv)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, MaxConnsPerHost: mostAtOnce, MaxIdleConnsPerHost: mostAtOnce, IdleConnTimeout: time.Minute,
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}, TLSHandshakeTimeout: 10 * time.Second, ForceAttemptHTTP2: true,
	}
	if s.caFile != "" {
		text, err := os.ReadFile(s.caFile)
		if err != nil {
			return nil, err
		}
		transport.TLSClientConfig.RootCAs = x509.NewCertPool()
		if !transport.TLSClientConfig.RootCAs.AppendCertsFromPEM(text) {
			return nil, errors.New(s.caFile + " has no certificates")
		}
	}
	opts := append(patience(transport), client.WithUserAgent("terraform-provider-carve/"+p.version))
	if s.key != "" {
		opts = append(opts, client.WithAPIKey(s.key))
	}
	if insecure, _ := config["insecure_http"].(bool); insecure {
		opts = append(opts, client.WithInsecureHTTP())
	}
	c, err := client.New(s.server, opts...)
	if errors.Is(err, client.ErrInsecureHTTP) {
		return nil, fmt.Errorf("the server %s is plain http to another machine, so the network between them could read the credential: "+
			"use https, or set insecure_http = true in the provider if you trust that network", s.server)
	}
	if err != nil {
		return nil, err
	}
	return &api{carve: c, project: s.project, owner: s.owner}, nil
}

// patience returns the options for a client that retries. An attempt has no timeout, because [retryTransport] may pause within an attempt. Instead,
// retryTransport limits each send, and a resource's `timeouts` limit the whole call.
func patience(next http.RoundTripper) []client.Option {
	retry := client.DefaultRetry()
	retry.Attempts, retry.LongestPause, retry.AttemptTimeout = mostAttempts, longestPause, 0
	return []client.Option{client.WithHTTP(&http.Client{Transport: &retryTransport{next: next}}), client.WithRetry(retry), client.WithTimeout(0)}
}

// Resources returns one resource for each kind.
func (p *Provider) Resources(context.Context) []func() resource.Resource {
	var makers []func() resource.Resource
	for _, k := range kinds() {
		makers = append(makers, func() resource.Resource { return &managed{kind: k, registry: p.registry} })
	}
	return makers
}

// DataSources returns two data sources for each kind, one for a single object and one for a list. It adds the explanation.
func (p *Provider) DataSources(context.Context) []func() datasource.DataSource {
	makers := []func() datasource.DataSource{func() datasource.DataSource { return explanation() }}
	for _, k := range append(kinds(), allocation()) {
		makers = append(makers, func() datasource.DataSource { return objectData(k) }, func() datasource.DataSource { return listData(k) })
	}
	return makers
}

// EphemeralResources returns the API key that exists for one Terraform run.
func (p *Provider) EphemeralResources(context.Context) []func() ephemeral.EphemeralResource {
	return []func() ephemeral.EphemeralResource{func() ephemeral.EphemeralResource { return &passingKey{} }}
}
