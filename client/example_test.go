package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/carve-ipam/carve/client"
)

// scripted starts a server that always sends the same response, so that the examples need no Carve. The programs in examples/clients use a real
// server.
func scripted(status int, mediaType, body string) (url string, end func()) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", mediaType)
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	return s.URL, s.Close
}

func ExampleCarve_Claim() {
	url, end := scripted(http.StatusCreated, "application/json", `{"status":{"allocatedCIDR":"10.20.1.0/24"}}`)
	defer end()

	carve, err := client.New(url, client.WithAPIKey("carve_id_secret"))
	if err != nil {
		panic(err)
	}
	block, err := carve.Claim(context.Background(), "team-a", "web", client.IPClaimSpec{PrefixLength: 24})
	fmt.Println(block, err)
	// Output: 10.20.1.0/24 <nil>
}

func ExampleCarve_Pools() {
	url, end := scripted(http.StatusOK, "application/json",
		`{"items":[{"metadata":{"name":"prod-eu"}},{"metadata":{"name":"prod-us"}}]}`)
	defer end()

	carve, err := client.New(url)
	if err != nil {
		panic(err)
	}
	for pool, err := range carve.Pools(context.Background(), "team-a", client.ListPoolsParams{IPFamily: new(client.IPFamilyIPv4)}) {
		if err != nil {
			panic(err)
		}
		fmt.Println(pool.Metadata.Name)
	}
	// Output:
	// prod-eu
	// prod-us
}

func ExamplePoolExhausted() {
	url, end := scripted(http.StatusConflict, "application/problem+json",
		`{"code":"pool_exhausted","status":409,"detail":"Pool team-a/prod has no free /24.","largestFreePrefixLength":26}`)
	defer end()

	carve, err := client.New(url)
	if err != nil {
		panic(err)
	}
	_, err = carve.Claim(context.Background(), "team-a", "web", client.IPClaimSpec{PrefixLength: 24})
	if full, ok := errors.AsType[*client.PoolExhausted](err); ok {
		fmt.Printf("%s\nfree: /%d\n", full.Detail, *full.LargestFreePrefixLength)
	}
	// Output:
	// Pool team-a/prod has no free /24.
	// free: /26
}
