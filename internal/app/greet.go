package app

import (
	"fmt"
	"io"
)

// Greet prints the service's addresses, for people and scripts. The first line is for scripts, so its form never changes. If Start created an API
// key, Greet prints its token; nothing else shows the token.
func (a *App) Greet(w io.Writer) {
	printLine := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
	scheme := "http"
	if a.config.tls() {
		scheme = "https"
	}
	printLine("listening on %s", a.Addr())
	if a.console {
		printLine("  console     %s://%s/console/", scheme, a.Addr())
	} else {
		printLine("  console     none in this build: `make console` needs Node")
	}
	printLine("  API         %s://%s/v1/projects", scheme, a.Addr())
	printLine("  Swagger UI  %s://%s/docs/", scheme, a.Addr())
	printLine("  contract    %s://%s/openapi.yaml", scheme, a.Addr())
	if a.admin != nil {
		scheme := "http"
		if a.config.adminTLS() {
			scheme = "https"
		}
		printLine("  admin       %s://%s/  (/healthz, /readyz, /metrics, /debug/pprof/)", scheme, a.AdminAddr())
	}
	if a.config.hasAuth(authDev) {
		printLine("  WARNING     --auth=dev: every user of this machine is platform admin; never use it for real data")
	}
	switch {
	case a.bootstrap != "" && a.config.AdminKeyFile != "":
		printLine("  admin key   in %s", a.config.AdminKeyFile)
		printLine("              This key may do everything and does not expire: use it to make members and keys, then revoke it.")
	case a.bootstrap != "":
		printLine("  admin key   %s", a.bootstrap)
		printLine("              This key may do everything. The server shows it only once: keep it, use it to make members and keys, then revoke it.")
		printLine("              If you lose it, `ipamctl bootstrap --data-dir=%s` makes another.", a.config.DataDir)
	}
	if a.noAdmin {
		printLine("  no admin    The platform has no admin yet, neither an API key nor a member. `ipamctl bootstrap --database-url=...` makes the first key.")
	}
}

// BootstrapToken returns the token for the API key that Start has created, or "".
func (a *App) BootstrapToken() string { return a.bootstrap }
