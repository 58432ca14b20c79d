package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client/config"
)

// errVersion reports that the arguments request the version and nothing else.
var errVersion = errors.New("the version was asked for")

// parse reads flags and environment variables ("NAME=value" pairs). Flags take precedence. If the arguments request the help or the version, it
// returns flag.ErrHelp or errVersion, and the text to print.
func parse(args, environ []string) (s settings, text string, err error) {
	f := flag.NewFlagSet("carve-controller", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	config.RegisterFlags(f)
	s.flags(f)
	ask := f.Bool("version", false, "print the version and exit")
	var usage bytes.Buffer
	usage.WriteString("carve-controller allocates blocks in Carve for the IPClaims of a Kubernetes cluster. carve-controller import-whereabouts --help shows how to import addresses from whereabouts.\n\n" +
		"Flags (each also an environment variable: --renew-interval is CARVE_RENEW_INTERVAL, --carve CARVE_SERVER, --carve-key-file CARVE_API_KEY_FILE):\n")
	f.SetOutput(&usage)
	f.PrintDefaults()
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	switch err := f.Parse(args); {
	case err != nil:
		return s, usage.String(), err
	case *ask:
		return s, versionText(), errVersion
	case f.NArg() > 0:
		return s, "", fmt.Errorf("unexpected argument %q: use only flags, as --name=value", f.Arg(0))
	}
	if err := fromEnvironment(f, environ); err != nil {
		return s, "", err
	}
	err = s.check()
	return s, "", err
}

// variable returns the environment variable of a flag, or "" if it has none.
func variable(flag string) string {
	switch flag {
	case "version", config.KubeconfigFlagName: // the Kubernetes client reads KUBECONFIG itself
		return ""
	case "carve":
		return "CARVE_SERVER" // ipamctl reads the same variable, and CARVE_API_KEY_FILE
	case "carve-key-file":
		return "CARVE_API_KEY_FILE"
	}
	return "CARVE_" + strings.ToUpper(strings.ReplaceAll(strings.TrimPrefix(flag, "carve-"), "-", "_"))
}

// fromEnvironment sets flags from environment variables, unless the arguments set them. It refuses an unknown variable with the prefix CARVE_,
// because the variable would have no effect.
func fromEnvironment(f *flag.FlagSet, environ []string) error {
	flags, given := map[string]string{}, map[string]bool{}
	f.VisitAll(func(each *flag.Flag) { flags[variable(each.Name)] = each.Name })
	f.Visit(func(each *flag.Flag) { given[each.Name] = true })
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, "CARVE_") {
			continue
		}
		flag, ok := flags[name]
		if !ok {
			return fmt.Errorf("unknown environment variable %s; see --help", name)
		}
		if given[flag] {
			continue
		}
		if err := f.Set(flag, value); err != nil {
			return fmt.Errorf("environment variable %s: %w", name, err)
		}
	}
	return nil
}

// longest is Carve's longest time to live for a consumer.
const longest = 7 * 24 * time.Hour

func (s *settings) check() error {
	switch {
	case s.carve == "":
		return errors.New("--carve is required: the URL of Carve")
	case s.project == "":
		return errors.New("--project is required: the Carve project that claims")
	case s.renew <= 0 || s.ttl < 2*s.renew:
		return fmt.Errorf("--consumer-ttl %s is less than twice --renew-interval %s", s.ttl, s.renew)
	case s.ttl > longest:
		return fmt.Errorf("--consumer-ttl %s is more than %s, the maximum in Carve", s.ttl, longest)
	case s.workers < 1:
		return fmt.Errorf("--workers %d is less than 1", s.workers)
	case s.logFormat != "text" && s.logFormat != "json":
		return fmt.Errorf("--log-format %q is not one of text, json", s.logFormat)
	case (s.clientCert == "") != (s.clientKey == ""):
		return errors.New("set both --carve-client-cert and --carve-client-key, or neither")
	}
	if err := s.level.UnmarshalText([]byte(s.logLevel)); err != nil {
		return fmt.Errorf("--log-level %q is not one of debug, info, warn, error", s.logLevel)
	}
	if s.keyFile != "" {
		if _, err := readKey(s.keyFile); err != nil {
			return fmt.Errorf("--carve-key-file: %w", err)
		}
	}
	_, _, err := s.toCarve()
	return errors.Join(s.leader.check(), s.pods.check(), s.objects.check(), err)
}

// observed declares the flags for logs, metrics and probes.
func (s *settings) observed(flag *flag.FlagSet) {
	flag.StringVar(&s.logLevel, "log-level", "info", "debug, info, warn or error")
	flag.StringVar(&s.logFormat, "log-format", "text", "text or json")
	flag.StringVar(&s.metrics, "metrics-bind-address", ":8080", "address that serves metrics; 0 for none")
	flag.StringVar(&s.probes, "health-probe-bind-address", ":8081", "address that serves /healthz and /readyz; 0 for none")
}
