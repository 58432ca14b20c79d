// Command witness checks Carve with independent programs: Prometheus and Jaeger.
package main

import (
	"github.com/carve-ipam/carve/lab/jaeger"
	"github.com/carve-ipam/carve/lab/observe"
	"github.com/carve-ipam/carve/lab/tool"
)

func main() {
	tool.Main("witness",
		tool.Command{Name: "observe", About: "are the alert rules and dashboards true of what servers measure? (Prometheus)", Run: observe.Run},
		tool.Command{Name: "jaeger", About: "are the traces complete? (Jaeger)", Run: jaeger.Run},
	)
}
