package recipe

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEpochIsTheSourceDateOrZero(t *testing.T) {
	t.Parallel()
	at, err := Epoch("1700000000")
	assert.NoError(t, err)
	assert.Equal(t, time.Date(2023, 11, 14, 22, 13, 20, 0, time.UTC), at)
	at, err = Epoch("")
	assert.NoError(t, err)
	assert.Equal(t, int64(0), at.Unix())
	for _, wrong := range []string{"yesterday", "-1", "1.5", " 1"} {
		_, err := Epoch(wrong)
		assert.ErrorContains(t, err, "SOURCE_DATE_EPOCH", wrong)
	}
}

func TestAVersionBecomesATag(t *testing.T) {
	t.Parallel()
	for version, tag := range map[string]string{
		"v1.2.3": "v1.2.3", "v1.2.3+meta": "v1.2.3_meta", "ab12-dirty": "ab12-dirty", "": "dev", "..x": "x", "a/b:c": "a_b_c",
		strings.Repeat("v", 200): strings.Repeat("v", 128),
	} {
		assert.Equal(t, tag, Stamp{Version: version}.Tag())
	}
}

// The programs of `make build` and those in the image only differ in the tables for debuggers.
func TestMakefileHasTheImagesBuildFlags(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile("../../../Makefile")
	require.NoError(t, err)
	setting := func(name, pattern string) string {
		line := regexp.MustCompile(`(?m)^` + name + ` ` + pattern + `$`).FindSubmatch(makefile)
		require.NotNil(t, line, name)
		return string(line[1])
	}
	flags, stamp := setting("export GOFLAGS", `:= \$\(sort \$\(shell go env GOFLAGS\) (.*)\)`), setting("STAMP", ":= (.*)")
	args := BuildArgs(Stamp{Image: Server, Version: "$(VERSION)", Commit: "$(COMMIT)"})
	last := len(args) - 1
	args[last] = "'" + strings.TrimPrefix(args[last], "-s -w ") + "'"
	assert.Equal(t, strings.Join(args, " "), flags+" "+stamp)
	assert.Contains(t, Environment(Platform{}), "CGO_ENABLED="+setting("export CGO_ENABLED", `\?= (.*)`))
}
