// Words for what the API names by code.

export const kindWords: Record<string, string> = { class: "Class", pool: "Pool", quota: "Quota", grant: "Grant" };

export const operationWords: Record<string, string> = {
  createProject: "created project", patchProject: "changed project", deleteProject: "deleted project",
  putMember: "set the role of", deleteMember: "removed member", createApiKey: "created key", deleteApiKey: "revoked key",
  putQuota: "set quota", deleteQuota: "deleted quota", createSpace: "created space", patchSpace: "changed space", deleteSpace: "deleted space",
  putSpaceGrant: "granted space", deleteSpaceGrant: "withdrew the grant of space", createPool: "created pool", patchPool: "changed pool",
  deletePool: "deleted pool", putPoolGrant: "granted pool", deletePoolGrant: "withdrew the grant of pool", createClass: "created class",
  patchClass: "changed class", deleteClass: "deleted class", putScopePool: "carved the pool of a scope", releaseClaims: "released claims",
  createClaim: "claimed", putClaim: "claimed", patchClaim: "changed claim", deleteClaim: "released claim", createClaimBatch: "claimed in a batch",
  attachConsumer: "attached a consumer to", detachConsumer: "detached a consumer from", putConsumer: "renewed consumer", endConsumer: "ended consumer",
  renewConsumers: "renewed consumers", confirmExpiry: "confirmed the expiry of", createWebhook: "created webhook", patchWebhook: "changed webhook",
  deleteWebhook: "deleted webhook", deleteWebhookDelivery: "dropped a delivery of", retryWebhookDelivery: "sent again a delivery of",
  deleteAllocation: "gave back allocation", bootstrap: "made the first key",
};
