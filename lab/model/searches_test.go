package model

import "flag"

var large = flag.String("model.bounds", "default", "default, or large: minutes and gigabytes instead of seconds")

// one is a search with the counts that it must find. Any change of the model, or of the product's functions that it calls, changes these counts.
type one struct {
	name   string
	bounds Bounds

	states, transitions, depth int
}

var (
	pair = []int{0, 1} // one client in the home region, one in another region
	both = []int{0, 1} // either the home region or the other region is restored
)

// defaults are the searches that each test run makes.
var defaults = []one{
	{"answers lost", Bounds{Size: 8, Regions: 2, Asks: pair, Wishes: []int{2, 4}, MaxAsks: 1, MaxLost: 1}, 55338, 698405, 20},
	{"three regions", Bounds{Size: 4, Regions: 3, Asks: pair, Wishes: []int{1, 2}, MaxAsks: 1, MaxLost: 1}, 26394, 220311, 18},
	{"a region restored", Bounds{Size: 4, Regions: 2, Asks: pair, Wishes: []int{1, 2}, MaxAsks: 1, Restored: both}, 76248, 394897, 18},
	{"restored, answers lost", Bounds{Size: 2, Regions: 2, Asks: pair, Wishes: []int{1, 2}, MaxAsks: 1, MaxLost: 2, Restored: both}, 209505, 1098184, 21},
	{"claimed again", Bounds{Size: 4, Regions: 2, Asks: pair, Wishes: []int{1, 2}, MaxAsks: 2, MaxLost: 1}, 49561, 380709, 26},
	{"three clients", Bounds{Size: 4, Regions: 2, Asks: []int{0, 1, 1}, Wishes: []int{1, 2}, MaxAsks: 1, MaxLost: 1}, 165349, 1280298, 22},
	{"remembered by two servers", Bounds{Size: 4, Regions: 2, Asks: []int{0, 0}, Wishes: []int{1, 2}, MaxAsks: 2, Remembers: true}, 163337, 1118980, 28},
	{"remembered, answers lost", Bounds{Size: 4, Regions: 2, Asks: []int{0, 0}, Wishes: []int{1, 2}, MaxAsks: 1, MaxLost: 1, Remembers: true}, 93920, 579032, 20},
	{"two pools at once, answers lost", Bounds{Size: 2, Regions: 2, Asks: pair, Wishes: []int{1}, MaxAsks: 2, MaxLost: 1, Remembers: true}, 32716, 159201, 27},
}

// larges are longer searches, which run only on request.
var larges = []one{
	{"eight, three regions", Bounds{Size: 8, Regions: 3, Asks: pair, Wishes: []int{2, 4}, MaxAsks: 1, MaxLost: 1}, 437673, 6411918, 22},
	{"four, restored, an answer lost", Bounds{Size: 4, Regions: 2, Asks: pair, Wishes: []int{1, 2}, MaxAsks: 1, MaxLost: 1, Restored: both}, 584270, 3542588, 21},
	{"four, two claims, two answers lost", Bounds{Size: 4, Regions: 2, Asks: pair, Wishes: []int{1, 2}, MaxAsks: 2, MaxLost: 2}, 187612, 1582132, 28},
	{"four, three regions and clients", Bounds{Size: 4, Regions: 3, Asks: []int{0, 1, 2}, Wishes: []int{1, 2}, MaxAsks: 1, MaxLost: 1}, 398130, 3467808, 24},
	{"sixteen", Bounds{Size: 16, Regions: 2, Asks: pair, Wishes: []int{4, 8}, MaxAsks: 1}, 222544, 5257152, 26},
	{"two, remembered, restored", Bounds{Size: 2, Regions: 2, Asks: []int{0, 0}, Wishes: []int{1, 2}, MaxAsks: 2, Remembers: true, Restored: both}, 720491, 2743409, 29},
}

// byTLC are searches without the reduction. TLC also counted their states, from docs/model/Carve.tla. It counts generated states (one more than
// transitions, for the initial state), distinct states, and the depth (one more than steps).
var byTLC = []one{
	{"as in Carve.cfg", Bounds{Size: 4, Regions: 2, Asks: pair, Wishes: []int{1, 2}, MaxAsks: 1, MaxLost: 1}, 32268, 219694, 16},
	{"two, two claims each", Bounds{Size: 2, Regions: 2, Asks: pair, Wishes: []int{1, 2}, MaxAsks: 2, MaxLost: 1}, 48481, 221528, 28},
	{"two, three clients", Bounds{Size: 2, Regions: 2, Asks: []int{0, 1, 1}, Wishes: []int{1}, MaxAsks: 1, MaxLost: 1}, 17582, 82783, 21},
	{"two, a region restored", Bounds{Size: 2, Regions: 2, Asks: pair, Wishes: []int{1, 2}, MaxAsks: 1, MaxLost: 1, Restored: both}, 115332, 508579, 19},
	{"two, three regions", Bounds{Size: 2, Regions: 3, Asks: pair, Wishes: []int{1, 2}, MaxAsks: 1, MaxLost: 1, Restored: []int{1}}, 108466, 559082, 20},
}
