package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"k8s.io/client-go/rest"
)

// CrashCarve kills the Carve server. Its database dies with it.
func (c *Cluster) CrashCarve() error { return c.server.kill() }

// RestartCarve starts the Carve server again, with the same address and data.
func (c *Cluster) RestartCarve() error { return c.server.start() }

// CarveData returns the directory of the server's database, for `ipamctl audit --data-dir`.
func (c *Cluster) CarveData() string { return c.server.data() }

// apiServer is the process of the API server. envtest starts the first process. After a crash, RestartAPIServer starts a replacement.
type apiServer struct {
	pid     int
	command []string
	again   *exec.Cmd
}

// CrashAPIServer kills the API server. No acknowledged write is lost, because etcd has it.
func (c *Cluster) CrashAPIServer() error {
	a := &c.apiServer
	if a.again != nil {
		err := a.again.Process.Kill()
		_, waited := a.again.Process.Wait()
		a.again = nil
		return errors.Join(err, waited)
	}
	if a.pid == 0 {
		if err := a.find(); err != nil {
			return err
		}
	}
	if err := syscall.Kill(a.pid, syscall.SIGKILL); err != nil {
		return err
	}
	for syscall.Kill(a.pid, 0) == nil { // until envtest has reaped the process
		<-time.After(time.Millisecond)
	}
	return nil
}

// RestartAPIServer starts the API server again with the same arguments, and returns when it is ready.
func (c *Cluster) RestartAPIServer(ctx context.Context) error {
	a := &c.apiServer
	a.again = exec.Command(a.command[0], a.command[1:]...) //nolint:gosec,noctx // ended by stop
	if err := a.again.Start(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	ask, err := rest.HTTPClientFor(c.Config)
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		if ready(ctx, ask, strings.TrimSuffix(c.Config.Host, "/")+"/readyz") {
			return nil
		}
		<-time.After(50 * time.Millisecond)
	}
	return ctx.Err()
}

func ready(ctx context.Context, ask *http.Client, url string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	answer, err := ask.Do(request)
	if err != nil {
		return false
	}
	return errors.Join(answer.Body.Close()) == nil && answer.StatusCode == http.StatusOK
}

// find searches this process's children for the API server.
func (a *apiServer) find() error {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return err
	}
	for _, name := range stats {
		stat, err := os.ReadFile(name)
		if err != nil {
			continue // the process has ended
		}
		_, rest, _ := strings.Cut(string(stat), ") ") // the state and the parent follow the name, which may contain blanks
		fields := strings.Fields(rest)
		if len(fields) < 2 || fields[1] != strconv.Itoa(os.Getpid()) {
			continue
		}
		command, err := os.ReadFile(filepath.Join(filepath.Dir(name), "cmdline"))
		if err != nil {
			continue
		}
		if a.command = strings.Split(strings.TrimSuffix(string(command), "\x00"), "\x00"); filepath.Base(a.command[0]) == "kube-apiserver" {
			a.pid, err = strconv.Atoi(filepath.Base(filepath.Dir(name)))
			return err
		}
	}
	return fmt.Errorf("no API server among the processes of %d", os.Getpid())
}

// stop ends an API server that has replaced envtest's.
func (a *apiServer) stop() error {
	if a.again == nil {
		return nil
	}
	err := a.again.Process.Signal(syscall.SIGTERM)
	_, waited := a.again.Process.Wait()
	return errors.Join(err, waited)
}
