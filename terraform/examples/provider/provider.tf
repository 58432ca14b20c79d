terraform {
  required_providers {
    carve = {
      source = "carve-ipam/carve"
    }
  }
}

# Server, project and key can come from CARVE_SERVER, CARVE_PROJECT and CARVE_API_KEY, or from the context of ipamctl.
provider "carve" {
  owner = "network/prod" # unique name for this configuration and its state
}

resource "carve_claim" "cluster" {
  name          = "cluster"
  pool          = "prod"
  prefix_length = 20
}
