package patch

import (
	"context"
	"encoding/json"

	"github.com/carve-ipam/carve/client"
)

// Project is a project.
func Project(c *client.Carve, project string) Resource[client.Project] {
	return Resource[client.Project]{
		Get: func(ctx context.Context) (*client.Project, error) {
			got, err := c.GetProjectWithResponse(ctx, project)
			if err != nil {
				return nil, err
			}
			return got.JSON200, nil
		},
		Send: func(ctx context.Context, ifMatch string, changes json.RawMessage) (*client.Project, error) {
			got, err := c.PatchProjectWithApplicationMergePatchPlusJSONBodyWithResponse(ctx, project, &client.PatchProjectParams{IfMatch: &ifMatch}, changes)
			if err != nil {
				return nil, err
			}
			return got.JSON200, nil
		},
	}
}

// Space is a space of a project.
func Space(c *client.Carve, project, name string) Resource[client.Space] {
	return Resource[client.Space]{
		Get: func(ctx context.Context) (*client.Space, error) {
			got, err := c.GetSpaceWithResponse(ctx, project, name)
			if err != nil {
				return nil, err
			}
			return got.JSON200, nil
		},
		Send: func(ctx context.Context, ifMatch string, changes json.RawMessage) (*client.Space, error) {
			got, err := c.PatchSpaceWithApplicationMergePatchPlusJSONBodyWithResponse(ctx, project, name, &client.PatchSpaceParams{IfMatch: &ifMatch}, changes)
			if err != nil {
				return nil, err
			}
			return got.JSON200, nil
		},
	}
}

// Pool is a pool of a project.
func Pool(c *client.Carve, project, name string) Resource[client.IPPool] {
	return Resource[client.IPPool]{
		Get: func(ctx context.Context) (*client.IPPool, error) {
			got, err := c.GetPoolWithResponse(ctx, project, name, nil)
			if err != nil {
				return nil, err
			}
			return got.JSON200, nil
		},
		Send: func(ctx context.Context, ifMatch string, changes json.RawMessage) (*client.IPPool, error) {
			got, err := c.PatchPoolWithApplicationMergePatchPlusJSONBodyWithResponse(ctx, project, name, &client.PatchPoolParams{IfMatch: &ifMatch}, changes)
			if err != nil {
				return nil, err
			}
			return got.JSON200, nil
		},
	}
}

// Class is a class of a project.
func Class(c *client.Carve, project, name string) Resource[client.IPClass] {
	return Resource[client.IPClass]{
		Get: func(ctx context.Context) (*client.IPClass, error) {
			got, err := c.GetClassWithResponse(ctx, project, name, nil)
			if err != nil {
				return nil, err
			}
			return got.JSON200, nil
		},
		Send: func(ctx context.Context, ifMatch string, changes json.RawMessage) (*client.IPClass, error) {
			got, err := c.PatchClassWithApplicationMergePatchPlusJSONBodyWithResponse(ctx, project, name, &client.PatchClassParams{IfMatch: &ifMatch}, changes)
			if err != nil {
				return nil, err
			}
			return got.JSON200, nil
		},
	}
}

// Claim is a claim of a project.
func Claim(c *client.Carve, project, name string) Resource[client.IPClaim] {
	return Resource[client.IPClaim]{
		Get: func(ctx context.Context) (*client.IPClaim, error) {
			got, err := c.GetClaimWithResponse(ctx, project, name, nil)
			if err != nil {
				return nil, err
			}
			return got.JSON200, nil
		},
		Send: func(ctx context.Context, ifMatch string, changes json.RawMessage) (*client.IPClaim, error) {
			got, err := c.PatchClaimWithApplicationMergePatchPlusJSONBodyWithResponse(ctx, project, name, &client.PatchClaimParams{IfMatch: &ifMatch}, changes)
			if err != nil {
				return nil, err
			}
			return got.JSON200, nil
		},
	}
}
