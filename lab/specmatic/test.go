package specmatic

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"syscall"
)

// Lines of Specmatic's log.
var (
	summary = regexp.MustCompile(`Tests run: (\d+), Successes: (\d+), Failures: (\d+)`)
	verdict = regexp.MustCompile(`^\s*([+-]ve)?\s*Scenario: (.*) has (SUCCEEDED|FAILED)`)
)

// test lets Specmatic make its tests of a contract, and counts what came of them.
func test(ctx context.Context, o options, s *server, dir, contract string) (ok bool, err error) {
	path := filepath.Join(dir, "specmatic.log")
	log, err := os.Create(path)
	if err != nil {
		return false, err
	}
	defer func() { _ = log.Close() }()
	jar, err := filepath.Abs(o.jar)
	if err != nil {
		return false, err
	}
	via, closeProxy, err := dryProxy(ctx, s.Addr())
	if err != nil {
		return false, err
	}
	defer closeProxy()
	args := []string{"-Xmx1g", "-jar", jar, "test", "--testBaseURL=http://" + via, "--timeout=60"}
	if o.filter != "" {
		args = append(args, "--filter="+o.filter)
	}
	cmd := exec.CommandContext(ctx, "java", append(args, filepath.Base(contract))...) //nolint:gosec // G204: the pinned program
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.Env = append(os.Environ(), "bearerAuth="+s.api.Key, "SPECMATIC_GENERATIVE_TESTS=true", "SPECMATIC_DISABLE_TELEMETRY=true",
		fmt.Sprintf("MAX_TEST_REQUEST_COMBINATIONS=%d", o.combinations))
	runErr := cmd.Run()
	var exit *exec.ExitError
	if runErr != nil && !errors.As(runErr, &exit) {
		return false, runErr
	}
	c, err := count(path)
	if err != nil {
		return false, err
	}
	return c.report(path), nil
}

// counts is what a log says.
type counts struct {
	summary         string
	passed          int
	failed, excused []string
	needless        []string
}

// excuses are tests that cannot pass, by a pattern of their names, with the reason. One that is not needed is a failure.
var excuses = map[*regexp.Regexp]string{
	regexp.MustCompile(`^-ve PUT .* REQUEST.PARAMETERS.PATH.(claim|quota|consumer|subject) is mutated`): "another name in the path of a PUT is no error: it makes what is not there",
}

func count(path string) (c counts, err error) {
	f, err := os.Open(path)
	if err != nil {
		return c, err
	}
	defer func() { _ = f.Close() }()
	met := map[*regexp.Regexp]bool{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		if m := summary.FindString(lines.Text()); m != "" {
			c.summary = m
		}
		m := verdict.FindStringSubmatch(lines.Text())
		switch {
		case m == nil:
		case m[3] == "SUCCEEDED":
			c.passed++
		default:
			name := m[1] + " " + m[2]
			if by := excuse(name); by != nil {
				met[by] = true
				c.excused = append(c.excused, name)
				continue
			}
			c.failed = append(c.failed, name)
		}
	}
	for each := range excuses {
		if !met[each] {
			c.needless = append(c.needless, each.String())
		}
	}
	slices.Sort(c.needless)
	return c, lines.Err()
}

func excuse(name string) *regexp.Regexp {
	for each := range excuses {
		if each.MatchString(name) {
			return each
		}
	}
	return nil
}

func (c counts) report(path string) (ok bool) {
	for each, why := range excuses {
		_, _ = fmt.Fprintf(os.Stdout, "excused: %s: %s\n", each, why)
	}
	for _, each := range c.failed {
		_, _ = fmt.Fprintln(os.Stdout, "FAILED:", each)
	}
	for _, each := range c.needless {
		_, _ = fmt.Fprintf(os.Stdout, "excused but not met: %s\n", each)
	}
	_, _ = fmt.Fprintf(os.Stdout, "%s; of them %d were excused\n", c.summary, len(c.excused))
	if c.summary == "" || c.passed == 0 {
		_, _ = fmt.Fprintln(os.Stdout, "nothing was tested; see", path)
		return false
	}
	return len(c.failed) == 0 && len(c.needless) == 0
}
