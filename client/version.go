package client

// ContractVersion is the version of the contract (info.version in openapi.yaml) that this client is generated from. A client works with every server
// of the same major version. Before 1.0, the minor version must also be the same.
const ContractVersion = "0.1.0"
