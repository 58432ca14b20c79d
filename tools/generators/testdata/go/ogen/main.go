// Command ogen calls a server with the client that ogen generates from openapi.yaml.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"generated/ogen/api"
)

type nobody struct{}

func (nobody) BearerAuth(context.Context, api.OperationName) (api.BearerAuth, error) {
	return api.BearerAuth{Token: "none"}, nil
}

func main() {
	ctx := context.Background()
	c, err := api.NewClient(os.Getenv("CARVE_SERVER"), nobody{})
	if err != nil {
		log.Fatal(err)
	}
	made, err := c.CreateProject(ctx, &api.ProjectCreate{Metadata: api.CreateMetadata{Name: api.NewOptName("ogen")}}, api.CreateProjectParams{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(made.Response.Metadata.Name)
	_, err = c.GetClass(ctx, api.GetClassParams{Project: "ogen", ClassName: "none"})
	var refused *api.ProblemStatusCodeWithHeaders
	if !errors.As(err, &refused) {
		log.Fatal(err)
	}
	fmt.Println(refused.Response.Code)
}
