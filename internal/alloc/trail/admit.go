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

// Admit authorises an action on a project before anything of the request is read. A change that is refused for want of rights
// is recorded: in the trail of the project, if there is one of that name, else in that of the platform. Whether there is
// one cannot be told from how long that takes. A caller who is refused all the time is recorded now and then (tenancy.Recorded). The answer is the refusal, recorded or not.
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
		return refused.Because(failed)
	}
	return err
}

// maySeeRefusal answers the refusal of somebody whose role in a project is too small, or that there is no such project: a role that was read
// before may be in an earlier one of the name.
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

// mutates reports whether an action changes anything, by its last word.
func mutates(action tenancy.Action) bool {
	_, verb, _ := strings.Cut(string(action), ".")
	return verb == "write" || verb == "create" || verb == "delete" || verb == "confirm"
}

// RecordRefusal writes that the caller of ctx tried an action without the right to.
func RecordRefusal(ctx context.Context, s *usecase.Core, action tenancy.Action, project string, code ipam.Code) error {
	names := []string{ipam.PlatformProject}
	if ipam.ValidName(project) { // what the path says: anything
		names = append(names, project)
	}
	event := Attempt(ctx, s.Now(), ipam.ID{}, kindOf(action, tenancy.OriginOf(ctx).Operation), resourceOf(ctx, action, project))
	event.Outcome = string(code)
	there, err := s.Store.ProjectListNamed(ctx, names)
	if err != nil {
		return err
	}
	ids := make([]ipam.ID, len(names)) // as many are locked if there is none of the name: else the time would tell
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
			if !slices.Contains(ids, p.UID) { // it is another one by now, and may go any time
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

// kindOf is the kind of resource that an action is about.
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

// resourceOf is the name of the resource that the request is about, as far as its path tells.
func resourceOf(ctx context.Context, action tenancy.Action, project string) string {
	name := tenancy.OriginOf(ctx).Resource
	if name == "" && strings.HasPrefix(string(action), "projects.") {
		name = project
	}
	if !ipam.ValidSubject(name) { // the most that the name of anything can be
		return ""
	}
	return name
}
