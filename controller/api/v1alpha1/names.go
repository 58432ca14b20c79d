package v1alpha1

// Names that the controller writes on objects, and reads from them.
const (
	// Finalizer keeps a deleted IPClaim until its block is released.
	Finalizer = "ipam.carve.dev/release"
)

// Reasons in conditions.
const (
	ReasonReconciling = "Reconciling"
	ReasonReconciled  = "Reconciled"
	ReasonPoolFull    = "PoolFull"
	ReasonError       = "Error"
)

// Reasons in events.
const (
	// ReasonOrphansCleaned reports that Carve had a block for an IPClaim that no longer exists, and that the controller released it.
	ReasonOrphansCleaned = "OrphansCleaned"
)
