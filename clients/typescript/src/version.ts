/** The version of the contract that this client was made from: `info.version` of openapi.yaml, and that of the package. */
export const contractVersion = "0.1.0";
