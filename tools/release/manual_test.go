package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestServerManualListsEachFlagSeparately(t *testing.T) {
	t.Parallel()
	page, err := serverPage("1.2.3", time.Unix(0, 0))
	require.NoError(t, err)
	for _, want := range []string{
		".TP\n\\fB\\-\\-data\\-dir\\fP \\fIstring\\fP\ndirectory of the embedded database", ".TP\n\\fB\\-\\-insecure\\-http\\fP \\fI\\fP\nserve plain HTTP",
	} {
		assert.Contains(t, string(page), want)
	}
	for line := range strings.Lines(string(page)) {
		assert.False(t, strings.HasPrefix(line, " "), line)
	}
}
