package install

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// prober calls a container's probes as a kubelet does: over HTTP, without checks of certificates.
var prober = &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}

func probe(ctx context.Context, ip string, container *core.Container, p *core.Probe) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(p.TimeoutSeconds)*time.Second)
	defer cancel()
	url := fmt.Sprintf("%s://%s%s", strings.ToLower(string(p.HTTPGet.Scheme)), net.JoinHostPort(ip, portOf(container, p.HTTPGet.Port)), p.HTTPGet.Path)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	answer, err := prober.Do(request)
	if err != nil {
		return false
	}
	_ = answer.Body.Close()
	return answer.StatusCode >= 200 && answer.StatusCode < 400
}

func portOf(container *core.Container, port intstr.IntOrString) string {
	if port.Type == intstr.Int {
		return port.String()
	}
	for _, p := range container.Ports {
		if p.Name == port.StrVal {
			return fmt.Sprint(p.ContainerPort)
		}
	}
	return "0" // a missing port name fails the probe, as in a cluster
}

// watchProbes reports the results of a running container's probes, until ctx or the process ends: first startup, then each change of readiness. It
// returns false when the container must restart.
func watchProbes(ctx context.Context, ip string, container *core.Container, p *process, ready func(bool)) (alive bool) {
	failures, started := map[*core.Probe]int{}, container.StartupProbe == nil
	successes := map[*core.Probe]int{}
	due := map[*core.Probe]time.Time{}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return true
		case <-p.ended:
			return true
		case now := <-tick.C:
			which := []*core.Probe{container.StartupProbe}
			if started {
				which = []*core.Probe{container.LivenessProbe, container.ReadinessProbe}
			}
			for _, each := range which {
				if each == nil || now.Before(due[each]) {
					continue
				}
				due[each] = now.Add(time.Duration(each.PeriodSeconds) * time.Second)
				if probe(ctx, ip, container, each) {
					failures[each] = 0
					successes[each]++
				} else {
					successes[each] = 0
					failures[each]++
				}
				failed := failures[each] >= int(each.FailureThreshold)
				switch each {
				case container.ReadinessProbe:
					if failed {
						ready(false)
					} else if successes[each] >= int(each.SuccessThreshold) {
						ready(true)
					}
				case container.StartupProbe:
					started = successes[each] > 0
					fallthrough
				default:
					if failed {
						return false
					}
				}
			}
		}
	}
}
