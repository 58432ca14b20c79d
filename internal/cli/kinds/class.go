package kinds

import (
	"context"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

// classes returns the kind for classes.
func classes(p *session.Program) verbs.Kind {
	return verbs.Kind{
		P: p, In: "classes", Short: "Policies for allocating blocks: pools list them, claims name them",
		View: classView(), Fields: classFields(), Read: ownClass,
		Feed: client.ChangeKindIPClass,
		Fed: verbs.Fed{
			OwnText: "the project's own classes",
			Own: func(s *session.Session, object any) bool {
				class, _ := object.(client.IPClass)
				return class.Metadata.Project == s.Project
			},
		},
		ListHelp: "Lists the classes that the project may use: its own, and the shared ones of 'platform'. A class must match all filters.",
		Filters:  []verbs.Field{verbs.SelectorFilter("classes"), verbs.FamilyFilter("classes")},
		Create: &verbs.Writer{
			Use:   "create NAME --family FAMILY",
			Short: "Create a class: a policy for allocating blocks of a family",
			Long: `Creates a policy for allocating blocks: the allowed lengths, the strategy, the order of pools, and the policy for blocks of deleted
claims. It serves no claims before a pool lists it ('ipamctl pool create --class', 'ipamctl pool set --class').

With --default it also serves claims without a class or another source. With --pool-per claims do not come directly from the pools that
list it: each project, and in it each combination of the other roles (--scope of a claim), gets a separate pool of
--pool-prefix-length. The first claim carves it.`,
			Example: `  ipamctl class create standard --family ipv4 --default-prefix-length 28 --min-prefix-length 24 --default
  ipamctl class create clusters --family ipv4 --pool-per project,cluster --pool-prefix-length 20 --default-prefix-length 26
  ipamctl class create slow --family 6 --reuse-after 3d --pool-selection LeastUtilized`,
			Flags: classFlags, Check: checkNewClass, Query: moveDefault,
		},
		Set: &verbs.Writer{
			Use:   "set NAME [--default] [--default-prefix-length N] [--reuse-after DURATION] ...",
			Short: "Change the given fields of a class",
			Long: `Changes the given fields only; 'none' restores a default. Changes apply to later claims; existing claims stay as they are.
The family, --pool-per and --pool-prefix-length never change.`,
			Example: `  ipamctl class set standard --default-prefix-length 26 --max-prefix-length none
  ipamctl class set gold --default --move-default
  ipamctl class set standard --label tier=gold --label old-`,
			Flags: classFlags, Check: checkMove, Query: moveDefault,
		},
		Delete: &verbs.Removal{
			Many: verbs.ByLabels,
			Long: "Deletes classes of the project itself. The server refuses while pools list a class, pools of its scopes exist, or claims\n" +
				"name it; then nothing changes.",
		},
	}
}

// ownClass reads the project's own class. If the project has no class with that name, the server returns the platform's shared class. The
// caller wants only the project's own class, so ownClass then returns not_found.
func ownClass(ctx context.Context, s *session.Session, name string) (session.Answer, error) {
	a, err := s.Ask(ctx, session.Get(s.In("classes", name)...))
	if err != nil {
		return a, err
	}
	found, err := session.Into[client.IPClass](a, nil)
	if err != nil || found.Metadata.Project == s.Project {
		return a, nil //nolint:nilerr // a response that is not a class is shown unchanged
	}
	return a, &session.Refusal{Status: http.StatusNotFound, Problem: client.Problem{
		Code: client.ProblemCodeNotFound, Detail: fmt.Sprintf("Class %s/%s was not found.", s.Project, name),
	}}
}

// classFlags adds the flag --move-default. With this flag, the class becomes the default, and the old default class no longer is. It also accepts
// shorter flags and the contract's names.
func classFlags(cmd *cobra.Command) {
	cmd.Flags().Bool("move-default", false, "with --default: remove the default from the class that has it now")
	verbs.Synonyms(cmd, map[string]string{
		"ip-family": "family", "is-default": "default", "min-length": "min-prefix-length", "max-length": "max-prefix-length",
		"default-length": "default-prefix-length", "pool-length": "pool-prefix-length",
	})
}

func moveDefault(cmd *cobra.Command) session.Query {
	if verbs.FlagText(cmd, "move-default") != "true" {
		return nil
	}
	return session.Query{"moveDefault=true"}
}

func checkMove(cmd *cobra.Command) error {
	if verbs.FlagText(cmd, "move-default") == "true" && verbs.FlagText(cmd, "default") != "true" {
		return exit.Usagef("--move-default needs --default: it makes this class the default in place of another one")
	}
	return nil
}
