package model

// Bounds limits a search.
type Bounds struct {
	Size      int   // addresses of the pool: 4, 8 or 16
	Regions   int   // number of regions; region 0 is the home region of the pool
	Asks      []int // the region of each client
	Wishes    []int // sizes of the blocks that claims request
	MaxAsks   int   // number of claims that each client makes, one after another
	MaxLost   int   // number of lost responses in total
	Restored  []int // regions that a search may back up and restore; it restores at most one, once
	Remembers bool  // each server caches free rows; each client has its own server; one transaction may serve claims of two regions
	Plain     bool  // do not reduce the states by swapped halves of blocks (symmetry.go)
}

const (
	maxRegions = 3
	maxClients = 3
	maxAsks    = 3
	maxNodes   = 32 // a pool of 16 addresses has 31 blocks
)

// Twin is the model without one protection. The search must find the promise that it breaks.
type Twin uint8

// The twins.
const (
	Sound              Twin = iota
	MergeForgetsBuddy       // a release does not merge its block with a free buddy
	LendWithoutRecord       // a loan is not recorded
	RecallHeld              // a recall takes a block although a part of it is held
	UnknownIsFailure        // after an unknown outcome, the client repeats the request with a new key and a new name
	NoUniqueKey             // neither key nor name of a claim is unique
	NoSecondLook            // before a refusal, the server does not search again for the stored response of the key
	NoEpochCheck            // the epochs in a region's rows and in its record are not compared
	EpochOfOne              // a loan gives a new epoch to the borrower only, and not to the home region
	ReleaseByName           // a release deletes any claim with the name, even a newer one
	ExhaustedAlone          // a claim is refused as exhausted when only its own region and the home region have no room
	ExhaustedPiecemeal      // the search for room asks each region in a separate transaction
	ExhaustedInParts        // a claim is refused as exhausted although free parts in several regions form a block
	LookUnfenced            // the search for room reads the rows of a region whose epochs differ
	NoFence                 // a transaction on cached rows does not compare and change the region's version
	FenceWithoutEpoch       // a transaction on cached rows does not compare the epochs, as if the version covered them
	RefusedByMemory         // a claim is refused as exhausted when the cache shows nothing free
	TogetherByHalves        // a transaction for two pools commits although only one of their versions matches
)
