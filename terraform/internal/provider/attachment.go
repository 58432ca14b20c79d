package provider

import (
	"context"
	"net/http"

	"github.com/carve-ipam/carve/client"
)

func consumerAttachment() kind {
	return kind{
		name: "consumer_attachment",
		about: "An attachment attaches a consumer to a claim. The server does not release a claim while it has consumers. An attachment creates a consumer that does not exist, " +
			"and the consumer stays when the attachment is destroyed: prefer `carve_consumer`. If the claim has `when_unused = \"Delete\"`, " +
			"the server releases the claim with its last attachment.",
		path: "/v1/projects/{project}/claims/{claim}/consumers/{uid}?realm={realm}", blank: true, lockless: true,
		fields: []field{
			projectField,
			{name: "claim", of: "claims", key: true, required: true, check: isName, about: "Name of a claim in the project."},
			{name: "realm", key: true, def: "default", from: "/realm", check: isName, about: "The realm that defines the consumer's UID."},
			{
				name: "uid", of: "realms/{realm}/consumers", key: true, required: true, from: "/uid", check: isUID,
				about: "The consumer's UID in its realm.",
			},
			{name: "attached_at", from: "/attachedAt", computed: true, dataOnly: true, about: "Time when the consumer was attached."},
		},
		lookup: attached,
		maker: func(ctx context.Context, a *api, v values) (string, error) {
			d, err := a.call(ctx, http.MethodGet, consumer().at(v), "", nil)
			return d.text("/metadata/createdBy"), err
		},
	}
}

// attached finds an attachment in the claim's list of consumers. The API has no request for a single attachment.
func attached(ctx context.Context, a *api, v values) (document, error) {
	for d, err := range a.list(ctx, consumerAttachment().listPath(v)) {
		if err != nil {
			return nil, err
		}
		if d.text("/uid") == v.text("uid") && d.text("/realm") == v.text("realm") {
			return d, nil
		}
	}
	return nil, &client.Problem{
		Status: http.StatusNotFound, Code: client.ProblemCodeNotFound, Title: "It does not exist",
		Detail: "The consumer " + v.text("realm") + "/" + v.text("uid") + " is not attached to the claim " + v.text("project") + "/" + v.text("claim") + ".",
	}
}
