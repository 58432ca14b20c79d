package client

// ContractVersion is the contract's version (info.version of openapi.yaml) from which this client was generated. A client works with every server
// that has the same major version; before 1.0, the same minor version.
const ContractVersion = "0.1.0"
