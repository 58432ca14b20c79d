// Its own file, not an inline script, so that the Content-Security-Policy can forbid inline scripts.
"use strict";

const root = document.getElementById("swagger-ui");

// Swagger UI has dark colours for a page that asks for them.
const dark = matchMedia("(prefers-color-scheme: dark)");
const colour = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", colour);
colour();

// Swagger UI draws the list of servers without a name.
const nameServers = () => {
  for (const list of root.querySelectorAll(".servers select")) list.setAttribute("aria-label", "Server");
};

// An operation is sent with what it needs and nothing else. Left alone, Swagger UI also fills in optional parameters, from the defaults and the
// examples of their schemas: lists would be filtered by values that match nothing.
const nothingOptional = {
  wrapComponents: {
    parameterRow: (Row) => class extends Row {
      constructor(props, context) {
        const left = !props.rawParam.has("example");
        super(left ? { ...props, onChange() {} } : props, context);
        if (left) this.setDefaultValue = () => {};
      }
    },
  },
};

// The operations stand in an order in which their examples succeed: within a path what makes a thing comes before what reads it. What deletes
// comes last, from the bottom up, since what holds other things can be deleted only after them.
const turn = { put: 0, get: 1 };
const deletes = (each) => each.get("method") === "delete";
const inTurn = (operations) => {
  const paths = operations.map((each) => each.get("path")).toOrderedSet().toList();
  return operations.sortBy((each) => 3 * paths.indexOf(each.get("path")) + (turn[each.get("method")] ?? 2));
};
const deletesLast = {
  statePlugins: { spec: { wrapSelectors: { taggedOperations: (original) => (...args) => {
    const groups = original(...args);
    const last = groups.toList().flatMap((group) => group.get("operations").filter(deletes)).reverse();
    if (last.isEmpty()) return groups;
    const name = "Deleting";
    const description = "Of all of the above. What holds other things is deleted after them, so the order is the other way round.";
    return groups.map((group) => group.update("operations", (all) => inTurn(all.filterNot(deletes))))
      .set(name, groups.first().set("operations", last).update("tagDetails", (details) => details.merge({ name, description })));
  } } } },
};

SwaggerUIBundle({
  domNode: root,
  url: root.dataset.specUrl,
  layout: "BaseLayout",
  plugins: [() => nothingOptional, () => deletesLast],
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
  onComplete: nameServers,
});
