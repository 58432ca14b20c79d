package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/kinds"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

// byVerb returns the commands in kubectl's order, which has the verb before the kind. `get pools` is `pool list`, and `get pool prod` is `pool get
// prod`. Each is the kind's command under another name.
func byVerb(p *session.Program) []*cobra.Command {
	get := verbs.GroupOfKinds("get list ls", "List objects of a kind, or show some by name: get pools, get pool prod")
	describe := verbs.GroupOfKinds("describe show", "Show all fields of objects by name: describe claim web")
	remove := verbs.GroupOfKinds("delete rm", "Delete objects by name, by labels, or all of a kind: delete claim web")
	set := verbs.GroupOfKinds("set", "Change an object: set pool prod --label env=prod")
	create := verbs.GroupOfKinds("create", "Create an object: create pool corp --cidr 10.0.0.0/8")
	for _, kind := range append(kinds.OfAddressSpace(p), kinds.OfAccess(p)...) {
		list, one := verbs.Child(kind, "list"), verbs.Child(kind, "get")
		switch {
		case list != nil:
			listOrGet(list, one)
			move(list, kind, get)
		case one != nil:
			move(one, kind, get)
		}
		for name, verb := range map[string]*cobra.Command{
			"show": describe, "create": create, "set": set, "delete": remove, "revoke": remove, "remove": remove,
		} {
			if c := verbs.Child(kind, name); c != nil {
				move(c, kind, verb)
			}
		}
	}
	return []*cobra.Command{get, describe, create, set, remove}
}

// otherWords maps ipamctl's verbs and kinds to words that kubectl, gh, aws and other address managers use.
var otherWords = map[string]string{
	"set":        "edit patch label annotate update change",
	"get":        "api-resources",
	"context":    "config ctx login logout profile configure",
	"whoami":     "auth me",
	"version":    "cluster-info status",
	"search":     "find whois who lookup",
	"changes":    "watch",
	"event":      "log logs trail",
	"project":    "ns namespace namespaces tenant tenants",
	"space":      "vrf vrfs vpc vpcs",
	"pool":       "subnet subnets prefix prefixes network networks ippool ippools cidr cidrs block blocks",
	"claim":      "ip ips address addresses ipclaim ipclaims lease leases reserve allocate",
	"allocation": "ipallocation ipallocations",
	"class":      "ipclass ipclasses storageclass sc",
	"grant":      "share shares",
	"member":     "user users role roles rolebinding rolebindings",
	"key":        "token tokens apikey apikeys api-key api-keys",
}

// alsoMeant adds otherWords as suggestions to the commands.
func alsoMeant(root *cobra.Command) {
	for _, c := range root.Commands() {
		c.SuggestFor = append(c.SuggestFor, strings.Fields(otherWords[c.Name()])...)
		if c.GroupID == groupVerb {
			alsoMeant(c)
		}
	}
}

// move moves a command from its kind to the verb, and names the command after the kind.
func move(c, kind, verb *cobra.Command) {
	if c.Parent() != nil {
		c.Parent().RemoveCommand(c)
	}
	_, arguments, _ := strings.Cut(c.Use, " ")
	c.Use, c.Aliases, c.Example = strings.TrimSpace(kind.Name()+" "+arguments), kind.Aliases, ""
	verb.AddCommand(c)
}

// listOrGet lets a list command show single objects if the user gives names. If the kind has no command for single objects, one is nil.
func listOrGet(list, one *cobra.Command) {
	if one == nil {
		return
	}
	listed := list.RunE
	list.Use, list.ValidArgsFunction = "list [NAME...]", one.ValidArgsFunction
	list.Args = func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return one.Args(one, args)
	}
	list.RunE = func(cmd *cobra.Command, args []string) (err error) {
		if len(args) == 0 {
			return listed(cmd, args)
		}
		cmd.Flags().Visit(func(f *pflag.Flag) {
			switch {
			case err != nil || cmd.InheritedFlags().Lookup(f.Name) != nil:
			case one.Flags().Lookup(f.Name) == nil:
				err = exit.Usagef("--%s works on lists only: omit it, or omit the names", f.Name)
			default:
				err = one.Flags().Set(f.Name, f.Value.String())
			}
		})
		if err != nil {
			return err
		}
		one.SetContext(cmd.Context())
		return one.RunE(one, args)
	}
}

// slashed splits an argument kind/name after a verb, as kubectl does. For example, `get pool/a pool/b` becomes `get pool a b`. It leaves all other
// arguments unchanged.
func slashed(root *cobra.Command, args []string) []string {
	if len(args) < 2 {
		return args
	}
	verb := verbs.Child(root, args[0])
	if verb == nil || verb.GroupID != groupVerb {
		return args
	}
	var kind *cobra.Command
	out := []string{args[0]}
	rest := args[1:]
	for len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
		word, name, has := strings.Cut(rest[0], "/")
		c := verbs.Child(verb, word)
		if !has || c == nil || kind != nil && c != kind {
			return args
		}
		if kind == nil {
			out = append(out, c.Name())
		}
		kind, out, rest = c, append(out, name), rest[1:]
	}
	return append(out, rest...)
}
