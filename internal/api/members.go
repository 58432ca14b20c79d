package api

import (
	"context"
	"net/url"

	"github.com/carve-ipam/carve/internal/api/codec"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

func (s *server) ListMembers(ctx context.Context, r gen.ListMembersRequestObject) (gen.ListMembersResponseObject, error) {
	page, err := s.use.ListMembers(ctx, r.Project, codec.Or(r.Params.Limit, defaultLimit), codec.Or(r.Params.Cursor, ""))
	if err != nil {
		return nil, err
	}
	return gen.ListMembers200JSONResponse{Body: gen.MemberList{Items: codec.Each(page.Items, codec.MemberOf), NextCursor: page.Next}}, nil
}

func (s *server) GetMember(ctx context.Context, r gen.GetMemberRequestObject) (gen.GetMemberResponseObject, error) {
	m, err := s.use.GetMember(ctx, r.Project, r.Subject)
	if err != nil {
		return nil, err
	}
	return gen.GetMember200JSONResponse{Body: codec.MemberOf(m), Headers: gen.GetMember200ResponseHeaders{ETag: etag(m.Revision)}}, nil
}

func (s *server) PutMember(ctx context.Context, r gen.PutMemberRequestObject) (gen.PutMemberResponseObject, error) {
	req, err := putting(r.Params.IfMatch, r.Params.IfNoneMatch, r.Params.DryRun)
	if err != nil {
		return nil, err
	}
	m := ipam.Member{Metadata: ipam.Metadata{Name: r.Subject}, Spec: ipam.MemberSpec{Role: string(r.Body.Spec.Role)}}
	made, err := s.use.PutMember(ctx, r.Project, m, req)
	if err != nil {
		return nil, err
	}
	body, tag := codec.MemberOf(made.Value), etag(made.Value.Revision)
	if made.Existed {
		return gen.PutMember200JSONResponse{Body: body, Headers: gen.PutMember200ResponseHeaders{ETag: tag, DryRun: marked(req.DryRun)}}, nil
	}
	return gen.PutMember201JSONResponse{
		Body: body,
		Headers: gen.PutMember201ResponseHeaders{
			ETag: tag, Location: memberPath(r.Project, made.Value.Name), DryRun: marked(req.DryRun),
		},
	}, nil
}

// memberPath escapes the subject: alone of all names it can have characters that a path cannot.
func memberPath(project, subject string) string {
	return "/v1/projects/" + project + "/members/" + url.PathEscape(subject)
}

func (s *server) DeleteMember(ctx context.Context, r gen.DeleteMemberRequestObject) (gen.DeleteMemberResponseObject, error) {
	req, err := deletion(r.Params.IfMatch, r.Params.DryRun)
	if err != nil {
		return nil, err
	}
	if err := s.use.DeleteMember(ctx, r.Project, r.Subject, req); err != nil {
		return nil, err
	}
	return gen.DeleteMember204Response{Headers: gen.DeletedResponseHeaders{DryRun: marked(req.DryRun)}}, nil
}
