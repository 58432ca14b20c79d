package v1alpha1

// Annotations on pods.
const (
	// ClaimsAnnotation requests claims: a JSON list of entries, each with a name and a template or a claim.
	ClaimsAnnotation = "ipam.carve.dev/claims"
	// StatusAnnotation has the results: a JSON object that maps each entry's name to its claim, cidr and address. The controller always writes it whole.
	StatusAnnotation = "ipam.carve.dev/claims-status"
	// NetworkStatusAnnotation has a pod's network interfaces. Multus writes it.
	NetworkStatusAnnotation = "k8s.v1.cni.cncf.io/network-status"
)

// Annotations on IPClaims.
const (
	// EntryAnnotation names the pod's entry for which a claim was created.
	EntryAnnotation = "ipam.carve.dev/entry"
	// TemplateAnnotation names the IPClaimTemplate from which a claim was created.
	TemplateAnnotation = "ipam.carve.dev/template"
	// InterfaceAnnotation names the pod's interface that has the claim's address.
	InterfaceAnnotation = "ipam.carve.dev/interface"
	// BlockAnnotation has the claim's block. The controller writes it, because backups and clusterctl keep annotations but not the status.
	BlockAnnotation = "ipam.carve.dev/block"
	// AbandonAnnotation, if it is "true", removes a deleted claim without a request to Carve. It is for a server that is lost for good.
	AbandonAnnotation = "ipam.carve.dev/abandon"
)

// ClaimLabel is a label on IPClaims. Its value is the UID of the claim in Carve that holds the block in [BlockAnnotation].
const ClaimLabel = "ipam.carve.dev/claim"
