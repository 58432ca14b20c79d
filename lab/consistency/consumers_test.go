package consistency

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The check must judge histories correctly in which consumers use one claim, one operation after another.
func TestConsumerHistoriesAreJudgedCorrectly(t *testing.T) {
	t.Parallel()
	enter := func(c *Consumers, u string) { c.Enters(0, "c", u).Done() }
	leave := func(c *Consumers, u string) { c.Leaves(0, "c", u).Done() }
	look := func(c *Consumers, there bool) { c.Looks(0, "c").Saw(there) }
	for title, one := range map[string]struct {
		right   bool
		history func(c *Consumers)
	}{
		"LastConsumerReleasesTheClaim": {true, func(c *Consumers) {
			enter(c, "a")
			enter(c, "b")
			leave(c, "a")
			look(c, true)
			leave(c, "b")
			look(c, false)
		}},
		"GoneWhileOneUsesIt":         {false, func(c *Consumers) { enter(c, "a"); enter(c, "b"); leave(c, "a"); look(c, false) }},
		"ThereAfterTheLast":          {false, func(c *Consumers) { enter(c, "a"); leave(c, "a"); look(c, true) }},
		"AgainAfterTheLast":          {true, func(c *Consumers) { enter(c, "a"); leave(c, "a"); enter(c, "b"); look(c, true) }},
		"ALeaverComesBack":           {true, func(c *Consumers) { enter(c, "a"); leave(c, "a"); enter(c, "a"); look(c, true) }},
		"OneThatEndedComesBack":      {false, func(c *Consumers) { enter(c, "a"); c.Ends(0, "c", "a").Done(); enter(c, "a") }},
		"OneThatEndedIsRefused":      {true, func(c *Consumers) { enter(c, "a"); c.Ends(0, "c", "a").Done(); c.Enters(0, "c", "a").Refused() }},
		"OneThatLivesIsRefused":      {false, func(c *Consumers) { enter(c, "a"); c.Enters(0, "c", "a").Refused() }},
		"AnEndThatIsDone":            {false, func(c *Consumers) { enter(c, "a"); c.Ends(0, "c", "a").Done(); look(c, true) }},
		"AnEndThatIsUnderWay":        {true, func(c *Consumers) { enter(c, "a"); c.Ends(0, "c", "a").Later(); look(c, true); look(c, false) }},
		"ItComesBackAfterItsRelease": {false, func(c *Consumers) { enter(c, "a"); c.Ends(0, "c", "a").Later(); look(c, false); look(c, true) }},
		"NobodyKnows":                {true, func(c *Consumers) { c.Enters(0, "c", "a"); look(c, false); look(c, true) }},
		"NobodyKnowsOfAnEnd":         {true, func(c *Consumers) { enter(c, "a"); c.Ends(0, "c", "a"); look(c, true); c.Enters(0, "c", "a").Refused() }},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			c := NewConsumers()
			one.history(c)
			v := c.Check(time.Minute)
			require.Equal(t, one.right, v.Right(), v)
			require.Equal(t, !one.right, v.Wrong(), v)
		})
	}
}
