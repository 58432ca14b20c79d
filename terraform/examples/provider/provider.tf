terraform {
  required_providers {
    carve = {
      source = "carve-ipam/carve"
    }
  }
}

# The server, the project and the key may come from CARVE_SERVER, CARVE_PROJECT and CARVE_API_KEY, or from ipamctl's context.
provider "carve" {
  owner = "network/prod" # this configuration and its state; no other one has this name
}

resource "carve_claim" "cluster" {
  name          = "cluster"
  pool          = "prod"
  prefix_length = 20
}
