// Terraform-provider-carve is the Terraform provider of Carve: docs/terraform.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"

	"github.com/carve-ipam/carve/terraform/internal/provider"
)

// version is set when it is built.
var version = "dev"

func main() {
	debug := flag.Bool("debug", false, "wait for a debugger, and say how Terraform is to reach this process")
	flag.Parse()
	err := providerserver.Serve(context.Background(), provider.New(version), providerserver.ServeOpts{Address: provider.Address, Debug: *debug})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
