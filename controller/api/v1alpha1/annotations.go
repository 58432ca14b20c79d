package v1alpha1

// Annotations of pods.
const (
	// ClaimsAnnotation asks for claims: a JSON list of entries with a name, and a template or a claim.
	ClaimsAnnotation = "ipam.carve.dev/claims"
	// StatusAnnotation is what came of it: a JSON object of claim, cidr and address by the names of entries. It is always written as a whole.
	StatusAnnotation = "ipam.carve.dev/claims-status"
	// NetworkStatusAnnotation is what Multus says of a pod's interfaces.
	NetworkStatusAnnotation = "k8s.v1.cni.cncf.io/network-status"
)

// Annotations of IPClaims.
const (
	// EntryAnnotation is the entry of its pod that a claim was made for.
	EntryAnnotation = "ipam.carve.dev/entry"
	// TemplateAnnotation is the IPClaimTemplate that a claim was made from.
	TemplateAnnotation = "ipam.carve.dev/template"
	// InterfaceAnnotation is the interface of its pod that has the claim's address.
	InterfaceAnnotation = "ipam.carve.dev/interface"
	// BlockAnnotation is the block that the claim has. The controller writes it: a backup and clusterctl keep it, and they do not keep the status.
	BlockAnnotation = "ipam.carve.dev/block"
	// AbandonAnnotation, if it is "true", lets a claim that is deleted go without asking Carve, for a server that is gone for good.
	AbandonAnnotation = "ipam.carve.dev/abandon"
)

// ClaimLabel is a label of IPClaims: the UID of the claim in Carve that has the block of [BlockAnnotation].
const ClaimLabel = "ipam.carve.dev/claim"
