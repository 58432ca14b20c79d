package v1alpha1

// What the controller writes on objects, and reads there.
const (
	// Finalizer holds an IPClaim back until its block is released.
	Finalizer = "ipam.carve.dev/release"
	// ClaimsAnnotation is how a pod asks for claims: a list of [PodClaim] in JSON.
	ClaimsAnnotation = "ipam.carve.dev/claims"
	// ClaimsStatusAnnotation is what a pod got: a map of [PodClaimStatus] by entry, in JSON.
	ClaimsStatusAnnotation = "ipam.carve.dev/claims-status"
	// EntryAnnotation says of a generated claim for which entry of its pod it was made.
	EntryAnnotation = "ipam.carve.dev/pod-claim"
)

// Reasons of conditions.
const (
	ReasonReconciling = "Reconciling"
	ReasonReconciled  = "Reconciled"
	ReasonPoolFull    = "PoolFull"
	ReasonError       = "Error"
)

// PodClaim is an entry of [ClaimsAnnotation].
type PodClaim struct {
	// Name tells the entries of a pod apart.
	Name string `json:"name"`
	// Template is the IPClaimTemplate of the pod's namespace that its claim is made from.
	Template string `json:"template"`
}

// PodClaimStatus is what became of an entry.
type PodClaimStatus struct {
	// Claim is the IPClaim that was made for it.
	Claim string `json:"claim"`
	// CIDR is its block, once there is one.
	CIDR string `json:"cidr,omitempty"`
}
