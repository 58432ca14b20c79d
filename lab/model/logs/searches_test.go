package logs

import "flag"

var large = flag.String("logs.bounds", "default", "default, or large: minutes and gigabytes instead of seconds")

// one is a search with the counts that it must find. Any change of the model changes these counts.
type one struct {
	name   string
	bounds Bounds

	states, transitions, depth int
}

var (
	single  = []where{First}
	pair    = []where{First, First}
	apart   = []where{First, Second}
	either  = []where{Either, Either}
	named   = []uint8{1, 1} // both clients use one name
	unnamed = []uint8{0, 0}
)

// defaults are the searches that each test run makes.
var defaults = []one{
	{"two answers lost", Bounds{Size: 2, Logs: 1, Wants: pair, Names: unnamed, MaxAsks: 1, MaxLost: 2}, 54611, 245294, 19},
	{"claimed again", Bounds{Size: 2, Logs: 1, Wants: pair, Names: unnamed, MaxAsks: 2, MaxLost: 1}, 146698, 572224, 24},
	{"one name, swept", Bounds{Size: 2, Logs: 1, Wants: pair, Names: named, MaxAsks: 2, MaxLost: 1, Sweeps: true}, 136742, 687755, 31},
	{"snapshots", Bounds{Size: 2, Logs: 1, Wants: pair, Names: unnamed, MaxAsks: 1, MaxLost: 1, Snapshots: true}, 940850, 5890870, 32},
	{"snapshots of four addresses", Bounds{Size: 4, Logs: 1, Wants: pair, Names: unnamed, MaxAsks: 1, Snapshots: true}, 95574, 528869, 26},
	{"snapshots, one client", Bounds{Size: 2, Logs: 1, Wants: single, Names: named[:1], MaxAsks: 2, MaxLost: 1, Snapshots: true, Sweeps: true},
		471547, 2980867, 37},
	{"two containers", Bounds{Size: 2, Logs: 2, Wants: apart, Names: unnamed, MaxAsks: 1, MaxLost: 2}, 252658, 1459136, 21},
	{"either container", Bounds{Size: 2, Logs: 2, Wants: either, Names: unnamed, MaxAsks: 1, MaxLost: 1}, 64377, 306789, 19},
	{"small containers, claimed again", Bounds{Size: 1, Logs: 2, Wants: either, Names: unnamed, MaxAsks: 2, MaxLost: 1}, 1108594, 5299552, 27},
}

// larges are longer searches, which run only on request.
var larges = []one{
	{"snapshots, three claims", Bounds{Size: 2, Logs: 1, Wants: single, Names: named[:1], MaxAsks: 3, MaxLost: 1, Snapshots: true, Sweeps: true},
		3729640, 25834840, 47},
}
