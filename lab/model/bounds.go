package model

// Bounds limits a search.
type Bounds struct {
	Size      int   // addresses of the pool: 4, 8 or 16
	Regions   int   // the first one is the pool's home
	Asks      []int // the region of each client's requests
	Wishes    []int // sizes of the blocks that claims request
	MaxAsks   int   // claims that each client makes, one after another
	MaxLost   int   // lost responses in total
	Restored  []int // regions; the search backs up and restores at most one, once
	Remembers bool  // servers cache free rows, one cache for each client, and claims of two regions share transactions
	Plain     bool  // without the reduction by swapped halves
}

const (
	maxRegions = 3
	maxClients = 3
	maxAsks    = 3
	maxNodes   = 32 // a pool of 16 addresses has 31 blocks
)

// Twin is a missing protection.
type Twin uint8

// The twins.
const (
	Sound              Twin = iota
	MergeForgetsBuddy       // a release does not merge its block with a free buddy
	LendWithoutRecord       // a loan is not recorded
	RecallHeld              // a recall takes a block although a part of it is held
	UnknownIsFailure        // after an unknown outcome the request runs again under a new key and name
	NoUniqueKey             // neither key nor name of a claim is unique
	NoSecondLook            // a server does not look for the key again before it refuses
	NoEpochCheck            // epochs are not compared
	EpochOfOne              // a loan gives a new epoch to the borrower, and not to the home
	ReleaseByName           // a release deletes any claim of the name
	ExhaustedAlone          // a claim is refused as exhausted when only the region and the home have no room
	ExhaustedPiecemeal      // the search for room asks each region in a separate transaction
	ExhaustedInParts        // a claim is refused as exhausted when a block is free, but in parts in several regions
	LookUnfenced            // the search for room trusts the rows of a fenced region
	NoFence                 // a transaction on cached rows does not compare and change the version (mark)
	FenceWithoutEpoch       // such a transaction does not compare the epochs, as if the version covered them
	RefusedByMemory         // a claim is refused as exhausted when the cache shows nothing free
	TogetherByHalves        // a transaction for two pools commits when only one of their versions matches
)
