// Command faults tests whether Carve keeps its promises while servers, networks, clocks and databases fail.
package main

import (
	"github.com/carve-ipam/carve/lab/chaos"
	"github.com/carve-ipam/carve/lab/cluster"
	"github.com/carve-ipam/carve/lab/rolling"
	"github.com/carve-ipam/carve/lab/skew"
	"github.com/carve-ipam/carve/lab/tool"
	"github.com/carve-ipam/carve/lab/twins"
)

func main() {
	tool.Main("faults",
		tool.Command{Name: "chaos", About: "do the promises hold while servers, networks and databases fail?", Run: chaos.Run},
		tool.Command{Name: "rolling", About: "does anybody notice when the servers are replaced?", Run: rolling.Run},
		tool.Command{Name: "cluster", About: "runs a command on three nodes of CockroachDB in three regions", Run: cluster.Run},
		tool.Command{Name: "clock", About: "writes what builds a server whose clock can be off", Run: skew.Run},
		tool.Command{Name: "twins", About: "writes what builds a server whose protections can be taken away", Run: twins.Run},
	)
}
