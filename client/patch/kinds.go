package patch

import (
	"context"
	"encoding/json"

	"github.com/carve-ipam/carve/client"
)

// Project returns the Resource for a project.
func Project(c *client.Carve, project string) Resource[client.Project] {
	return Resource[client.Project]{
		Get: func(ctx context.Context) (*client.Project, error) {
			return c.GetProject(ctx, project)
		},
		Send: func(ctx context.Context, ifMatch string, changes json.RawMessage) (*client.Project, error) {
			return c.PatchProject(ctx, project, changes, client.PatchProjectParams{IfMatch: &ifMatch})
		},
	}
}

// Space returns the Resource for a space.
func Space(c *client.Carve, project, name string) Resource[client.Space] {
	return Resource[client.Space]{
		Get: func(ctx context.Context) (*client.Space, error) {
			return c.GetSpace(ctx, project, name)
		},
		Send: func(ctx context.Context, ifMatch string, changes json.RawMessage) (*client.Space, error) {
			return c.PatchSpace(ctx, project, name, changes, client.PatchSpaceParams{IfMatch: &ifMatch})
		},
	}
}

// Pool returns the Resource for a pool.
func Pool(c *client.Carve, project, name string) Resource[client.IPPool] {
	return Resource[client.IPPool]{
		Get: func(ctx context.Context) (*client.IPPool, error) {
			return c.GetPool(ctx, project, name)
		},
		Send: func(ctx context.Context, ifMatch string, changes json.RawMessage) (*client.IPPool, error) {
			return c.PatchPool(ctx, project, name, changes, client.PatchPoolParams{IfMatch: &ifMatch})
		},
	}
}

// Class returns the Resource for a class.
func Class(c *client.Carve, project, name string) Resource[client.IPClass] {
	return Resource[client.IPClass]{
		Get: func(ctx context.Context) (*client.IPClass, error) {
			return c.GetClass(ctx, project, name)
		},
		Send: func(ctx context.Context, ifMatch string, changes json.RawMessage) (*client.IPClass, error) {
			return c.PatchClass(ctx, project, name, changes, client.PatchClassParams{IfMatch: &ifMatch})
		},
	}
}

// Claim returns the Resource for a claim.
func Claim(c *client.Carve, project, name string) Resource[client.IPClaim] {
	return Resource[client.IPClaim]{
		Get: func(ctx context.Context) (*client.IPClaim, error) {
			return c.GetClaim(ctx, project, name)
		},
		Send: func(ctx context.Context, ifMatch string, changes json.RawMessage) (*client.IPClaim, error) {
			return c.PatchClaim(ctx, project, name, changes, client.PatchClaimParams{IfMatch: &ifMatch})
		},
	}
}
