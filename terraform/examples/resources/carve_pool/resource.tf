# A root is a block of a space, here of the space "default" of the project.
resource "carve_pool" "region" {
  name         = "eu"
  cidr         = "10.64.0.0/12"
  reservations = [{ first = 256, reason = "network equipment" }]
}

# A child is carved from its parent, which chooses the block.
resource "carve_pool" "prod" {
  name                  = "eu-prod"
  parent                = carve_pool.region.id
  prefix_length         = 16
  default_prefix_length = 28
  reuse_after           = "72h"
  labels                = { env = "prod" }
}

output "prod_cidr" {
  value = carve_pool.prod.cidr
}
