package api

import (
	"context"

	"github.com/carve-ipam/carve/internal/api/codec"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

func (s *server) ListAPIKeys(ctx context.Context, r gen.ListAPIKeysRequestObject) (gen.ListAPIKeysResponseObject, error) {
	page, err := s.use.ListKeys(ctx, r.Project, codec.Or(r.Params.Limit, defaultLimit), codec.Or(r.Params.Cursor, ""))
	if err != nil {
		return nil, err
	}
	now := s.clock()
	return gen.ListAPIKeys200JSONResponse{Body: gen.APIKeyList{
		Items:      codec.Each(page.Items, func(k ipam.APIKey) gen.APIKey { return codec.KeyOf(k, now) }),
		NextCursor: page.Next,
	}}, nil
}

// CreateAPIKey answers the token once. What is kept of the request for repeats is a fingerprint of the body, which holds no
// secret.
func (s *server) CreateAPIKey(ctx context.Context, r gen.CreateAPIKeyRequestObject) (gen.CreateAPIKeyResponseObject, error) {
	if at := r.Body.Spec.ExpiresAt; at != nil {
		*at = at.UTC() // one moment is one request, whichever zone it was written in
	}
	k, err := codec.NewKey(*r.Body)
	if err != nil {
		return nil, err
	}
	path := "/v1/projects/" + r.Project + "/api-keys"
	req, err := creation("createApiKey", path, r.Body, r.Params.IdempotencyKey, r.Params.DryRun)
	if err != nil {
		return nil, err
	}
	made, err := s.use.CreateKey(ctx, r.Project, k, req)
	if err != nil {
		return nil, err
	}
	body := codec.KeyOf(made.Value, s.clock())
	body.Token = made.Value.Token
	return gen.CreateAPIKey201JSONResponse{
		Body: body,
		Headers: gen.CreateAPIKey201ResponseHeaders{
			ETag: etag(made.Value.Revision), Location: path + "/" + made.Value.Name,
			DryRun: marked(req.DryRun), IdempotencyReplayed: marked(made.Replayed),
		},
	}, nil
}

func (s *server) GetAPIKey(ctx context.Context, r gen.GetAPIKeyRequestObject) (gen.GetAPIKeyResponseObject, error) {
	k, err := s.use.GetKey(ctx, r.Project, r.Key)
	if err != nil {
		return nil, err
	}
	return gen.GetAPIKey200JSONResponse{
		Body: codec.KeyOf(k, s.clock()), Headers: gen.GetAPIKey200ResponseHeaders{ETag: etag(k.Revision)},
	}, nil
}

func (s *server) DeleteAPIKey(ctx context.Context, r gen.DeleteAPIKeyRequestObject) (gen.DeleteAPIKeyResponseObject, error) {
	req, err := deletion(r.Params.IfMatch, r.Params.DryRun)
	if err != nil {
		return nil, err
	}
	if err := s.use.DeleteKey(ctx, r.Project, r.Key, req); err != nil {
		return nil, err
	}
	return gen.DeleteAPIKey204Response{Headers: gen.DeletedResponseHeaders{DryRun: marked(req.DryRun)}}, nil
}
