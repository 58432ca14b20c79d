package proof_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// controller is the program as a process. The test restarts it whenever it ends, as a kubelet does.
type controller struct {
	name    string
	command []string
	log     *os.File

	mu      sync.Mutex
	process *os.Process
	stopped bool
	ended   chan struct{}
}

// program returns the path of a controller that the tests have built.
func program(name string) string { return filepath.Join(programs, name) }

// runs starts a controller for a world. Its requests to the API server and to Carve go through the proxies.
func (w *world) runs(t testing.TB, name string, flags ...string) *controller {
	t.Helper()
	kubeconfig := filepath.Join(w.dir, name+".kubeconfig")
	require.NoError(t, os.WriteFile(kubeconfig, fmt.Appendf(nil, kubeconfigText, w.toAPI.URL), 0o600))
	log, err := os.OpenFile(filepath.Join(w.dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	c := &controller{name: name, log: log, ended: make(chan struct{})}
	c.command = append([]string{
		program(w.program), "--kubeconfig=" + kubeconfig, "--carve=" + w.toCarve.URL, "--project=" + w.name,
		"--consumer-ttl=" + w.ttl.String(), "--renew-interval=" + w.renew.String(), "--metrics-bind-address=0", "--health-probe-bind-address=0",
		"--leader-elect-resource-namespace=kube-system", "--leader-elect-lease-duration=" + lease.String(),
	}, flags...)
	go c.keep()
	t.Cleanup(c.stop)
	return c
}

// lease is the duration of the leader's lease.
const lease = 4 * time.Second

const kubeconfigText = `
apiVersion: v1
kind: Config
current-context: proof
clusters: [{name: proof, cluster: {server: %q}}]
users: [{name: proof, user: {}}]
contexts: [{name: proof, context: {cluster: proof, user: proof}}]
`

func (c *controller) keep() {
	defer close(c.ended)
	for {
		c.mu.Lock()
		if c.stopped {
			c.mu.Unlock()
			return
		}
		cmd := exec.Command(c.command[0], c.command[1:]...)
		cmd.Stdout, cmd.Stderr = c.log, c.log
		err := cmd.Start()
		c.process = cmd.Process
		c.mu.Unlock()
		if err != nil {
			panic(err)
		}
		_ = cmd.Wait() // the exit code does not matter
		_, _ = fmt.Fprintln(c.log, "the controller ended:", cmd.ProcessState)
		<-time.After(100 * time.Millisecond)
	}
}

// signal sends a signal to the present process.
func (c *controller) signal(s os.Signal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.process != nil {
		_ = c.process.Signal(s) // it may have ended by itself
	}
}

// kill ends the process like the loss of its machine. The test restarts it.
func (c *controller) kill() { c.signal(syscall.SIGKILL) }

// stop kills the process and does not restart it.
func (c *controller) stop() {
	c.mu.Lock()
	c.stopped = true
	c.mu.Unlock()
	c.kill()
	<-c.ended
}
