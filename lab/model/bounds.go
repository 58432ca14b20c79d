package model

// Bounds is how much is searched.
type Bounds struct {
	Size      int   // addresses of the pool: 4, 8 or 16
	Regions   int   // the first one is the pool's home
	Asks      []int // for each client the region that it asks
	Wishes    []int // sizes of blocks that claims ask for
	MaxAsks   int   // claims that each client makes, one after another
	MaxLost   int   // requests whose answer is lost, all clients together
	Restored  []int // the regions of which one is backed up and restored, at most once
	Remembers bool  // servers remember free rows, each client's its own, and claims of two regions share transactions
	Plain     bool  // without the reduction by swapped halves
}

const (
	maxRegions = 3
	maxClients = 3
	maxAsks    = 3
	maxNodes   = 32 // a pool of 16 addresses has 31 blocks
)

// Twin is a protection that is taken away.
type Twin uint8

// The twins.
const (
	Sound              Twin = iota
	MergeForgetsBuddy       // a release puts its block beside a free buddy
	LendWithoutRecord       // a loan is not recorded
	RecallHeld              // a block is recalled of which a part is held
	UnknownIsFailure        // after an unknown outcome the request is run again under a new key and name
	NoUniqueKey             // neither key nor name of a claim is unique
	NoSecondLook            // a refusal is not preceded by another look for the key
	NoEpochCheck            // epochs are not compared
	EpochOfOne              // a loan gives the borrower a new epoch, and not the home
	ReleaseByName           // a release deletes the claim of the name, whichever it is
	ExhaustedAlone          // exhausted is said when the region and the home have no room
	ExhaustedPiecemeal      // the regions are asked for room in a transaction each
	ExhaustedInParts        // exhausted is said when a block is free, but in parts in several regions
	LookUnfenced            // the rows of a fenced region are believed when room is looked for
	NoFence                 // a transaction on what is remembered does not move the mark from the one that is remembered
	FenceWithoutEpoch       // nor does it compare the epochs, as if the mark said all
	RefusedByMemory         // exhausted is said when nothing is free in what is remembered
	TogetherByHalves        // a transaction for two pools commits when the mark of one of them was as remembered
)
