package app

import (
	"fmt"
	"io"
)

// Greet prints the service's addresses, for people and scripts. The first line is for scripts, so its form never changes. If the start created
// an API key, Greet prints its token; nothing else shows it.
func (a *App) Greet(w io.Writer) {
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
	scheme := "http"
	if a.config.tls() {
		scheme = "https"
	}
	say("listening on %s", a.Addr())
	if a.console {
		say("  console     %s://%s/console/", scheme, a.Addr())
	} else {
		say("  console     none in this build: `make console` needs Node")
	}
	say("  API         %s://%s/v1/projects", scheme, a.Addr())
	say("  Swagger UI  %s://%s/docs/", scheme, a.Addr())
	say("  contract    %s://%s/openapi.yaml", scheme, a.Addr())
	if a.admin != nil {
		scheme := "http"
		if a.config.adminTLS() {
			scheme = "https"
		}
		say("  admin       %s://%s/  (/healthz, /readyz, /metrics, /debug/pprof/)", scheme, a.AdminAddr())
	}
	if a.config.by(authDev) {
		say("  WARNING     --auth=dev: every user of this machine is platform admin; never use it for real data")
	}
	switch {
	case a.bootstrap != "" && a.config.AdminKeyFile != "":
		say("  admin key   in %s", a.config.AdminKeyFile)
		say("              This key may do everything and does not expire: use it to make members and keys, then revoke it.")
	case a.bootstrap != "":
		say("  admin key   %s", a.bootstrap)
		say("              This key may do everything. The server shows it only once: keep it, use it to make members and keys, then revoke it.")
		say("              If you lose it, `ipamctl bootstrap --data-dir=%s` makes another.", a.config.DataDir)
	}
	if a.noAdmin {
		say("  no admin    The platform has no admin yet, neither an API key nor a member. `ipamctl bootstrap --database-url=...` makes the first key.")
	}
}

// BootstrapToken returns the token for the API key that this start has created, or "".
func (a *App) BootstrapToken() string { return a.bootstrap }
