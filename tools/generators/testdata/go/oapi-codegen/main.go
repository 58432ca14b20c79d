// Command oapi-codegen calls a server with the client that oapi-codegen generates from openapi.yaml, without any options.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"generated/oapi-codegen/api"
)

func main() {
	ctx := context.Background()
	c, err := api.NewClientWithResponses(os.Getenv("CARVE_SERVER"))
	if err != nil {
		log.Fatal(err)
	}
	name := "oapi-codegen"
	made, err := c.CreateProjectWithResponse(ctx, nil, api.ProjectCreate{Metadata: api.CreateMetadata{Name: name}})
	if err != nil || made.JSON201 == nil {
		log.Fatal(made, err)
	}
	fmt.Println(made.JSON201.Metadata.Name)
	refused, err := c.GetClassWithResponse(ctx, name, "none", nil)
	if err != nil || refused.ApplicationproblemJSONDefault == nil {
		log.Fatal(refused, err)
	}
	fmt.Println(refused.ApplicationproblemJSONDefault.Code)
}
