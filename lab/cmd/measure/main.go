// Command measure measures the speed and the costs of Carve.
package main

import (
	"github.com/carve-ipam/carve/lab/hostile"
	"github.com/carve-ipam/carve/lab/logspike"
	"github.com/carve-ipam/carve/lab/overload"
	"github.com/carve-ipam/carve/lab/rivals"
	"github.com/carve-ipam/carve/lab/scale"
	"github.com/carve-ipam/carve/lab/tool"
)

func main() {
	tool.Main("measure",
		tool.Command{Name: "compare", About: "how fast is it beside others?", Run: rivals.Run},
		tool.Command{Name: "fragments", About: "what does a first claim of the prototype cost in a fragmented pool?", Run: logspike.Fragments},
		tool.Command{Name: "scale", About: "what does an operation cost as the data grows?", Run: scale.Run},
		tool.Command{Name: "overload", About: "what does it do when it is asked for more than it can?", Run: overload.Run},
		tool.Command{Name: "hostile", About: "what do slow and hostile clients cost the others?", Run: hostile.Run},
	)
}
