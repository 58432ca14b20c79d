// Node requires extensions in imports.
export default { input: process.env.CONTRACT, output: { path: "openapi-ts", module: { extension: ".js" } } };
