package serverproc_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/lab/serverproc"
)

// role is the environment variable that makes this test binary act as a server, or as the parent of one.
const role = "CARVE_SERVERPROC_ROLE"

const greeting = "listening on 127.0.0.1:4711\n  API         http://127.0.0.1:4711/v1/projects\n  admin key   carve_0_first\n"

func TestMain(m *testing.M) {
	if as := os.Getenv(role); as != "" {
		os.Exit(play(as))
	}
	code := m.Run()
	if _, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); !errors.Is(err, syscall.ECHILD) {
		fmt.Fprintln(os.Stderr, "a process outlived the tests:", err)
		code = 1
	}
	os.Exit(code)
}

// play acts as a correct or a faulty server, by its role.
func play(as string) int {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM)
	switch as {
	case "serves":
		in, err := os.Getwd()
		fmt.Fprintln(os.Stderr, "serving with", strings.Join(os.Args[1:], " "), "for", os.Getenv("SERVERPROC_FOR"), "in", in, err)
		fmt.Print(greeting)
		<-asked
		fmt.Fprintln(os.Stderr, "ending")
	case "refuses":
		for i := range 100 {
			fmt.Fprintln(os.Stderr, "reason", i)
		}
		return 3
	case "ends":
		fmt.Println("listening on something else")
	case "has no key":
		fmt.Println("listening on 127.0.0.1:4711")
	case "has no key, and stays":
		fmt.Println("listening on 127.0.0.1:4711")
		<-asked
	case "breaks":
		fmt.Print(greeting)
		<-asked
		fmt.Fprintln(os.Stderr, "could not end")
		return 4
	case "disobeys":
		signal.Ignore(syscall.SIGTERM)
		fmt.Print(greeting)
		select {}
	case "is silent":
		fmt.Fprintln(os.Stderr, "still thinking")
		<-asked
	case "talks":
		fmt.Print(greeting, strings.Repeat("and more\n", 1<<17))
		fmt.Fprintln(os.Stderr, "said all")
		<-asked
	case "starts one":
		s, err := serverproc.Start(context.Background(), serverproc.Options{Program: os.Args[0], Env: []string{role + "=serves"}, Log: os.Stderr})
		fmt.Println("started", s != nil, err)
		<-asked
	default:
		return 9
	}
	return 0
}

// playing returns the options of a server that plays a role.
func playing(as string) serverproc.Options {
	return serverproc.Options{Program: os.Args[0], Env: []string{role + "=" + as}}
}

// start starts a server. The end of the test kills it.
func start(t *testing.T, o serverproc.Options) *serverproc.Server {
	t.Helper()
	s, err := serverproc.Start(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(s.Kill)
	return s
}
