package kinds

import (
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/verbs"
	"github.com/carve-ipam/carve/internal/ipam"
)

// consumerFields returns the fields for a claim's consumers. The flags that apply to all consumers are read before --consumer.
func consumerFields() []verbs.Field {
	var all client.ClaimConsumer
	return []verbs.Field{
		{
			Flag: "realm", Path: "spec.consumers", Create: "the `REALM` of the consumers' UIDs (default: " + ipam.DefaultRealm + ")",
			Value: verbs.Strictly(verbs.ReadBy(func(name string) (any, error) {
				all.Realm = name
				return "", session.CheckName("realm", name)
			})),
		},
		{
			Flag: "consumer-ttl", Path: "spec.consumers", Create: "lifetime of the consumers without a renewal, a `DURATION` (default: no limit)",
			Value: verbs.Strictly(verbs.ReadBy(func(text string) (_ any, err error) {
				all.TTLSeconds, err = ttlOf(text)
				return "", err
			})),
		},
		{
			Flag: "consumer", Path: "spec.consumers", Create: "`UID` of a consumer that uses the claim from the start (repeatable)",
			Value: verbs.ListOf(false, nil, func(_ string, uids []string) (any, error) {
				list := make([]client.ClaimConsumer, len(uids))
				for i, uid := range uids {
					if err := checkUID(uid); err != nil {
						return nil, err
					}
					list[i] = all
					list[i].UID = uid
				}
				return list, nil
			}),
		},
		{
			Flag: "max-consumers", Create: "maximum number of consumers at the same time, `N` up to " + strconv.Itoa(ipam.MostConsumers) + " (default: 1)",
			Value: verbs.Strictly(verbs.ReadBy(func(text string) (any, error) {
				n, err := strconv.Atoi(text)
				if err != nil || n < 1 || n > ipam.MostConsumers {
					return nil, exit.Usagef("--max-consumers must be a number from 1 to %d, not %q", ipam.MostConsumers, text)
				}
				return n, nil
			})),
		},
		{Flag: "when-unused", Words: "Keep Delete", Create: "policy for the claim after its last consumer is detached"},
	}
}

// ttlOf parses a time to live. The server checks the minimum and the maximum.
func ttlOf(text string) (*int64, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 || d%time.Second != 0 {
		return nil, exit.Usagef("--consumer-ttl must be whole seconds, like 120s or 5m, not %q", text)
	}
	return new(int64(d / time.Second)), nil
}

// checkConsumers refuses flags about consumers without a consumer.
func checkConsumers(cmd *cobra.Command) error {
	if howMany(cmd, "consumer") == 0 && howMany(cmd, "realm", "consumer-ttl") > 0 {
		return exit.Usagef("--realm and --consumer-ttl need --consumer, which names the consumers")
	}
	return nil
}
