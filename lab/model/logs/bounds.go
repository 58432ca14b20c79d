package logs

// Bounds limits a search.
type Bounds struct {
	Size      int     // addresses of each container: 2 or 4; a page covers half of them
	Logs      int     // number of containers: 1 or 2
	Wants     []where // for each client, the containers that may serve its claims
	Names     []uint8 // for each client, the name of its claims; 0 is no name
	MaxAsks   int     // number of claims that each client makes, one after another
	MaxLost   int     // number of lost answers, crashes and clients that stop to wait, in total
	Snapshots bool    // servers write snapshots in pages; a collector deletes log rows and pages
	Sweeps    bool    // a sweeper deletes ended holds
	Grace     bool    // the collector waits until no server and no commit without an answer can use the rows; stands for limits of time
	Plain     bool    // do not reduce the states by swaps (symmetry.go)
	Whole     bool    // do not reduce the states at all (normal.go)
}

// where is a set of containers.
type where uint8

// The sets of containers.
const (
	First  where = 1
	Second where = 2
	Either where = First | Second
)

const (
	maxLogs    = 2
	maxClients = 2
	maxServers = 2
	maxAsks    = 3
	maxFlights = 2
	maxPages   = 2
	maxRows    = 24
)

// Twin is the model without one protection. The search must find the promise that it breaks.
type Twin uint8

// The twins.
const (
	Sound             Twin = iota
	NoCompareAndSet        // a log row takes the next free number instead of the planned one
	AbsentKeyOnly          // a log row needs only an absent key, and not the row before it
	SnapshotSkips          // a snapshot takes its number from the log and its content from an older fold
	PageNotDirty           // a snapshot reuses a page that has changed since the last snapshot
	CollectsUncovered      // the collector deletes log rows that no snapshot covers
	CollectsLast           // the collector deletes all rows that the snapshot covers, and so perhaps the newest row
	TailWithGap            // a server reads the rows after its number, and does not notice that some are deleted
	PageOfOtherRoot        // a loader reads the newest version of a page instead of the version in its root
	RootNotCompared        // a snapshot reuses pages of its own last root, although another server has written a newer one
	OlderRoot              // a snapshot replaces a newer one
	BelievesAbsent         // the server takes an absent log row as proof that a lost commit never takes effect
	FencesHalf             // each container of a group has its own transaction, and the server fences one of them
	RefusesUnread          // a server refuses by its cached fold, without a read of the log's tail
	RefusesPiecemeal       // a server that asks two containers refuses when each was full at some moment, but never both
	RefusesWithoutKey      // a server refuses a claim as "full" without a search for its key
	ChecksApart            // after a conflict, the server reads the key and the name at two moments
	NoKeyRow               // the idempotency key is not unique
	ReleaseByOldRead       // a release believes an earlier read of its hold, although the server has folded rows since then
	ReleaseOverLoad        // a release believes an earlier read of its hold, although the server has loaded a snapshot since then
	SweepsByName           // the sweeper deletes the row of a name although a new hold has taken the name
	SweepsEndFirst         // the sweeper deletes the end of a hold before the hold
	ReplacesByName         // the slow path deletes any hold with the name, even a live one
)
