package follow

import (
	"context"

	"github.com/carve-ipam/carve/client"
)

// Pools are the pools of a project that a label selector takes; all of them if it is empty.
func Pools(c *client.Carve, project string, labelSelector string) Source[client.IPPool] {
	return Source[client.IPPool]{
		carve: c, project: project, kind: client.ChangeKindIPPool, labels: labelSelector, name: func(a *client.IPPool) string { return a.Metadata.Name },
		list: func(ctx context.Context, at *client.Cursor) (page[client.IPPool], error) {
			got, err := c.ListPoolsWithResponse(ctx, project, &client.ListPoolsParams{Cursor: at, LabelSelector: optional(labelSelector)})
			if err != nil {
				return page[client.IPPool]{}, err
			}
			return page[client.IPPool]{got.JSON200.Items, got.JSON200.NextCursor, got.JSON200.ChangesCursor}, nil
		},
	}
}

// Claims are the claims of a project that a label selector takes; all of them if it is empty.
func Claims(c *client.Carve, project string, labelSelector string) Source[client.IPClaim] {
	return Source[client.IPClaim]{
		carve: c, project: project, kind: client.ChangeKindIPClaim, labels: labelSelector, name: func(a *client.IPClaim) string { return a.Metadata.Name },
		list: func(ctx context.Context, at *client.Cursor) (page[client.IPClaim], error) {
			got, err := c.ListClaimsWithResponse(ctx, project, &client.ListClaimsParams{Cursor: at, LabelSelector: optional(labelSelector)})
			if err != nil {
				return page[client.IPClaim]{}, err
			}
			return page[client.IPClaim]{got.JSON200.Items, got.JSON200.NextCursor, got.JSON200.ChangesCursor}, nil
		},
	}
}

// Classes are the classes of a project that a label selector takes; all of them if it is empty.
func Classes(c *client.Carve, project string, labelSelector string) Source[client.IPClass] {
	return Source[client.IPClass]{
		carve: c, project: project, kind: client.ChangeKindIPClass, labels: labelSelector, name: func(a *client.IPClass) string { return a.Metadata.Name },
		list: func(ctx context.Context, at *client.Cursor) (page[client.IPClass], error) {
			got, err := c.ListClassesWithResponse(ctx, project, &client.ListClassesParams{Cursor: at, LabelSelector: optional(labelSelector)})
			if err != nil {
				return page[client.IPClass]{}, err
			}
			return page[client.IPClass]{got.JSON200.Items, got.JSON200.NextCursor, got.JSON200.ChangesCursor}, nil
		},
	}
}

// Quotas are the quotas of a project.
func Quotas(c *client.Carve, project string) Source[client.Quota] {
	return Source[client.Quota]{
		carve: c, project: project, kind: client.ChangeKindQuota, name: func(a *client.Quota) string { return a.Metadata.Name },
		list: func(ctx context.Context, at *client.Cursor) (page[client.Quota], error) {
			got, err := c.ListQuotasWithResponse(ctx, project, &client.ListQuotasParams{Cursor: at})
			if err != nil {
				return page[client.Quota]{}, err
			}
			return page[client.Quota]{got.JSON200.Items, got.JSON200.NextCursor, got.JSON200.ChangesCursor}, nil
		},
	}
}

// Allocations are the allocations that a project holds, named by their UIDs.
func Allocations(c *client.Carve, project string) Source[client.IPAllocation] {
	self := client.AllocationHolderSelf
	return Source[client.IPAllocation]{
		carve: c, project: project, kind: client.ChangeKindIPAllocation, name: func(a *client.IPAllocation) string { return a.Metadata.UID },
		list: func(ctx context.Context, at *client.Cursor) (page[client.IPAllocation], error) {
			got, err := c.ListAllocationsWithResponse(ctx, project, &client.ListAllocationsParams{Cursor: at, Holder: &self})
			if err != nil {
				return page[client.IPAllocation]{}, err
			}
			return page[client.IPAllocation]{got.JSON200.Items, got.JSON200.NextCursor, got.JSON200.ChangesCursor}, nil
		},
	}
}
