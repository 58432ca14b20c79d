package client

// ContractVersion is the version of the contract that this client was made from: info.version of openapi.yaml. A client works with
// every server of the same major version; before 1.0, of the same minor one.
const ContractVersion = "0.1.0"
