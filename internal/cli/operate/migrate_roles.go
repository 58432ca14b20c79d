package operate

import (
	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
	"github.com/carve-ipam/carve/internal/crdb/schema"
)

// These are the values for the flag --roles.
const (
	rolesAuto    = string(schema.RolesAuto)
	rolesRequire = string(schema.RolesRequire)
	rolesNone    = "none"
)

// roleFlags has the flags about the database roles for servers, retention and readers.
type roleFlags struct {
	mode, prefix               string
	servers, retention, reader []string
}

// add adds the flags that every command that grants roles has. Only migrate also has the flags from addUsers.
func (f *roleFlags) add(cmd *cobra.Command) {
	modes := []string{rolesAuto, rolesRequire, rolesNone}
	cmd.Flags().Var(verbs.NewChoice(&f.mode, rolesAuto, modes...), "roles", "create the roles for servers, retention and readers: "+show.JoinComma(modes)+
		". auto creates and grants as far as the user may, and lists the rest; require refuses if anything is left")
	cmd.Flags().StringVar(&f.prefix, "role-prefix", "", "prefix of the roles' names, as in `NAME`_server (default: the name of the database)")
	verbs.CompleteWords(cmd, "roles", modes)
}

func (f *roleFlags) addUsers(cmd *cobra.Command) {
	const exists = " The user must exist (repeatable; implies --roles=require)"
	cmd.Flags().StringSliceVar(&f.servers, "server-user", nil, "grant the server's role to this login `USER` of servers."+exists)
	cmd.Flags().StringSliceVar(&f.retention, "retention-user", nil, "grant the role for 'ipamctl retention' to this login `USER`."+exists)
	cmd.Flags().StringSliceVar(&f.reader, "reader-user", nil, "grant the role for 'ipamctl audit' and reports to this login `USER`."+exists)
}

// options converts the flags to options for package schema.
func (f *roleFlags) options() (schema.RoleOptions, error) {
	o := schema.RoleOptions{Mode: schema.RoleMode(f.mode), Prefix: f.prefix}
	for role, users := range map[schema.Role][]string{schema.ServerRole: f.servers, schema.RetentionRole: f.retention, schema.ReaderRole: f.reader} {
		if len(users) > 0 {
			if o.Users == nil {
				o.Users = map[schema.Role][]string{}
			}
			o.Users[role] = users
		}
	}
	switch {
	case f.mode != rolesNone && o.Users != nil:
		o.Mode = schema.RolesRequire
	case f.mode != rolesNone:
	case o.Users != nil || f.prefix != "":
		return o, exit.Usagef("--roles=none changes no roles: omit --role-prefix, --server-user, --retention-user and --reader-user")
	default:
		o.Mode = schema.RolesNone
	}
	return o, nil
}
