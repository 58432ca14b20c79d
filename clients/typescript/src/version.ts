/** The version of the contract (`info.version` of openapi.yaml) from which this client was generated. The package has the same version. */
export const contractVersion = "0.1.0";
