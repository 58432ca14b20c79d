package install

import (
	"fmt"
	"strings"
)

// of returns an owner's pods, "Kind/name". A pod that Helm made directly is its own owner.
func (k *kubelet) of(owner string) []*podRun {
	k.mu.Lock()
	defer k.mu.Unlock()
	var found []*podRun
	for _, run := range k.ran {
		if run.owner == owner || owner == "Pod/"+run.name {
			found = append(found, run)
		}
	}
	return found
}

// running returns the pods that have not ended.
func (k *kubelet) running(owner string) []*podRun {
	var found []*podRun
	for _, run := range k.of(owner) {
		run.mu.Lock()
		select {
		case <-run.asked:
		default:
			if !run.finished {
				found = append(found, run)
			}
		}
		run.mu.Unlock()
	}
	return found
}

// codes returns the exit codes of an owner's containers, in order.
func (k *kubelet) codes(owner string) []int {
	codes := []int{}
	for _, run := range k.of(owner) {
		run.mu.Lock()
		codes = append(codes, run.codes...)
		run.mu.Unlock()
	}
	return codes
}

// killed returns the pods that did not end within their grace period.
func (k *kubelet) killed() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	var found []string
	for _, run := range k.ran {
		run.mu.Lock()
		if run.killed {
			found = append(found, run.name)
		}
		run.mu.Unlock()
	}
	return found
}

// told returns the shortened output of all containers, for the report of a failed test.
func (k *kubelet) told() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	var all strings.Builder
	for _, run := range k.ran {
		run.mu.Lock()
		for i, output := range run.output {
			text := output.String()
			_, _ = fmt.Fprintf(&all, "--- %s, container %d, codes %v:\n%s\n", run.name, i, run.codes, text[max(0, len(text)-1500):])
		}
		run.mu.Unlock()
	}
	return all.String()
}

// exec acts as `kubectl exec`: it runs a program in a running container of an owner.
func (k *kubelet) exec(owner, program string, args ...string) (string, error) {
	pods := k.running(owner)
	if len(pods) == 0 {
		return "", fmt.Errorf("no pod of %s runs", owner)
	}
	cmd := pods[0].sandbox.command(nil, false, program, args...)
	var errors strings.Builder
	cmd.Stderr = &errors
	out, err := cmd.Output()
	return string(out) + errors.String(), err
}

func names(runs []*podRun) []string {
	var all []string
	for _, run := range runs {
		all = append(all, run.name)
	}
	return all
}
