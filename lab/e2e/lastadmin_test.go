package e2e

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The project "platform" always keeps an admin that does not expire. This must hold for each order of removals and for removals at the same time.
func TestTheLastPlatformAdminStays(t *testing.T) {
	t.Parallel()
	w := setupKeys(t)
	// The caller's key expires, so it does not count as an admin.
	root := w.as(w.newKeyUntil(t, "platform", "for-now", "admin", time.Now().Add(time.Hour)))
	member := func(name string) string { return in("platform", "members", name) }
	remove := func(path string) answer { return root.do(t, http.MethodDelete, path, nil) }
	put := func(name, role string) answer {
		return root.do(t, http.MethodPut, member(name), obj{"spec": obj{"role": role}})
	}
	var bootstrapKey string
	for _, each := range all[struct{ Metadata struct{ Name string } }](t, root, in("platform", "api-keys")) {
		if each.Metadata.Name != "for-now" {
			bootstrapKey = in("platform", "api-keys", each.Metadata.Name)
		}
	}
	t.Run("AKey", func(t *testing.T) {
		w.writesNothing(t, func() {
			root.refused(t, remove(bootstrapKey), "last_admin")
			root.refused(t, root.do(t, http.MethodDelete, bootstrapKey, nil, dryRun), "last_admin")
		})
		root.created(t, put("corp:carol", "provider"))
		root.refused(t, remove(bootstrapKey), "last_admin")
		root.created(t, put("corp:alice", "admin"))
		root.deleted(t, remove(bootstrapKey))
	})
	t.Run("AMember", func(t *testing.T) {
		w.writesNothing(t, func() {
			root.refused(t, remove(member("corp:alice")), "last_admin")
			for _, role := range []string{"viewer", "provider"} {
				root.refused(t, put("corp:alice", role), "last_admin")
			}
			root.ok(t, put("corp:alice", "admin"))
		})
		root.deleted(t, remove(member("corp:carol")))
	})
	t.Run("OfAnotherProjectCanBeRemoved", func(t *testing.T) {
		root.newProject(t, project)
		root.created(t, root.do(t, http.MethodPut, at("members", "corp:dave"), obj{"spec": obj{"role": "admin"}}))
		root.deleted(t, root.do(t, http.MethodDelete, at("members", "corp:dave"), nil))
	})
	t.Run("OfTwoAtTheSameTime", func(t *testing.T) {
		ways := map[string]func(name string) answer{
			"Delete":  func(name string) answer { return remove(member(name)) },
			"Demote":  func(name string) answer { return put(name, "viewer") },
			"ByOther": func(name string) answer { return remove(member(name)) },
		}
		for way, take := range ways {
			for round := range 8 {
				names := []string{"corp:alice", fmt.Sprintf("corp:%s-%d", way, round)}
				for _, name := range names {
					require.True(t, put(name, "admin").ok())
				}
				answers := make([]answer, len(names))
				var wg sync.WaitGroup
				for i, name := range names {
					wg.Go(func() {
						if way == "ByOther" && i == 0 {
							answers[i] = put(name, "consumer")
							return
						}
						answers[i] = take(name)
					})
				}
				wg.Wait()
				gone := 0
				for _, a := range answers {
					if a.ok() {
						gone++
						continue
					}
					root.refused(t, a, "last_admin")
				}
				require.Equal(t, 1, gone, "one goes, one stays")
				root.created(t, put("corp:keeper", "admin")) // the next round begins with the same two admins
				for _, name := range names {
					if a := remove(member(name)); !a.ok() {
						root.refused(t, a, "not_found")
					}
				}
				root.created(t, put("corp:alice", "admin"))
				root.deleted(t, remove(member("corp:keeper")))
			}
		}
	})
	t.Run("AKeyAndAMemberAtTheSameTime", func(t *testing.T) {
		for round := range 6 {
			name := fmt.Sprintf("spare-%d", round)
			root.newKey(t, "platform", name, "admin")
			paths := []string{in("platform", "api-keys", name), member("corp:alice")}
			answers := make([]answer, 2)
			var wg sync.WaitGroup
			for i, path := range paths {
				wg.Go(func() { answers[i] = remove(path) })
			}
			wg.Wait()
			require.NotEqual(t, answers[0].ok(), answers[1].ok(), "%s / %s", answers[0].body, answers[1].body)
			if answers[1].ok() {
				root.created(t, put("corp:alice", "admin"))
				root.deleted(t, remove(paths[0]))
			}
		}
	})
}
