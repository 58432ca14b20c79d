// Its own file, not an inline script, so that the Content-Security-Policy can forbid inline scripts.
"use strict";

const root = document.getElementById("swagger-ui");

SwaggerUIBundle({
  domNode: root,
  url: root.dataset.specUrl,
  layout: "BaseLayout",
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  filter: true,
  tryItOutEnabled: true,
  persistAuthorization: true,
  // Otherwise the page sends the document's address to a public validator.
  validatorUrl: null,
  // Otherwise ?url= in a link makes this page show, and call, somebody else's API.
  queryConfigEnabled: false,
});
