package v1alpha1

// What the controller writes on objects, and reads there.
const (
	// Finalizer holds an IPClaim back until its block is released.
	Finalizer = "ipam.carve.dev/release"
)

// Reasons of conditions.
const (
	ReasonReconciling = "Reconciling"
	ReasonReconciled  = "Reconciled"
	ReasonPoolFull    = "PoolFull"
	ReasonError       = "Error"
)

// Reasons of events.
const (
	// ReasonOrphansCleaned: Carve held a block for an IPClaim that does not exist any more, and the controller released it.
	ReasonOrphansCleaned = "OrphansCleaned"
)
