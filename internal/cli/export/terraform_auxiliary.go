package export

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/converge"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// variables declares a variable for each URL that may contain a token. The user sets its value.
func (h *hcl) variables(webhooks map[string]client.Webhook) {
	for _, w := range show.Sorted(webhooks) {
		if mayHaveToken(w.Spec.URL) {
			_, _ = fmt.Fprintf(h, "variable %q {\n  description = %s\n  type        = string\n}\n\n", // into memory
				urlVariable(w), text("URL of the webhook "+w.Metadata.Name+". The export omits it because its path or query may contain a token."))
		}
	}
}

func urlVariable(w client.Webhook) string {
	return "webhook_" + other.ReplaceAllString(w.Metadata.Name, "_") + "_url"
}

// mayHaveToken reports whether a URL has a path or a query. The server hides them from callers who cannot change the webhook, because they may
// contain a token.
func mayHaveToken(text string) bool {
	u, err := url.Parse(text)
	return err != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != ""
}

// writeAuxiliary writes the alert rules and the webhooks. The server never shows a webhook's secret again, so an imported webhook has none.
func (h *hcl) writeAuxiliary(v *inventory) error {
	for _, r := range show.Sorted(v.alertRules) {
		spec, err := converge.Rest(r.Spec)
		if err != nil {
			return err
		}
		h.named("carve_alert_rule", r.Metadata.Name, append(attributes(spec), tags(r.Metadata.Labels, r.Metadata.Annotations)...)...)
	}
	for _, w := range show.Sorted(v.webhooks) {
		spec, err := converge.Rest(w.Spec, "url")
		if err != nil {
			return err
		}
		target := text(w.Spec.URL)
		if mayHaveToken(w.Spec.URL) {
			target = "var." + urlVariable(w)
		}
		list := append([]attribute{{"url", target}}, attributes(spec)...)
		h.named("carve_webhook", w.Metadata.Name, append(list, tags(w.Metadata.Labels, w.Metadata.Annotations)...)...)
	}
	return nil
}
