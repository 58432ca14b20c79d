package trail

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// Admit authorizes an action on a project before the server reads anything else in the request. It returns the refusal if the caller lacks the
// permission.
//
// If the action is a change, Admit also records the refusal in the project's audit trail. If no project has the name, it uses the project "platform".
// Both cases take the same time, so a caller cannot find out whether the project exists. If a caller gets many refusals, Admit records only some of
// them (tenancy.Recorded).
func (s *Trail) Admit(ctx context.Context, action tenancy.Action, project string) error {
	_, err := tenancy.Authorize(ctx, action, project)
	if ipam.IsCode(err, ipam.CodePermissionDenied) {
		err = s.maySeeRefusal(ctx, project, err)
	}
	refused, ok := errors.AsType[*ipam.Error](err)
	if !ok || (refused.Code != ipam.CodePermissionDenied && refused.Code != ipam.CodeNotFound) || !mutates(action) || !tenancy.Recorded(ctx) {
		return err
	}
	if failed := RecordRefusal(ctx, s.Core, action, project, refused.Code); failed != nil {
		return refused.WithCause(failed)
	}
	return err
}

// maySeeRefusal returns the refusal if the caller's role in the project is too low. It returns not_found if the caller's cached role belongs to a
// deleted project with the same name.
func (s *Trail) maySeeRefusal(ctx context.Context, project string, refusal error) error {
	who, _ := tenancy.From(ctx)
	held, ok := who.Held[project]
	if !ok || who.Roles[project] != "" {
		return refusal
	}
	p, err := s.Store.ProjectGet(ctx, project)
	switch {
	case err != nil:
		return err
	case p.UID != held.Project:
		return tenancy.ProjectNotFound(project)
	default:
		return refusal
	}
}

// mutates reports whether an action changes anything, by its verb.
func mutates(action tenancy.Action) bool {
	_, verb, _ := strings.Cut(string(action), ".")
	return verb == "write" || verb == "create" || verb == "delete" || verb == "confirm"
}

// RecordRefusal records that ctx's caller tried an action without permission.
func RecordRefusal(ctx context.Context, s *usecase.Core, action tenancy.Action, project string, code ipam.Code) error {
	names := []string{ipam.PlatformProject}
	if ipam.ValidName(project) { // the name comes from the path and may be any text
		names = append(names, project)
	}
	event := Attempt(ctx, s.Now(), ipam.ID{}, kindOf(action, tenancy.OriginOf(ctx).Operation), resourceOf(ctx, action, project))
	event.Outcome = string(code)
	there, err := s.Store.ProjectListNamed(ctx, names)
	if err != nil {
		return err
	}
	ids := make([]ipam.ID, len(names)) // if no project has the name, lock a random id instead, so that the time reveals nothing
	for i := range ids {
		ids[i] = ipam.NewID()
	}
	for i, p := range there {
		ids[i] = p.UID
	}
	return s.Store.InTx(ctx, "refusal_record", storage.Locks{Shared: ids}, func(ctx context.Context, tx storage.Tx) error {
		found, err := tx.ProjectListNamed(ctx, names)
		if err != nil {
			return err
		}
		record := event
		for _, p := range found {
			if !slices.Contains(ids, p.UID) { // a new project has taken the name meanwhile, and is not locked
				continue
			}
			if p.Name == project || (p.Name == ipam.PlatformProject && record.ProjectID.IsZero()) {
				record.ProjectID = p.UID
			}
		}
		if record.ProjectID.IsZero() {
			return tenancy.ProjectNotFound(ipam.PlatformProject)
		}
		return tx.Write(ctx, storage.Changes{Events: []ipam.Event{record}})
	})
}

// kindOf returns the kind of resource that an action concerns.
func kindOf(action tenancy.Action, operation string) string {
	noun, _, _ := strings.Cut(string(action), ".")
	switch noun {
	case "projects":
		return KindProject
	case "spaces":
		return KindSpace
	case "pools":
		return KindPool
	case "classes":
		return KindClass
	case "claims":
		if strings.Contains(operation, "ScopePool") {
			return KindPool
		}
		return KindClaim
	case "allocations":
		return KindAllocation
	case "members":
		return KindMember
	case "keys":
		return KindKey
	case "quotas":
		return KindQuota
	case "consumers":
		return KindConsumer
	case "realms":
		return KindRealm
	case "webhooks", "deliveries":
		return KindWebhook
	case "alertrules":
		return KindAlertRule
	case "grants":
		if strings.Contains(operation, "Space") {
			return KindSpaceGrant
		}
		return KindPoolGrant
	default:
		return noun
	}
}

// resourceOf returns the name of the request's resource. It returns "" if the path has no valid name.
func resourceOf(ctx context.Context, action tenancy.Action, project string) string {
	name := tenancy.OriginOf(ctx).Resource
	if name == "" && strings.HasPrefix(string(action), "projects.") {
		name = project
	}
	if !ipam.ValidSubject(name) { // subjects have the widest syntax among all names
		return ""
	}
	return name
}
