package app

import (
	"fmt"
	"io"
)

// Greet tells a person, and scripts, where the service is. The first line is for scripts and does not change.
func Greet(w io.Writer, c Config, addr string) {
	_, _ = fmt.Fprintf(w, "listening on %s\n", addr)
	_, _ = fmt.Fprintf(w, "  API         http://%s/v1/projects\n", addr)
	_, _ = fmt.Fprintf(w, "  Swagger UI  http://%s/docs/\n", addr)
	_, _ = fmt.Fprintf(w, "  contract    http://%s/openapi.yaml\n", addr)
	for _, a := range c.Auth {
		if a == authDev {
			_, _ = fmt.Fprintln(w, "  WARNING     --auth=dev: everybody on this machine is platform admin; never use it for real data")
		}
	}
}
