package provider

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/carve-ipam/carve/client"
)

// words returns the kind's name for messages.
func (k kind) words() string { return strings.ReplaceAll(k.name, "_", " ") }

// noun returns the kind's name as ipamctl commands spell it.
func (k kind) noun() string { return strings.ReplaceAll(strings.TrimPrefix(k.name, "api_"), "_", "-") }

// refused converts an error to diagnostics and attaches each one to its attribute. For a refused claim it adds the changes that the server proposes.
func (r *managed) refused(ctx context.Context, to *diag.Diagnostics, config values, err error) {
	remedies := ""
	if p, ok := client.AsProblem(err); ok && r.explained && config != nil && p.Status < http.StatusInternalServerError && p.Status != http.StatusForbidden {
		remedies = r.api.remedies(ctx, config, r.body(config, nil))
	}
	diagnose(to, r.kind, r.all(), err, remedies)
}

func diagnose(to *diag.Diagnostics, k kind, fields []field, err error, remedies string) {
	switch own, ok := err.(*ownError); { //nolint:errorlint // nothing wraps it
	case ok && own.attribute != "":
		to.AddAttributeError(path.Root(own.attribute), own.title, own.text)
		return
	case ok:
		to.AddError(own.title, own.text)
		return
	}
	p, ok := client.AsProblem(err)
	if !ok {
		to.AddError("No response from Carve for the "+k.words(), err.Error()+advice(err))
		return
	}
	tail := "\n\nCode " + string(p.Code)
	if p.TraceID != "" {
		tail += ", trace " + p.TraceID
	}
	if client.MayBeDone(err) {
		tail += ". The server may have applied the change"
	}
	told := false
	for _, e := range p.Errors {
		if at, found := attribute(fields, e.Pointer); found {
			to.AddAttributeError(at, p.Title, p.Detail+"\n\nHere: "+e.Detail+remedies+tail)
			told = true
		}
	}
	if !told {
		detail := []string{p.Detail}
		for _, e := range p.Errors {
			detail = append(detail, e.Pointer+" "+e.Detail)
		}
		to.AddError(p.Title, strings.Join(detail, "\n\n")+remedies+tail)
	}
}

// advice names a setting that may help when the provider cannot reach the server.
func advice(err error) string {
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "\n\nIf your own authority issued the server's certificate, set ca_file (CARVE_CA_FILE) to the file with the authority's certificate."
	}
	if failed, ok := errors.AsType[*net.OpError](err); ok && failed.Op == "dial" {
		return "\n\nIf the server has another address, set server (CARVE_SERVER)."
	}
	return ""
}

// remedies returns the changes that the server proposes so that a refused claim can succeed.
func (a *api) remedies(ctx context.Context, config values, body document) string {
	delete(body, "metadata")
	d, err := a.explain(ctx, config, body)
	if err != nil {
		return ""
	}
	list, _ := d["remedies"].([]any)
	text := ""
	for _, r := range list {
		remedy, _ := r.(map[string]any)
		text += fmt.Sprintf("\n  * %v", remedy["detail"])
	}
	if text != "" {
		text = "\n\nRemedies:" + text
	}
	return text
}

// explain asks the server to explain a claim.
func (a *api) explain(ctx context.Context, config values, body document) (document, error) {
	return a.call(ctx, http.MethodPost, fill("/v1/projects/{project}/claim-explanations", config), "", body)
}

// attribute finds the attribute that a JSON pointer refers to.
func attribute(fields []field, pointer string) (path.Path, bool) {
	for _, f := range fields {
		if f.local() && pointer == "/metadata/name" && f.name == "name" {
			return path.Root("name"), true
		}
		if f.local() || !f.settable() {
			continue
		}
		if rest, inside := strings.CutPrefix(pointer, f.pointer()); inside && (rest == "" || rest[0] == '/') {
			return f.step(path.Root(f.name), rest), true
		}
	}
	return path.Empty(), false
}

// step follows a JSON pointer into an attribute. It stops at the deepest attribute that the schema has.
func (f field) step(at path.Path, rest string) path.Path {
	if rest == "" {
		return at
	}
	head, tail, _ := strings.Cut(rest[1:], "/")
	if tail != "" {
		tail = "/" + tail
	}
	switch f.form { //nolint:exhaustive // the others have no inside
	case objects, texts:
		if i, err := strconv.Atoi(head); err == nil {
			return f.element().step(at.AtListIndex(i), tail)
		}
	case object:
		for _, inner := range f.fields {
			if inner.inside() == "/"+head {
				return inner.step(at.AtName(inner.name), tail)
			}
		}
	case textMap:
		return at.AtMapKey(strings.NewReplacer("~1", "/", "~0", "~").Replace(head))
	}
	return at
}
